// RUN: espalier-opt %s --graph-optimize="rules=%S/Inputs/merge.rules costs=%S/Inputs/layouts.costs" | FileCheck %s
// RUN: espalier-opt %s --graph-optimize="rules=%S/Inputs/merge.rules costs=%S/Inputs/layouts.costs extraction=ilp" | FileCheck %s
// RUN: espalier-opt %s --graph-optimize="rules=%S/Inputs/merge.rules costs=%S/Inputs/layouts.costs search=backtracking" | FileCheck %s
// RUN: espalier-opt %s --graph-optimize="rules=%S/Inputs/merge.rules" | FileCheck %s --check-prefix=PLAIN

// The order of an operand is chosen by what it takes to compute it in that
// order, and by what its reader gains. Without costs there is no choice.
// PLAIN-NOT: graph.layout
// PLAIN-NOT: graph.transpose

// CHECK-LABEL: func @computed_by_columns
// CHECK: %[[P:.*]] = graph.matmul %arg0, %{{.*}} {activation = #graph.activation<relu>, graph.layout = array<i64: 1, 0>}
// CHECK: graph.matmul %[[P]], {{.*}} : (tensor<64x256xf32>, tensor<256x1xf32>)
func.func @computed_by_columns(%x: tensor<64x256xf32>) -> tensor<64x1xf32> {
  %a = graph.constant dense<1.0> : tensor<256x256xf32>
  %b = graph.constant dense<1.0> : tensor<256x1xf32>
  %0 = graph.matmul %x, %a : (tensor<64x256xf32>, tensor<256x256xf32>) -> tensor<64x256xf32>
  %1 = graph.relu %0 : (tensor<64x256xf32>) -> tensor<64x256xf32>
  %2 = graph.matmul %1, %b : (tensor<64x256xf32>, tensor<256x1xf32>) -> tensor<64x1xf32>
  return %2 : tensor<64x1xf32>
}

// To compute it so takes too long, but to copy it does not.
// CHECK-LABEL: func @copied
// CHECK-NOT: graph.layout
// CHECK: %[[R:.*]] = graph.matmul %arg0, %{{.*}} {activation = #graph.activation<relu>}
// CHECK: %[[C:.*]] = graph.transpose %[[R]] {graph.layout = array<i64: 1, 0>, permutation = array<i64: 0, 1>}
// CHECK: graph.matmul %[[C]]
func.func @copied(%x: tensor<32x128xf32>) -> tensor<32x1xf32> {
  %a = graph.constant dense<1.0> : tensor<128x128xf32>
  %b = graph.constant dense<1.0> : tensor<128x1xf32>
  %0 = graph.matmul %x, %a : (tensor<32x128xf32>, tensor<128x128xf32>) -> tensor<32x128xf32>
  %1 = graph.relu %0 : (tensor<32x128xf32>) -> tensor<32x128xf32>
  %2 = graph.matmul %1, %b : (tensor<32x128xf32>, tensor<128x1xf32>) -> tensor<32x1xf32>
  return %2 : tensor<32x1xf32>
}

// What others read as it is would be computed twice.
// CHECK-LABEL: func @read_by_others
// CHECK-NOT: graph.matmul {{.*}} {graph.layout
// CHECK: graph.transpose {{.*}}graph.layout
// CHECK: graph.matmul {{.*}}, tensor<256x1xf32>)
func.func @read_by_others(%x: tensor<64x256xf32>) -> (tensor<64x1xf32>, tensor<64x256xf32>) {
  %a = graph.constant dense<1.0> : tensor<256x256xf32>
  %b = graph.constant dense<1.0> : tensor<256x1xf32>
  %0 = graph.matmul %x, %a : (tensor<64x256xf32>, tensor<256x256xf32>) -> tensor<64x256xf32>
  %1 = graph.matmul %0, %b : (tensor<64x256xf32>, tensor<256x1xf32>) -> tensor<64x1xf32>
  return %1, %0 : tensor<64x1xf32>, tensor<64x256xf32>
}

// Merging costs more, and so does the other order, but not both together.
// CHECK-LABEL: func @merged_in_another_order
// CHECK: %[[C:.*]] = graph.transpose %arg0 {graph.layout
// CHECK: graph.matmul %[[C]], %{{.*}} : (tensor<48x96xf32>, tensor<96x2xf32>)
// CHECK-NOT: graph.matmul
// CHECK-COUNT-2: graph.slice
func.func @merged_in_another_order(%x: tensor<48x96xf32>) -> (tensor<48x1xf32>, tensor<48x1xf32>) {
  %a = graph.constant dense<1.0> : tensor<96x1xf32>
  %b = graph.constant dense<2.0> : tensor<96x1xf32>
  %0 = graph.matmul %x, %a : (tensor<48x96xf32>, tensor<96x1xf32>) -> tensor<48x1xf32>
  %1 = graph.matmul %x, %b : (tensor<48x96xf32>, tensor<96x1xf32>) -> tensor<48x1xf32>
  return %0, %1 : tensor<48x1xf32>, tensor<48x1xf32>
}

// What is returned lies in rows, so the last convolution may as well.
// CHECK-LABEL: func @image_in_rows
// CHECK: %[[A:.*]] = graph.conv {{.*}} graph.layout = array<i64: 0, 1, 2, 3>
// CHECK: %[[R:.*]] = graph.relu %[[A]] {graph.layout = array<i64: 0, 1, 2, 3>}
// CHECK: %[[B:.*]] = graph.conv %[[R]], {{.*}} graph.layout = array<i64: 0, 1, 2, 3>
// CHECK: %[[S:.*]] = graph.sigmoid %[[B]] {graph.layout = array<i64: 0, 1, 2, 3>}
// CHECK: return %[[S]] : tensor<1x1x16x16xf32>
func.func @image_in_rows(%x: tensor<1x8x16x16xf32>) -> tensor<1x1x16x16xf32> {
  %a = graph.constant dense<1.0> : tensor<8x8x1x1xf32>
  %b = graph.constant dense<1.0> : tensor<1x8x1x1xf32>
  %0 = graph.conv %x, %a {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x16x16xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x16x16xf32>
  %1 = graph.relu %0 : (tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
  %2 = graph.conv %1, %b {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x16x16xf32>, tensor<1x8x1x1xf32>) -> tensor<1x1x16x16xf32>
  %3 = graph.sigmoid %2 : (tensor<1x1x16x16xf32>) -> tensor<1x1x16x16xf32>
  return %3 : tensor<1x1x16x16xf32>
}
