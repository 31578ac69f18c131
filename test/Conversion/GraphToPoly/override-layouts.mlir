// RUN: espalier-opt %s -poly-apply-layouts | FileCheck %s

// A layout between kernels is an attribute, whoever has chosen it.

// CHECK: #[[PANELS:.*]] = affine_map<(d0, d1) -> (d1 floordiv 16, d0, d1 mod 16)>
// CHECK: poly.compute {{.*}} writes(%{{.*}}[#[[PANELS]]] : memref<2x4x16xf32>)
// CHECK: poly.compute {{.*}} reads(%{{.*}}[#[[PANELS]]] : memref<2x4x16xf32>)
// CHECK: memref.alloc() {{.*}} : memref<2x4x16xf32>
// CHECK-NOT: poly.layout
#box = affine_set<(i, j) : (i >= 0, 3 - i >= 0, j >= 0, 19 - j >= 0)>
#id = affine_map<(i, j) -> (i, j)>
poly.kernel private @k(%x: memref<4x20xf32>, %y: memref<4x20xf32>) attributes {poly.shared_dims = 2 : i64} {
  poly.compute @s domain [#box] reads(%x[#id] : memref<4x20xf32>) writes(%y[#id] : memref<4x20xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
func.func @main(%x: memref<4x20xf32>, %y: memref<4x20xf32>) attributes {espalier.num_inputs = 1 : i64} {
  %z = memref.alloc() {poly.layout = affine_map<(i, j) -> (j floordiv 16, i, j mod 16)>} : memref<4x20xf32>
  poly.call @k(%x, %z) : memref<4x20xf32>, memref<4x20xf32>
  poly.call @k(%z, %y) : memref<4x20xf32>, memref<4x20xf32>
  return
}
func.func @main_plan(%m: index, %n: index) -> (index, index) {
  return %m, %n : index, index
}
