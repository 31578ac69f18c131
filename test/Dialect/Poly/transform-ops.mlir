// RUN: espalier-opt %s -transform-interpreter -split-input-file | FileCheck %s

#box = affine_set<(i, j)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, 63 - j >= 0)>

// CHECK: #[[MAP:.*]] = affine_map<(d0, d1)[s0] -> (d0 floordiv 8, d0 mod 8, d1 floordiv 64, (d1 mod 64) floordiv 16, d1 mod 16)>
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: poly.kernel @split
poly.kernel @split(%A: memref<?x64xf32>, %N: index) {
  poly.compute @zero dims ["i", "j"] domain [#box] reads() writes(%A[affine_map<(i, j)[N] -> (i, j)>] : memref<?x64xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  // CHECK: poly.band [@zero] maps [#[[MAP]]] loops [sequential, sequential, sequential, parallel, sequential] names ["outer", "inner", "j.0", "j.1", "j.2"]
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %zero = transform.poly.computation @split::@zero of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.split %zero loop "i" factors [8] into ["outer", "inner"] : !transform.any_op
  transform.poly.split %zero loop "j" factors [4, 16] : !transform.any_op
  transform.poly.parallelize %zero loop "j.1" : !transform.any_op
  transform.yield
}
}

// -----

#points = affine_set<(t, i)[N] : (t >= 0, N - 1 - t >= 0, i >= 0, N - 1 - i >= 0)>

// Program order, with a computation that runs inside the loops of another.
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: poly.kernel @interleaved
poly.kernel @interleaved(%A: memref<?xf32>, %B: memref<?x?xf32>, %N: index) {
  poly.compute @row dims ["t"] domain [affine_set<(t)[N] : (t >= 0, N - 1 - t >= 0)>]
      reads() writes(%A[affine_map<(t)[N] -> (t)>] : memref<?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @all dims ["t", "i"] domain [#points] reads(%A[affine_map<(t, i)[N] -> (t)>] : memref<?xf32>)
      writes(%B[affine_map<(t, i)[N] -> (t, i)>] : memref<?x?xf32>) interleaved 1 {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  // CHECK: poly.band [@row, @all] maps {{.*}} names ["t"]
  // CHECK: poly.filter [@row]
  // CHECK: poly.filter [@all]
  // CHECK: poly.band [@all] maps {{.*}} loops [parallel] names ["i"]
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %all = transform.poly.computation @interleaved::@all of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.parallelize %all loop "i" : !transform.any_op
  transform.yield
}
}

// -----

// Loops of a schedule without names are called after what they run over.
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: poly.kernel @unnamed
poly.kernel @unnamed(%A: memref<64xf32>) {
  poly.compute @zero dims ["i"] domain [affine_set<(i) : (i >= 0, 63 - i >= 0)>] reads() writes(%A[affine_map<(i) -> (i)>] : memref<64xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.schedule {
    // CHECK: loops [sequential, parallel] names ["i", "i.1"]
    poly.band [@zero] maps [affine_map<(i) -> (i floordiv 8, i mod 8)>] loops [sequential, sequential]
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %zero = transform.poly.computation @unnamed::@zero of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.parallelize %zero loop "i.1" : !transform.any_op
  transform.yield
}
}
