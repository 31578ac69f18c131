// RUN: espalier-opt %s -convert-graph-to-poly -poly-form-kernels -poly-name-kernels -split-input-file | FileCheck %s

// The border of what the caller gives is added plane by plane, in the kernel of
// the depthwise convolution that reads it: a plane stays in cache.
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(%{{[^:]*}}: memref<2x8x16x16xf32>
// CHECK:         poly.array : memref<2x8x18x18xf32>
// CHECK:         reduction add
// CHECK-NOT:   poly.kernel
// CHECK:       func.func @main
func.func @main(%x: tensor<2x8x16x16xf32>) -> tensor<2x8x16x16xf32> {
  %w = graph.constant dense<0.5> : tensor<8x1x3x3xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 8 : i64} : (tensor<2x8x16x16xf32>, tensor<8x1x3x3xf32>) -> tensor<2x8x16x16xf32>
  return %0 : tensor<2x8x16x16xf32>
}

// -----

// What is computed is stored inside the border by a kernel of its own.
// CHECK-LABEL: poly.kernel private @exp_{{[0-9a-f]+}}(
// CHECK:       poly.kernel private @conv_{{[0-9a-f]+}}(%{{[^:]*}}: memref<2x8x18x18xf32>
func.func @main(%x: tensor<2x8x16x16xf32>) -> tensor<2x8x16x16xf32> {
  %w = graph.constant dense<0.5> : tensor<8x1x3x3xf32>
  %e = graph.exp %x : (tensor<2x8x16x16xf32>) -> tensor<2x8x16x16xf32>
  %0 = graph.conv %e, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 8 : i64} : (tensor<2x8x16x16xf32>, tensor<8x1x3x3xf32>) -> tensor<2x8x16x16xf32>
  return %0 : tensor<2x8x16x16xf32>
}

// -----

// How large a plane is does not depend on how often a window reads its elements:
// these are 12,996 with the border, the products 112,896.
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(%{{[^:]*}}: memref<2x8x112x112xf32>
// CHECK:         poly.array : memref<2x8x114x114xf32>
// CHECK-NOT:   poly.kernel
// CHECK:       func.func @main
func.func @main(%x: tensor<2x8x112x112xf32>) -> tensor<2x8x112x112xf32> {
  %w = graph.constant dense<0.5> : tensor<8x1x3x3xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 8 : i64} : (tensor<2x8x112x112xf32>, tensor<8x1x3x3xf32>) -> tensor<2x8x112x112xf32>
  return %0 : tensor<2x8x112x112xf32>
}
