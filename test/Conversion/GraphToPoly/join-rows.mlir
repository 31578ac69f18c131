// RUN: espalier-opt %s -convert-graph-to-poly -poly-form-kernels -poly-name-kernels -split-input-file | FileCheck %s

#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>

// Lanes lie along the points of each image, whose rows are joined; eight panels
// are copied before all weights pass them, and the bias and relu follow.
// CHECK-DAG:   #[[POINTS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d1 * 128 + d2 * 16 + d4)>
// CHECK-LABEL: poly.kernel private @{{.*}}memref<2x40x15360xf32>
// CHECK:         %[[PACKED:.*]] = poly.array : memref<2x120x8x40x16xf32>
// CHECK:         poly.compute @s0 {{.*}} reads(%{{.*}}[#[[POINTS]]] : memref<2x40x15360xf32>) writes(%[[PACKED]]
// CHECK:         poly.compute {{.*}} reads(%[[PACKED]]{{.*}} reduction add
// CHECK:         memref<2x60x15360xf32>)
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<2x40x60x256xf32>, %b: tensor<60x1x1xf32>) -> tensor<2x60x60x256xf32> {
    %w = graph.constant dense_resource<w> : tensor<60x40x1x1xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x40x60x256xf32>, tensor<60x40x1x1xf32>) -> tensor<2x60x60x256xf32>
    %1 = graph.add %0, %b : (tensor<2x60x60x256xf32>, tensor<60x1x1xf32>) -> tensor<2x60x60x256xf32>
    %y = graph.relu %1 : (tensor<2x60x60x256xf32>) -> tensor<2x60x60x256xf32>
    return %y : tensor<2x60x60x256xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>

// Small images pass panels of the weights.
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(%arg0: memref<2x40x15x16xf32>
// CHECK-NOT:     poly.array : memref<2x{{[0-9]+}}x{{[0-9]+}}x40x16xf32>
// CHECK-LABEL: func.func @main
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<2x40x15x16xf32>) -> tensor<2x60x15x16xf32> {
    %w = graph.constant dense_resource<w> : tensor<60x40x1x1xf32>
    %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x40x15x16xf32>, tensor<60x40x1x1xf32>) -> tensor<2x60x15x16xf32>
    return %y : tensor<2x60x15x16xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>

// The points of a tile would be six of the sixteen of each line.
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(%arg0: memref<2x40x800xf32>
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<2x40x20x40xf32>) -> tensor<2x60x20x40xf32> {
    %w = graph.constant dense_resource<w> : tensor<60x40x1x1xf32>
    %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x40x20x40xf32>, tensor<60x40x1x1xf32>) -> tensor<2x60x20x40xf32>
    return %y : tensor<2x60x20x40xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>

// Fourteen of them are most of a line.
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(%arg0: memref<2x40x20x48xf32>
// CHECK-LABEL: func.func @main
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<2x40x20x48xf32>) -> tensor<2x60x20x48xf32> {
    %w = graph.constant dense_resource<w> : tensor<60x40x1x1xf32>
    %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x40x20x48xf32>, tensor<60x40x1x1xf32>) -> tensor<2x60x20x48xf32>
    return %y : tensor<2x60x20x48xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>

// What reads the result otherwise than it returns it wants channels innermost.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     15360
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<2x40x60x256xf32>) -> tensor<2x60x60x256xf32> {
    %w = graph.constant dense_resource<w> : tensor<60x40x1x1xf32>
    %v = graph.constant dense_resource<v> : tensor<60x60x1x1xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x40x60x256xf32>, tensor<60x40x1x1xf32>) -> tensor<2x60x60x256xf32>
    %y = graph.conv %0, %v {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x60x60x256xf32>, tensor<60x60x1x1xf32>) -> tensor<2x60x60x256xf32>
    return %y : tensor<2x60x60x256xf32>
  }
}
