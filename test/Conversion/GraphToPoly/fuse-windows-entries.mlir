// RUN: espalier-opt %s -split-input-file -convert-graph-to-poly=entries=true -poly-form-kernels -poly-store-in-place -poly-name-kernels | FileCheck %s
// RUN: espalier-opt %s -split-input-file -espalier-compile='to=scheduled entries=true' | FileCheck %s --check-prefix=SCHEDULE

// All filters pass the two rows that a row of windows needs before the next rows.
// These lie on the stack, and their sums are registers.
// CHECK-LABEL: poly.kernel private @conv_relu_max_pool_{{[0-9a-f]+}}(
// CHECK:         poly.array : memref<3x4x2x2x64xf32>
// CHECK:         %[[ROWS:.*]] = poly.array : memref<3x4x2x2x64xf32>
// CHECK:         reduction add
// CHECK:         arith.maximumf
// CHECK:         reads(%[[ROWS]][
// CHECK-SAME:    reduction max
// SCHEDULE-LABEL: poly.kernel private @conv_relu_max_pool_{{[0-9a-f]+}}(
// SCHEDULE:         poly.array register
// SCHEDULE:         poly.array stack
// SCHEDULE:         poly.filter [@s0_init, @s0, @s1]
// SCHEDULE:         poly.filter [@s2_init, @s2, @s3]
#filters = #sparse_tensor.encoding<{ map = (o, k, i, j) -> (o : dense, k : compressed(nonunique), i : singleton(nonunique), j : singleton) }>
#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 1>
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<3x2x8x66xf32>) -> tensor<3x2x4x32xf32> {
    %w = graph.constant {poly.entries = "each:1"} dense<[[[[1., 2., 3.]], [[4., 5., 6.]]], [[[7., 8., 9.]], [[1., 2., 3.]]]]> : tensor<2x2x1x3xf32, #filters>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<3x2x8x66xf32>, tensor<2x2x1x3xf32, #filters>) -> tensor<3x2x8x64xf32>
    %1 = graph.relu %0 : (tensor<3x2x8x64xf32>) -> tensor<3x2x8x64xf32>
    %2 = graph.max_pool %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<3x2x8x64xf32>) -> tensor<3x2x4x32xf32>
    return %2 : tensor<3x2x4x32xf32>
  }
}

// -----

// A border is added to what is pooled by another kernel.
// CHECK-LABEL: poly.kernel private @conv_relu_max_pool_{{[0-9a-f]+}}(
// CHECK-LABEL: poly.kernel private @pad_{{[0-9a-f]+}}(
#filters = #sparse_tensor.encoding<{ map = (o, k, i, j) -> (o : dense, k : compressed(nonunique), i : singleton(nonunique), j : singleton) }>
#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 1>
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<3x2x8x66xf32>) -> tensor<3x2x6x34xf32> {
    %w = graph.constant {poly.entries = "each:1"} dense<[[[[1., 2., 3.]], [[4., 5., 6.]]], [[[7., 8., 9.]], [[1., 2., 3.]]]]> : tensor<2x2x1x3xf32, #filters>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<3x2x8x66xf32>, tensor<2x2x1x3xf32, #filters>) -> tensor<3x2x8x64xf32>
    %1 = graph.relu %0 : (tensor<3x2x8x64xf32>) -> tensor<3x2x8x64xf32>
    %2 = graph.max_pool %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<3x2x8x64xf32>) -> tensor<3x2x4x32xf32>
    %v = graph.constant dense<0.0> : tensor<f32>
    %3 = graph.pad %2, %v {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>} : (tensor<3x2x4x32xf32>, tensor<f32>) -> tensor<3x2x6x34xf32>
    return %3 : tensor<3x2x6x34xf32>
  }
}

// -----

// Filters that might be groups stay alone for that.
// CHECK-LABEL: poly.kernel private @conv_relu_max_pool_{{[0-9a-f]+}}(
#filters = #sparse_tensor.encoding<{ map = (o, k, i, j) -> (o : dense, k : compressed(nonunique), i : singleton(nonunique), j : singleton) }>
#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 1>
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<3x2x8x66xf32>) -> tensor<3x2x4x32xf32> {
    %w = graph.constant dense<[[[[1., 2., 3.]], [[4., 5., 6.]]], [[[7., 8., 9.]], [[1., 2., 3.]]]]> : tensor<2x2x1x3xf32, #filters>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<3x2x8x66xf32>, tensor<2x2x1x3xf32, #filters>) -> tensor<3x2x8x64xf32>
    %1 = graph.relu %0 : (tensor<3x2x8x64xf32>) -> tensor<3x2x8x64xf32>
    %2 = graph.max_pool %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<3x2x8x64xf32>) -> tensor<3x2x4x32xf32>
    return %2 : tensor<3x2x4x32xf32>
  }
}

// -----

// Two rows of three vectors are less than a step pays for.
// CHECK-LABEL: poly.kernel private @conv_relu_{{[0-9a-f]+}}(
// CHECK-LABEL: poly.kernel private @max_pool_{{[0-9a-f]+}}(
#filters = #sparse_tensor.encoding<{ map = (o, k, i, j) -> (o : dense, k : compressed(nonunique), i : singleton(nonunique), j : singleton) }>
#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 1>
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<3x2x8x50xf32>) -> tensor<3x2x4x24xf32> {
    %w = graph.constant {poly.entries = "each:1"} dense<[[[[1., 2., 3.]], [[4., 5., 6.]]], [[[7., 8., 9.]], [[1., 2., 3.]]]]> : tensor<2x2x1x3xf32, #filters>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<3x2x8x50xf32>, tensor<2x2x1x3xf32, #filters>) -> tensor<3x2x8x48xf32>
    %1 = graph.relu %0 : (tensor<3x2x8x48xf32>) -> tensor<3x2x8x48xf32>
    %2 = graph.max_pool %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<3x2x8x48xf32>) -> tensor<3x2x4x24xf32>
    return %2 : tensor<3x2x4x24xf32>
  }
}

// -----

// Filters in groups store their results filter by filter.
// CHECK-LABEL: poly.kernel private @conv_relu_{{[0-9a-f]+}}(
// CHECK-LABEL: poly.kernel private @max_pool_{{[0-9a-f]+}}(
#filters = #sparse_tensor.encoding<{ map = (o, k, i, j) -> (o : dense, k : compressed(nonunique), i : singleton(nonunique), j : singleton) }>
#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 1>
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<3x2x8x66xf32>) -> tensor<3x2x4x32xf32> {
    %w = graph.constant {poly.entries = "union:2"} dense<[[[[1., 2., 3.]], [[4., 5., 6.]]], [[[7., 8., 9.]], [[1., 2., 3.]]]]> : tensor<2x2x1x3xf32, #filters>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<3x2x8x66xf32>, tensor<2x2x1x3xf32, #filters>) -> tensor<3x2x8x64xf32>
    %1 = graph.relu %0 : (tensor<3x2x8x64xf32>) -> tensor<3x2x8x64xf32>
    %2 = graph.max_pool %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<3x2x8x64xf32>) -> tensor<3x2x4x32xf32>
    return %2 : tensor<3x2x4x32xf32>
  }
}
