// RUN: espalier-opt %s -transform-interpreter -split-input-file --remark-format=emitRemark --remarks-filter=poly-schedule 2>&1 | FileCheck %s

#points = affine_set<(i, j)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, N - 1 - j >= 0)>
#inner = affine_set<(i, j)[N] : (i - 1 >= 0, N - 3 - i >= 0, j >= 0, N - 1 - j >= 0)>
#same = affine_map<(i, j)[N] -> (i, j)>
#above = affine_map<(i, j)[N] -> (i - 1, j)>
#below = affine_map<(i, j)[N] -> (i + 2, j)>

// What reads two rows ahead is delayed by two rows. Loops of the second whose
// names are taken get new ones.
// CHECK: remark: [Passed] Fused | Category:poly-schedule | {{.*}}Delay=2
// CHECK-DAG: #[[SAME:.*]] = affine_map<(d0, d1)[s0] -> (d0)>
// CHECK-DAG: #[[DELAYED:.*]] = affine_map<(d0, d1)[s0] -> (d0 + 2)>
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: poly.kernel @rows
poly.kernel @rows(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>, %N: index) {
  poly.compute @make dims ["i", "j"] domain [#points] reads(%A[#same] : memref<?x?xf32>) writes(%B[#same] : memref<?x?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @use dims ["x", "i"] domain [#inner] reads(%B[#above], %B[#below] : memref<?x?xf32>, memref<?x?xf32>) writes(%C[#same] : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    poly.yield %s : f32
  }
  // CHECK: poly.schedule {
  // CHECK-NEXT: poly.band [@make, @use] maps [#[[SAME]], #[[DELAYED]]] loops [sequential] names ["i"] {
  // CHECK-NEXT: poly.sequence {
  // CHECK-NEXT: poly.filter [@make] {
  // CHECK-NEXT: poly.band [@make] {{.*}} names ["j"]
  // CHECK: poly.filter [@use] {
  // CHECK-NEXT: poly.band [@use] {{.*}} names ["i.use"]
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %make = transform.poly.computation @rows::@make of %module : (!transform.any_op) -> !transform.any_op
  %use = transform.poly.computation @rows::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fuse %make with %use loops 1 : !transform.any_op, !transform.any_op
  transform.yield
}
}
