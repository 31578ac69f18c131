// RUN: espalier-opt %s -transform-interpreter -split-input-file | FileCheck %s

#i = affine_map<(i)[N] -> (i)>
#west = affine_map<(i)[N] -> (i - 1)>
#all = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#inner = affine_set<(i)[N] : (i - 1 >= 0, N - 2 - i >= 0)>

// A value that is used twice is computed twice; what both read is read once.
// CHECK-DAG: #[[WEST:.*]] = affine_map<(d0)[s0] -> (d0 - 1)>
// CHECK-DAG: #[[SELF:.*]] = affine_map<(d0)[s0] -> (d0)>
// CHECK-LABEL: poly.kernel @twice
module attributes {transform.with_named_sequence} {
poly.kernel @twice(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>, %N: index) {
  // CHECK-NOT: poly.array
  // CHECK-NOT: @square
  %t = poly.array(%N) : memref<?xf32>
  poly.compute @square dims ["i"] domain [#all] reads(%x[#i] : memref<?xf32>) writes(%t[#i] : memref<?xf32>) {
  ^bb0(%a: f32):
    %r = arith.mulf %a, %a : f32
    poly.yield %r : f32
  }
  // CHECK: poly.compute @difference
  // CHECK-SAME: reads(%[[X:.*]][#[[WEST]]], %[[X]][#[[SELF]]] : memref<?xf32>, memref<?xf32>)
  // CHECK-NEXT: ^bb0(%[[W:.*]]: f32, %[[C:.*]]: f32):
  // CHECK-DAG:    %[[WW:.*]] = arith.mulf %[[W]], %[[W]]
  // CHECK-DAG:    %[[CC:.*]] = arith.mulf %[[C]], %[[C]]
  // CHECK:        arith.subf %[[CC]], %[[WW]]
  poly.compute @difference dims ["i"] domain [#inner] reads(%t[#west], %t[#i] : memref<?xf32>, memref<?xf32>) writes(%y[#i] : memref<?xf32>) {
  ^bb0(%w: f32, %c: f32):
    %r = arith.subf %c, %w : f32
    poly.yield %r : f32
  }
  // CHECK: poly.compute @copy {{.*}} reads(%[[X]][#[[SELF]]]
  poly.compute @copy dims ["i"] domain [#all] reads(%t[#i] : memref<?xf32>) writes(%z[#i] : memref<?xf32>) {
  ^bb0(%c: f32):
    poly.yield %c : f32
  }
  // CHECK:      poly.sequence
  // CHECK-NEXT:   poly.filter [@difference]
  // CHECK:        poly.filter [@copy]
  // CHECK-NOT:    poly.filter
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %square = transform.poly.computation @twice::@square of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.inline %square : !transform.any_op
  transform.yield
}
}

// -----

#ij = affine_map<(i, j)[M, N] -> (i, j)>
#flip = affine_map<(i, j)[M, N] -> (N - 1 - j, i)>
#from = affine_map<(a, b)[M, N] -> (b, a)>
#points = affine_set<(i, j)[M, N] : (i >= 0, M - 1 - i >= 0, j >= 0, N - 1 - j >= 0)>
#flipped = affine_set<(a, b)[M, N] : (b >= 0, M - 1 - b >= 0, a >= 0, N - 1 - a >= 0)>

// Indices, indirect reads and the kernel's scalars follow; a sequence of one is
// no sequence.
// CHECK-DAG: #[[TABLE:.*]] = affine_map<(d0, d1)[s0, s1] -> (d0)>
// CHECK-DAG: #[[VALUE:.*]] = affine_map<(d0, d1)[s0, s1, s2] -> (-d1 + s1 - 1, s2)>
// CHECK-LABEL: poly.kernel @composed
module attributes {transform.with_named_sequence} {
poly.kernel @composed(%table: memref<?xi32>, %x: memref<?x?xf32>, %y: memref<?x?xf32>, %M: index, %N: index, %scale: f32) {
  %t = poly.array(%N, %M) : memref<?x?xf32>
  poly.compute @gather dims ["a", "b"] domain [#flipped]
      reads(%table[affine_map<(a, b)[M, N] -> (b)>], %x[affine_map<(a, b)[M, N, at] -> (a, at)>] : memref<?xi32>, memref<?x?xf32>)
      writes(%t[affine_map<(a, b)[M, N] -> (a, b)>] : memref<?x?xf32>) {
  ^bb0(%at: i32, %a: f32):
    %i = poly.index 0
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %s = arith.mulf %a, %scale : f32
    %r = arith.addf %s, %f : f32
    poly.yield %r : f32
  }
  // CHECK: poly.compute @use
  // CHECK-SAME: reads(%{{.*}}[#[[TABLE]]], %{{.*}}[#[[VALUE]]]
  // CHECK-NEXT: ^bb0(%{{.*}}: i32, %[[A:.*]]: f32):
  // CHECK:        %[[J:.*]] = poly.index 1
  // CHECK:        arith.muli %[[J]], %c-1
  // CHECK:        %[[S:.*]] = arith.mulf %[[A]], %arg5
  poly.compute @use dims ["i", "j"] domain [#points] reads(%t[#flip] : memref<?x?xf32>) writes(%y[#ij] : memref<?x?xf32>) {
  ^bb0(%c: f32):
    poly.yield %c : f32
  }
  // CHECK:      poly.schedule {
  // CHECK-NEXT:   poly.band [@use]
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %gather = transform.poly.computation @composed::@gather of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.inline %gather : !transform.any_op
  transform.yield
}
}
