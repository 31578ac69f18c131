// RUN: espalier-opt %s -graph-fold-constants | FileCheck %s

// Operators that move, choose and generate elements.

// CHECK-LABEL: @transpose()
func.func @transpose() -> tensor<3x2xi32> {
  // CHECK: graph.constant dense<{{\[\[}}1, 4], [2, 5], [3, 6{{\]\]}}> : tensor<3x2xi32>
  %a = graph.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %r = graph.transpose %a {permutation = array<i64: 1, 0>} : (tensor<2x3xi32>) -> tensor<3x2xi32>
  return %r : tensor<3x2xi32>
}

// CHECK-LABEL: @reshape_mixes_dimensions()
func.func @reshape_mixes_dimensions() -> tensor<3x2xi32> {
  // CHECK: graph.constant dense<{{\[\[}}1, 2], [3, 4], [5, 6{{\]\]}}> : tensor<3x2xi32>
  %a = graph.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %r = graph.reshape %a to [3, 2] : (tensor<2x3xi32>) -> tensor<3x2xi32>
  return %r : tensor<3x2xi32>
}

// CHECK-LABEL: @expand()
func.func @expand() -> tensor<2x2x2xi32> {
  // CHECK: graph.constant dense<{{\[\[\[}}1, 1], [2, 2{{\]\]}}, {{\[\[}}1, 1], [2, 2{{\]\]\]}}> : tensor<2x2x2xi32>
  %a = graph.constant dense<[[1], [2]]> : tensor<2x1xi32>
  %r = graph.expand %a to [2, 2, 2] : (tensor<2x1xi32>) -> tensor<2x2x2xi32>
  return %r : tensor<2x2x2xi32>
}

// CHECK-LABEL: @slice_backwards()
func.func @slice_backwards() -> tensor<3xi32> {
  // CHECK: graph.constant dense<[4, 2, 0]> : tensor<3xi32>
  %a = graph.constant dense<[0, 1, 2, 3, 4]> : tensor<5xi32>
  %r = graph.slice %a [4] [3] {steps = array<i64: -2>} : (tensor<5xi32>) -> tensor<3xi32>
  return %r : tensor<3xi32>
}

// CHECK-LABEL: @concat()
func.func @concat() -> tensor<4xi32> {
  // CHECK: graph.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %a = graph.constant dense<[1]> : tensor<1xi32>
  %b = graph.constant dense<[2, 3]> : tensor<2xi32>
  %c = graph.constant dense<> : tensor<0xi32>
  %d = graph.constant dense<[4]> : tensor<1xi32>
  %r = graph.concat %a, %b, %c, %d {axis = 0 : i64} : (tensor<1xi32>, tensor<2xi32>, tensor<0xi32>, tensor<1xi32>) -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// Removes the first element.
// CHECK-LABEL: @pad_constant()
func.func @pad_constant() -> tensor<4xi32> {
  // CHECK: graph.constant dense<[2, 3, 9, 9]> : tensor<4xi32>
  %a = graph.constant dense<[1, 2, 3]> : tensor<3xi32>
  %b = graph.constant dense<9> : tensor<i32>
  %r = graph.pad %a, %b {high = array<i64: 2>, low = array<i64: -1>} : (tensor<3xi32>, tensor<i32>) -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// Back and forth.
// CHECK-LABEL: @pad_reflect()
func.func @pad_reflect() -> tensor<8xi32> {
  // CHECK: graph.constant dense<[2, 1, 2, 3, 2, 1, 2, 3]> : tensor<8xi32>
  %a = graph.constant dense<[1, 2, 3]> : tensor<3xi32>
  %b = graph.constant dense<9> : tensor<i32>
  %r = graph.pad %a, %b {high = array<i64: 4>, low = array<i64: 1>, mode = #graph.pad_mode<reflect>} : (tensor<3xi32>, tensor<i32>) -> tensor<8xi32>
  return %r : tensor<8xi32>
}

// CHECK-LABEL: @pad_edge()
func.func @pad_edge() -> tensor<6xi32> {
  // CHECK: graph.constant dense<[1, 1, 2, 3, 3, 3]> : tensor<6xi32>
  %a = graph.constant dense<[1, 2, 3]> : tensor<3xi32>
  %b = graph.constant dense<9> : tensor<i32>
  %r = graph.pad %a, %b {high = array<i64: 2>, low = array<i64: 1>, mode = #graph.pad_mode<edge>} : (tensor<3xi32>, tensor<i32>) -> tensor<6xi32>
  return %r : tensor<6xi32>
}

// CHECK-LABEL: @pad_wrap()
func.func @pad_wrap() -> tensor<6xi32> {
  // CHECK: graph.constant dense<[3, 1, 2, 3, 1, 2]> : tensor<6xi32>
  %a = graph.constant dense<[1, 2, 3]> : tensor<3xi32>
  %b = graph.constant dense<9> : tensor<i32>
  %r = graph.pad %a, %b {high = array<i64: 2>, low = array<i64: 1>, mode = #graph.pad_mode<wrap>} : (tensor<3xi32>, tensor<i32>) -> tensor<6xi32>
  return %r : tensor<6xi32>
}

// CHECK-LABEL: @tile()
func.func @tile() -> tensor<2x4xi32> {
  // CHECK: graph.constant dense<{{\[\[}}1, 2, 1, 2], [1, 2, 1, 2{{\]\]}}> : tensor<2x4xi32>
  %a = graph.constant dense<[[1, 2]]> : tensor<1x2xi32>
  %r = graph.tile %a {repeats = array<i64: 2, 2>} : (tensor<1x2xi32>) -> tensor<2x4xi32>
  return %r : tensor<2x4xi32>
}

// CHECK-LABEL: @gather_wraps_and_clamps()
func.func @gather_wraps_and_clamps() -> tensor<4xi32> {
  // CHECK: graph.constant dense<[12, 12, 12, 10]> : tensor<4xi32>
  %a = graph.constant dense<[10, 11, 12]> : tensor<3xi32>
  %b = graph.constant dense<[-1, 2, 7, -9]> : tensor<4xi64>
  %r = graph.gather %a, %b {axis = 0 : i64} : (tensor<3xi32>, tensor<4xi64>) -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// CHECK-LABEL: @gather_rows()
func.func @gather_rows() -> tensor<2x1x2xi32> {
  // CHECK: graph.constant dense<{{\[\[\[}}2, 1{{\]\]}}, {{\[\[}}4, 3{{\]\]\]}}> : tensor<2x1x2xi32>
  %a = graph.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %b = graph.constant dense<[[1, 0]]> : tensor<1x2xi32>
  %r = graph.gather %a, %b {axis = 1 : i64} : (tensor<2x2xi32>, tensor<1x2xi32>) -> tensor<2x1x2xi32>
  return %r : tensor<2x1x2xi32>
}

// CHECK-LABEL: @gather_elements()
func.func @gather_elements() -> tensor<2x2xi32> {
  // CHECK: graph.constant dense<{{\[\[}}1, 1], [4, 3{{\]\]}}> : tensor<2x2xi32>
  %a = graph.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %b = graph.constant dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>
  %r = graph.gather_elements %a, %b {axis = 1 : i64} : (tensor<2x2xi32>, tensor<2x2xi64>) -> tensor<2x2xi32>
  return %r : tensor<2x2xi32>
}

// CHECK-LABEL: @gather_nd()
func.func @gather_nd() -> tensor<2xi32> {
  // CHECK: graph.constant dense<[2, 3]> : tensor<2xi32>
  %a = graph.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %b = graph.constant dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>
  %r = graph.gather_nd %a, %b : (tensor<2x2xi32>, tensor<2x2xi64>) -> tensor<2xi32>
  return %r : tensor<2xi32>
}

// CHECK-LABEL: @gather_nd_with_batch()
func.func @gather_nd_with_batch() -> tensor<2xi32> {
  // CHECK: graph.constant dense<[2, 3]> : tensor<2xi32>
  %a = graph.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %b = graph.constant dense<[[1], [0]]> : tensor<2x1xi64>
  %r = graph.gather_nd %a, %b {batch_dims = 1 : i64} : (tensor<2x2xi32>, tensor<2x1xi64>) -> tensor<2xi32>
  return %r : tensor<2xi32>
}

// CHECK-LABEL: @scatter_elements()
func.func @scatter_elements() -> tensor<4xi32> {
  // CHECK: graph.constant dense<[0, 5, 0, 6]> : tensor<4xi32>
  %a = graph.constant dense<[0, 0, 0, 0]> : tensor<4xi32>
  %b = graph.constant dense<[1, -1]> : tensor<2xi64>
  %c = graph.constant dense<[5, 6]> : tensor<2xi32>
  %r = graph.scatter_elements %a, %b, %c {axis = 0 : i64} : (tensor<4xi32>, tensor<2xi64>, tensor<2xi32>) -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// CHECK-LABEL: @scatter_elements_adds()
func.func @scatter_elements_adds() -> tensor<2xi32> {
  // CHECK: graph.constant dense<[1, 12]> : tensor<2xi32>
  %a = graph.constant dense<[1, 1]> : tensor<2xi32>
  %b = graph.constant dense<[1, 1]> : tensor<2xi64>
  %c = graph.constant dense<[5, 6]> : tensor<2xi32>
  %r = graph.scatter_elements %a, %b, %c {axis = 0 : i64, reduction = #graph.scatter_reduction<add>} : (tensor<2xi32>, tensor<2xi64>, tensor<2xi32>) -> tensor<2xi32>
  return %r : tensor<2xi32>
}

// CHECK-LABEL: @scatter_nd_last_counts()
func.func @scatter_nd_last_counts() -> tensor<2x2xi32> {
  // CHECK: graph.constant dense<{{\[\[}}0, 0], [3, 4{{\]\]}}> : tensor<2x2xi32>
  %a = graph.constant dense<[[0, 0], [0, 0]]> : tensor<2x2xi32>
  %b = graph.constant dense<[[1], [1]]> : tensor<2x1xi64>
  %c = graph.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %r = graph.scatter_nd %a, %b, %c : (tensor<2x2xi32>, tensor<2x1xi64>, tensor<2x2xi32>) -> tensor<2x2xi32>
  return %r : tensor<2x2xi32>
}

// CHECK-LABEL: @fill()
func.func @fill() -> tensor<3xi32> {
  // CHECK: graph.constant dense<7> : tensor<3xi32>
  %a = graph.constant dense<7> : tensor<i32>
  %r = graph.fill %a to [3] : (tensor<i32>) -> tensor<3xi32>
  return %r : tensor<3xi32>
}

// CHECK-LABEL: @iota()
func.func @iota() -> tensor<2x2xf32> {
  // CHECK: graph.constant dense<{{\[\[}}0.000000e+00, 1.000000e+00], [0.000000e+00, 1.000000e+00{{\]\]}}> : tensor<2x2xf32>
  %r = graph.iota [2, 2] {axis = 1 : i64, element_type = f32} : tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

// CHECK-LABEL: @enlarge()
func.func @enlarge() -> tensor<1x1x4xi32> {
  // CHECK: graph.constant dense<{{\[\[\[}}0, 5, 0, 0{{\]\]\]}}> : tensor<1x1x4xi32>
  %a = graph.constant dense<[[[5]]]> : tensor<1x1x1xi32>
  %r = graph.enlarge %a {kernel = array<i64: 4>} : (tensor<1x1x1xi32>) -> tensor<1x1x4xi32>
  return %r : tensor<1x1x4xi32>
}

// CHECK-LABEL: @const_one()
func.func @const_one() -> tensor<3xi32> {
  // CHECK: graph.constant dense<1> : tensor<3xi32>
  %r = graph.const_one [3] {element_type = i32} : tensor<3xi32>
  return %r : tensor<3xi32>
}

// CHECK-LABEL: @const_imm()
func.func @const_imm() -> tensor<2x3xi32> {
  // CHECK: graph.constant dense<{{\[\[}}1, 0, 0], [0, 1, 0{{\]\]}}> : tensor<2x3xi32>
  %r = graph.const_imm [2, 3] {element_type = i32} : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

// CHECK-LABEL: @const_iconv()
func.func @const_iconv() -> tensor<2x2x3xi32> {
  // CHECK: graph.constant dense<{{\[\[\[}}0, 1, 0], [0, 0, 0{{\]\]}}, {{\[\[}}0, 0, 0], [0, 1, 0{{\]\]\]}}> : tensor<2x2x3xi32>
  %r = graph.const_iconv [2, 2, 3] {element_type = i32} : tensor<2x2x3xi32>
  return %r : tensor<2x2x3xi32>
}

// CHECK-LABEL: @const_pool()
func.func @const_pool() -> tensor<2x1x2xf32> {
  // CHECK: graph.constant dense<5.000000e-01> : tensor<2x1x2xf32>
  %r = graph.const_pool [2, 1, 2] {element_type = f32} : tensor<2x1x2xf32>
  return %r : tensor<2x1x2xf32>
}

// CHECK-LABEL: @resize_nearest()
func.func @resize_nearest() -> tensor<1x4xf32> {
  // CHECK: graph.constant dense<{{\[\[}}1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00{{\]\]}}> : tensor<1x4xf32>
  %a = graph.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %r = graph.resize %a to [1, 4] {mode = #graph.resize_mode<nearest>} : (tensor<1x2xf32>) -> tensor<1x4xf32>
  return %r : tensor<1x4xf32>
}

// CHECK-LABEL: @resize_nearest_of_integers()
func.func @resize_nearest_of_integers() -> tensor<5xi32> {
  // CHECK: graph.constant dense<[1, 1, 2, 2, 3]> : tensor<5xi32>
  %a = graph.constant dense<[1, 2, 3]> : tensor<3xi32>
  %r = graph.resize %a to [5] {coordinate_mode = #graph.coordinate_mode<asymmetric>, mode = #graph.resize_mode<nearest>, nearest_mode = #graph.nearest_mode<floor>} : (tensor<3xi32>) -> tensor<5xi32>
  return %r : tensor<5xi32>
}

// CHECK-LABEL: @resize_linear()
func.func @resize_linear() -> tensor<4xf32> {
  // CHECK: graph.constant dense<[1.000000e+00, 1.250000e+00, 1.750000e+00, 2.000000e+00]> : tensor<4xf32>
  %a = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %r = graph.resize %a to [4] {mode = #graph.resize_mode<linear>} : (tensor<2xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @resize_align_corners()
func.func @resize_align_corners() -> tensor<3xf32> {
  // CHECK: graph.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]> : tensor<3xf32>
  %a = graph.constant dense<[1.0, 3.0]> : tensor<2xf32>
  %r = graph.resize %a to [3] {coordinate_mode = #graph.coordinate_mode<align_corners>, mode = #graph.resize_mode<linear>} : (tensor<2xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// CHECK-LABEL: @resize_cubic()
func.func @resize_cubic() -> tensor<2xf32> {
  // CHECK: graph.constant dense<[1.406250e+00, 3.593750e+00]> : tensor<2xf32>
  %a = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %r = graph.resize %a to [2] {mode = #graph.resize_mode<cubic>} : (tensor<4xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
