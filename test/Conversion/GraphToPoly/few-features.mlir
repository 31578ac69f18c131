// RUN: espalier-opt %s -convert-graph-to-poly -poly-form-kernels -poly-name-kernels -split-input-file | FileCheck %s

// Three features would leave most lanes empty. The operand lies in rows that
// fill them, so the result does as well, and weights stay as they are.
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(%{{.*}}: memref<1x8x34x34xf32>, %{{.*}}: memref<3x8x3x3xf32>
// CHECK:         poly.array : memref<1x3x32x32xf32>
// CHECK:         reduction add
func.func @main(%x: tensor<1x8x34x34xf32>, %w: tensor<3x8x3x3xf32>) -> tensor<1x3x32x32xf32> {
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x34x34xf32>, tensor<3x8x3x3xf32>) -> tensor<1x3x32x32xf32>
  return %0 : tensor<1x3x32x32xf32>
}

// -----

// Sixteen fill a vector.
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(%{{.*}}: memref<1x8x34x34xf32>
// CHECK:         poly.array : memref<1x32x32x16xf32>
func.func @main(%x: tensor<1x8x34x34xf32>, %w: tensor<16x8x3x3xf32>) -> tensor<1x16x32x32xf32> {
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x34x34xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x32x32xf32>
  return %0 : tensor<1x16x32x32xf32>
}

// -----

// What a convolution leaves channels last is not in rows.
// CHECK:         poly.array : memref<1x34x34x16xf32>
// CHECK:         poly.array : memref<1x32x32x3xf32>
func.func @main(%x: tensor<1x8x34x34xf32>, %v: tensor<16x8x1x1xf32>, %w: tensor<3x16x3x3xf32>) -> tensor<1x3x32x32xf32> {
  %0 = graph.conv %x, %v {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x34x34xf32>, tensor<16x8x1x1xf32>) -> tensor<1x16x34x34xf32>
  %1 = graph.conv %0, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x16x34x34xf32>, tensor<3x16x3x3xf32>) -> tensor<1x3x32x32xf32>
  return %1 : tensor<1x3x32x32xf32>
}

// -----

// A sum of eight terms takes less time than to store its result in another order.
// CHECK-LABEL: poly.kernel private @conv_relu_{{[0-9a-f]+}}(%{{.*}}: memref<1x8x34x34xf32>, %{{.*}}: memref<64x8x1x1xf32>
// CHECK:         poly.array : memref<1x64x34x34xf32>
func.func @main(%x: tensor<1x8x34x34xf32>, %w: tensor<64x8x1x1xf32>) -> tensor<1x64x34x34xf32> {
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x34x34xf32>, tensor<64x8x1x1xf32>) -> tensor<1x64x34x34xf32>
  %1 = graph.relu %0 : (tensor<1x64x34x34xf32>) -> tensor<1x64x34x34xf32>
  return %1 : tensor<1x64x34x34xf32>
}

// -----

// But one that another sum reads has channels last.
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(%{{.*}}: memref<1x8x34x34xf32>
// CHECK-SAME:    memref<1x34x34x64xf32>
func.func @main(%x: tensor<1x8x34x34xf32>, %v: tensor<64x8x1x1xf32>, %w: tensor<64x64x1x1xf32>) -> tensor<1x64x34x34xf32> {
  %0 = graph.conv %x, %v {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x34x34xf32>, tensor<64x8x1x1xf32>) -> tensor<1x64x34x34xf32>
  %1 = graph.conv %0, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x64x34x34xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x34x34xf32>
  return %1 : tensor<1x64x34x34xf32>
}

// -----

// Nor are vectors of rows loaded for the features of one group alone.
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(%{{.*}}: memref<1x64x34x34xf32>
// CHECK:         poly.array : memref<1x34x34x64xf32>
func.func @main(%x: tensor<1x64x34x34xf32>, %w: tensor<64x16x1x1xf32>) -> tensor<1x64x34x34xf32> {
  %0 = graph.conv %x, %w {groups = 4 : i64, strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x64x34x34xf32>, tensor<64x16x1x1xf32>) -> tensor<1x64x34x34xf32>
  return %0 : tensor<1x64x34x34xf32>
}

// -----

// A window passes over few rows, which stay in cache: so do more terms.
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(%{{.*}}: memref<1x4x34x34xf32>
// CHECK:         poly.array : memref<1x64x32x32xf32>
func.func @main(%x: tensor<1x4x34x34xf32>, %w: tensor<64x4x3x3xf32>) -> tensor<1x64x32x32xf32> {
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x34x34xf32>, tensor<64x4x3x3xf32>) -> tensor<1x64x32x32xf32>
  return %0 : tensor<1x64x32x32xf32>
}

// -----

// As many terms of rows of their own do not.
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(%{{.*}}: memref<1x36x32x32xf32>
// CHECK:         poly.array : memref<1x32x32x64xf32>
func.func @main(%x: tensor<1x36x32x32xf32>, %w: tensor<64x36x1x1xf32>) -> tensor<1x64x32x32xf32> {
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x36x32x32xf32>, tensor<64x36x1x1xf32>) -> tensor<1x64x32x32xf32>
  return %0 : tensor<1x64x32x32xf32>
}

// -----

// Nor with gaps between lanes.
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(%{{.*}}: memref<1x4x65x65xf32>
// CHECK:         poly.array : memref<1x32x32x64xf32>
func.func @main(%x: tensor<1x4x65x65xf32>, %w: tensor<64x4x3x3xf32>) -> tensor<1x64x32x32xf32> {
  %0 = graph.conv %x, %w {strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x65x65xf32>, tensor<64x4x3x3xf32>) -> tensor<1x64x32x32xf32>
  return %0 : tensor<1x64x32x32xf32>
}
