// What the rules of networks make of small graphs, by both searches and both
// ways to extract.
// RUN: espalier-opt %s --graph-optimize="rules=%S/Inputs/networks.rules" | FileCheck %s
// RUN: espalier-opt %s --graph-optimize="rules=%S/Inputs/networks.rules extraction=ilp" | FileCheck %s
// RUN: espalier-opt %s --graph-optimize="rules=%S/Inputs/networks.rules search=backtracking" | FileCheck %s

// Two convolutions with bias and relu become one.
// CHECK-LABEL: func @convolutions_with_bias_merge
// CHECK: graph.conv %arg0, %{{.*}} -> tensor<1x24x8x8xf32>
// CHECK: graph.add
// CHECK: graph.relu
// CHECK-NOT: graph.conv
// CHECK: return
func.func @convolutions_with_bias_merge(%x: tensor<1x8x8x8xf32>)
    -> (tensor<1x16x8x8xf32>, tensor<1x8x8x8xf32>) {
  %w0 = graph.constant dense<1.0> : tensor<16x8x1x1xf32>
  %w1 = graph.constant dense<2.0> : tensor<8x8x1x1xf32>
  %b0 = graph.constant dense<3.0> : tensor<16xf32>
  %b1 = graph.constant dense<4.0> : tensor<8x1x1xf32>
  %v0 = graph.reshape %b0 to [16, 1, 1] : (tensor<16xf32>) -> tensor<16x1x1xf32>
  %0 = graph.conv %x, %w0 {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>,
      pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x8x8x8xf32>, tensor<16x8x1x1xf32>) -> tensor<1x16x8x8xf32>
  %1 = graph.add %0, %v0 : (tensor<1x16x8x8xf32>, tensor<16x1x1xf32>) -> tensor<1x16x8x8xf32>
  %2 = graph.relu %1 : (tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %3 = graph.conv %x, %w1 {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>,
      pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x8x8x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x8x8xf32>
  %4 = graph.add %3, %b1 : (tensor<1x8x8x8xf32>, tensor<8x1x1xf32>) -> tensor<1x8x8x8xf32>
  %5 = graph.relu %4 : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  return %2, %5 : tensor<1x16x8x8xf32>, tensor<1x8x8x8xf32>
}

// The condition is a single group.
// CHECK-LABEL: func @grouped_convolutions_stay
// CHECK-COUNT-2: graph.conv
func.func @grouped_convolutions_stay(%x: tensor<1x8x8x8xf32>)
    -> (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) {
  %w0 = graph.constant dense<1.0> : tensor<8x4x1x1xf32>
  %w1 = graph.constant dense<2.0> : tensor<8x4x1x1xf32>
  %0 = graph.conv %x, %w0 {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>,
      pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 2 : i64}
      : (tensor<1x8x8x8xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x8x8xf32>
  %1 = graph.conv %x, %w1 {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>,
      pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 2 : i64}
      : (tensor<1x8x8x8xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x8x8xf32>
  return %0, %1 : tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>
}

// x * a + x * b = x * (a + b), where a + b is computed ahead of time.
// CHECK-LABEL: func @product_distributes
// CHECK-COUNT-1: graph.matmul
// CHECK-NOT: graph.matmul
func.func @product_distributes(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %a = graph.constant dense<1.0> : tensor<32x32xf32>
  %b = graph.constant dense<2.0> : tensor<32x32xf32>
  %0 = graph.matmul %x, %a : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %1 = graph.matmul %x, %b : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %2 = graph.add %0, %1 : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  return %2 : tensor<32x32xf32>
}

// The parts of a merged product, joined again, are the product.
// CHECK-LABEL: func @joined_parts_are_the_whole
// CHECK: %[[P:.*]] = graph.matmul %arg0, %{{.*}} : (tensor<32x32xf32>, tensor<32x96xf32>)
// CHECK: return %[[P]]
func.func @joined_parts_are_the_whole(%x: tensor<32x32xf32>) -> tensor<32x96xf32> {
  %a = graph.constant dense<1.0> : tensor<32x32xf32>
  %b = graph.constant dense<2.0> : tensor<32x64xf32>
  %0 = graph.matmul %x, %a : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %1 = graph.matmul %x, %b : (tensor<32x32xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  %2 = graph.concat %0, %1 {axis = 1 : i64} : (tensor<32x32xf32>, tensor<32x64xf32>) -> tensor<32x96xf32>
  return %2 : tensor<32x96xf32>
}

// What another block uses is computed, and has its type.
// CHECK-LABEL: func @values_of_other_blocks_stay
// CHECK: %[[P:.*]] = graph.matmul %{{.*}} {activation = #graph.activation<relu>} : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
// CHECK: cf.br
// CHECK: return %[[P]]
func.func @values_of_other_blocks_stay(%x: tensor<?x32xf32>, %w: tensor<32x32xf32>) -> tensor<?x32xf32> {
  %0 = graph.matmul %x, %w : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  %1 = graph.relu %0 : (tensor<?x32xf32>) -> tensor<?x32xf32>
  cf.br ^end
^end:
  return %1 : tensor<?x32xf32>
}

// Of a stride and an unknown extent, the padding is not known to be SAME.
// CHECK-LABEL: func @unknown_padding_stays
// CHECK: graph.conv
// CHECK: graph.relu
func.func @unknown_padding_stays(%x: tensor<1x8x?x?xf32>, %w: tensor<8x8x3x3xf32>) -> tensor<1x8x?x?xf32> {
  %0 = graph.conv %x, %w {strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>,
      pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>}
      : (tensor<1x8x?x?xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x?x?xf32>
  %1 = graph.relu %0 : (tensor<1x8x?x?xf32>) -> tensor<1x8x?x?xf32>
  return %1 : tensor<1x8x?x?xf32>
}

// Of stride 1 it is.
// CHECK-LABEL: func @known_padding_fuses
// CHECK: graph.conv {{.*}}activation = #graph.activation<relu>
// CHECK-NOT: graph.relu
func.func @known_padding_fuses(%x: tensor<1x8x?x?xf32>, %w: tensor<8x8x3x3xf32>) -> tensor<1x8x?x?xf32> {
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>,
      pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>}
      : (tensor<1x8x?x?xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x?x?xf32>
  %1 = graph.relu %0 : (tensor<1x8x?x?xf32>) -> tensor<1x8x?x?xf32>
  return %1 : tensor<1x8x?x?xf32>
}
