// RUN: espalier-opt %s -transform-interpreter | FileCheck %s

// What is chosen for statements stands in attributes, the last choice if there
// are several.
// CHECK: #[[PANELS:.*]] = affine_map<(d0, d1) -> (d1 floordiv 4, d0, d1 mod 4)>
// CHECK: #[[COLUMNS:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK: poly.compute @acc {{.*}} attributes {poly.algorithm = "direct"}
// CHECK: memref.get_global @weights : memref<5x6xf32> {poly.layout = #[[PANELS]]}
// CHECK: memref.alloc() {poly.fusion = "separate", poly.layout = #[[COLUMNS]]}
#box = affine_set<(i, j, k) : (i >= 0, 3 - i >= 0, j >= 0, 5 - j >= 0, k >= 0, 4 - k >= 0)>
module attributes {espalier.stage = "statements", transform.with_named_sequence} {
memref.global "private" constant @weights : memref<5x6xf32> = dense<1.0>
poly.kernel private @product(%a: memref<4x5xf32>, %b: memref<5x6xf32>, %c: memref<4x6xf32>) {
  poly.compute @acc domain [#box]
      reads(%a[affine_map<(i, j, k) -> (i, k)>], %b[affine_map<(i, j, k) -> (k, j)>], %c[affine_map<(i, j, k) -> (i, j)>] : memref<4x5xf32>, memref<5x6xf32>, memref<4x6xf32>)
      writes(%c[affine_map<(i, j, k) -> (i, j)>] : memref<4x6xf32>) reduction add {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    poly.yield %1 : f32
  }
}
func.func @main(%a: memref<4x5xf32>) {
  %b = memref.get_global @weights : memref<5x6xf32>
  %c = memref.alloc() : memref<4x6xf32>
  poly.call @product(%a, %b, %c) : memref<4x5xf32>, memref<5x6xf32>, memref<4x6xf32>
  return
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @product::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.algorithm %acc direct : !transform.any_op
  transform.poly.buffer_layout %acc affine_map<(i, j) -> (j, i)> : !transform.any_op
  transform.poly.fusion %acc fused : !transform.any_op
  transform.poly.fusion %acc separate : !transform.any_op
  transform.poly.buffer_layout %acc read 1 affine_map<(k, j) -> (j floordiv 4, k, j mod 4)> : !transform.any_op
  transform.yield
}
}
