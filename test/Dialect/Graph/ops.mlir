// RUN: espalier-opt %s | espalier-opt | FileCheck %s
// RUN: espalier-opt %s -mlir-print-op-generic | espalier-opt | FileCheck %s

// CHECK-LABEL: @matmul(
func.func @matmul(%a: tensor<?x4x?xf32>, %b: tensor<16x32xf32>) {
  // CHECK: graph.matmul %{{.*}}, %{{.*}} {activation = #graph.activation<relu>} : (tensor<?x4x?xf32>, tensor<16x32xf32>) -> tensor<?x4x32xf32>
  %r = graph.matmul %a, %b {activation = #graph.activation<relu>} : (tensor<?x4x?xf32>, tensor<16x32xf32>) -> tensor<?x4x32xf32>
  return
}

// CHECK-LABEL: @conv(
func.func @conv(%x: tensor<?x4x?xf32>, %w: tensor<8x2x3xf32>) {
  // CHECK: graph.conv %{{.*}}, %{{.*}} {dilations = array<i64: 1>, groups = 2 : i64, pads_high = array<i64: 1>, pads_low = array<i64: 1>, strides = array<i64: 2>} : (tensor<?x4x?xf32>, tensor<8x2x3xf32>) -> tensor<?x8x?xf32>
  %r = graph.conv %x, %w {dilations = array<i64: 1>, groups = 2 : i64, pads_high = array<i64: 1>, pads_low = array<i64: 1>, strides = array<i64: 2>} : (tensor<?x4x?xf32>, tensor<8x2x3xf32>) -> tensor<?x8x?xf32>
  return
}

// CHECK-LABEL: @conv_transpose(
func.func @conv_transpose(%x: tensor<1x4x5xf32>, %w: tensor<4x2x3xf32>) {
  // CHECK: graph.conv_transpose %{{.*}}, %{{.*}} {dilations = array<i64: 1>, output_padding = array<i64: 1>, pads_high = array<i64: 1>, pads_low = array<i64: 1>, strides = array<i64: 2>} : (tensor<1x4x5xf32>, tensor<4x2x3xf32>) -> tensor<1x2x10xf32>
  %r = graph.conv_transpose %x, %w {dilations = array<i64: 1>, output_padding = array<i64: 1>, pads_high = array<i64: 1>, pads_low = array<i64: 1>, strides = array<i64: 2>} : (tensor<1x4x5xf32>, tensor<4x2x3xf32>) -> tensor<1x2x10xf32>
  return
}

// CHECK-LABEL: @enlarge(
func.func @enlarge(%w: tensor<8x4x1x1xf32>) {
  // CHECK: graph.enlarge %{{.*}} {kernel = array<i64: 3, 3>} : (tensor<8x4x1x1xf32>) -> tensor<8x4x3x3xf32>
  %r = graph.enlarge %w {kernel = array<i64: 3, 3>} : (tensor<8x4x1x1xf32>) -> tensor<8x4x3x3xf32>
  return
}

// CHECK-LABEL: @max_pool(
func.func @max_pool(%x: tensor<1x8x9xf32>) {
  // CHECK: graph.max_pool %{{.*}} {ceil_mode = true, dilations = array<i64: 1>, kernel = array<i64: 2>, pads_high = array<i64: 1>, pads_low = array<i64: 1>, strides = array<i64: 2>} : (tensor<1x8x9xf32>) -> tensor<1x8x5xf32>
  %r = graph.max_pool %x {ceil_mode = true, dilations = array<i64: 1>, kernel = array<i64: 2>, pads_high = array<i64: 1>, pads_low = array<i64: 1>, strides = array<i64: 2>} : (tensor<1x8x9xf32>) -> tensor<1x8x5xf32>
  return
}

// CHECK-LABEL: @avg_pool(
func.func @avg_pool(%x: tensor<1x8x?xf32>) {
  // CHECK: graph.avg_pool %{{.*}} {count_include_pad = true, dilations = array<i64: 1>, kernel = array<i64: 3>, pads_high = array<i64: 1>, pads_low = array<i64: 1>, strides = array<i64: 2>} : (tensor<1x8x?xf32>) -> tensor<1x8x?xf32>
  %r = graph.avg_pool %x {count_include_pad = true, dilations = array<i64: 1>, kernel = array<i64: 3>, pads_high = array<i64: 1>, pads_low = array<i64: 1>, strides = array<i64: 2>} : (tensor<1x8x?xf32>) -> tensor<1x8x?xf32>
  return
}

// CHECK-LABEL: @resize(
func.func @resize(%x: tensor<1x?xf32>, %n: index) {
  // CHECK: graph.resize %{{.*}} to [1, %{{.*}}] {mode = #graph.resize_mode<cubic>, scales = array<f64: 1.000000e+00, 5.000000e-01>} : (tensor<1x?xf32>) -> tensor<1x?xf32>
  %r = graph.resize %x to [1, %n] {mode = #graph.resize_mode<cubic>, scales = array<f64: 1.000000e+00, 5.000000e-01>} : (tensor<1x?xf32>) -> tensor<1x?xf32>
  return
}

// CHECK-LABEL: @softmax(
func.func @softmax(%x: tensor<2x?xf32>) {
  // CHECK: graph.softmax %{{.*}} {axis = 1 : i64} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %r = graph.softmax %x {axis = 1 : i64} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  return
}

// CHECK-LABEL: @log_softmax(
func.func @log_softmax(%x: tensor<2x3xf32>) {
  // CHECK: graph.log_softmax %{{.*}} {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = graph.log_softmax %x {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: @layer_norm(
func.func @layer_norm(%x: tensor<2x3xf32>, %s: tensor<3xf32>) {
  // CHECK: graph.layer_norm %{{.*}}, %{{.*}}, %{{.*}} {axis = 1 : i64, epsilon = 1.000000e-05 : f64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %r = graph.layer_norm %x, %s, %s {axis = 1 : i64, epsilon = 1.000000e-05 : f64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: @batch_norm(
func.func @batch_norm(%x: tensor<2x3x?xf32>, %s: tensor<3xf32>) {
  // CHECK: graph.batch_norm %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64} : (tensor<2x3x?xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x?xf32>
  %r = graph.batch_norm %x, %s, %s, %s, %s {epsilon = 1.000000e-05 : f64} : (tensor<2x3x?xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x?xf32>
  return
}

// CHECK-LABEL: @instance_norm(
func.func @instance_norm(%x: tensor<2x3x?xf32>, %s: tensor<3xf32>) {
  // CHECK: graph.instance_norm %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64} : (tensor<2x3x?xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x?xf32>
  %r = graph.instance_norm %x, %s, %s {epsilon = 1.000000e-05 : f64} : (tensor<2x3x?xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x?xf32>
  return
}

// CHECK-LABEL: @lrn(
func.func @lrn(%x: tensor<2x3x?xf32>) {
  // CHECK: graph.lrn %{{.*}} {alpha = 1.000000e-01 : f64, beta = 7.500000e-01 : f64, bias = 1.000000e+00 : f64, window = 5 : i64} : (tensor<2x3x?xf32>) -> tensor<2x3x?xf32>
  %r = graph.lrn %x {alpha = 1.000000e-01 : f64, beta = 7.500000e-01 : f64, bias = 1.000000e+00 : f64, window = 5 : i64} : (tensor<2x3x?xf32>) -> tensor<2x3x?xf32>
  return
}

// CHECK-LABEL: @reduce_sum(
func.func @reduce_sum(%x: tensor<2x3x4xf32>) {
  // CHECK: graph.reduce_sum %{{.*}} {axes = array<i64: 0, 2>, keepdims = true} : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
  %r = graph.reduce_sum %x {axes = array<i64: 0, 2>, keepdims = true} : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
  return
}

// CHECK-LABEL: @reduce_mean(
func.func @reduce_mean(%x: tensor<2x3x4xf32>) {
  // CHECK: graph.reduce_mean %{{.*}} {axes = array<i64: 0, 2>, keepdims = true} : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
  %r = graph.reduce_mean %x {axes = array<i64: 0, 2>, keepdims = true} : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
  return
}

// CHECK-LABEL: @reduce_prod(
func.func @reduce_prod(%x: tensor<2x3x4xf32>) {
  // CHECK: graph.reduce_prod %{{.*}} {axes = array<i64: 0, 2>, keepdims = true} : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
  %r = graph.reduce_prod %x {axes = array<i64: 0, 2>, keepdims = true} : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
  return
}

// CHECK-LABEL: @reduce_max(
func.func @reduce_max(%x: tensor<2x3x4xf32>) {
  // CHECK: graph.reduce_max %{{.*}} {axes = array<i64: 0, 2>, keepdims = true} : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
  %r = graph.reduce_max %x {axes = array<i64: 0, 2>, keepdims = true} : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
  return
}

// CHECK-LABEL: @reduce_min(
func.func @reduce_min(%x: tensor<2x3x4xf32>) {
  // CHECK: graph.reduce_min %{{.*}} {axes = array<i64: 0, 2>, keepdims = true} : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
  %r = graph.reduce_min %x {axes = array<i64: 0, 2>, keepdims = true} : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
  return
}

// CHECK-LABEL: @arg_max(
func.func @arg_max(%x: tensor<2x3x4xi8>) {
  // CHECK: graph.arg_max %{{.*}} {axis = 1 : i64, select_last = true} : (tensor<2x3x4xi8>) -> tensor<2x4xi64>
  %r = graph.arg_max %x {axis = 1 : i64, select_last = true} : (tensor<2x3x4xi8>) -> tensor<2x4xi64>
  return
}

// CHECK-LABEL: @arg_min(
func.func @arg_min(%x: tensor<2x3x4xi8>) {
  // CHECK: graph.arg_min %{{.*}} {axis = 1 : i64, select_last = true} : (tensor<2x3x4xi8>) -> tensor<2x4xi64>
  %r = graph.arg_min %x {axis = 1 : i64, select_last = true} : (tensor<2x3x4xi8>) -> tensor<2x4xi64>
  return
}

// CHECK-LABEL: @cumsum(
func.func @cumsum(%x: tensor<5xf32>) {
  // CHECK: graph.cumsum %{{.*}} {axis = 0 : i64, exclusive = true} : (tensor<5xf32>) -> tensor<5xf32>
  %r = graph.cumsum %x {axis = 0 : i64, exclusive = true} : (tensor<5xf32>) -> tensor<5xf32>
  return
}

// CHECK-LABEL: @lstm(
func.func @lstm(%x: tensor<5x2x3xf32>, %w: tensor<16x3xf32>, %u: tensor<16x4xf32>, %b: tensor<32xf32>, %h: tensor<2x4xf32>) {
  // CHECK: graph.lstm %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {direction = #graph.direction<reverse>} : (tensor<5x2x3xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<32xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<5x2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  %r:3 = graph.lstm %x, %w, %u, %b, %h, %h {direction = #graph.direction<reverse>} : (tensor<5x2x3xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<32xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<5x2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  return
}

// CHECK-LABEL: @gru(
func.func @gru(%x: tensor<?x2x3xf32>, %w: tensor<12x3xf32>, %u: tensor<12x4xf32>, %b: tensor<24xf32>, %h: tensor<2x4xf32>) {
  // CHECK: graph.gru %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {linear_before_reset = true} : (tensor<?x2x3xf32>, tensor<12x3xf32>, tensor<12x4xf32>, tensor<24xf32>, tensor<2x4xf32>) -> (tensor<?x2x4xf32>, tensor<2x4xf32>)
  %r:2 = graph.gru %x, %w, %u, %b, %h {linear_before_reset = true} : (tensor<?x2x3xf32>, tensor<12x3xf32>, tensor<12x4xf32>, tensor<24xf32>, tensor<2x4xf32>) -> (tensor<?x2x4xf32>, tensor<2x4xf32>)
  return
}

// CHECK-LABEL: @scan(
func.func @scan(%s: tensor<4xf32>, %x: tensor<?x4xf32>, %w: tensor<4xf32>) {
  // CHECK: graph.scan %{{.*}} over %{{.*}} with %{{.*}} {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32>):
  // CHECK: graph.yield %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>
  // CHECK: } : (tensor<4xf32>, tensor<?x4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32>)
  %r:2 = graph.scan %s over %x with %w {
  ^bb0(%state: tensor<4xf32>, %row: tensor<4xf32>, %weight: tensor<4xf32>):
    %p = graph.mul %row, %weight : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %sum = graph.add %state, %p : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    graph.yield %sum, %p : tensor<4xf32>, tensor<4xf32>
  } : (tensor<4xf32>, tensor<?x4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32>)
  return
}

// No state, no other operand, no result.
// CHECK-LABEL: @scan_of_nothing(
func.func @scan_of_nothing(%x: tensor<?xf32>) {
  // CHECK: graph.scan over %{{.*}} {
  // CHECK: graph.yield
  graph.scan over %x {
  ^bb0(%row: tensor<f32>):
    graph.yield
  } : (tensor<?xf32>) -> ()
  return
}
