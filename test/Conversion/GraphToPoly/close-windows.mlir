// RUN: espalier-opt %s -convert-graph-to-poly -poly-form-kernels -poly-store-in-place -poly-name-kernels -split-input-file | FileCheck %s
// RUN: espalier-opt %s -split-input-file -pass-pipeline='builtin.module(convert-graph-to-poly,poly-form-kernels,poly-store-in-place,poly-name-kernels,poly.kernel(poly-default-schedule,poly-verify-schedule))' | FileCheck %s --check-prefix=SCHEDULE

// Between rows of the caller: one kernel copies the few rows that a row of
// windows needs, by the columns' phase, and keeps the sums of a window in
// registers. The maximum is taken before relu.
// CHECK-DAG:   #[[COPY:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d1 * 2 + d3 - 1, d4 * 2 + 1)>
// CHECK-DAG:   #[[EVEN:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, 0, d4 + 1)>
// CHECK-DAG:   #[[SUM:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d0, d1, d6, d4 + d7, (d5 + d8) mod 2, d3 + (d5 + d8) floordiv 2)>
// CHECK-DAG:   #[[OUT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
// CHECK-LABEL: poly.kernel private @conv_max_pool_relu_{{[0-9a-f]+}}(%arg0: memref<2x3x8x32xf32>
// CHECK:         %[[ROWS:.*]] = poly.array : memref<2x4x3x4x2x48xf32>
// CHECK:         reads(%arg0[#[[COPY]]] {{.*}} writes(%[[ROWS]][#[[EVEN]]]
// CHECK:         reads(%[[ROWS]][#[[SUM]]]
// CHECK-SAME:    reduction add
// CHECK:         reduction max
// CHECK:         arith.maximumf %{{.*}}, %{{.*}}
// CHECK:         arith.maximumf %{{.*}}, %{{.*}}
// CHECK:         writes(%{{.*}}[#[[OUT]]] : memref<2x5x4x16xf32>)
// CHECK-NOT:   poly.kernel private @
// SCHEDULE-LABEL: poly.kernel private @conv_max_pool_relu_{{[0-9a-f]+}}(
// SCHEDULE:         poly.array stack : memref<2x4x3x4x2x48xf32> storage {{.*}} as memref<3x4x2x48xf32>
// SCHEDULE:         poly.array register : memref<2x4x5x2x2x16xf32> storage {{.*}} as memref<5x2x2x16xf32>
// The rows that the next windows need are fetched meanwhile.
// SCHEDULE:         poly.band [@[[SUM:s[0-9]+]]] maps {{.*}} loops [sequential, sequential] {
// SCHEDULE-NEXT:      poly.prefetch @[[SUM]] read 0 of @s
// SCHEDULE-NEXT:        poly.band [@[[SUM]]] maps {{.*}} loops [unroll, unroll, unroll, unroll, vector(16)]
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<2x3x8x32xf32>) -> tensor<2x5x4x16xf32> {
    %w = arith.constant dense<[[[[1.0, 1.0, 2.0], [1.0, 1.0, 1.0], [-1.0, -1.0, 2.0]], [[2.0, 2.0, -1.0], [1.0, 2.0, -1.0], [2.0, 1.0, -1.0]], [[1.0, -1.0, 2.0], [1.0, 2.0, 2.0], [-1.0, -1.0, 2.0]]], [[[1.0, 1.0, 2.0], [-1.0, 1.0, -1.0], [-1.0, 1.0, 2.0]], [[2.0, -1.0, 2.0], [1.0, 1.0, -1.0], [-1.0, -1.0, 2.0]], [[-1.0, 1.0, 2.0], [-1.0, 1.0, 1.0], [2.0, -1.0, 2.0]]], [[[1.0, 2.0, -1.0], [1.0, 1.0, 2.0], [1.0, 1.0, 1.0]], [[2.0, 1.0, 1.0], [1.0, 2.0, 1.0], [-1.0, 1.0, -1.0]], [[-1.0, -1.0, 1.0], [2.0, 2.0, 1.0], [2.0, 2.0, -1.0]]], [[[-1.0, 2.0, 1.0], [2.0, 2.0, 2.0], [1.0, 2.0, 1.0]], [[-1.0, -1.0, 2.0], [1.0, -1.0, -1.0], [-1.0, -1.0, 2.0]], [[2.0, -1.0, 1.0], [2.0, -1.0, -1.0], [1.0, 2.0, -1.0]]], [[[-1.0, 2.0, 1.0], [-1.0, 2.0, -1.0], [2.0, 2.0, 1.0]], [[-1.0, 2.0, -1.0], [1.0, -1.0, 1.0], [2.0, 1.0, -1.0]], [[1.0, -1.0, -1.0], [-1.0, 2.0, -1.0], [-1.0, -1.0, 1.0]]]]> : tensor<5x3x3x3xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<2x3x8x32xf32>, tensor<5x3x3x3xf32>) -> tensor<2x5x8x32xf32>
    %1 = graph.relu %0 : (tensor<2x5x8x32xf32>) -> tensor<2x5x8x32xf32>
    %2 = graph.max_pool %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x5x8x32xf32>) -> tensor<2x5x4x16xf32>
    return %2 : tensor<2x5x4x16xf32>
  }
}

// -----

// Rows that are mostly left over after whole vectors: channels are lanes.
// CHECK-LABEL: poly.kernel private @copy_{{[0-9a-f]+}}(
// CHECK-SAME:    memref<2x3x10x22xf32>
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<2x3x8x20xf32>) -> tensor<2x5x4x10xf32> {
    %w = arith.constant dense<[[[[1.0, 1.0, 2.0], [1.0, 1.0, 1.0], [-1.0, -1.0, 2.0]], [[2.0, 2.0, -1.0], [1.0, 2.0, -1.0], [2.0, 1.0, -1.0]], [[1.0, -1.0, 2.0], [1.0, 2.0, 2.0], [-1.0, -1.0, 2.0]]], [[[1.0, 1.0, 2.0], [-1.0, 1.0, -1.0], [-1.0, 1.0, 2.0]], [[2.0, -1.0, 2.0], [1.0, 1.0, -1.0], [-1.0, -1.0, 2.0]], [[-1.0, 1.0, 2.0], [-1.0, 1.0, 1.0], [2.0, -1.0, 2.0]]], [[[1.0, 2.0, -1.0], [1.0, 1.0, 2.0], [1.0, 1.0, 1.0]], [[2.0, 1.0, 1.0], [1.0, 2.0, 1.0], [-1.0, 1.0, -1.0]], [[-1.0, -1.0, 1.0], [2.0, 2.0, 1.0], [2.0, 2.0, -1.0]]], [[[-1.0, 2.0, 1.0], [2.0, 2.0, 2.0], [1.0, 2.0, 1.0]], [[-1.0, -1.0, 2.0], [1.0, -1.0, -1.0], [-1.0, -1.0, 2.0]], [[2.0, -1.0, 1.0], [2.0, -1.0, -1.0], [1.0, 2.0, -1.0]]], [[[-1.0, 2.0, 1.0], [-1.0, 2.0, -1.0], [2.0, 2.0, 1.0]], [[-1.0, 2.0, -1.0], [1.0, -1.0, 1.0], [2.0, 1.0, -1.0]], [[1.0, -1.0, -1.0], [-1.0, 2.0, -1.0], [-1.0, -1.0, 1.0]]]]> : tensor<5x3x3x3xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<2x3x8x20xf32>, tensor<5x3x3x3xf32>) -> tensor<2x5x8x20xf32>
    %1 = graph.max_pool %0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x5x8x20xf32>) -> tensor<2x5x4x10xf32>
    return %1 : tensor<2x5x4x10xf32>
  }
}

// -----

// The average of relu is not relu of the average.
// CHECK-LABEL: poly.kernel private @conv_relu_avg_pool_{{[0-9a-f]+}}(
// CHECK:         arith.maximumf
// CHECK:         reduction add
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<2x3x8x32xf32>) -> tensor<2x5x4x16xf32> {
    %w = arith.constant dense<[[[[1.0, 1.0, 2.0], [1.0, 1.0, 1.0], [-1.0, -1.0, 2.0]], [[2.0, 2.0, -1.0], [1.0, 2.0, -1.0], [2.0, 1.0, -1.0]], [[1.0, -1.0, 2.0], [1.0, 2.0, 2.0], [-1.0, -1.0, 2.0]]], [[[1.0, 1.0, 2.0], [-1.0, 1.0, -1.0], [-1.0, 1.0, 2.0]], [[2.0, -1.0, 2.0], [1.0, 1.0, -1.0], [-1.0, -1.0, 2.0]], [[-1.0, 1.0, 2.0], [-1.0, 1.0, 1.0], [2.0, -1.0, 2.0]]], [[[1.0, 2.0, -1.0], [1.0, 1.0, 2.0], [1.0, 1.0, 1.0]], [[2.0, 1.0, 1.0], [1.0, 2.0, 1.0], [-1.0, 1.0, -1.0]], [[-1.0, -1.0, 1.0], [2.0, 2.0, 1.0], [2.0, 2.0, -1.0]]], [[[-1.0, 2.0, 1.0], [2.0, 2.0, 2.0], [1.0, 2.0, 1.0]], [[-1.0, -1.0, 2.0], [1.0, -1.0, -1.0], [-1.0, -1.0, 2.0]], [[2.0, -1.0, 1.0], [2.0, -1.0, -1.0], [1.0, 2.0, -1.0]]], [[[-1.0, 2.0, 1.0], [-1.0, 2.0, -1.0], [2.0, 2.0, 1.0]], [[-1.0, 2.0, -1.0], [1.0, -1.0, 1.0], [2.0, 1.0, -1.0]], [[1.0, -1.0, -1.0], [-1.0, 2.0, -1.0], [-1.0, -1.0, 1.0]]]]> : tensor<5x3x3x3xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<2x3x8x32xf32>, tensor<5x3x3x3xf32>) -> tensor<2x5x8x32xf32>
    %1 = graph.relu %0 : (tensor<2x5x8x32xf32>) -> tensor<2x5x8x32xf32>
    %2 = graph.avg_pool %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x5x8x32xf32>) -> tensor<2x5x4x16xf32>
    return %2 : tensor<2x5x4x16xf32>
  }
}

// -----

// The results of two filters' windows, of one vector each, fill half of 16
// registers; eight vectors of one filter's would not fit.
// SCHEDULE-LABEL: poly.kernel private @conv_max_pool_{{[0-9a-f]+}}(
// SCHEDULE:         poly.array register : memref<1x1x4x2x2x64xf32> storage {{.*}} as memref<2x2x2x8xf32>
module attributes {poly.target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<1x1x2x128xf32>) -> tensor<1x4x1x64xf32> {
    %w = arith.constant dense<[[[[1.0, 2.0, -1.0]]], [[[2.0, 1.0, 3.0]]], [[[-1.0, 1.0, 2.0]]], [[[3.0, 1.0, -2.0]]]]> : tensor<4x1x1x3xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 1>, pads_high = array<i64: 0, 1>, dilations = array<i64: 1, 1>} : (tensor<1x1x2x128xf32>, tensor<4x1x1x3xf32>) -> tensor<1x4x2x128xf32>
    %1 = graph.max_pool %0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x2x128xf32>) -> tensor<1x4x1x64xf32>
    return %1 : tensor<1x4x1x64xf32>
  }
}
