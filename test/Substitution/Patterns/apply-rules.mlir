// RUN: espalier-opt %s -graph-apply-rules -split-input-file | FileCheck %s
// RUN: espalier-opt %s -graph-apply-rules=exact -split-input-file | FileCheck %s --check-prefix=EXACT
// RUN: espalier-opt %s -graph-apply-rules -split-input-file --remark-format=emitRemark --remarks-filter=graph-apply-rules 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: remark: [Passed] Applied | Category:graph-apply-rules | {{.*}}Rule={{.*}}
// CHECK-LABEL: @relu_twice
// CHECK: graph.relu
// CHECK-NOT: graph.relu
// CHECK: return
func.func @relu_twice(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = graph.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = graph.relu %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// -----

// Weights of equal kernels are joined, so that one convolution is left.
// CHECK-LABEL: @two_convolutions
// CHECK: %[[W:.*]] = graph.concat %arg1, %arg2 {axis = 0 : i64}
// CHECK: graph.conv %arg0, %[[W]]
// CHECK-NOT: graph.conv
func.func @two_convolutions(%x: tensor<1x4x8x8xf32>, %w0: tensor<6x4x3x3xf32>, %w1: tensor<2x4x3x3xf32>) -> tensor<1x8x8x8xf32> {
  %0 = graph.conv %x, %w0 {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x8x8xf32>
  %1 = graph.conv %x, %w1 {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<2x4x3x3xf32>) -> tensor<1x2x8x8xf32>
  %2 = graph.concat %0, %1 {axis = 1 : i64} : (tensor<1x6x8x8xf32>, tensor<1x2x8x8xf32>) -> tensor<1x8x8x8xf32>
  return %2 : tensor<1x8x8x8xf32>
}

// -----

// With two groups the rule's condition does not hold.
// CHECK-LABEL: @two_grouped_convolutions
// CHECK-COUNT-2: graph.conv
func.func @two_grouped_convolutions(%x: tensor<1x4x8x8xf32>, %w0: tensor<6x2x3x3xf32>, %w1: tensor<2x2x3x3xf32>) -> tensor<1x8x8x8xf32> {
  %0 = graph.conv %x, %w0 {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x8x8xf32>
  %1 = graph.conv %x, %w1 {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x8x8xf32>
  %2 = graph.concat %0, %1 {axis = 1 : i64} : (tensor<1x6x8x8xf32>, tensor<1x2x8x8xf32>) -> tensor<1x8x8x8xf32>
  return %2 : tensor<1x8x8x8xf32>
}

// -----

// Another padding than SAME is another operator.
// CHECK-LABEL: @other_padding
// CHECK-COUNT-2: graph.conv
func.func @other_padding(%x: tensor<1x4x8x8xf32>, %w0: tensor<6x4x3x3xf32>, %w1: tensor<2x4x3x3xf32>) -> tensor<1x8x10x10xf32> {
  %0 = graph.conv %x, %w0 {strides = array<i64: 1, 1>, pads_low = array<i64: 2, 2>, pads_high = array<i64: 2, 2>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x10x10xf32>
  %1 = graph.conv %x, %w1 {strides = array<i64: 1, 1>, pads_low = array<i64: 2, 2>, pads_high = array<i64: 2, 2>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<2x4x3x3xf32>) -> tensor<1x2x10x10xf32>
  %2 = graph.concat %0, %1 {axis = 1 : i64} : (tensor<1x6x10x10xf32>, tensor<1x2x10x10xf32>) -> tensor<1x8x10x10xf32>
  return %2 : tensor<1x8x10x10xf32>
}

// -----

// Two outputs at once.
// CHECK-LABEL: @parts_of_a_concatenation
// CHECK-NEXT: return %arg0, %arg1
func.func @parts_of_a_concatenation(%x: tensor<4x3xf32>, %y: tensor<4x5xf32>) -> (tensor<4x3xf32>, tensor<4x5xf32>) {
  %0 = graph.concat %x, %y {axis = 1 : i64} : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<4x8xf32>
  %1 = graph.slice %0 [0, 0] [4, 3] {steps = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<4x3xf32>
  %2 = graph.slice %0 [0, 3] [4, 5] {steps = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<4x5xf32>
  return %1, %2 : tensor<4x3xf32>, tensor<4x5xf32>
}

// -----

// Cut elsewhere, they are no operands of it.
// CHECK-LABEL: @other_parts_of_a_concatenation
// CHECK: graph.concat
// CHECK-COUNT-2: graph.slice
func.func @other_parts_of_a_concatenation(%x: tensor<4x3xf32>, %y: tensor<4x5xf32>) -> (tensor<4x2xf32>, tensor<4x6xf32>) {
  %0 = graph.concat %x, %y {axis = 1 : i64} : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<4x8xf32>
  %1 = graph.slice %0 [0, 0] [4, 2] {steps = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<4x2xf32>
  %2 = graph.slice %0 [0, 2] [4, 6] {steps = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<4x6xf32>
  return %1, %2 : tensor<4x2xf32>, tensor<4x6xf32>
}

// -----

// A sum of products is a product of sums, which rounds in another way.
// CHECK-LABEL: @common_factor
// CHECK: %[[SUM:.*]] = graph.add
// CHECK-NEXT: graph.mul
// CHECK-NEXT: return
// EXACT-LABEL: @common_factor
// EXACT-COUNT-2: graph.mul
// EXACT: graph.add
func.func @common_factor(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.mul %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.mul %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// What is used elsewhere would have to stay, so that nothing is saved.
// CHECK-LABEL: @products_are_used
// CHECK-COUNT-2: graph.mul
// CHECK: graph.add
func.func @products_are_used(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.mul %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.mul %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Rules are about equal shapes, while operators of graph broadcast.
// CHECK-LABEL: @broadcast_factor
// CHECK-COUNT-2: graph.mul
func.func @broadcast_factor(%x: tensor<2x4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<2x4xf32> {
  %0 = graph.mul %x, %z : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %1 = graph.mul %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.add %0, %1 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// -----

// Unknown sizes might be wrong, and integers do not round.
// CHECK-LABEL: @unknown_sizes
// CHECK-COUNT-2: graph.mul
func.func @unknown_sizes(%x: tensor<?x3xf32>, %y: tensor<?x3xf32>, %z: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = graph.mul %x, %z : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = graph.mul %y, %z : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %2 = graph.add %0, %1 : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %2 : tensor<?x3xf32>
}

// -----

// With weights that are known, two branches are one convolution.
// CHECK-LABEL: @branches
// CHECK: %[[W:.*]] = graph.add
// CHECK: graph.conv %arg0, %{{.*}} : (tensor<1x2x8x8xf32>, tensor<2x2x3x3xf32>)
// CHECK-NEXT: return
func.func @branches(%x: tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32> {
  %w0 = graph.constant dense<0.5> : tensor<2x2x3x3xf32>
  %w1 = graph.constant dense<0.25> : tensor<2x2x3x3xf32>
  %0 = graph.conv %x, %w0 {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x2x8x8xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x8x8xf32>
  %1 = graph.conv %x, %w1 {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x2x8x8xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x8x8xf32>
  %2 = graph.add %0, %1 : (tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  return %2 : tensor<1x2x8x8xf32>
}
