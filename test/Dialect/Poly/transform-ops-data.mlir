// RUN: espalier-opt %s -transform-interpreter -split-input-file | FileCheck %s

#ij = affine_set<(i, j)[M, N] : (i >= 0, M - 1 - i >= 0, j >= 0, N - 1 - j >= 0)>
#tiles = affine_map<(i, j)[M, N] -> (i floordiv 32, j floordiv 16, i mod 32, j mod 16)>

// The tile of a transposition, with a row of padding.
// CHECK-DAG: #[[STORAGE:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
// CHECK-DAG: #[[FROM:.*]] = affine_map<(d0, d1, d2, d3)[s0, s1] -> (d1 * 16 + d2, d0 * 32 + d3)>
// CHECK-DAG: #[[USE:.*]] = affine_map<(d0, d1)[s0, s1] -> (d0 floordiv 32, d1 floordiv 16, d1 mod 16, d0 mod 32)>
// CHECK-LABEL: poly.kernel @transpose
module attributes {transform.with_named_sequence} {
poly.kernel @transpose(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %M: index, %N: index) {
  // CHECK: %[[TILE:.*]] = poly.array : memref<?x?x16x32xf32> storage #[[STORAGE]] as memref<32x16xf32>
  // CHECK: poly.compute @copy_in0 dims ["i.0", "j.0", "e0", "e1"]
  // CHECK-SAME: reads(%{{.*}}[#[[FROM]]] : memref<?x?xf32>) writes(%[[TILE]][
  // CHECK: poly.compute @copy dims ["i", "j"]
  // CHECK-SAME: reads(%[[TILE]][#[[USE]]]
  poly.compute @copy dims ["i", "j"] domain [#ij] reads(%A[affine_map<(i, j)[M, N] -> (j, i)>] : memref<?x?xf32>)
      writes(%B[affine_map<(i, j)[M, N] -> (i, j)>] : memref<?x?xf32>) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  // CHECK: poly.band [@copy, @copy_in0] maps {{.*}} names ["i.0", "j.0"]
  // CHECK-NEXT: poly.sequence
  // CHECK-NEXT: poly.filter [@copy_in0]
  // CHECK-NEXT: poly.band [@copy_in0] maps {{.*}} names ["e0", "e1"]
  // CHECK: poly.filter [@copy]
  // CHECK-NEXT: poly.band [@copy] maps {{.*}} names ["i.1", "j.1"]
  poly.schedule {
    poly.band [@copy] maps [#tiles] loops [sequential, sequential, sequential, sequential] names ["i.0", "j.0", "i.1", "j.1"]
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %copy = transform.poly.computation @transpose::@copy of %module : (!transform.any_op) -> !transform.any_op
  %tile, %in = transform.poly.cache_read %copy read 0 at "j.0" layout affine_map<(j, i) -> (i, j)>
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.poly.place %tile heap : !transform.any_op
  transform.yield
}
}

// -----

#points = affine_set<(t, i)[T, N] : (t >= 0, T - 1 - t >= 0, i - 1 >= 0, N - 2 - i >= 0)>
#blocks = affine_map<(t, i)[T, N] -> (t, i floordiv 30, i mod 30)>

// Two accesses, one box: a tile and its halo.
// CHECK-DAG: #[[HALO:.*]] = affine_map<(d0, d1, d2, d3)[s0, s1] -> (d0 + d2, d1 * 30 + d3 - 1)>
// CHECK-LABEL: poly.kernel @halo
module attributes {transform.with_named_sequence} {
poly.kernel @halo(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %T: index, %N: index) {
  // CHECK: poly.array stack : memref<?x?x1x32xf32> {{.*}} as memref<1x32xf32>
  // CHECK: poly.compute @step_in1 {{.*}} reads(%{{.*}}[#[[HALO]]]
  poly.compute @step dims ["t", "i"] domain [#points]
      reads(%A[affine_map<(t, i)[T, N] -> (t, i - 1)>], %A[affine_map<(t, i)[T, N] -> (t, i + 1)>] : memref<?x?xf32>, memref<?x?xf32>)
      writes(%B[affine_map<(t, i)[T, N] -> (t, i)>] : memref<?x?xf32>) {
  ^bb0(%w: f32, %e: f32):
    %s = arith.addf %w, %e : f32
    poly.yield %s : f32
  }
  poly.schedule {
    poly.band [@step] maps [#blocks] loops [sequential, parallel, sequential] names ["t", "b", "i"]
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %step = transform.poly.computation @halo::@step of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.cache_read %step read 1 at "b" : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}
}

// -----

// What the whole kernel reads: a loop is not needed.
// CHECK: #[[EXTENTS:.*]] = affine_map<()[s0] -> ((s0 - 1) floordiv 16 + 1)>
// CHECK-LABEL: poly.kernel @whole
module attributes {transform.with_named_sequence} {
poly.kernel @whole(%A: memref<?xf32>, %B: memref<?xf32>, %N: index) {
  // CHECK: poly.array : memref<?xf32> storage #{{.*}} as memref<?x16xf32> extents #[[EXTENTS]]
  poly.compute @copy dims ["i"] domain [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>]
      reads(%A[affine_map<(i)[N] -> (i)>] : memref<?xf32>) writes(%B[affine_map<(i)[N] -> (i)>] : memref<?xf32>) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %copy = transform.poly.computation @whole::@copy of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.cache_read %copy read 0 layout affine_map<(i) -> (i floordiv 16, i mod 16)>
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}
}
