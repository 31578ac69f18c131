// RUN: espalier-opt %s -split-input-file -transform-interpreter | FileCheck %s

// What whole tiles leave gets the tree that they have, with smaller tiles.

#all = affine_set<(i, j, k)[M, N, K] : (i >= 0, M - 1 - i >= 0, j >= 0, N - 1 - j >= 0, k >= 0, K - 1 - k >= 0)>
// CHECK-DAG: #[[TILES:.*]] = affine_map<(d0, d1, d2)[s0, s1, s2] -> (d1 floordiv 32)>
// CHECK-DAG: #[[WHOLE:.*]] = affine_set<(d0, d1, d2)[s0, s1, s2] : (-d0 + (s0 floordiv 14) * 14 - 1 >= 0)>
// CHECK-DAG: #[[LEFT:.*]] = affine_set<(d0, d1, d2)[s0, s1, s2] : (d0 - (s0 floordiv 14) * 14 >= 0)>
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1, d2)[s0, s1, s2] -> (d0 floordiv 14, d2, d0 mod 14, d1 mod 32)>
// CHECK-DAG: #[[REST:.*]] = affine_map<(d0, d1, d2)[s0, s1, s2] -> ((d0 - (s0 floordiv 14) * 14) floordiv 4, d2, (d0 - (s0 floordiv 14) * 14) mod 4, d1 mod 32)>
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: poly.kernel @matmul(
// CHECK:         poly.band [@acc] maps [#[[TILES]]] loops [parallel] names ["j.0"] {
// CHECK-NEXT:      poly.sequence {
// CHECK-NEXT:        poly.filter [@acc] where [#[[WHOLE]]] {
// CHECK-NEXT:          poly.band [@acc] maps [#[[ROWS]]] loops [sequential, sequential, unroll, vector(32)] names ["i.0", "k", "i.1", "j.1"]
// CHECK:             poly.filter [@acc] where [#[[LEFT]]] {
// CHECK-NEXT:          poly.band [@acc] maps [#[[REST]]] loops [sequential, sequential, unroll, vector(32)] names ["i.0.rest", "k.rest", "i.1.rest", "j.1.rest"]
poly.kernel @matmul(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>, %M: index, %N: index, %K: index) {
  poly.compute @acc dims ["i", "j", "k"] domain [#all]
      reads(%A[affine_map<(i, j, k)[M, N, K] -> (i, k)>], %B[affine_map<(i, j, k)[M, N, K] -> (k, j)>],
            %C[affine_map<(i, j, k)[M, N, K] -> (i, j)>] : memref<?x?xf32>, memref<?x?xf32>, memref<?x?xf32>)
      writes(%C[affine_map<(i, j, k)[M, N, K] -> (i, j)>] : memref<?x?xf32>) reduction add {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    poly.yield %s : f32
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @matmul::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tile %acc loops ["j", "i"] sizes [[32, 14]] : !transform.any_op
  transform.poly.interchange %acc loops ["j.0", "i.0", "k", "i.1", "j.1"] : !transform.any_op
  transform.poly.unroll %acc loop "i.1" : !transform.any_op
  transform.poly.vectorize %acc loop "j.1" width 32 : !transform.any_op
  transform.poly.parallelize %acc loop "j.0" : !transform.any_op
  transform.poly.retile %acc loop "i.0" by 4 : !transform.any_op
  transform.yield
}
}

// -----

// All that is left of a number is one tile; two computations share the loops;
// lanes of the rest are fewer; a rest has a rest.

#all = affine_set<(i) : (i >= 0, 45 - i >= 0)>
#i = affine_map<(i) -> (i)>
// CHECK-DAG: #[[WIDE:.*]] = affine_map<(d0) -> (d0 floordiv 16, d0 mod 16)>
// CHECK-DAG: #[[FOURS:.*]] = affine_map<(d0) -> (d0 floordiv 4 - 8, d0 mod 4)>
// CHECK-DAG: #[[LAST:.*]] = affine_map<(d0) -> (d0 floordiv 2 - 22, d0 mod 2)>
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: poly.kernel @copies(
// CHECK:         maps [#[[WIDE]]] loops [sequential, vector(16)] names ["i.0", "i.1"]
// CHECK:         maps [#[[FOURS]]] loops [sequential, vector(4)] names ["i.0.rest", "i.1.rest"]
// CHECK:         maps [#[[LAST]]] loops [sequential, vector(2)] names ["i.0.rest.rest", "i.1.rest.rest"]
poly.kernel @copies(%x: memref<46xf32>, %y: memref<46xf32>) {
  poly.compute @copy dims ["i"] domain [#all] reads(%x[#i] : memref<46xf32>) writes(%y[#i] : memref<46xf32>) {
  ^bb0(%v: f32):
    poly.yield %v : f32
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %copy = transform.poly.computation @copies::@copy of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.vectorize %copy loop "i" width 16 : !transform.any_op
  transform.poly.retile %copy loop "i.0" by 4 : !transform.any_op
  transform.poly.retile %copy loop "i.0.rest" : !transform.any_op
  transform.yield
}
}

// -----

// Tiles of tiles, of two computations: what is inside tiles stays.

#all = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>
// CHECK-DAG: #[[BLOCKS:.*]] = affine_map<(d0)[s0] -> (d0 floordiv 12 - (s0 floordiv 24) * 2, (d0 mod 12) floordiv 4, d0 mod 4)>
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: poly.kernel @both(
// CHECK:         poly.filter [@first, @second] where
// CHECK:         poly.band [@first, @second] maps [#[[BLOCKS]], #[[BLOCKS]]] loops [sequential, sequential, sequential] names ["i.0.rest", "i.1.rest", "i.2.rest"]
poly.kernel @both(%x: memref<?xf32>, %y: memref<?xf32>, %N: index) {
  poly.compute @first dims ["i"] domain [#all] reads(%x[#i] : memref<?xf32>) writes(%y[#i] : memref<?xf32>) {
  ^bb0(%v: f32):
    poly.yield %v : f32
  }
  poly.compute @second dims ["i"] domain [#all] reads(%y[#i] : memref<?xf32>) writes(%x[#i] : memref<?xf32>) {
  ^bb0(%v: f32):
    poly.yield %v : f32
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %first = transform.poly.computation @both::@first of %module : (!transform.any_op) -> !transform.any_op
  %second = transform.poly.computation @both::@second of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fuse %first with %second loops 1 : !transform.any_op, !transform.any_op
  transform.poly.tile %first loops ["i"] sizes [[24], [4]] : !transform.any_op
  transform.poly.retile %first loop "i.0" by 12 : !transform.any_op
  transform.yield
}
}

// -----

// A new nest for a part that runs some of the points.

#all = affine_set<(i, j)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, N - 1 - j >= 0)>
#ij = affine_map<(i, j)[N] -> (i, j)>
// CHECK-DAG: #[[SAME:.*]] = affine_map<(d0, d1)[s0] -> (d0, d1)>
// CHECK-DAG: #[[TURNED:.*]] = affine_map<(d0, d1)[s0] -> (d1, d0)>
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: poly.kernel @parts(
// CHECK:         maps [#[[SAME]]] loops [sequential, sequential] names ["i", "j"]
// CHECK:         maps [#[[TURNED]]] loops [sequential, sequential] names ["column", "row"]
poly.kernel @parts(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %N: index) {
  poly.compute @copy dims ["i", "j"] domain [#all] reads(%x[#ij] : memref<?x?xf32>) writes(%y[#ij] : memref<?x?xf32>) {
  ^bb0(%v: f32):
    poly.yield %v : f32
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %copy = transform.poly.computation @parts::@copy of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.peel %copy loop "i" at affine_map<()[N] -> (N - 4)> : !transform.any_op
  transform.poly.arrange %copy with [] by [affine_map<(i, j) -> (j, i)>] into ["column", "row"] at "i.peel" : !transform.any_op
  transform.yield
}
}
