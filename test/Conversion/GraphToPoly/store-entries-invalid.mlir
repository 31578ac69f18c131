// RUN: espalier-opt %s -split-input-file -convert-graph-to-poly -verify-diagnostics
// RUN: espalier-opt %s -split-input-file -convert-graph-to-poly=entries=false | FileCheck %s

// What is asked for by name, by a type or a format, is no wish; see
// store-entries.mlir for what may stay dense. Where nothing is sparse, nothing
// is asked for.
// CHECK-COUNT-5: func.func @main
// CHECK-NOT: where

// A row has to be one of the result.
func.func @main(%x: tensor<4x3xf32>) -> tensor<4x2xf32> {
  %w = graph.constant dense<[[0.0, 2.0], [0.0, 3.0], [1.0, 0.0]]> : tensor<3x2xf32, #sparse_tensor.encoding<{ map = (k, j) -> (k : dense, j : compressed) }>>
  // expected-error @below {{expects a sum of products that runs over the entries of a constant, as is asked for, so that what its encoding does not store densely is all that is summed, and the others are dimensions of the result, but got a sum over other dimensions than those that are stored; the choice dense, or a type without an encoding, is for any}}
  %r = graph.matmul %x, %w : (tensor<4x3xf32>, tensor<3x2xf32, #sparse_tensor.encoding<{ map = (k, j) -> (k : dense, j : compressed) }>>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// -----

// Lists of lists are no entries row by row.
func.func @main(%x: tensor<4x3xf32>) -> tensor<4x2xf32> {
  %w = graph.constant dense<[[0.0, 2.0], [0.0, 3.0], [1.0, 0.0]]> : tensor<3x2xf32, #sparse_tensor.encoding<{ map = (k, j) -> (j : compressed, k : compressed) }>>
  // expected-error @below {{expects a sum of products that runs over the entries of a constant, as is asked for, so that what its encoding does not store densely is all that is summed, and the others are dimensions of the result, but got no format of entries row by row; the choice dense, or a type without an encoding, is for any}}
  %r = graph.matmul %x, %w : (tensor<4x3xf32>, tensor<3x2xf32, #sparse_tensor.encoding<{ map = (k, j) -> (j : compressed, k : compressed) }>>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// -----

// Only sums run over entries.
func.func @main(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %w = graph.constant dense<[[0.0, 2.0], [0.0, 3.0], [1.0, 0.0]]> : tensor<3x2xf32, #sparse_tensor.encoding<{ map = (k, j) -> (j : dense, k : compressed) }>>
  // expected-error @below {{expects a sum of products that runs over the entries of a constant, as is asked for, so that what its encoding does not store densely is all that is summed, and the others are dimensions of the result, but got no sum of its products; the choice dense, or a type without an encoding, is for any}}
  %r = graph.add %x, %w : (tensor<3x2xf32>, tensor<3x2xf32, #sparse_tensor.encoding<{ map = (k, j) -> (j : dense, k : compressed) }>>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// -----

// A format without an encoding.
func.func @main(%x: tensor<4x3xf32>) -> tensor<4x2xf32> {
  %w = graph.constant {poly.entries = "each:1"} dense<[[0.0, 2.0], [0.0, 3.0], [1.0, 0.0]]> : tensor<3x2xf32>
  // expected-error @below {{but got no format of entries row by row}}
  %r = graph.matmul %x, %w : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// -----

// What is known when compiling is a constant again, of all elements.
func.func @main() -> tensor<1x2xf32> {
  %x = graph.constant dense<[[1.0, 2.0, 3.0]]> : tensor<1x3xf32>
  // expected-error @below {{but got one that is computed of constants alone}}
  %w = graph.constant dense<[[0.0, 2.0], [0.0, 3.0], [1.0, 0.0]]> : tensor<3x2xf32, #sparse_tensor.encoding<{ map = (k, j) -> (j : dense, k : compressed) }>>
  %r = graph.matmul %x, %w : (tensor<1x3xf32>, tensor<3x2xf32, #sparse_tensor.encoding<{ map = (k, j) -> (j : dense, k : compressed) }>>) -> tensor<1x2xf32>
  return %r : tensor<1x2xf32>
}
