// RUN: espalier-opt %s -split-input-file -verify-diagnostics

// GatherOp C1
func.func @gather_axis(%x: tensor<2x3xf32>, %i: tensor<4xi64>) {
  // expected-error @below {{expects an axis below the rank 2, but got 2}}
  %r = graph.gather %x, %i {axis = 2 : i64} : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<2x3x4xf32>
  return
}

// -----

// GatherElementsOp C1
func.func @gather_elements_axis(%x: tensor<2x3xf32>, %i: tensor<2x3xi64>) {
  // expected-error @below {{expects an axis below the rank 2, but got 2}}
  %r = graph.gather_elements %x, %i {axis = 2 : i64} : (tensor<2x3xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>
  return
}

// -----

// GatherElementsOp C2
func.func @gather_elements_rank(%x: tensor<2x3xf32>, %i: tensor<2xi64>) {
  // expected-error @below {{expects indices to have the rank of X, 2, but got 1}}
  %r = graph.gather_elements %x, %i {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2xf32>
  return
}

// -----

// GatherElementsOp C2
func.func @gather_elements_extent(%x: tensor<2x3xf32>, %i: tensor<5x4xi64>) {
  // expected-error @below {{expects indices within X along dimension 1, but got 4 where 3 is the most}}
  %r = graph.gather_elements %x, %i {axis = 0 : i64} : (tensor<2x3xf32>, tensor<5x4xi64>) -> tensor<5x4xf32>
  return
}

// -----

// GatherOp C2
func.func @gather_from_nothing(%x: tensor<0x3xf32>, %i: tensor<2xi64>) {
  // expected-error @below {{expects elements of X to index along dimension 0, but got 0 where 1 is the least}}
  %r = graph.gather %x, %i {axis = 0 : i64} : (tensor<0x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return
}

// -----

// Without a result, nothing is read.
func.func @gather_nothing_from_nothing(%x: tensor<0x3xf32>, %i: tensor<0xi64>, %y: tensor<0x0xf32>, %j: tensor<2xi64>) {
  %r = graph.gather %x, %i {axis = 0 : i64} : (tensor<0x3xf32>, tensor<0xi64>) -> tensor<0x3xf32>
  %s = graph.gather %y, %j {axis = 0 : i64} : (tensor<0x0xf32>, tensor<2xi64>) -> tensor<2x0xf32>
  return
}

// -----

// GatherElementsOp C2
func.func @gather_elements_from_nothing(%x: tensor<0x3xf32>, %i: tensor<2x3xi64>) {
  // expected-error @below {{expects elements of X to index along dimension 0, but got 0 where 1 is the least}}
  %r = graph.gather_elements %x, %i {axis = 0 : i64} : (tensor<0x3xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>
  return
}

// -----

// GatherNdOp C3
func.func @gather_nd_from_nothing(%x: tensor<0x3xf32>, %i: tensor<2x1xi64>) {
  // expected-error @below {{expects elements of X to index along dimension 0, but got 0 where 1 is the least}}
  %r = graph.gather_nd %x, %i : (tensor<0x3xf32>, tensor<2x1xi64>) -> tensor<2x3xf32>
  return
}

// -----

// ScatterElementsOp C2
func.func @scatter_elements_to_nothing(%x: tensor<0xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) {
  // expected-error @below {{expects elements of X to index along dimension 0, but got 0 where 1 is the least}}
  %r = graph.scatter_elements %x, %i, %u {axis = 0 : i64} : (tensor<0xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<0xf32>
  return
}

// -----

// ScatterNdOp C4
func.func @scatter_nd_to_nothing(%x: tensor<0xf32>, %i: tensor<2x1xi64>, %u: tensor<2xf32>) {
  // expected-error @below {{expects elements of X to index along dimension 0, but got 0 where 1 is the least}}
  %r = graph.scatter_nd %x, %i, %u : (tensor<0xf32>, tensor<2x1xi64>, tensor<2xf32>) -> tensor<0xf32>
  return
}

// -----

// GatherNdOp C1
func.func @gather_nd_tuple(%x: tensor<2x3xf32>, %i: tensor<4x3xi64>) {
  // expected-error @below {{expects the last extent of indices to be from 1 to 2, but got 3}}
  %r = graph.gather_nd %x, %i : (tensor<2x3xf32>, tensor<4x3xi64>) -> tensor<4xf32>
  return
}

// -----

// GatherNdOp C1
func.func @gather_nd_unknown_tuple(%x: tensor<2x3xf32>, %i: tensor<4x?xi64>) {
  // expected-error @below {{expects the last extent of indices to be from 1 to 2, but got an unknown one}}
  %r = graph.gather_nd %x, %i : (tensor<2x3xf32>, tensor<4x?xi64>) -> tensor<4xf32>
  return
}

// -----

// GatherNdOp C2
func.func @gather_nd_batch_dims(%x: tensor<2x3xf32>, %i: tensor<2x1xi64>) {
  // expected-error @below {{expects batch_dims below the ranks of X and indices, but got 2}}
  %r = graph.gather_nd %x, %i {batch_dims = 2 : i64} : (tensor<2x3xf32>, tensor<2x1xi64>) -> tensor<2xf32>
  return
}

// -----

// GatherNdOp C2
func.func @gather_nd_batches_differ(%x: tensor<2x3xf32>, %i: tensor<4x1xi64>) {
  // expected-error @below {{expects batch dimensions that agree, but got 4 where 2 is needed}}
  %r = graph.gather_nd %x, %i {batch_dims = 1 : i64} : (tensor<2x3xf32>, tensor<4x1xi64>) -> tensor<2xf32>
  return
}

// -----

// ScatterElementsOp C1
func.func @scatter_elements_axis(%x: tensor<3xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) {
  // expected-error @below {{expects an axis below the rank 1, but got 1}}
  %r = graph.scatter_elements %x, %i, %u {axis = 1 : i64} : (tensor<3xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

// ScatterElementsOp C2
func.func @scatter_elements_updates(%x: tensor<3xf32>, %i: tensor<2xi64>, %u: tensor<4xf32>) {
  // expected-error @below {{expects updates to have the shape of indices, but got 4 where 2 is needed}}
  %r = graph.scatter_elements %x, %i, %u {axis = 0 : i64} : (tensor<3xf32>, tensor<2xi64>, tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

// ScatterElementsOp C2
func.func @scatter_elements_update_rank(%x: tensor<3xf32>, %i: tensor<2xi64>, %u: tensor<2x1xf32>) {
  // expected-error @below {{expects updates to have the rank of indices, 1, but got 2}}
  %r = graph.scatter_elements %x, %i, %u {axis = 0 : i64} : (tensor<3xf32>, tensor<2xi64>, tensor<2x1xf32>) -> tensor<3xf32>
  return
}

// -----

// ScatterElementsOp C3
func.func @scatter_elements_type(%x: tensor<3xf32>, %i: tensor<2xi64>, %u: tensor<2xf16>) {
  // expected-error @below {{expects updates to have the element type of X, f32, but got f16}}
  %r = graph.scatter_elements %x, %i, %u {axis = 0 : i64} : (tensor<3xf32>, tensor<2xi64>, tensor<2xf16>) -> tensor<3xf32>
  return
}

// -----

// ScatterNdOp C1
func.func @scatter_nd_tuple(%x: tensor<3xf32>, %i: tensor<2x2xi64>, %u: tensor<2xf32>) {
  // expected-error @below {{expects the last extent of indices to be from 1 to 1, but got 2}}
  %r = graph.scatter_nd %x, %i, %u : (tensor<3xf32>, tensor<2x2xi64>, tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

// ScatterNdOp C2
func.func @scatter_nd_update_rank(%x: tensor<3x4xf32>, %i: tensor<2x1xi64>, %u: tensor<2xf32>) {
  // expected-error @below {{expects updates to have rank 2, but got 1}}
  %r = graph.scatter_nd %x, %i, %u : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2xf32>) -> tensor<3x4xf32>
  return
}

// -----

// ScatterNdOp C2
func.func @scatter_nd_update_extent(%x: tensor<3x4xf32>, %i: tensor<2x1xi64>, %u: tensor<2x5xf32>) {
  // expected-error @below {{expects extents of updates that fit those of indices and X, but got 5 where 4 is needed}}
  %r = graph.scatter_nd %x, %i, %u : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2x5xf32>) -> tensor<3x4xf32>
  return
}

// -----

// ScatterNdOp C3
func.func @scatter_nd_type(%x: tensor<3xf32>, %i: tensor<2x1xi64>, %u: tensor<2xf16>) {
  // expected-error @below {{expects updates to have the element type of X, f32, but got f16}}
  %r = graph.scatter_nd %x, %i, %u : (tensor<3xf32>, tensor<2x1xi64>, tensor<2xf16>) -> tensor<3xf32>
  return
}
