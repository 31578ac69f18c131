// Convolutions whose padding is neither SAME nor VALID.
// RUN: espalier-opt %s --graph-optimize | FileCheck %s
// RUN: espalier-opt %s --graph-optimize="search=backtracking alpha=2" | FileCheck %s


// CHECK-LABEL: func @stems_merge
// CHECK: graph.conv %{{.*}} -> tensor<2x10x8x7xf32>
// CHECK-NOT: graph.conv
// CHECK: return
func.func @stems_merge(%x: tensor<2x3x15x14xf32>)
    -> (tensor<2x4x8x7xf32>, tensor<2x6x8x7xf32>) {
  %w0 = graph.constant dense<0.5> : tensor<4x3x7x7xf32>
  %w1 = graph.constant dense<2.0> : tensor<6x3x7x7xf32>
  %0 = graph.conv %x, %w0 {strides = array<i64: 2, 2>, pads_low = array<i64: 3, 3>,
      pads_high = array<i64: 3, 3>, dilations = array<i64: 1, 1>}
      : (tensor<2x3x15x14xf32>, tensor<4x3x7x7xf32>) -> tensor<2x4x8x7xf32>
  %1 = graph.conv %x, %w1 {strides = array<i64: 2, 2>, pads_low = array<i64: 3, 3>,
      pads_high = array<i64: 3, 3>, dilations = array<i64: 1, 1>}
      : (tensor<2x3x15x14xf32>, tensor<6x3x7x7xf32>) -> tensor<2x6x8x7xf32>
  return %0, %1 : tensor<2x4x8x7xf32>, tensor<2x6x8x7xf32>
}

// A kernel with zeros around it has the padding of a larger one.
// CHECK-LABEL: func @blocks_merge
// CHECK: graph.conv %{{.*}} -> tensor<1x14x4x4xf32>
// CHECK-NOT: graph.conv
// CHECK: return
func.func @blocks_merge(%x: tensor<1x8x8x8xf32>)
    -> (tensor<1x8x4x4xf32>, tensor<1x6x4x4xf32>) {
  %w0 = graph.constant dense<0.5> : tensor<8x8x3x3xf32>
  %w1 = graph.constant dense<2.0> : tensor<6x8x1x1xf32>
  %0 = graph.conv %x, %w0 {strides = array<i64: 2, 2>, pads_low = array<i64: 1, 1>,
      pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>}
      : (tensor<1x8x8x8xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x4x4xf32>
  %1 = graph.conv %x, %w1 {strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>,
      pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x8x8x8xf32>, tensor<6x8x1x1xf32>) -> tensor<1x6x4x4xf32>
  return %0, %1 : tensor<1x8x4x4xf32>, tensor<1x6x4x4xf32>
}

// Of a border, extents decide nothing.
// CHECK-LABEL: func @images_of_any_size_merge
// CHECK: graph.conv %{{.*}} -> tensor<?x10x?x?xf32>
// CHECK-NOT: graph.conv
// CHECK: return
func.func @images_of_any_size_merge(%x: tensor<?x3x?x?xf32>)
    -> (tensor<?x4x?x?xf32>, tensor<?x6x?x?xf32>) {
  %w0 = graph.constant dense<0.5> : tensor<4x3x7x7xf32>
  %w1 = graph.constant dense<2.0> : tensor<6x3x7x7xf32>
  %0 = graph.conv %x, %w0 {strides = array<i64: 2, 2>, pads_low = array<i64: 3, 3>,
      pads_high = array<i64: 3, 3>, dilations = array<i64: 1, 1>}
      : (tensor<?x3x?x?xf32>, tensor<4x3x7x7xf32>) -> tensor<?x4x?x?xf32>
  %1 = graph.conv %x, %w1 {strides = array<i64: 2, 2>, pads_low = array<i64: 3, 3>,
      pads_high = array<i64: 3, 3>, dilations = array<i64: 1, 1>}
      : (tensor<?x3x?x?xf32>, tensor<6x3x7x7xf32>) -> tensor<?x6x?x?xf32>
  return %0, %1 : tensor<?x4x?x?xf32>, tensor<?x6x?x?xf32>
}

// CHECK-LABEL: func @border_becomes_padding
// CHECK-NOT: graph.pad
// CHECK: graph.conv %arg0, {{.*}}pads_high = array<i64: 1, 1>, pads_low = array<i64: 0, 1>
func.func @border_becomes_padding(%x: tensor<1x8x8x9xf32>) -> tensor<1x8x4x5xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %w0 = graph.constant dense<0.5> : tensor<8x8x3x3xf32>
  %p = graph.pad %x, %zero {low = array<i64: 0, 0, 0, 1>, high = array<i64: 0, 0, 1, 1>}
      : (tensor<1x8x8x9xf32>, tensor<f32>) -> tensor<1x8x9x11xf32>
  %0 = graph.conv %p, %w0 {strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>,
      pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x8x9x11xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x4x5xf32>
  return %0 : tensor<1x8x4x5xf32>
}

// CHECK-LABEL: func @border_of_ones_stays
// CHECK: graph.pad
func.func @border_of_ones_stays(%x: tensor<1x8x8x9xf32>) -> tensor<1x8x4x5xf32> {
  %one = graph.constant dense<1.0> : tensor<f32>
  %w0 = graph.constant dense<0.5> : tensor<8x8x3x3xf32>
  %p = graph.pad %x, %one {low = array<i64: 0, 0, 0, 1>, high = array<i64: 0, 0, 1, 1>}
      : (tensor<1x8x8x9xf32>, tensor<f32>) -> tensor<1x8x9x11xf32>
  %0 = graph.conv %p, %w0 {strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>,
      pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x8x9x11xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x4x5xf32>
  return %0 : tensor<1x8x4x5xf32>
}
