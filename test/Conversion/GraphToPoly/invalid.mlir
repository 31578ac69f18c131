// RUN: espalier-opt %s -convert-graph-to-poly -split-input-file -verify-diagnostics

// expected-error @below {{expects ranked tensors as arguments, but argument #1 is 'index'}}
func.func @main(%x: tensor<3xf32>, %n: index) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}

// -----

// expected-error @below {{expects a function of one block}}
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  cf.br ^next
^next:
  return %x : tensor<3xf32>
}

// -----

func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @below {{expects only operators of the graph dialect and index arithmetic, but got 'tensor.empty'}}
  %0 = tensor.empty() : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// expected-error @below {{expects sizes that follow from the sizes of the inputs, but one depends on data}}
func.func @main(%x: tensor<1xf32>, %n: tensor<1xi64>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  // expected-note @below {{this value does}}
  %0 = tensor.extract %n[%c0] : tensor<1xi64>
  %1 = arith.index_cast %0 : i64 to index
  %2 = graph.expand %x to [%1] : (tensor<1xf32>) -> tensor<?xf32>
  return %2 : tensor<?xf32>
}

// -----

// Only intermediates between kernels have the size.
// expected-error @below {{expects sizes that follow from the sizes of the inputs, but one depends on data}}
func.func @main(%x: tensor<1x4xf32>, %n: tensor<1xi64>, %w: tensor<4x4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  // expected-note @below {{this value does}}
  %0 = tensor.extract %n[%c0] : tensor<1xi64>
  %1 = arith.index_cast %0 : i64 to index
  %2 = graph.expand %x to [%1, 4] : (tensor<1x4xf32>) -> tensor<?x4xf32>
  %3 = graph.matmul %2, %w : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  %4 = graph.matmul %3, %w : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  %5 = graph.reduce_sum %4 {axes = array<i64: 0>} : (tensor<?x4xf32>) -> tensor<4xf32>
  return %5 : tensor<4xf32>
}
