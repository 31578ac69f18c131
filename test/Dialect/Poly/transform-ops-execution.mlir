// RUN: espalier-opt %s -transform-interpreter -split-input-file | FileCheck %s

#ij = affine_set<(i, j)[M, K] : (i >= 0, M - 1 - i >= 0, j >= 0, 63 - j >= 0)>
#ijk = affine_set<(i, j, k)[M, K] : (i >= 0, M - 1 - i >= 0, j >= 0, 63 - j >= 0, k >= 0, K - 1 - k >= 0)>
#c = affine_map<(i, j)[M, K] -> (i, j)>
#C = affine_map<(i, j, k)[M, K] -> (i, j)>
#A = affine_map<(i, j, k)[M, K] -> (i, k)>
#B = affine_map<(i, j, k)[M, K] -> (k, j)>

// CHECK-DAG: #[[LANES:.*]] = affine_map<(d0, d1)[s0, s1] -> (d1 floordiv 16, d1 mod 16)>
// CHECK-DAG: #[[BELOW:.*]] = affine_map<(d0, d1)[s0, s1] -> (d0 + 2, d1)>
// CHECK-DAG: #[[OUTER:.*]] = affine_map<(d0, d1, d2)[s0, s1] -> (d0 floordiv 4)>
// CHECK-DAG: #[[INNER:.*]] = affine_map<(d0, d1, d2)[s0, s1] -> (d1 floordiv 16, d2)>
// CHECK-DAG: #[[LATER:.*]] = affine_map<(d0, d1, d2)[s0, s1] -> (d0, d1, d2 + 4)>
// CHECK-DAG: #[[TILE:.*]] = affine_map<(d0, d1, d2)[s0, s1] -> (d0 mod 4, d1 mod 16)>
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: poly.kernel @matmul
poly.kernel @matmul(%A: memref<?x?xf32>, %B: memref<?x64xf32>, %C: memref<?x64xf32>, %M: index, %K: index) {
  poly.compute @init dims ["i", "j"] domain [#ij] reads() writes(%C[#c] : memref<?x64xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @acc dims ["i", "j", "k"] domain [#ijk] reads(%A[#A], %B[#B], %C[#C] : memref<?x?xf32>, memref<?x64xf32>, memref<?x64xf32>) writes(%C[#C] : memref<?x64xf32>) reduction add {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    poly.yield %s : f32
  }
  // CHECK: poly.band [@init] maps [#{{.*}}] loops [parallel] names ["i"] {
  // CHECK-NEXT: poly.prefetch @init write 0 at #[[BELOW]] bytes 256 {
  // CHECK-NEXT: poly.band [@init] maps [#[[LANES]]] loops [unroll, vector(16)] names ["j.0", "j.1"]
  // Full tiles of "i.0" have code of their own, with four copies.
  // CHECK: poly.band [@acc] maps [#[[OUTER]]] loops [sequential] names ["i.0"] full_tiles {
  // CHECK: poly.band [@acc] maps [#[[INNER]]] loops [sequential, sequential] names ["j.0", "k"] {
  // CHECK-NEXT: poly.prefetch @acc read 1 at #[[LATER]] bytes 128 {
  // CHECK-NEXT: poly.band [@acc] maps [#[[TILE]]] loops [unroll, vector(16)] names ["i.1", "j.1"]
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @matmul::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.vectorize %init loop "j" width 16 : !transform.any_op
  transform.poly.unroll %init loop "j.0" : !transform.any_op
  transform.poly.parallelize %init loop "i" : !transform.any_op
  transform.poly.prefetch %init write 0 loop "i" distance 2 bytes 256 : !transform.any_op
  %acc = transform.poly.computation @matmul::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.parallelize %acc loop "i" : !transform.any_op
  transform.poly.serialize %acc loop "i" : !transform.any_op
  transform.poly.vectorize %acc loop "j" width 16 : !transform.any_op
  transform.poly.unroll_and_jam %acc loop "i" factor 4 : !transform.any_op
  transform.poly.prefetch %acc read 1 loop "k" distance 4 bytes 128 : !transform.any_op
  transform.yield
}
}

// -----

#short = affine_set<(i) : (i >= 0, 1 - i >= 0)>
#long = affine_set<(i) : (i >= 0, 5 - i >= 0)>
#id = affine_map<(i) -> (i)>

// Computations that share a loop share its lanes: the longest decides whether
// it is cut.
// CHECK-DAG: #[[CUT:.*]] = affine_map<(d0) -> (d0 floordiv 2, d0 mod 2)>
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: poly.kernel @shared
poly.kernel @shared(%A: memref<?xf32>, %B: memref<?xf32>) {
  poly.compute @a dims ["i"] domain [#long] reads(%A[#id] : memref<?xf32>) writes(%A[#id] : memref<?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @b dims ["i"] domain [#short] reads(%B[#id] : memref<?xf32>) writes(%B[#id] : memref<?xf32>) interleaved 1 {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  // CHECK: poly.band [@a, @b] maps [#[[CUT]], #[[CUT]]] loops [sequential, vector(2)] names ["i.0", "i.1"]
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %b = transform.poly.computation @shared::@b of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.vectorize %b loop "i" width 2 : !transform.any_op
  transform.yield
}
}

// -----

#ij = affine_set<(i, j) : (i >= 0, 7 - i >= 0, j >= 0, 63 - j >= 0)>
#ijk = affine_set<(i, j, k) : (i >= 0, 7 - i >= 0, j >= 0, 63 - j >= 0, k >= 0, 31 - k >= 0)>
#c = affine_map<(i, j) -> (i, j)>

// A place of its own: each of four tiles of rows fetches a quarter of the next
// panel; and the rows of a copy that runs elsewhere.
// CHECK-DAG: #[[SHARE:.*]] = affine_map<(d0, d1, d2) -> (d0, d1 + 16, (d0 floordiv 2) * 8 + d2 floordiv 4)>
// CHECK-DAG: #[[NEXT:.*]] = affine_map<(d0, d1, d2) -> (d0 + 1, d2)>
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: poly.kernel @shares
poly.kernel @shares(%A: memref<8x64xf32>, %B: memref<32x64xf32>, %C: memref<8x64xf32>) {
  %t = poly.array : memref<8x64xf32>
  poly.compute @copy dims ["i", "j"] domain [#ij] reads(%A[#c] : memref<8x64xf32>) writes(%t[#c] : memref<8x64xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @acc dims ["i", "j", "k"] domain [#ijk]
      reads(%t[affine_map<(i, j, k) -> (i, k)>], %B[affine_map<(i, j, k) -> (k, j)>], %C[affine_map<(i, j, k) -> (i, j)>]
            : memref<8x64xf32>, memref<32x64xf32>, memref<8x64xf32>)
      writes(%C[affine_map<(i, j, k) -> (i, j)>] : memref<8x64xf32>) reduction add {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    poly.yield %s : f32
  }
  // CHECK: poly.band [@acc]
  // CHECK-NEXT: poly.prefetch @acc read 0 of @copy at #[[NEXT]] bytes 64 {
  // CHECK-NEXT: poly.band [@acc] maps [#{{.*}}] loops [sequential, sequential] names ["j", "k"] {
  // CHECK-NEXT: poly.prefetch @acc read 1 at #[[SHARE]] bytes 64{{$}}
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @shares::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.prefetch %acc read 1 loop "k" at affine_map<(i, j, k) -> (i, j + 16, (i floordiv 2) * 8 + k floordiv 4)> : !transform.any_op
  transform.poly.prefetch %acc read 0 of @copy loop "i" at affine_map<(i, j, k) -> (i + 1, k)> : !transform.any_op
  transform.yield
}
}
