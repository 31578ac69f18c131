// RUN: espalier-opt %s -transform-interpreter -split-input-file | FileCheck %s

#ij = affine_map<(i, j)[M, N] -> (i, j)>
#points = affine_set<(i, j)[M, N] : (i >= 0, M - 1 - i >= 0, j >= 0, N - 1 - j >= 0)>

// Blocks of columns: first of the array's indices, then of what lies there.
// CHECK-DAG: #[[BLOCKS:.*]] = affine_map<(d0, d1) -> (d1 floordiv 16, d0, d1 mod 16)>
// CHECK-DAG: #[[EXTENTS:.*]] = affine_map<()[s0, s1] -> ((s1 - 1) floordiv 16 + 1, s0 + 3)>
// CHECK-DAG: #[[TURNED:.*]] = affine_map<(d0, d1) -> (d1 mod 16, d1 floordiv 16, d0)>
// CHECK-DAG: #[[ROUNDED:.*]] = affine_map<()[s0, s1] -> ((s1 - 1) floordiv 16 + 1, (s0 ceildiv 8) * 8)>
// CHECK-LABEL: poly.kernel @layouts
module attributes {transform.with_named_sequence} {
poly.kernel @layouts(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %M: index, %N: index) {
  // CHECK: poly.array(%{{.*}}, %{{.*}}) : memref<?x?xf32> storage #[[BLOCKS]] as memref<?x?x16xf32> extents #[[EXTENTS]]
  %t = poly.array(%M, %N) : memref<?x?xf32>
  // CHECK: poly.array(%{{.*}}, %{{.*}}) : memref<?x?xf32> storage #[[TURNED]] as memref<16x?x?xf32> extents #[[ROUNDED]]
  %u = poly.array(%M, %N) : memref<?x?xf32>
  poly.compute @make dims ["i", "j"] domain [#points] reads(%A[#ij] : memref<?x?xf32>) writes(%t[#ij] : memref<?x?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @pass dims ["i", "j"] domain [#points] reads(%t[#ij] : memref<?x?xf32>) writes(%u[#ij] : memref<?x?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @use dims ["i", "j"] domain [#points] reads(%u[#ij] : memref<?x?xf32>) writes(%B[#ij] : memref<?x?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %make = transform.poly.computation @layouts::@make of %module : (!transform.any_op) -> !transform.any_op
  %pass = transform.poly.computation @layouts::@pass of %module : (!transform.any_op) -> !transform.any_op
  %t = transform.poly.written_array of %make : (!transform.any_op) -> !transform.any_op
  %u = transform.poly.written_array of %pass : (!transform.any_op) -> !transform.any_op
  transform.poly.layout %t by affine_map<(i, j) -> (j floordiv 16, i, j mod 16)> padding [0, 3, 0] : !transform.any_op
  transform.poly.layout %u by affine_map<(i, j) -> (j floordiv 16, i, j mod 16)> : !transform.any_op
  transform.poly.layout %u by affine_map<(block, i, in) -> (in, block, i)> multiples [1, 1, 8] : !transform.any_op
  transform.yield
}
}

// -----

#points = affine_set<(i, j, k)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, N - 1 - j >= 0, k >= 0, N - 1 - k >= 0)>

// Panels of B.
// CHECK: #[[PANELS:.*]] = affine_map<(d0, d1, d2) -> (d2 floordiv 16, d1, d2 mod 16)>
// CHECK-LABEL: poly.kernel @panels
module attributes {transform.with_named_sequence} {
poly.kernel @panels(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>, %N: index) {
  // CHECK: poly.array stack : memref<?x8x32xf32> storage #[[PANELS]] as memref<2x8x16xf32>
  poly.compute @acc dims ["i", "j", "k"] domain [#points]
      reads(%A[affine_map<(i, j, k)[N] -> (i, k)>], %B[affine_map<(i, j, k)[N] -> (k mod 8, j mod 32)>], %C[affine_map<(i, j, k)[N] -> (i, j)>] : memref<?x?xf32>, memref<?x?xf32>, memref<?x?xf32>)
      writes(%C[affine_map<(i, j, k)[N] -> (i, j)>] : memref<?x?xf32>) reduction add {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    poly.yield %s : f32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @panels::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.pack %acc read 1 blocks [0, 16] order [1, 0, 2] at "i" : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}
}

// -----

#one = affine_map<(i, j)[N] -> (0)>
#ij = affine_map<(i, j)[N] -> (i, j)>
#points = affine_set<(i, j)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, N - 1 - j >= 0)>

// A scalar that every point uses: one for each, in a register.
// CHECK: #[[PLACE:.*]] = affine_map<(d0, d1)[s0] -> (d0, d1, 0)>
// CHECK-LABEL: poly.kernel @scalar
module attributes {transform.with_named_sequence} {
poly.kernel @scalar(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %N: index) {
  // CHECK: %[[T:.*]] = poly.array register : memref<?x?x1xf32> storage #{{.*}} as memref<1xf32>
  %t = poly.array : memref<1xf32>
  // CHECK: poly.compute @make {{.*}} writes(%[[T]][#[[PLACE]]]
  poly.compute @make dims ["i", "j"] domain [#points] reads(%A[#ij] : memref<?x?xf32>) writes(%t[#one] : memref<1xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  // CHECK: poly.compute @use {{.*}} reads(%[[T]][#[[PLACE]]], %[[T]][#[[PLACE]]]
  poly.compute @use dims ["i", "j"] domain [#points] reads(%t[#one], %t[#one] : memref<1xf32>, memref<1xf32>) writes(%B[#ij] : memref<?x?xf32>) interleaved 2 {
  ^bb0(%a: f32, %b: f32):
    %s = arith.mulf %a, %b : f32
    poly.yield %s : f32
  }
  // CHECK: poly.band [@make, @use] {{.*}} loops [parallel] names ["i"]
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %make = transform.poly.computation @scalar::@make of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.privatize %make loop "j" place register : !transform.any_op
  transform.poly.parallelize %make loop "i" : !transform.any_op
  transform.yield
}
}

// -----

#points = affine_set<(i, k)[N] : (i >= 0, N - 1 - i >= 0, k >= 0, N - 1 - k >= 0)>
#line = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>

// The initialization of eight sums in front of their updates, then blocks of
// four of these in registers.
// CHECK-LABEL: poly.kernel @sums
module attributes {transform.with_named_sequence} {
poly.kernel @sums(%A: memref<?x?xf32>, %s: memref<?xf32>, %N: index) {
  // CHECK: poly.array register : {{.*}} as memref<4xf32>
  poly.compute @zero dims ["i"] domain [#line] reads() writes(%s[affine_map<(i)[N] -> (i)>] : memref<?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @acc dims ["i", "k"] domain [#points]
      reads(%A[affine_map<(i, k)[N] -> (k, i)>], %s[affine_map<(i, k)[N] -> (i)>] : memref<?x?xf32>, memref<?xf32>)
      writes(%s[affine_map<(i, k)[N] -> (i)>] : memref<?xf32>) reduction add {
  ^bb0(%a: f32, %c: f32):
    %r = arith.addf %c, %a : f32
    poly.yield %r : f32
  }
  // CHECK:      poly.band [@acc, @zero, @acc_in, @acc_out] {{.*}} names ["i.0"] {
  // CHECK-NEXT:   poly.sequence
  // CHECK-NEXT:     poly.filter [@zero]
  // CHECK-NEXT:       poly.band [@zero] {{.*}} names ["i.zero"]
  // CHECK:          poly.filter [@acc, @acc_in, @acc_out]
  // CHECK-NEXT:       poly.band [@acc, @acc_in, @acc_out] {{.*}} names ["i.1.0"] full_tiles
  // CHECK-NEXT:         poly.sequence
  // CHECK-NEXT:           poly.filter [@acc_in]
  // CHECK-NEXT:             poly.band [@acc_in] {{.*}} loops [vector(4)] names ["e0"]
  // CHECK:                poly.filter [@acc]
  // CHECK-NEXT:             poly.band [@acc] {{.*}} loops [sequential, vector(4)] names ["k", "i.1.1"]
  // CHECK:                poly.filter [@acc_out]
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @sums::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.split %acc loop "i" factors [8] : !transform.any_op
  transform.poly.decompose %acc loop "i.1" : !transform.any_op
  transform.poly.register_block %acc loops ["i.1"] sizes [4] width 4 : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.yield
}
}
