// RUN: espalier-opt %s -convert-graph-to-poly -poly-inline-maps -poly-fold-constants -poly-separate-groups -split-input-file | FileCheck %s
// RUN: espalier-opt %s -convert-graph-to-poly -poly-form-kernels -poly-name-kernels -split-input-file | FileCheck %s --check-prefix=FORMED

// Groups of 20 features and 6 channels are a dimension of their own, in the weights as
// well. The activation behind the sum runs over the same points.
// CHECK-DAG:   #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1 * 6 + d5, d3 + d6, d4 + d7)>
// CHECK-DAG:   #[[WEIGHTS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1, d2, d5, d6, d7)>
// CHECK-DAG:   #[[PARTS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1 floordiv 20, d1 mod 20, d2, d3)>
// CHECK:       memref.global {{.*}} : memref<2x20x6x1x1xf32>
// CHECK:       reads(%{{.*}}[#[[IMAGE]]], %{{.*}}[#[[WEIGHTS]]]
// CHECK:       reads(%{{.*}}[#[[PARTS]]] : memref<1x2x20x5x5xf32>)
// CHECK:       arith.maximumf
// FORMED-DAG:  #[[WHOLE:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 * 20 + d2, d3, d4)>
// FORMED:      poly.kernel private @conv_relu_{{[0-9a-f]+}}(%{{.*}}, %{{.*}}: memref<2x1x1x1x6x32xf32>
// FORMED:        poly.array : memref<1x2x5x5x20xf32>
// FORMED:        writes(%{{.*}}[#[[WHOLE]]] : memref<1x40x5x5xf32>)
// FORMED-NEXT:   ^bb0
// FORMED:        arith.maximumf
// FORMED-NOT:  poly.kernel
// FORMED:      func.func @main
#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<1x12x5x5xf32>) -> tensor<1x40x5x5xf32> {
    %w = graph.constant dense_resource<w> : tensor<40x6x1x1xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 2}
        : (tensor<1x12x5x5xf32>, tensor<40x6x1x1xf32>) -> tensor<1x40x5x5xf32>
    %1 = graph.relu %0 : (tensor<1x40x5x5xf32>) -> tensor<1x40x5x5xf32>
    return %1 : tensor<1x40x5x5xf32>
  }
}

// -----

// Rows of 16 pixels fill lanes that 20 features do not, and share vectors over the
// three taps.
// CHECK:      memref.global {{.*}} : memref<40x6x3x3xf32>
// CHECK-NOT:  mod 20
// FORMED:     poly.array : memref<1x40x16x16xf32>
#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<1x12x18x18xf32>) -> tensor<1x40x16x16xf32> {
    %w = graph.constant dense_resource<w> : tensor<40x6x3x3xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 2}
        : (tensor<1x12x18x18xf32>, tensor<40x6x3x3xf32>) -> tensor<1x40x16x16xf32>
    return %0 : tensor<1x40x16x16xf32>
  }
}

// -----

// All results are seen as they were, by a pooling too.
// CHECK-DAG:  #[[PARTS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1 floordiv 20, d1 mod 20, d2, d3)>
// CHECK:      reads(%{{.*}}[#[[PARTS]]]
// CHECK:      memref<1x40x4x4xf32>) reduction max
#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<1x12x5x5xf32>) -> tensor<1x40x4x4xf32> {
    %w = graph.constant dense_resource<w> : tensor<40x6x1x1xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 2}
        : (tensor<1x12x5x5xf32>, tensor<40x6x1x1xf32>) -> tensor<1x40x5x5xf32>
    %1 = graph.max_pool %0 {ceil_mode = false, kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>}
        : (tensor<1x40x5x5xf32>) -> tensor<1x40x4x4xf32>
    return %1 : tensor<1x40x4x4xf32>
  }
}
