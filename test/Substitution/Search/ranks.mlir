// RUN: espalier-opt %s --graph-optimize=rules=%S/Inputs/relu.rules | FileCheck %s

// Slices and concatenations say their rank, and rules about them may have any.
// CHECK-LABEL: func @parts_of_rank_five_join
// CHECK-NOT: graph.slice
// CHECK: graph.relu %arg0
func.func @parts_of_rank_five_join(%x: tensor<2x3x4x5x6xf32>) -> tensor<2x3x4x5x6xf32> {
  %0 = graph.slice %x [0, 0, 0, 0, 0] [2, 3, 1, 5, 6] {steps = array<i64: 1, 1, 1, 1, 1>}
      : (tensor<2x3x4x5x6xf32>) -> tensor<2x3x1x5x6xf32>
  %1 = graph.slice %x [0, 0, 1, 0, 0] [2, 3, 3, 5, 6] {steps = array<i64: 1, 1, 1, 1, 1>}
      : (tensor<2x3x4x5x6xf32>) -> tensor<2x3x3x5x6xf32>
  %2 = graph.concat %0, %1 {axis = 2 : i64}
      : (tensor<2x3x1x5x6xf32>, tensor<2x3x3x5x6xf32>) -> tensor<2x3x4x5x6xf32>
  %3 = graph.relu %2 : (tensor<2x3x4x5x6xf32>) -> tensor<2x3x4x5x6xf32>
  return %3 : tensor<2x3x4x5x6xf32>
}

// A rule that leaves the rank open is proved at some ranks only.
// CHECK-LABEL: func @open_rank_five_stays
// CHECK-COUNT-2: graph.relu
// CHECK-LABEL: func @open_rank_four
// CHECK-COUNT-1: graph.relu
// CHECK-NOT: graph.relu
func.func @open_rank_five_stays(%x: tensor<2x3x4x5x6xf32>) -> tensor<2x3x4x5x6xf32> {
  %0 = graph.relu %x : (tensor<2x3x4x5x6xf32>) -> tensor<2x3x4x5x6xf32>
  %1 = graph.relu %0 : (tensor<2x3x4x5x6xf32>) -> tensor<2x3x4x5x6xf32>
  return %1 : tensor<2x3x4x5x6xf32>
}
func.func @open_rank_four(%x: tensor<3x4x5x6xf32>) -> tensor<3x4x5x6xf32> {
  %0 = graph.relu %x : (tensor<3x4x5x6xf32>) -> tensor<3x4x5x6xf32>
  %1 = graph.relu %0 : (tensor<3x4x5x6xf32>) -> tensor<3x4x5x6xf32>
  return %1 : tensor<3x4x5x6xf32>
}
