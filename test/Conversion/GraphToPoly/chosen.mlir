// RUN: espalier-opt %s -espalier-statements -transform-interpreter | FileCheck %s --check-prefix=FACTS
// RUN: espalier-opt %s -espalier-statements -transform-interpreter -poly-assign-layouts -poly-assign-layouts | FileCheck %s --check-prefix=KEPT
// RUN: espalier-opt %s -espalier-statements -transform-interpreter -espalier-poly | FileCheck %s
// RUN: espalier-opt %s -espalier-statements -espalier-poly | FileCheck %s --check-prefix=DEFAULT
// RUN: sed 's/conv winograd/conv direct/' %s | espalier-opt -espalier-statements -transform-interpreter -espalier-poly | FileCheck %s --check-prefix=DIRECT

// What is chosen for statements is kept where kernels are formed of them: eight
// channels would not pay for transforms, and weights lie in panels of two
// vectors by default.

// FACTS: espalier.stage = "statements"
// FACTS: poly.compute @s0 {{.*}} attributes {poly.algorithm = "winograd"}
// FACTS: memref.get_global @constant_1 : memref<40x48xf32> {poly.layout = #{{.*}}}
// FACTS: memref.alloc() {{.*}}poly.layout

// KEPT-DAG: #[[PANELS:.*]] = affine_map<(d0, d1) -> (d1 floordiv 16, d0, d1 mod 16)>
// KEPT-DAG: #[[COLUMNS:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// KEPT: memref.get_global @constant_1 : memref<40x48xf32> {poly.layout = #[[PANELS]]}
// KEPT: memref.alloc() {{.*}}poly.layout = #[[COLUMNS]]} : memref<4x48xf32>

// CHECK: espalier.stage = "poly"
// CHECK: memref.global {{.*}} : memref<3x40x16xf32>
// CHECK-LABEL: poly.kernel private @conv_relu_
// CHECK-COUNT-4: arith.maximumf

// DEFAULT: memref.global {{.*}} : memref<2x40x32xf32>
// DEFAULT-LABEL: poly.kernel private @conv_relu_
// DEFAULT-COUNT-1: arith.maximumf
// DEFAULT-NOT: arith.maximumf

// DIRECT-LABEL: poly.kernel private @conv_relu_
// DIRECT-COUNT-1: arith.maximumf
// DIRECT-NOT: arith.maximumf
module attributes {transform.with_named_sequence, poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<1x8x8x8xf32>, %m: tensor<4x40xf32>) -> (tensor<1x16x6x6xf32>, tensor<4x48xf32>) {
    %a = graph.constant dense<0.5> : tensor<16x8x3x1xf32>
    %b = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    %w = graph.add %a, %b : (tensor<16x8x3x1xf32>, tensor<3xf32>) -> tensor<16x8x3x3xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x8x8xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x6x6xf32>
    %1 = graph.relu %0 : (tensor<1x16x6x6xf32>) -> tensor<1x16x6x6xf32>
    %v = graph.constant dense_resource<v> : tensor<40x48xf32>
    %2 = graph.matmul %m, %v : (tensor<4x40xf32>, tensor<40x48xf32>) -> tensor<4x48xf32>
    return %1, %2 : tensor<1x16x6x6xf32>, tensor<4x48xf32>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %conv = transform.poly.computation @conv_e156cfa3::@s0 of %module : (!transform.any_op) -> !transform.any_op
    transform.poly.algorithm %conv winograd : !transform.any_op
    %product = transform.poly.computation @matmul_fb4a1f81::@s0 of %module : (!transform.any_op) -> !transform.any_op
    transform.poly.buffer_layout %product read 1 affine_map<(k, j) -> (j floordiv 16, k, j mod 16)> : !transform.any_op
    transform.poly.buffer_layout %product affine_map<(i, j) -> (j, i)> : !transform.any_op
    transform.yield
  }
}
