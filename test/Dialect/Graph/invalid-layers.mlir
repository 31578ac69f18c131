// RUN: espalier-opt %s -split-input-file -verify-diagnostics

// SoftmaxOp C1
func.func @softmax_axis(%x: tensor<2x3xf32>) {
  // expected-error @below {{expects an axis below the rank 2, but got 2}}
  %r = graph.softmax %x {axis = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// LogSoftmaxOp C1
func.func @log_softmax_axis(%x: tensor<2x3xf32>) {
  // expected-error @below {{expects an axis below the rank 2, but got 2}}
  %r = graph.log_softmax %x {axis = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// LayerNormOp C1
func.func @layer_norm_axis(%x: tensor<2x3xf32>, %s: tensor<3xf32>) {
  // expected-error @below {{expects an axis below the rank 2, but got 2}}
  %r = graph.layer_norm %x, %s, %s {axis = 2 : i64, epsilon = 0.1 : f64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// LayerNormOp C2
func.func @layer_norm_scale_type(%x: tensor<2x3xf16>, %s: tensor<3xf32>) {
  // expected-error @below {{expects scale to have the element type of X, f16, but got f32}}
  %r = graph.layer_norm %x, %s, %s {axis = 1 : i64, epsilon = 0.1 : f64} : (tensor<2x3xf16>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf16>
  return
}

// -----

// LayerNormOp C2
func.func @layer_norm_scale_extent(%x: tensor<2x3xf32>, %s: tensor<4xf32>) {
  // expected-error @below {{expects extents of scale that broadcast, but got 4 where 3 is needed}}
  %r = graph.layer_norm %x, %s, %s {axis = 1 : i64, epsilon = 0.1 : f64} : (tensor<2x3xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

// LayerNormOp C2
func.func @layer_norm_scale_rank(%x: tensor<3xf32>, %s: tensor<1x3xf32>) {
  // expected-error @below {{expects scale to have rank 1 or less, but got rank 2}}
  %r = graph.layer_norm %x, %s, %s {axis = 0 : i64, epsilon = 0.1 : f64} : (tensor<3xf32>, tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<3xf32>
  return
}

// -----

// BatchNormOp C1
func.func @batch_norm_channels(%x: tensor<1x8x4xf32>, %s: tensor<8xf32>, %v: tensor<7xf32>) {
  // expected-error @below {{expects extents of c to agree, but dimension 0 of scale is 8 and dimension 0 of variance is 7}}
  %r = graph.batch_norm %x, %s, %s, %s, %v {epsilon = 0.1 : f64} : (tensor<1x8x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<7xf32>) -> tensor<1x8x4xf32>
  return
}

// -----

// InstanceNormOp C1
func.func @instance_norm_rank(%x: tensor<8xf32>, %s: tensor<8xf32>) {
  // expected-error @below {{expects X to have rank 2 or more, but got rank 1}}
  %r = graph.instance_norm %x, %s, %s {epsilon = 0.1 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// LrnOp C1
func.func @lrn_rank(%x: tensor<8xf32>) {
  // expected-error @below {{expects X to have rank 2 or more, but got rank 1}}
  %r = graph.lrn %x {alpha = 0.1 : f64, beta = 0.1 : f64, bias = 1.0 : f64, window = 3 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// MaxPoolOp C1
func.func @max_pool_rank(%x: tensor<1x8xf32>) {
  // expected-error @below {{expects X to have rank 3 or more, but got 2}}
  %r = graph.max_pool %x {kernel = array<i64: 1>, strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x8xf32>) -> tensor<1x8xf32>
  return
}

// -----

// MaxPoolOp C2
func.func @max_pool_kernel(%x: tensor<1x8x4xf32>) {
  // expected-error @below {{expects kernel to have 1 entries, but got 2}}
  %r = graph.max_pool %x {kernel = array<i64: 1, 1>, strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  return
}

// -----

// MaxPoolOp C2
func.func @max_pool_empty_kernel(%x: tensor<1x8x4xf32>) {
  // expected-error @below {{expects kernel to be positive, but got 0}}
  %r = graph.max_pool %x {kernel = array<i64: 0>, strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x8x4xf32>) -> tensor<1x8x5xf32>
  return
}

// -----

// AvgPoolOp C1
func.func @avg_pool_rank(%x: tensor<1x8xf32>) {
  // expected-error @below {{expects X to have rank 3 or more, but got 2}}
  %r = graph.avg_pool %x {kernel = array<i64: 1>, strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x8xf32>) -> tensor<1x8xf32>
  return
}

// -----

// AvgPoolOp C2
func.func @avg_pool_strides(%x: tensor<1x8x4xf32>) {
  // expected-error @below {{expects strides to be positive, but got 0}}
  %r = graph.avg_pool %x {kernel = array<i64: 1>, strides = array<i64: 0>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  return
}

// -----

// ResizeOp C3
func.func @resize_nothing(%x: tensor<1x3x0x4xf32>) {
  // expected-error @below {{expects elements of X to enlarge along dimension 2, but got 0 where 1 is the least}}
  %r = graph.resize %x to [1, 3, 8, 4] {mode = #graph.resize_mode<nearest>} : (tensor<1x3x0x4xf32>) -> tensor<1x3x8x4xf32>
  return
}

// -----

// ResizeOp C1
func.func @resize_sizes(%x: tensor<1x8x4xf32>) {
  // expected-error @below {{expects static_sizes to have 3 entries, but got 2}}
  %r = graph.resize %x to [1, 8] {mode = #graph.resize_mode<linear>} : (tensor<1x8x4xf32>) -> tensor<1x8xf32>
  return
}

// -----

// ResizeOp C2
func.func @resize_scales(%x: tensor<4xf32>) {
  // expected-error @below {{expects scales to have 1 entries, but got 2}}
  %r = graph.resize %x to [8] {mode = #graph.resize_mode<linear>, scales = array<f64: 1.0, 2.0>} : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

// ResizeOp C2
func.func @resize_negative_scale(%x: tensor<4xf32>) {
  // expected-error @below {{expects scales that are positive numbers, but got -2.000000}}
  %r = graph.resize %x to [8] {mode = #graph.resize_mode<linear>, scales = array<f64: -2.0>} : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

// LstmOp C1
func.func @lstm_ranks(%x: tensor<2x3xf32>, %w: tensor<16x3xf32>, %u: tensor<16x4xf32>, %b: tensor<32xf32>, %h: tensor<2x4xf32>) {
  // expected-error @below {{expects X to have rank 3, but got 2}}
  %r:3 = graph.lstm %x, %w, %u, %b, %h, %h : (tensor<2x3xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<32xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<5x2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  return
}

// -----

// LstmOp C2
func.func @lstm_types(%x: tensor<5x2x3xf32>, %w: tensor<16x3xf16>, %u: tensor<16x4xf32>, %b: tensor<32xf32>, %h: tensor<2x4xf32>) {
  // expected-error @below {{expects W to have the element type of X, f32, but got f16}}
  %r:3 = graph.lstm %x, %w, %u, %b, %h, %h : (tensor<5x2x3xf32>, tensor<16x3xf16>, tensor<16x4xf32>, tensor<32xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<5x2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  return
}

// -----

// LstmOp C3
func.func @lstm_gates(%x: tensor<5x2x3xf32>, %w: tensor<12x3xf32>, %u: tensor<16x4xf32>, %b: tensor<32xf32>, %h: tensor<2x4xf32>) {
  // expected-error @below {{expects W to have all gates, but got 12 where 16 is needed}}
  %r:3 = graph.lstm %x, %w, %u, %b, %h, %h : (tensor<5x2x3xf32>, tensor<12x3xf32>, tensor<16x4xf32>, tensor<32xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<5x2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  return
}

// -----

// GruOp C1
func.func @gru_ranks(%x: tensor<5x2x3xf32>, %w: tensor<12x3xf32>, %u: tensor<12x4xf32>, %b: tensor<1x24xf32>, %h: tensor<2x4xf32>) {
  // expected-error @below {{expects bias to have rank 1, but got 2}}
  %r:2 = graph.gru %x, %w, %u, %b, %h : (tensor<5x2x3xf32>, tensor<12x3xf32>, tensor<12x4xf32>, tensor<1x24xf32>, tensor<2x4xf32>) -> (tensor<5x2x4xf32>, tensor<2x4xf32>)
  return
}

// -----

// GruOp C2
func.func @gru_types(%x: tensor<5x2x3xf32>, %w: tensor<12x3xf32>, %u: tensor<12x4xf32>, %b: tensor<24xf64>, %h: tensor<2x4xf32>) {
  // expected-error @below {{expects bias to have the element type of X, f32, but got f64}}
  %r:2 = graph.gru %x, %w, %u, %b, %h : (tensor<5x2x3xf32>, tensor<12x3xf32>, tensor<12x4xf32>, tensor<24xf64>, tensor<2x4xf32>) -> (tensor<5x2x4xf32>, tensor<2x4xf32>)
  return
}

// -----

// GruOp C3
func.func @gru_batch(%x: tensor<5x2x3xf32>, %w: tensor<12x3xf32>, %u: tensor<12x4xf32>, %b: tensor<24xf32>, %h: tensor<3x4xf32>) {
  // expected-error @below {{expects H0 to have the batch of X, but got 3 where 2 is needed}}
  %r:2 = graph.gru %x, %w, %u, %b, %h : (tensor<5x2x3xf32>, tensor<12x3xf32>, tensor<12x4xf32>, tensor<24xf32>, tensor<3x4xf32>) -> (tensor<5x2x4xf32>, tensor<2x4xf32>)
  return
}

// -----

// ScanOp C1
func.func @scan_without_sequence(%s: tensor<4xf32>) {
  // expected-error @below {{expects a sequence, but got none}}
  %r = "graph.scan"(%s) <{operandSegmentSizes = array<i32: 1, 0, 0>}> ({
  ^bb0(%a: tensor<4xf32>):
    graph.yield %a : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// ScanOp C1: no dimension
func.func @scan_over_number(%x: tensor<f32>) {
  // expected-error @below {{expects sequences with a dimension, but sequence #0 has none}}
  graph.scan over %x {
  ^bb0(%a: tensor<f32>):
    graph.yield
  } : (tensor<f32>) -> ()
  return
}

// -----

// ScanOp C1: lengths
func.func @scan_lengths(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error @below {{expects sequence #1 to have the length of sequence #0, but got 5 where 4 is needed}}
  graph.scan over %x, %y {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    graph.yield
  } : (tensor<4xf32>, tensor<5xf32>) -> ()
  return
}

// -----

// ScanOp C2
func.func @scan_arguments(%x: tensor<4x3xf32>) {
  // expected-error @below {{expects a body with arguments of types tensor<3xf32>, but got tensor<4x3xf32>}}
  graph.scan over %x {
  ^bb0(%a: tensor<4x3xf32>):
    graph.yield
  } : (tensor<4x3xf32>) -> ()
  return
}

// -----

// ScanOp C3
func.func @scan_without_state(%s: tensor<3xf32>, %x: tensor<4x3xf32>) {
  // expected-error @below {{expects a body that yields 1 states, but got 0}}
  %r = graph.scan %s over %x {
  ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>):
    graph.yield
  } : (tensor<3xf32>, tensor<4x3xf32>) -> tensor<3xf32>
  return
}

// -----

// ScanOp C3: types
func.func @scan_state_types(%s: tensor<3xf32>, %x: tensor<4x3xf64>) {
  // expected-error @below {{expects state #0 to keep the element type and rank of tensor<3xf32>, but got tensor<3xf64>}}
  %r = graph.scan %s over %x {
  ^bb0(%a: tensor<3xf32>, %b: tensor<3xf64>):
    graph.yield %b : tensor<3xf64>
  } : (tensor<3xf32>, tensor<4x3xf64>) -> tensor<3xf32>
  return
}

// -----

// ScanOp C4
func.func @scan_state_extents(%s: tensor<2xf32>, %x: tensor<4x3xf32>) {
  // expected-error @below {{expects state #0 to keep extent #0, but got 3 where 2 is needed}}
  %r = graph.scan %s over %x {
  ^bb0(%a: tensor<2xf32>, %b: tensor<3xf32>):
    graph.yield %b : tensor<3xf32>
  } : (tensor<2xf32>, tensor<4x3xf32>) -> tensor<2xf32>
  return
}

// -----

// ScanOp C5
func.func @scan_sizes(%x: tensor<4x3xf32>) {
  graph.scan over %x {
  ^bb0(%b: tensor<3xf32>):
    // expected-error @below {{expects to be outside of a cell, which is made of operators on tensors}}
    %i = arith.constant 4 : index
    graph.yield
  } : (tensor<4x3xf32>) -> ()
  return
}

// -----

// ScanOp C5: a recurrence
func.func @scan_in_scan(%s: tensor<2xf32>, %x: tensor<4x3x2xf32>) {
  graph.scan over %x with %s {
  ^bb0(%b: tensor<3x2xf32>, %z: tensor<2xf32>):
    // expected-error @below {{expects to be outside of a cell, as it is a recurrence itself}}
    %r = graph.scan %z over %b {
    ^bb0(%h: tensor<2xf32>, %c: tensor<2xf32>):
      %n = graph.add %h, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      graph.yield %n : tensor<2xf32>
    } : (tensor<2xf32>, tensor<3x2xf32>) -> tensor<2xf32>
    graph.yield
  } : (tensor<4x3x2xf32>, tensor<2xf32>) -> ()
  return
}
