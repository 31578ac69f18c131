// RUN: espalier-opt %s -graph-fold-constants | FileCheck %s

// Reductions, products and convolutions.

// 2048 + 1 is no f16, 2048 + 1 + 1 is.
// CHECK-LABEL: @sum_of_f16_accumulates_in_f32()
func.func @sum_of_f16_accumulates_in_f32() -> tensor<f16> {
  // CHECK: graph.constant dense<2.050000e+03> : tensor<f16>
  %a = graph.constant dense<[2048.0, 1.0, 1.0]> : tensor<3xf16>
  %r = graph.reduce_sum %a {axes = array<i64: 0>} : (tensor<3xf16>) -> tensor<f16>
  return %r : tensor<f16>
}

// CHECK-LABEL: @mean_keeps_dimension()
func.func @mean_keeps_dimension() -> tensor<1x2xf32> {
  // CHECK: graph.constant dense<{{\[\[}}2.000000e+00, 3.500000e+00{{\]\]}}> : tensor<1x2xf32>
  %a = graph.constant dense<[[1.0, 2.0], [3.0, 5.0]]> : tensor<2x2xf32>
  %r = graph.reduce_mean %a {axes = array<i64: 0>, keepdims = true} : (tensor<2x2xf32>) -> tensor<1x2xf32>
  return %r : tensor<1x2xf32>
}

// Minus infinity.
// CHECK-LABEL: @max_of_nothing()
func.func @max_of_nothing() -> tensor<2xf32> {
  // CHECK: graph.constant dense<0xFF800000> : tensor<2xf32>
  %a = graph.constant dense<> : tensor<2x0xf32>
  %r = graph.reduce_max %a {axes = array<i64: 1>} : (tensor<2x0xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// CHECK-LABEL: @max_of_negative_integers()
func.func @max_of_negative_integers() -> tensor<i8> {
  // CHECK: graph.constant dense<-3> : tensor<i8>
  %a = graph.constant dense<[-3, -7]> : tensor<2xi8>
  %r = graph.reduce_max %a {axes = array<i64: 0>} : (tensor<2xi8>) -> tensor<i8>
  return %r : tensor<i8>
}

// CHECK-LABEL: @arg_max_first()
func.func @arg_max_first() -> tensor<2xi64> {
  // CHECK: graph.constant dense<[1, 0]> : tensor<2xi64>
  %a = graph.constant dense<[[1, 3, 3], [2, 2, 1]]> : tensor<2x3xi32>
  %r = graph.arg_max %a {axis = 1 : i64} : (tensor<2x3xi32>) -> tensor<2xi64>
  return %r : tensor<2xi64>
}

// CHECK-LABEL: @arg_max_last()
func.func @arg_max_last() -> tensor<2xi64> {
  // CHECK: graph.constant dense<[2, 1]> : tensor<2xi64>
  %a = graph.constant dense<[[1, 3, 3], [2, 2, 1]]> : tensor<2x3xi32>
  %r = graph.arg_max %a {axis = 1 : i64, select_last = true} : (tensor<2x3xi32>) -> tensor<2xi64>
  return %r : tensor<2xi64>
}

// CHECK-LABEL: @arg_min_finds_nan()
func.func @arg_min_finds_nan() -> tensor<i64> {
  // CHECK: graph.constant dense<1> : tensor<i64>
  %a = graph.constant dense<[1.0, 0x7FC00000, 0.0]> : tensor<3xf32>
  %r = graph.arg_min %a {axis = 0 : i64} : (tensor<3xf32>) -> tensor<i64>
  return %r : tensor<i64>
}

// CHECK-LABEL: @cumsum()
func.func @cumsum() -> tensor<4xi32> {
  // CHECK: graph.constant dense<[1, 3, 6, 10]> : tensor<4xi32>
  %a = graph.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %r = graph.cumsum %a {axis = 0 : i64} : (tensor<4xi32>) -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// CHECK-LABEL: @cumsum_exclusive_reverse()
func.func @cumsum_exclusive_reverse() -> tensor<4xi32> {
  // CHECK: graph.constant dense<[9, 7, 4, 0]> : tensor<4xi32>
  %a = graph.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %r = graph.cumsum %a {axis = 0 : i64, exclusive = true, reverse = true} : (tensor<4xi32>) -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// CHECK-LABEL: @matmul()
func.func @matmul() -> tensor<2x3xi32> {
  // CHECK: graph.constant dense<{{\[\[}}1, 2, 8], [3, 4, 18{{\]\]}}> : tensor<2x3xi32>
  %a = graph.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %b = graph.constant dense<[[1, 0, 2], [0, 1, 3]]> : tensor<2x3xi32>
  %r = graph.matmul %a, %b : (tensor<2x2xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

// CHECK-LABEL: @matmul_relu()
func.func @matmul_relu() -> tensor<1x2xf32> {
  // CHECK: graph.constant dense<{{\[\[}}3.000000e+00, 0.000000e+00{{\]\]}}> : tensor<1x2xf32>
  %a = graph.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %b = graph.constant dense<[[1.0, -1.0], [1.0, -1.0]]> : tensor<2x2xf32>
  %r = graph.matmul %a, %b {activation = #graph.activation<relu>} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  return %r : tensor<1x2xf32>
}

// A sum of no products.
// CHECK-LABEL: @matmul_over_nothing()
func.func @matmul_over_nothing() -> tensor<2x2xf32> {
  // CHECK: graph.constant dense<0.000000e+00> : tensor<2x2xf32>
  %a = graph.constant dense<> : tensor<2x0xf32>
  %b = graph.constant dense<> : tensor<0x2xf32>
  %r = graph.matmul %a, %b : (tensor<2x0xf32>, tensor<0x2xf32>) -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

// CHECK-LABEL: @conv_pads_with_zeros()
func.func @conv_pads_with_zeros() -> tensor<1x1x3xi32> {
  // CHECK: graph.constant dense<{{\[\[\[}}210, 321, 32{{\]\]\]}}> : tensor<1x1x3xi32>
  %a = graph.constant dense<[[[1, 2, 3]]]> : tensor<1x1x3xi32>
  %b = graph.constant dense<[[[1, 10, 100]]]> : tensor<1x1x3xi32>
  %r = graph.conv %a, %b {dilations = array<i64: 1>, pads_high = array<i64: 1>, pads_low = array<i64: 1>, strides = array<i64: 1>} : (tensor<1x1x3xi32>, tensor<1x1x3xi32>) -> tensor<1x1x3xi32>
  return %r : tensor<1x1x3xi32>
}

// CHECK-LABEL: @conv_stride_and_dilation()
func.func @conv_stride_and_dilation() -> tensor<1x1x3xi32> {
  // CHECK: graph.constant dense<{{\[\[\[}}31, 53, 5{{\]\]\]}}> : tensor<1x1x3xi32>
  %a = graph.constant dense<[[[1, 2, 3, 4, 5, 6]]]> : tensor<1x1x6xi32>
  %b = graph.constant dense<[[[1, 10]]]> : tensor<1x1x2xi32>
  %r = graph.conv %a, %b {dilations = array<i64: 2>, pads_high = array<i64: 1>, pads_low = array<i64: 0>, strides = array<i64: 2>} : (tensor<1x1x6xi32>, tensor<1x1x2xi32>) -> tensor<1x1x3xi32>
  return %r : tensor<1x1x3xi32>
}

// Each feature reads its own channel.
// CHECK-LABEL: @conv_groups()
func.func @conv_groups() -> tensor<1x2x2xi32> {
  // CHECK: graph.constant dense<{{\[\[\[}}10, 20], [300, 400{{\]\]\]}}> : tensor<1x2x2xi32>
  %a = graph.constant dense<[[[1, 2], [3, 4]]]> : tensor<1x2x2xi32>
  %b = graph.constant dense<[[[10]], [[100]]]> : tensor<2x1x1xi32>
  %r = graph.conv %a, %b {dilations = array<i64: 1>, groups = 2 : i64, pads_high = array<i64: 0>, pads_low = array<i64: 0>, strides = array<i64: 1>} : (tensor<1x2x2xi32>, tensor<2x1x1xi32>) -> tensor<1x2x2xi32>
  return %r : tensor<1x2x2xi32>
}

// CHECK-LABEL: @conv_transpose()
func.func @conv_transpose() -> tensor<1x1x5xi32> {
  // CHECK: graph.constant dense<{{\[\[\[}}1, 10, 102, 20, 200{{\]\]\]}}> : tensor<1x1x5xi32>
  %a = graph.constant dense<[[[1, 2]]]> : tensor<1x1x2xi32>
  %b = graph.constant dense<[[[1, 10, 100]]]> : tensor<1x1x3xi32>
  %r = graph.conv_transpose %a, %b {dilations = array<i64: 1>, output_padding = array<i64: 0>, pads_high = array<i64: 0>, pads_low = array<i64: 0>, strides = array<i64: 2>} : (tensor<1x1x2xi32>, tensor<1x1x3xi32>) -> tensor<1x1x5xi32>
  return %r : tensor<1x1x5xi32>
}

// The last window has one element.
// CHECK-LABEL: @max_pool_ceil()
func.func @max_pool_ceil() -> tensor<1x1x3xi32> {
  // CHECK: graph.constant dense<{{\[\[\[}}2, 4, 0{{\]\]\]}}> : tensor<1x1x3xi32>
  %a = graph.constant dense<[[[1, 2, 3, 4, 0]]]> : tensor<1x1x5xi32>
  %r = graph.max_pool %a {ceil_mode = true, dilations = array<i64: 1>, kernel = array<i64: 2>, pads_high = array<i64: 0>, pads_low = array<i64: 0>, strides = array<i64: 2>} : (tensor<1x1x5xi32>) -> tensor<1x1x3xi32>
  return %r : tensor<1x1x3xi32>
}

// CHECK-LABEL: @avg_pool_without_padding()
func.func @avg_pool_without_padding() -> tensor<1x1x3xf32> {
  // CHECK: graph.constant dense<{{\[\[\[}}3.000000e+00, 4.000000e+00, 5.000000e+00{{\]\]\]}}> : tensor<1x1x3xf32>
  %a = graph.constant dense<[[[2.0, 4.0, 6.0]]]> : tensor<1x1x3xf32>
  %r = graph.avg_pool %a {dilations = array<i64: 1>, kernel = array<i64: 3>, pads_high = array<i64: 1>, pads_low = array<i64: 1>, strides = array<i64: 1>} : (tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
  return %r : tensor<1x1x3xf32>
}

// CHECK-LABEL: @avg_pool_with_padding()
func.func @avg_pool_with_padding() -> tensor<1x1x3xf32> {
  // CHECK: graph.constant dense<{{\[\[\[}}3.000000e+00, 6.000000e+00, 5.000000e+00{{\]\]\]}}> : tensor<1x1x3xf32>
  %a = graph.constant dense<[[[3.0, 6.0, 9.0]]]> : tensor<1x1x3xf32>
  %r = graph.avg_pool %a {count_include_pad = true, dilations = array<i64: 1>, kernel = array<i64: 3>, pads_high = array<i64: 1>, pads_low = array<i64: 1>, strides = array<i64: 1>} : (tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
  return %r : tensor<1x1x3xf32>
}

// CHECK-LABEL: @softmax_of_large_numbers()
func.func @softmax_of_large_numbers() -> tensor<2xf32> {
  // CHECK: graph.constant dense<5.000000e-01> : tensor<2xf32>
  %a = graph.constant dense<[1000.0, 1000.0]> : tensor<2xf32>
  %r = graph.softmax %a {axis = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// CHECK-LABEL: @log_softmax()
func.func @log_softmax() -> tensor<2x2xf32> {
  // CHECK: graph.constant dense<{{\[\[}}-1.31326163, -1.31326163], [-0.313261658, -0.313261658{{\]\]}}> : tensor<2x2xf32>
  %a = graph.constant dense<[[0.0, 0.0], [1.0, 1.0]]> : tensor<2x2xf32>
  %r = graph.log_softmax %a {axis = 0 : i64} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

// CHECK-LABEL: @layer_norm()
func.func @layer_norm() -> tensor<1x2xf32> {
  // CHECK: graph.constant dense<{{\[\[}}-1.000000e+00, 3.000000e+00{{\]\]}}> : tensor<1x2xf32>
  %a = graph.constant dense<[[1.0, 3.0]]> : tensor<1x2xf32>
  %b = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %c = graph.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %r = graph.layer_norm %a, %b, %c {axis = 1 : i64, epsilon = 0.000000e+00 : f64} : (tensor<1x2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  return %r : tensor<1x2xf32>
}

// CHECK-LABEL: @batch_norm()
func.func @batch_norm() -> tensor<1x2xf32> {
  // CHECK: graph.constant dense<{{\[\[}}0.000000e+00, 2.000000e+00{{\]\]}}> : tensor<1x2xf32>
  %a = graph.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %b = graph.constant dense<[2.0, 1.0]> : tensor<2xf32>
  %c = graph.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %d = graph.constant dense<[1.0, 1.0]> : tensor<2xf32>
  %e = graph.constant dense<[4.0, 1.0]> : tensor<2xf32>
  %r = graph.batch_norm %a, %b, %c, %d, %e {epsilon = 0.000000e+00 : f64} : (tensor<1x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  return %r : tensor<1x2xf32>
}

// CHECK-LABEL: @instance_norm()
func.func @instance_norm() -> tensor<1x2x2xf32> {
  // CHECK: graph.constant dense<{{\[\[\[}}-1.000000e+00, 1.000000e+00], [9.000000e+00, 1.100000e+01{{\]\]\]}}> : tensor<1x2x2xf32>
  %a = graph.constant dense<[[[1.0, 3.0], [2.0, 6.0]]]> : tensor<1x2x2xf32>
  %b = graph.constant dense<[1.0, 1.0]> : tensor<2xf32>
  %c = graph.constant dense<[0.0, 10.0]> : tensor<2xf32>
  %r = graph.instance_norm %a, %b, %c {epsilon = 0.000000e+00 : f64} : (tensor<1x2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x2xf32>
  return %r : tensor<1x2x2xf32>
}

// Neighbours of channel 1 are channels 0 and 2.
// CHECK-LABEL: @lrn()
func.func @lrn() -> tensor<1x3x1xf32> {
  // CHECK: graph.constant dense<{{\[\[\[}}2.000000e-01], [0.142857149], [0.230769232{{\]\]\]}}> : tensor<1x3x1xf32>
  %a = graph.constant dense<[[[1.0], [2.0], [3.0]]]> : tensor<1x3x1xf32>
  %r = graph.lrn %a {alpha = 3.000000e+00 : f64, beta = 1.000000e+00 : f64, bias = 0.000000e+00 : f64, window = 3 : i64} : (tensor<1x3x1xf32>) -> tensor<1x3x1xf32>
  return %r : tensor<1x3x1xf32>
}
