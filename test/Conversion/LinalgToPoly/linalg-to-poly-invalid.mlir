// RUN: espalier-opt %s -convert-linalg-to-poly -split-input-file -verify-diagnostics

// Other dialects stay illegal.
func.func @other_dialect(%x: tensor<4xf32>) -> tensor<4xf32> {
  %empty = tensor.empty() : tensor<4xf32>
  %r = linalg.exp ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{expects an operation of linalg, or one that gives a constant, a shape or a scalar, but got tosa.abs}}
  %s = tosa.abs %r : (tensor<4xf32>) -> tensor<4xf32>
  return %s : tensor<4xf32>
}

// -----

func.func private @f() -> f32
func.func @body_calls_a_function(%x: tensor<4xf32>) -> tensor<4xf32> {
  %empty = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%empty : tensor<4xf32>) {
  ^bb0(%out: f32):
    // expected-error @below {{expects an operation of arith or math in the body of a computation, but got func.call}}
    %f = func.call @f() : () -> f32
    linalg.yield %f : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @body_reads_a_tensor(%x: tensor<4xf32>) -> tensor<4xf32> {
  %empty = tensor.empty() : tensor<4xf32>
  // expected-error @below {{expects a body that uses integers and floats from outside, but got a value of type 'tensor<4xf32>'}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%empty : tensor<4xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %f = tensor.extract %x[%i] : tensor<4xf32>
    linalg.yield %f : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @accumulator_is_undefined(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %empty = tensor.empty() : tensor<4xf32>
  // expected-error @below {{expects a defined value to accumulate into, but got a tensor.empty}}
  %r = linalg.reduce { arith.addf } ins(%x : tensor<4x8xf32>) outs(%empty : tensor<4xf32>) dimensions = [1]
  return %r : tensor<4xf32>
}

// -----

func.func @operand_is_undefined(%x: tensor<4xf32>) -> tensor<4xf32> {
  %empty = tensor.empty() : tensor<4xf32>
  // expected-error @below {{expects operands with defined elements, but operand #0 is a tensor.empty}}
  %r = linalg.exp ins(%empty : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @result_is_undefined(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error @below {{expects a tensor with defined elements, but got a tensor.empty}}
  %empty = tensor.empty() : tensor<4xf32>
  %r = linalg.exp ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  return %r, %empty : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @inserted_slice_is_undefined(%x: tensor<4xf32>) -> tensor<8xf32> {
  %empty = tensor.empty() : tensor<4xf32>
  %r = linalg.exp ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %e = tensor.empty() : tensor<2xf32>
  // expected-error @below {{expects operands with defined elements, but one is a tensor.empty}}
  %s = tensor.concat dim(0) %r, %e, %e : (tensor<4xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<8xf32>
  return %s : tensor<8xf32>
}

// -----

// expected-error @below {{expects tensors with a rank as arguments and results, but got 'tensor<*xf32>'}}
func.func @unranked(%x: tensor<4xf32>, %y: tensor<*xf32>) -> tensor<4xf32> {
  %empty = tensor.empty() : tensor<4xf32>
  %r = linalg.exp ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// expected-error @below {{expects a function of one block}}
func.func @control_flow(%x: tensor<4xf32>) -> tensor<4xf32> {
  %empty = tensor.empty() : tensor<4xf32>
  %r = linalg.exp ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  cf.br ^next
^next:
  return %r : tensor<4xf32>
}

// -----

func.func @dimension_is_computed(%x: tensor<4xf32>, %y: tensor<?x?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %y, %c0 : tensor<?x?xf32>
  // expected-error @below {{expects the number of a dimension}}
  %n = tensor.dim %y, %d : tensor<?x?xf32>
  %empty = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.exp ins(%empty : tensor<?xf32>) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

func.func @padding_is_computed(%x: tensor<4xf32>) -> tensor<8xf32> {
  %empty = tensor.empty() : tensor<4xf32>
  %r = linalg.exp ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{expects padding with one value}}
  %s = tensor.pad %r low[2] high[2] {
  ^bb0(%i: index):
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    tensor.yield %f : f32
  } : tensor<4xf32> to tensor<8xf32>
  return %s : tensor<8xf32>
}

// -----

func.func @padding_is_negative(%x: tensor<4xf32>) -> tensor<5xf32> {
  %empty = tensor.empty() : tensor<4xf32>
  %r = linalg.exp ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{expects padding that is not negative}}
  %s = tensor.pad %r low[-1] high[2] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<4xf32> to tensor<5xf32>
  return %s : tensor<5xf32>
}

// -----

func.func @step_is_computed(%x: tensor<?xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  // expected-error @below {{expects steps that are numbers}}
  %s = tensor.extract_slice %x[0][2][%n] : tensor<?xf32> to tensor<2xf32>
  %empty = tensor.empty() : tensor<2xf32>
  %r = linalg.exp ins(%s : tensor<2xf32>) outs(%empty : tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

func.func @joined_extent_is_unknown(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{expects a number as the extent of input #0 along dimension 0}}
  %s = tensor.concat dim(0) %x, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.exp ins(%s : tensor<?xf32>) outs(%s : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
