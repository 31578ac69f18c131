// RUN: espalier-opt %s -convert-graph-to-poly -poly-form-kernels -poly-name-kernels -split-input-file | FileCheck %s
// RUN: espalier-opt %s -convert-graph-to-poly -poly-form-kernels=skip=winograd -poly-name-kernels -split-input-file | FileCheck %s --check-prefix=PLAIN

// With 64 channels and filters, a tile has four columns.
// CHECK-LABEL: poly.kernel private @conv_relu_{{[0-9a-f]+}}(
// CHECK-SAME:    memref<4x6x2x64x32xf32>
// CHECK:         %[[V:.*]] = poly.array : memref<1x6x4x6x16x64xf32>
// CHECK-COUNT-24: writes(%[[V]][
// CHECK:         reads(%[[V]][{{.*}} reduction add
// CHECK-NOT:     reduction add
// CHECK-COUNT-8: arith.maximumf
// CHECK-NOT:     arith.maximumf
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<1x64x14x66xf32>) -> tensor<1x64x12x64xf32> {
    %w = graph.constant dense_resource<w> : tensor<64x64x3x3xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x64x14x66xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x12x64xf32>
    %1 = graph.relu %0 : (tensor<1x64x12x64xf32>) -> tensor<1x64x12x64xf32>
    return %1 : tensor<1x64x12x64xf32>
  }
}

// -----

// Where these would be too few in a row for a product, it has four rows.
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}({{.*}}memref<6x4x2x64x32xf32>
// CHECK:         poly.array : memref<1x3x6x4x16x64xf32>
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<1x64x14x34xf32>) -> tensor<1x64x12x32xf32> {
    %w = graph.constant dense_resource<w> : tensor<64x64x3x3xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x64x14x34xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x12x32xf32>
    return %0 : tensor<1x64x12x32xf32>
  }
}

// -----

// Tiles that would overlap have two of each.
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}({{.*}}memref<4x4x2x64x32xf32>
// CHECK:         poly.array : memref<1x7x4x4x17x64xf32>
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<1x64x16x36xf32>) -> tensor<1x64x14x34xf32> {
    %w = graph.constant dense_resource<w> : tensor<64x64x3x3xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x64x16x36xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x14x34xf32>
    return %0 : tensor<1x64x14x34xf32>
  }
}

// -----

// What is pooled in the kernel: a row of windows has a row of tiles, and its
// rows of the image begin where it does.
// CHECK-LABEL: poly.kernel private @conv_relu_max_pool_{{[0-9a-f]+}}(
// CHECK-SAME:    memref<4x6x2x64x32xf32>
// CHECK:         %[[V:.*]] = poly.array : memref<1x6x4x6x1x16x64xf32>
// CHECK:         %[[L:.*]] = poly.array : memref<1x6x2x64x64xf32>
// CHECK-COUNT-24: writes(%[[V]][
// CHECK:         reads(%[[V]][{{.*}} reduction add
// CHECK-COUNT-8: arith.maximumf
// CHECK:         reads(%{{.*}} : memref<1x6x2x64x64xf32>{{.*}} reduction max
// PLAIN-LABEL: poly.kernel private @conv_relu_max_pool_{{[0-9a-f]+}}(
// PLAIN:         reduction add
// PLAIN:         reduction max
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<1x64x14x66xf32>) -> tensor<1x64x6x32xf32> {
    %w = graph.constant dense_resource<w> : tensor<64x64x3x3xf32>
    %exp = graph.exp %x : (tensor<1x64x14x66xf32>) -> tensor<1x64x14x66xf32>
    %0 = graph.conv %exp, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x64x14x66xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x12x64xf32>
    %1 = graph.relu %0 : (tensor<1x64x12x64xf32>) -> tensor<1x64x12x64xf32>
    %2 = graph.max_pool %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x64x12x64xf32>) -> tensor<1x64x6x32xf32>
    return %2 : tensor<1x64x6x32xf32>
  }
}
