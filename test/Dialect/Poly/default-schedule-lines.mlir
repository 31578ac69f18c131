// RUN: espalier-opt %s -split-input-file -convert-graph-to-poly -poly-form-kernels -poly-extract-script | FileCheck %s

// Lanes that read elements of their own share nothing with other rows: all
// vectors of a line pass before the next line does. What 14 rows read stays in
// the first-level cache.
// CHECK:      plan
// CHECK-SAME: loops ["n", "p0", "p1", "o"]
// CHECK-SAME: tile ["p1"] by [14] lanes "o"
module attributes {poly.target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @fits(%x: tensor<1x58x58x32xf32>) -> tensor<1x56x56x32xf32> {
    %w = graph.constant dense_resource<w> : tensor<32x1x3x3xf32>
    %0 = graph.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x58x58x32xf32>) -> tensor<1x32x58x58xf32>
    %1 = graph.conv %0, %w {groups = 32 : i64, strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x58x58xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x56x56xf32>
    %2 = graph.transpose %1 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x32x56x56xf32>) -> tensor<1x56x56x32xf32>
    return %2 : tensor<1x56x56x32xf32>
  }
}

// -----

// 14 rows read 29 x 3 x 96 numbers, and 7 rows 15 x 3 x 96.
// CHECK:      plan
// CHECK-SAME: loops ["n", "p0", "p1", "o"]
// CHECK-SAME: tile ["p1"] by [7] lanes "o"
module attributes {poly.target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @half_fits(%x: tensor<1x113x113x96xf32>) -> tensor<1x56x56x96xf32> {
    %w = graph.constant dense_resource<w> : tensor<96x1x3x3xf32>
    %0 = graph.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x113x113x96xf32>) -> tensor<1x96x113x113xf32>
    %1 = graph.conv %0, %w {groups = 96 : i64, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x96x113x113xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x56x56xf32>
    %2 = graph.transpose %1 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x96x56x56xf32>) -> tensor<1x56x56x96xf32>
    return %2 : tensor<1x56x56x96xf32>
  }
}

// -----

// Half of the rows read too much as well.
// CHECK:      plan
// CHECK-SAME: loops ["n", "p0", "p1", "o"]
// CHECK-SAME: tile ["p1"] by [14] lanes "o"
module attributes {poly.target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @half_does_not_fit(%x: tensor<1x16x16x576xf32>) -> tensor<1x14x14x576xf32> {
    %w = graph.constant dense_resource<w> : tensor<576x1x3x3xf32>
    %0 = graph.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x16x16x576xf32>) -> tensor<1x576x16x16xf32>
    %1 = graph.conv %0, %w {groups = 576 : i64, strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x576x16x16xf32>, tensor<576x1x3x3xf32>) -> tensor<1x576x14x14xf32>
    %2 = graph.transpose %1 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x576x14x14xf32>) -> tensor<1x14x14x576xf32>
    return %2 : tensor<1x14x14x576xf32>
  }
}

// -----

// Rows that read what all lanes share pass one vector of features after the
// other.
// CHECK:      plan
// CHECK-SAME: loops ["n", "p0", "o", "p1"]
module attributes {poly.target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @shared(%x: tensor<1x58x58x64xf32>) -> tensor<1x28x28x64xf32> {
    %w = graph.constant dense_resource<w> : tensor<64x64x3x3xf32>
    %0 = graph.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x58x58x64xf32>) -> tensor<1x64x58x58xf32>
    %1 = graph.conv %0, %w {groups = 1 : i64, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x64x58x58xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x28x28xf32>
    %2 = graph.transpose %1 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x64x28x28xf32>) -> tensor<1x28x28x64xf32>
    return %2 : tensor<1x28x28x64xf32>
  }
}
