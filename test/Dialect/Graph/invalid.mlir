// RUN: espalier-opt %s -split-input-file -verify-diagnostics

// MatmulOp C1
func.func @matmul_of_vectors(%a: tensor<3xf32>, %b: tensor<3x2xf32>) {
  // expected-error @below {{expects A to have rank 2 or more, but got rank 1}}
  %r = graph.matmul %a, %b : (tensor<3xf32>, tensor<3x2xf32>) -> tensor<2xf32>
  return
}

// -----

// MatmulOp C2
func.func @matmul_inner_extents_differ(%a: tensor<2x3xf32>, %b: tensor<4x2xf32>) {
  // expected-error @below {{expects extents of k to agree, but dimension 1 of A is 3 and dimension 0 of B is 4}}
  %r = graph.matmul %a, %b : (tensor<2x3xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

// MatmulOp C2
func.func @matmul_batches_differ(%a: tensor<5x2x3xf32>, %b: tensor<4x3x2xf32>) {
  // expected-error @below {{expects extents of b0 to agree, but dimension 0 of A is 5 and dimension 0 of B is 4}}
  %r = graph.matmul %a, %b : (tensor<5x2x3xf32>, tensor<4x3x2xf32>) -> tensor<5x2x2xf32>
  return
}

// -----

// The result must fit the definition.
func.func @wrong_result_extent(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>) {
  // expected-error @below {{expects result #0 of type 'tensor<2x2xf32>', but got 'tensor<2x3xf32>'}}
  %r = graph.matmul %a, %b : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x3xf32>
  return
}

// -----

// The result must fit the definition.
func.func @wrong_result_element_type(%a: tensor<2xf32>) {
  // expected-error @below {{expects result #0 of type 'tensor<2xf32>', but got 'tensor<2xf64>'}}
  %r = graph.neg %a : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

// ConvOp C1
func.func @conv_rank_too_small(%x: tensor<1x2xf32>, %w: tensor<4x2xf32>) {
  // expected-error @below {{expects X to have a rank from 3 to 5, but got 2}}
  %r = graph.conv %x, %w {strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x2xf32>, tensor<4x2xf32>) -> tensor<1x4xf32>
  return
}

// -----

// ConvOp C1
func.func @conv_ranks_differ(%x: tensor<1x2x5xf32>, %w: tensor<4x2xf32>) {
  // expected-error @below {{expects W to have the rank of X, 3, but got 2}}
  %r = graph.conv %x, %w {strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x2x5xf32>, tensor<4x2xf32>) -> tensor<1x4x5xf32>
  return
}

// -----

// ConvOp C2
func.func @conv_two_strides(%x: tensor<1x2x5xf32>, %w: tensor<4x2x1xf32>) {
  // expected-error @below {{expects strides to have 1 entries, but got 2}}
  %r = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x2x5xf32>, tensor<4x2x1xf32>) -> tensor<1x4x5xf32>
  return
}

// -----

// ConvOp C2
func.func @conv_zero_dilation(%x: tensor<1x2x5xf32>, %w: tensor<4x2x1xf32>) {
  // expected-error @below {{expects dilations to be positive, but got 0}}
  %r = graph.conv %x, %w {strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 0>} : (tensor<1x2x5xf32>, tensor<4x2x1xf32>) -> tensor<1x4x5xf32>
  return
}

// -----

// ConvOp C3
func.func @conv_no_groups(%x: tensor<1x2x5xf32>, %w: tensor<4x2x1xf32>) {
  // expected-error @below {{expects groups to be positive, but got 0}}
  %r = graph.conv %x, %w {groups = 0 : i64, strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x2x5xf32>, tensor<4x2x1xf32>) -> tensor<1x4x5xf32>
  return
}

// -----

// ConvOp C3
func.func @conv_groups_do_not_divide(%x: tensor<1x6x5xf32>, %w: tensor<4x2x1xf32>) {
  // expected-error @below {{expects groups to divide the features of W, but got 3 groups of 4}}
  %r = graph.conv %x, %w {groups = 3 : i64, strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x6x5xf32>, tensor<4x2x1xf32>) -> tensor<1x4x5xf32>
  return
}

// -----

// ConvOp C3
func.func @conv_channels_differ(%x: tensor<1x3x5xf32>, %w: tensor<4x2x1xf32>) {
  // expected-error @below {{expects X to have 1 times the channels of W, but got 3 where 2 is needed}}
  %r = graph.conv %x, %w {strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x3x5xf32>, tensor<4x2x1xf32>) -> tensor<1x4x5xf32>
  return
}

// -----

// ConvOp C4
func.func @conv_types_differ(%x: tensor<1x2x5xf32>, %w: tensor<4x2x1xf16>) {
  // expected-error @below {{expects W to have the element type of X, f32, but got f16}}
  %r = graph.conv %x, %w {strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x2x5xf32>, tensor<4x2x1xf16>) -> tensor<1x4x5xf32>
  return
}

// -----

// ConvTransposeOp C1
func.func @conv_transpose_ranks_differ(%x: tensor<1x2x5xf32>, %w: tensor<2x4xf32>) {
  // expected-error @below {{expects W to have the rank of X, 3, but got 2}}
  %r = graph.conv_transpose %x, %w {output_padding = array<i64: 0>, strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x2x5xf32>, tensor<2x4xf32>) -> tensor<1x4x5xf32>
  return
}

// -----

// ConvTransposeOp C2
func.func @conv_transpose_output_padding(%x: tensor<1x2x5xf32>, %w: tensor<2x4x1xf32>) {
  // expected-error @below {{expects output_padding to have 1 entries, but got 2}}
  %r = graph.conv_transpose %x, %w {output_padding = array<i64: 0, 0>, strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x2x5xf32>, tensor<2x4x1xf32>) -> tensor<1x4x5xf32>
  return
}

// -----

// ConvTransposeOp C3
func.func @conv_transpose_groups(%x: tensor<1x2x5xf32>, %w: tensor<2x4x1xf32>) {
  // expected-error @below {{expects groups to divide the channels of X, but got 3 groups of 2}}
  %r = graph.conv_transpose %x, %w {groups = 3 : i64, output_padding = array<i64: 0>, strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x2x5xf32>, tensor<2x4x1xf32>) -> tensor<1x12x5xf32>
  return
}

// -----

// ConvTransposeOp C3
func.func @conv_transpose_channels(%x: tensor<1x2x5xf32>, %w: tensor<3x4x1xf32>) {
  // expected-error @below {{expects X to have the channels of W, but got 2 where 3 is needed}}
  %r = graph.conv_transpose %x, %w {output_padding = array<i64: 0>, strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x2x5xf32>, tensor<3x4x1xf32>) -> tensor<1x4x5xf32>
  return
}

// -----

// ConvTransposeOp C4
func.func @conv_transpose_types(%x: tensor<1x2x5xf32>, %w: tensor<2x4x1xf64>) {
  // expected-error @below {{expects W to have the element type of X, f32, but got f64}}
  %r = graph.conv_transpose %x, %w {output_padding = array<i64: 0>, strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x2x5xf32>, tensor<2x4x1xf64>) -> tensor<1x4x5xf32>
  return
}

// -----

// EnlargeOp C1
func.func @enlarge_too_few_entries(%w: tensor<8x4x1x1xf32>) {
  // expected-error @below {{expects kernel to have one entry per spatial dimension of W, whose rank is 4, but got 1}}
  %r = graph.enlarge %w {kernel = array<i64: 3>} : (tensor<8x4x1x1xf32>) -> tensor<8x4x3x1xf32>
  return
}

// -----

// EnlargeOp C1
func.func @enlarge_to_less(%w: tensor<8x4x5x5xf32>) {
  // expected-error @below {{expects kernel to be no smaller than W in dimension 3, but got 5 where 3 is the most}}
  %r = graph.enlarge %w {kernel = array<i64: 5, 3>} : (tensor<8x4x5x5xf32>) -> tensor<8x4x5x3xf32>
  return
}

// -----

// AddOp, SubOp, MulOp, DivOp, PowOp, MaxOp, MinOp, ModOp, RemOp, PreluOp: C1
func.func @add_extents_differ(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) {
  // expected-error @below {{expects extents of b0 to agree, but dimension 0 of A is 2 and dimension 0 of B is 4}}
  %r = graph.add %a, %b : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// AddOp, SubOp, MulOp, DivOp, PowOp, MaxOp, MinOp, ModOp, RemOp, PreluOp: C1
func.func @mul_types_differ(%a: tensor<2xf32>, %b: tensor<2xf16>) {
  // expected-error @below {{expects operands of one element type, but 'A[b..]' is f32 and 'B[b..]' is f16}}
  %r = graph.mul %a, %b : (tensor<2xf32>, tensor<2xf16>) -> tensor<2xf32>
  return
}

// -----

// EqualOp, LessOp, LessEqualOp, GreaterOp, GreaterEqualOp, AndOp, OrOp, XorOp: C1
func.func @equal_types_differ(%a: tensor<2xf32>, %b: tensor<2xi32>) {
  // expected-error @below {{expects operands of one element type, but 'A[b..]' is f32 and 'B[b..]' is i32}}
  %r = graph.equal %a, %b : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xi1>
  return
}

// -----

// SelectOp C1
func.func @select_types_differ(%c: tensor<2xi1>, %a: tensor<2xf32>, %b: tensor<2xi32>) {
  // expected-error @below {{expects operands of one element type, but 'A[b..]' is f32 and 'B[b..]' is i32}}
  %r = graph.select %c, %a, %b : (tensor<2xi1>, tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>
  return
}

// -----

// ReduceSumOp, ReduceMeanOp, ReduceProdOp, ReduceMaxOp, ReduceMinOp: C1
func.func @reduce_axis_out_of_range(%x: tensor<2x3xf32>) {
  // expected-error @below {{expects an axis below the rank 2, but got 2}}
  %r = graph.reduce_sum %x {axes = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

// ReduceSumOp, ReduceMeanOp, ReduceProdOp, ReduceMaxOp, ReduceMinOp: C1
func.func @reduce_axis_twice(%x: tensor<2x3xf32>) {
  // expected-error @below {{expects distinct axes, but got 1 twice}}
  %r = graph.reduce_max %x {axes = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

// ArgMaxOp, ArgMinOp: C1
func.func @arg_max_axis(%x: tensor<2x3xf32>) {
  // expected-error @below {{expects an axis below the rank 2, but got -1}}
  %r = graph.arg_max %x {axis = -1 : i64} : (tensor<2x3xf32>) -> tensor<2xi64>
  return
}

// -----

// CumsumOp C1
func.func @cumsum_axis(%x: tensor<2x3xf32>) {
  // expected-error @below {{expects an axis below the rank 2, but got 2}}
  %r = graph.cumsum %x {axis = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @layout_is_no_permutation(%x: tensor<2x3xf32>) {
  // expected-error @below {{expects 'graph.layout' to be a permutation of the dimensions of the only result, but got array<i64: 0, 0>}}
  %r = graph.relu %x {graph.layout = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @layout_of_no_result(%x: tensor<2x3xf32>) {
  // expected-error @below {{expects 'graph.layout' to be a permutation of the dimensions of the only result}}
  return {graph.layout = array<i64: 0, 1>}
}

// -----

func.func @unknown_attribute_of_the_dialect(%x: tensor<2x3xf32>) {
  // expected-error @below {{expects no attribute 'graph.lay' of the graph dialect}}
  %r = graph.relu %x {graph.lay = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
