// RUN: espalier-opt %s -split-input-file -verify-diagnostics

// TransposeOp C1
func.func @transpose_repeats_a_dimension(%x: tensor<2x3xf32>) {
  // expected-error @below {{expects a permutation of the 2 dimensions of X, but got [0, 0]}}
  %r = graph.transpose %x {permutation = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}

// -----

// ReshapeOp C1
func.func @reshape_missing_size(%x: tensor<?xf32>) {
  // expected-error @below {{expects 1 dynamic sizes, but got 0}}
  %r = "graph.reshape"(%x) {static_sizes = array<i64: -9223372036854775808>} : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

// ReshapeOp C1
func.func @reshape_negative_size(%x: tensor<?xf32>) {
  // expected-error @below {{expects sizes that are not negative, but got -4}}
  %r = graph.reshape %x to [-4] : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

// ReshapeOp C2
func.func @reshape_other_elements(%x: tensor<2x3xf32>) {
  // expected-error @below {{expects a result of 6 elements, but got 7}}
  %r = graph.reshape %x to [7] : (tensor<2x3xf32>) -> tensor<7xf32>
  return
}

// -----

// ExpandOp C1
func.func @expand_negative_size(%x: tensor<1x3xf32>) {
  // expected-error @below {{expects sizes that are not negative, but got -2}}
  %r = graph.expand %x to [-2, 3] : (tensor<1x3xf32>) -> tensor<?x3xf32>
  return
}

// -----

// ExpandOp C2
func.func @expand_other_extent(%x: tensor<2x3xf32>) {
  // expected-error @below {{expects extents of X that broadcast, but got 2 where 4 is needed}}
  %r = graph.expand %x to [4, 3] : (tensor<2x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// ExpandOp C2
func.func @expand_to_fewer_dimensions(%x: tensor<1x3xf32>) {
  // expected-error @below {{expects X to have rank 1 or less, but got rank 2}}
  %r = graph.expand %x to [3] : (tensor<1x3xf32>) -> tensor<3xf32>
  return
}

// -----

// SliceOp C1
func.func @slice_steps(%x: tensor<4x4xf32>) {
  // expected-error @below {{expects steps to have 2 entries, but got 1}}
  %r = graph.slice %x [0, 0] [2, 2] {steps = array<i64: 1>} : (tensor<4x4xf32>) -> tensor<2x2xf32>
  return
}

// -----

// SliceOp C2
func.func @slice_past_the_end(%x: tensor<4xf32>) {
  // expected-error @below {{expects elements of X inside of dimension 0, but got 4 where 3 is the most}}
  %r = graph.slice %x [1] [2] {steps = array<i64: 3>} : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

// ConcatOp C1
func.func @concat_without_inputs() {
  // expected-error @below {{expects at least one input}}
  %r = graph.concat {axis = 0 : i64} : () -> tensor<2xf32>
  return
}

// -----

// ConcatOp C2
func.func @concat_axis(%a: tensor<2xf32>) {
  // expected-error @below {{expects an axis below the rank 1, but got 1}}
  %r = graph.concat %a {axis = 1 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

// ConcatOp C3
func.func @concat_inputs_disagree(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) {
  // expected-error @below {{expects input #1 to differ only along axis 1, but got 4 where 2 is needed}}
  %r = graph.concat %a, %b {axis = 1 : i64} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

// ConcatOp C3
func.func @concat_types(%a: tensor<2xf32>, %b: tensor<2xf64>) {
  // expected-error @below {{expects inputs1 to have the element type of inputs0, f32, but got f64}}
  %r = graph.concat %a, %b {axis = 0 : i64} : (tensor<2xf32>, tensor<2xf64>) -> tensor<4xf32>
  return
}

// -----

// ConcatOp C3
func.func @concat_ranks(%a: tensor<2x3xf32>, %b: tensor<2xf32>) {
  // expected-error @below {{expects input #1 to have rank 2, but got rank 1}}
  %r = graph.concat %a, %b {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<4x3xf32>
  return
}

// -----

// PadOp C1
func.func @pad_entries(%x: tensor<2x3xf32>, %v: tensor<f32>) {
  // expected-error @below {{expects low to have 2 entries, but got 1}}
  %r = graph.pad %x, %v {low = array<i64: 1>, high = array<i64: 1, 0>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  return
}

// -----

// PadOp C2
func.func @pad_value_type(%x: tensor<2xf32>, %v: tensor<f16>) {
  // expected-error @below {{expects value to have the element type of X, f32, but got f16}}
  %r = graph.pad %x, %v {low = array<i64: 1>, high = array<i64: 1>} : (tensor<2xf32>, tensor<f16>) -> tensor<4xf32>
  return
}

// -----

// PadOp C2
func.func @pad_value(%x: tensor<2xf32>, %v: tensor<1xf32>) {
  // expected-error @below {{expects value to be a scalar, but got rank 1}}
  %r = graph.pad %x, %v {low = array<i64: 1>, high = array<i64: 1>} : (tensor<2xf32>, tensor<1xf32>) -> tensor<4xf32>
  return
}

// -----

// TileOp C1
func.func @tile_entries(%x: tensor<2x3xf32>) {
  // expected-error @below {{expects repeats to have 2 entries, but got 1}}
  %r = graph.tile %x {repeats = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// TileOp C1
func.func @tile_negative(%x: tensor<2xf32>) {
  // expected-error @below {{expects repeats that are not negative, but got -1}}
  %r = graph.tile %x {repeats = array<i64: -1>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @tile_too_large(%x: tensor<3xf32>) {
  // expected-error @below {{expects extents of 64 bits, but that of dimension 0 of R has more}}
  %r = graph.tile %x {repeats = array<i64: 4611686018427387904>} : (tensor<3xf32>) -> tensor<0xf32>
  return
}

// -----

// PadOp C3
func.func @pad_repeats_nothing(%x: tensor<0xf32>, %v: tensor<f32>) {
  // expected-error @below {{expects elements of X to repeat along dimension 0, but got 0 where 1 is the least}}
  %r = graph.pad %x, %v {low = array<i64: 1>, high = array<i64: 1>, mode = #graph.pad_mode<edge>} : (tensor<0xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

// ConstantOp C1
func.func @sparse_constant() {
  // expected-error @below {{expects a dense value, but got sparse<0, 1.000000e+00> : tensor<2xf32>}}
  %r = graph.constant sparse<[[0]], [1.0]> : tensor<2xf32>
  return
}

// -----

// ConstantOp C1
func.func @short_resource() {
  // expected-error @below {{expects resource 'short' to hold 8 bytes, but got 4}}
  %r = graph.constant dense_resource<short> : tensor<2xf32>
  return
}

{-#
  dialect_resources: {
    builtin: {
      short: "0x040000000000803F"
    }
  }
#-}

// -----

// ConstantOp C1
func.func @resource_of_any_size() {
  // expected-error @below {{expects a static shape, but got 'tensor<?xf32>'}}
  %r = graph.constant dense_resource<any> : tensor<?xf32>
  return
}

// -----

// ConstantOp C1
func.func @too_large() {
  // expected-error @below {{expects less than 2^63 bytes, but got 'tensor<4294967296x4294967296xf32>'}}
  %r = graph.constant dense<0.0> : tensor<4294967296x4294967296xf32>
  return
}

// -----

// FillOp C1
func.func @fill_with_a_vector(%v: tensor<2xf32>) {
  // expected-error @below {{expects value to be a scalar, but got rank 1}}
  %r = graph.fill %v to [3] : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

// FillOp C2
func.func @fill_negative(%v: tensor<f32>) {
  // expected-error @below {{expects sizes that are not negative, but got -3}}
  %r = graph.fill %v to [-3] : (tensor<f32>) -> tensor<?xf32>
  return
}

// -----

// IotaOp, ConstOneOp, ConstImmOp, ConstIconvOp, ConstPoolOp: C1
func.func @iota_negative() {
  // expected-error @below {{expects sizes that are not negative, but got -3}}
  %r = graph.iota [-3] {axis = 0 : i64, element_type = i64} : tensor<?xi64>
  return
}

// -----

// IotaOp C3
func.func @iota_axis() {
  // expected-error @below {{expects an axis below the rank 1, but got 1}}
  %r = graph.iota [3] {axis = 1 : i64, element_type = i64} : tensor<3xi64>
  return
}

// -----

// IotaOp, ConstOneOp, ConstImmOp, ConstIconvOp, ConstPoolOp: C2
func.func @iota_type() {
  // expected-error @below {{expects element_type to be that of a number, but got complex<f32>}}
  %r = graph.iota [3] {axis = 0 : i64, element_type = complex<f32>} : tensor<3xf32>
  return
}

// -----

// ConstImmOp C3
func.func @imm_rank() {
  // expected-error @below {{expects rank 2, but got 1}}
  %r = graph.const_imm [3] {element_type = f32} : tensor<3xf32>
  return
}

// -----

// ConstIconvOp, ConstPoolOp: C3
func.func @iconv_rank() {
  // expected-error @below {{expects rank 3 or more, but got 2}}
  %r = graph.const_iconv [3, 3] {element_type = f32} : tensor<3x3xf32>
  return
}
