// RUN: espalier-opt %s -graph-fold-constants | FileCheck %s

// Recurrent layers; onnxruntime gives the same values, to 6 digits.

// CHECK-LABEL: @lstm()
func.func @lstm() -> (tensor<3x1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>) {
  // CHECK: graph.constant dense<{{\[\[\[}}0.15390{{[0-9]+\]\]}}, {{\[\[}}-0.0059204{{[0-9]+\]\]}}, {{\[\[}}0.226796106{{\]\]\]}}> : tensor<3x1x1xf32>
  // CHECK: graph.constant dense<0.226796106> : tensor<1x1xf32>
  // CHECK: graph.constant dense<0.694965898> : tensor<1x1xf32>
  %a = graph.constant dense<[[[1.0]], [[-0.5]], [[2.0]]]> : tensor<3x1x1xf32>
  %b = graph.constant dense<[[0.5], [-0.25], [0.75], [1.0]]> : tensor<4x1xf32>
  %c = graph.constant dense<[[0.1], [0.2], [-0.3], [0.4]]> : tensor<4x1xf32>
  %d = graph.constant dense<[0.0, 0.1, 0.2, 0.3, 0.0, -0.1, 0.2, -0.3]> : tensor<8xf32>
  %e = graph.constant dense<[[0.5]]> : tensor<1x1xf32>
  %f = graph.constant dense<[[-0.25]]> : tensor<1x1xf32>
  %Y, %H, %C = graph.lstm %a, %b, %c, %d, %e, %f : (tensor<3x1x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<8xf32>, tensor<1x1xf32>, tensor<1x1xf32>) -> (tensor<3x1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>)
  return %Y, %H, %C : tensor<3x1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>
}

// CHECK-LABEL: @lstm_reverse()
func.func @lstm_reverse() -> (tensor<3x1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>) {
  // CHECK: graph.constant dense<{{\[\[\[}}0.214996{{[0-9]+\]\]}}, {{\[\[}}0.039689{{[0-9]+\]\]}}, {{\[\[}}0.188537836{{\]\]\]}}> : tensor<3x1x1xf32>
  // CHECK: graph.constant dense<0.214996{{[0-9]+}}> : tensor<1x1xf32>
  // CHECK: graph.constant dense<0.534580231> : tensor<1x1xf32>
  %a = graph.constant dense<[[[1.0]], [[-0.5]], [[2.0]]]> : tensor<3x1x1xf32>
  %b = graph.constant dense<[[0.5], [-0.25], [0.75], [1.0]]> : tensor<4x1xf32>
  %c = graph.constant dense<[[0.1], [0.2], [-0.3], [0.4]]> : tensor<4x1xf32>
  %d = graph.constant dense<[0.0, 0.1, 0.2, 0.3, 0.0, -0.1, 0.2, -0.3]> : tensor<8xf32>
  %e = graph.constant dense<[[0.5]]> : tensor<1x1xf32>
  %f = graph.constant dense<[[-0.25]]> : tensor<1x1xf32>
  %Y, %H, %C = graph.lstm %a, %b, %c, %d, %e, %f {direction = #graph.direction<reverse>} : (tensor<3x1x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<8xf32>, tensor<1x1xf32>, tensor<1x1xf32>) -> (tensor<3x1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>)
  return %Y, %H, %C : tensor<3x1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>
}

// The initial states.
// CHECK-LABEL: @lstm_over_nothing()
func.func @lstm_over_nothing() -> (tensor<0x1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>) {
  // CHECK: graph.constant dense<> : tensor<0x1x1xf32>
  // CHECK: graph.constant dense<5.000000e-01> : tensor<1x1xf32>
  // CHECK: graph.constant dense<-2.500000e-01> : tensor<1x1xf32>
  %a = graph.constant dense<> : tensor<0x1x1xf32>
  %b = graph.constant dense<[[0.5], [-0.25], [0.75], [1.0]]> : tensor<4x1xf32>
  %c = graph.constant dense<[[0.1], [0.2], [-0.3], [0.4]]> : tensor<4x1xf32>
  %d = graph.constant dense<[0.0, 0.1, 0.2, 0.3, 0.0, -0.1, 0.2, -0.3]> : tensor<8xf32>
  %e = graph.constant dense<[[0.5]]> : tensor<1x1xf32>
  %f = graph.constant dense<[[-0.25]]> : tensor<1x1xf32>
  %Y, %H, %C = graph.lstm %a, %b, %c, %d, %e, %f : (tensor<0x1x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<8xf32>, tensor<1x1xf32>, tensor<1x1xf32>) -> (tensor<0x1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>)
  return %Y, %H, %C : tensor<0x1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>
}

// CHECK-LABEL: @gru()
func.func @gru() -> (tensor<2x1x1xf32>, tensor<1x1xf32>) {
  // CHECK: graph.constant dense<{{\[\[\[}}0.545187{{[0-9]+\]\]}}, {{\[\[}}0.118942{{[0-9]+\]\]\]}}> : tensor<2x1x1xf32>
  // CHECK: graph.constant dense<0.118942{{[0-9]+}}> : tensor<1x1xf32>
  %a = graph.constant dense<[[[1.0]], [[-0.5]]]> : tensor<2x1x1xf32>
  %b = graph.constant dense<[[0.5], [-0.25], [0.75]]> : tensor<3x1xf32>
  %c = graph.constant dense<[[0.1], [0.2], [-0.3]]> : tensor<3x1xf32>
  %d = graph.constant dense<[0.0, 0.1, 0.2, 0.3, 0.0, -0.1]> : tensor<6xf32>
  %e = graph.constant dense<[[0.5]]> : tensor<1x1xf32>
  %Y, %H = graph.gru %a, %b, %c, %d, %e : (tensor<2x1x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>, tensor<6xf32>, tensor<1x1xf32>) -> (tensor<2x1x1xf32>, tensor<1x1xf32>)
  return %Y, %H : tensor<2x1x1xf32>, tensor<1x1xf32>
}

// CHECK-LABEL: @gru_linear_before_reset()
func.func @gru_linear_before_reset() -> (tensor<2x1x1xf32>, tensor<1x1xf32>) {
  // CHECK: graph.constant dense<{{\[\[\[}}0.553738475{{\]\]}}, {{\[\[}}0.14048481{{\]\]\]}}> : tensor<2x1x1xf32>
  // CHECK: graph.constant dense<0.14048481> : tensor<1x1xf32>
  %a = graph.constant dense<[[[1.0]], [[-0.5]]]> : tensor<2x1x1xf32>
  %b = graph.constant dense<[[0.5], [-0.25], [0.75]]> : tensor<3x1xf32>
  %c = graph.constant dense<[[0.1], [0.2], [-0.3]]> : tensor<3x1xf32>
  %d = graph.constant dense<[0.0, 0.1, 0.2, 0.3, 0.0, -0.1]> : tensor<6xf32>
  %e = graph.constant dense<[[0.5]]> : tensor<1x1xf32>
  %Y, %H = graph.gru %a, %b, %c, %d, %e {linear_before_reset = true} : (tensor<2x1x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>, tensor<6xf32>, tensor<1x1xf32>) -> (tensor<2x1x1xf32>, tensor<1x1xf32>)
  return %Y, %H : tensor<2x1x1xf32>, tensor<1x1xf32>
}

// Running sums, and what is collected of them; a product with what is the same in
// all steps.
// CHECK-LABEL: @scan()
func.func @scan() -> (tensor<2xf32>, tensor<3x2xf32>) {
  // CHECK: graph.constant dense<[1.900000e+01, 2.500000e+01]> : tensor<2xf32>
  // CHECK: graph.constant dense<{{\[\[}}3.000000e+00, 5.000000e+00], [9.000000e+00, 1.300000e+01], [1.900000e+01, 2.500000e+01]]> : tensor<3x2xf32>
  %s = graph.constant dense<1.0> : tensor<2xf32>
  %x = graph.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %w = graph.constant dense<2.0> : tensor<2xf32>
  %r:2 = graph.scan %s over %x with %w {
  ^bb0(%state: tensor<2xf32>, %row: tensor<2xf32>, %weight: tensor<2xf32>):
    %p = graph.mul %row, %weight : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %sum = graph.add %state, %p : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    graph.yield %sum, %sum : tensor<2xf32>, tensor<2xf32>
  } : (tensor<2xf32>, tensor<3x2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>)
  return %r#0, %r#1 : tensor<2xf32>, tensor<3x2xf32>
}

// The initial state where there is no step; two states that change places.
// CHECK-LABEL: @scan_states()
func.func @scan_states() -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  // CHECK: %[[i:.*]] = graph.constant dense<1.000000e+00> : tensor<f32>
  // CHECK: %[[s:.*]] = graph.constant dense<2.000000e+00> : tensor<f32>
  // CHECK: %[[t:.*]] = graph.constant dense<1.000000e+00> : tensor<f32>
  // CHECK: return %[[i]], %[[s]], %[[t]]
  %a = graph.constant dense<1.0> : tensor<f32>
  %b = graph.constant dense<2.0> : tensor<f32>
  %none = graph.constant dense<> : tensor<0xf32>
  %x = graph.constant dense<[5.0, 6.0, 7.0]> : tensor<3xf32>
  %i = graph.scan %a over %none {
  ^bb0(%s: tensor<f32>, %row: tensor<f32>):
    graph.yield %row : tensor<f32>
  } : (tensor<f32>, tensor<0xf32>) -> tensor<f32>
  %r:2 = graph.scan %a, %b over %x {
  ^bb0(%s: tensor<f32>, %t: tensor<f32>, %row: tensor<f32>):
    graph.yield %t, %s : tensor<f32>, tensor<f32>
  } : (tensor<f32>, tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<f32>)
  return %i, %r#0, %r#1 : tensor<f32>, tensor<f32>, tensor<f32>
}
