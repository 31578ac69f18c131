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

// -----

func.func @main(%x: tensor<3xf32>, %n: tensor<i1>) -> tensor<3xf32> {
  %0 = tensor.extract %n[] : tensor<i1>
  // expected-error @below {{expects a condition that follows from the sizes of the inputs}}
  %1 = scf.if %0 -> (tensor<3xf32>) {
    %2 = graph.relu %x : (tensor<3xf32>) -> tensor<3xf32>
    scf.yield %2 : tensor<3xf32>
  } else {
    %2 = graph.exp %x : (tensor<3xf32>) -> tensor<3xf32>
    scf.yield %2 : tensor<3xf32>
  }
  return %1 : tensor<3xf32>
}

// -----

func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %true = arith.constant true
  %0 = scf.if %true -> (tensor<3xf32>) {
    scf.yield %x : tensor<3xf32>
  } else {
    scf.yield %x : tensor<3xf32>
  }
  // expected-error @below {{expects one choice between versions of the function, but got another}}
  %1 = scf.if %true -> (tensor<3xf32>) {
    scf.yield %0 : tensor<3xf32>
  } else {
    scf.yield %x : tensor<3xf32>
  }
  return %1 : tensor<3xf32>
}

// -----

func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %true = arith.constant true
  %c1 = arith.constant 1 : index
  // expected-error @below {{expects two versions of ranked tensors}}
  %0 = scf.if %true -> (index) {
    scf.yield %c1 : index
  } else {
    scf.yield %c1 : index
  }
  return %x : tensor<3xf32>
}

// -----

// expected-error @below {{expects ranked tensors as results, but result #1 is 'index'}}
func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, index) {
  %c0 = arith.constant 0 : index
  return %x, %c0 : tensor<3xf32>, index
}

// -----

func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c2 = arith.constant 2 : index
  // expected-error @below {{expects a dimension below the rank 1, but got 2}}
  %n = tensor.dim %x, %c2 : tensor<?xf32>
  %0 = graph.iota [%n] {axis = 0 : i64, element_type = f32} : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %below = arith.constant -1 : index
  // expected-error @below {{expects a dimension below the rank 1, but got -1}}
  %n = tensor.dim %x, %below : tensor<?xf32>
  %0 = graph.iota [%n] {axis = 0 : i64, element_type = f32} : tensor<?xf32>
  return %0 : tensor<?xf32>
}
