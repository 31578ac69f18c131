// RUN: espalier-opt %s -convert-graph-to-poly -poly-form-kernels -poly-store-in-place -poly-name-kernels -split-input-file | FileCheck %s
// RUN: espalier-opt %s -split-input-file -pass-pipeline='builtin.module(convert-graph-to-poly,poly-form-kernels,poly-store-in-place,poly-name-kernels,poly.kernel(poly-default-schedule,poly-verify-schedule))' | FileCheck %s --check-prefix=SCHEDULE

// The rows that a row of windows needs are computed right before it, and lie on
// the stack; their sum is a register tile.
// CHECK-DAG:   #[[WINDOW:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d2 * 2 + d5, d3)>
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(
// CHECK:         %[[SUM:.*]] = poly.array : memref<2x4x2x10x16xf32>
// CHECK:         %[[ROWS:.*]] = poly.array : memref<2x4x2x10x16xf32>
// CHECK:         reduction add
// CHECK:         arith.maximumf
// CHECK:         reads(%[[ROWS]][#[[WINDOW]]]
// CHECK-SAME:    reduction max
// SCHEDULE-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(
// SCHEDULE:         poly.array register
// SCHEDULE:         poly.array stack : memref<2x4x2x10x16xf32> storage {{.*}} as memref<2x10x16xf32>
// SCHEDULE:         poly.band [@s0_init, @s0, @s1, @s2_init, @s2, @s3]
// SCHEDULE-NEXT:      poly.sequence
// SCHEDULE-NEXT:        poly.filter [@s0_init, @s0, @s1]
// SCHEDULE:             poly.filter [@s2_init, @s2, @s3]
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<2x3x10x12xf32>, %w: tensor<16x3x3x3xf32>) -> tensor<2x16x4x5xf32> {
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x3x10x12xf32>, tensor<16x3x3x3xf32>) -> tensor<2x16x8x10xf32>
    %1 = graph.relu %0 : (tensor<2x16x8x10xf32>) -> tensor<2x16x8x10xf32>
    %2 = graph.max_pool %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x16x8x10xf32>) -> tensor<2x16x4x5xf32>
    return %2 : tensor<2x16x4x5xf32>
  }
}

// -----

// Windows that overlap would compute rows twice.
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(
// CHECK:         reduction add
// CHECK-LABEL: poly.kernel private @max_pool_{{[0-9a-f]+}}(
// CHECK:         reduction max
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<1x3x10x12xf32>, %w: tensor<16x3x3x3xf32>) -> tensor<1x16x3x4xf32> {
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x10x12xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x8x10xf32>
    %1 = graph.max_pool %0 {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x16x8x10xf32>) -> tensor<1x16x3x4xf32>
    return %1 : tensor<1x16x3x4xf32>
  }
}

// -----

// Somebody else wants to see the convolution's result.
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(
// CHECK:         reduction add
// CHECK-LABEL: poly.kernel private @max_pool_{{[0-9a-f]+}}(
// CHECK:         reduction max
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<1x3x10x12xf32>, %w: tensor<16x3x3x3xf32>) -> (tensor<1x16x8x10xf32>, tensor<1x16x4x5xf32>) {
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x10x12xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x8x10xf32>
    %1 = graph.max_pool %0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x16x8x10xf32>) -> tensor<1x16x4x5xf32>
    return %0, %1 : tensor<1x16x8x10xf32>, tensor<1x16x4x5xf32>
  }
}
