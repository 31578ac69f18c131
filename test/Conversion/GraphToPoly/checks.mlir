// RUN: espalier-opt %s -split-input-file -verify-diagnostics -convert-graph-to-poly -poly-form-kernels | FileCheck %s

// Extents without names may differ.
// CHECK-LABEL: func.func @main(
//       CHECK:   %[[HOLDS:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}}
//       CHECK:   cf.assert %[[HOLDS]], "in 'graph.matmul' expects extents of k to agree, but got size(b, 0) where size(a, 1) is needed"
//       CHECK:   poly.call
func.func @main(%a: tensor<?x?xf32> {espalier.name = "a"}, %b: tensor<?x8xf32> {espalier.name = "b"}) -> tensor<?x8xf32> {
  %r = graph.matmul %a, %b : (tensor<?x?xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// -----

// Extents with names are checked by the runtime, and what follows from them is
// known: products, and windows of a padded image.
// CHECK-LABEL: func.func @main(
//   CHECK-NOT:   cf.assert
//       CHECK:   return
func.func @main(%x: tensor<?x?x768xf32> {espalier.dims = ["b", "s", ""]},
                %y: tensor<?x?x12x64xf32> {espalier.dims = ["b", "s", "", ""]},
                %i: tensor<?x8x?x?xf32> {espalier.dims = ["b", "", "h", "w"]},
                %w: tensor<4x8x3x3xf32>) -> (tensor<?x?x12x64xf32>, tensor<?x4x?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?x768xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?x768xf32>
  %0 = graph.reshape %x to [%n, %m, 12, 64] : (tensor<?x?x768xf32>) -> tensor<?x?x12x64xf32>
  %1 = graph.add %0, %y : (tensor<?x?x12x64xf32>, tensor<?x?x12x64xf32>) -> tensor<?x?x12x64xf32>
  %2 = graph.conv %i, %w {groups = 1 : i64, strides = array<i64: 2, 2>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x8x?x?xf32>, tensor<4x8x3x3xf32>) -> tensor<?x4x?x?xf32>
  return %1, %2 : tensor<?x?x12x64xf32>, tensor<?x4x?x?xf32>
}

// -----

// Where nothing is read, nothing is required.
// CHECK-LABEL: func.func @main(
//       CHECK:   %[[ANY:.*]] = arith.cmpi sge, %[[ROWS:.*]], %{{.*}} : index
//       CHECK:   %[[NONE:.*]] = arith.cmpi sle, %{{.*}}, %{{.*}} : index
//       CHECK:   %[[HOLDS:.*]] = arith.ori %[[ANY]], %[[NONE]]
//       CHECK:   cf.assert %[[HOLDS]], "in 'graph.gather' expects elements of X to index along dimension 0, but got size(input0, 0) where 1 is the least"
//   CHECK-NOT:   cf.assert
func.func @main(%x: tensor<?x8xf32>, %i: tensor<?xi64>) -> tensor<?x8xf32> {
  %r = graph.gather %x, %i {axis = 0 : i64} : (tensor<?x8xf32>, tensor<?xi64>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// -----

// A type may know more than the operator.
// CHECK-LABEL: func.func @main(
//       CHECK:   cf.assert %{{.*}}, "in 'tensor.cast' expects a result of type tensor<4xf32>, but got size(input0, 0) where 4 is needed"
//       CHECK:   cf.assert %{{.*}}, "in 'graph.exp' expects a result of type tensor<5xf32>, but got size(input1, 0) where 5 is needed"
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<4xf32>, tensor<5xf32>) {
  %0 = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
  %1 = graph.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.exp %y : (tensor<?xf32>) -> tensor<5xf32>
  return %1, %2 : tensor<4xf32>, tensor<5xf32>
}

// -----

// What is asked twice is checked once; a computed size and a node have no
// better name.
// CHECK-LABEL: func.func @main(
//       CHECK:   cf.assert %{{.*}}, "in 'graph.iota' of 'range' expects a result without negative extents, but got a computed size where 0 is the least"
//   CHECK-NOT:   cf.assert
func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = arith.minsi %n, %c5 : index
  %0 = graph.iota [%m] {axis = 0 : i64, element_type = f32} : tensor<?xf32> loc("range")
  %1 = graph.exp %0 : (tensor<?xf32>) -> tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}

// -----

// One more row is never as many.
func.func @main(%x: tensor<?x2xf32> {espalier.dims = ["n", ""]}, %y: tensor<?x2xf32> {espalier.dims = ["n", ""]}, %z: tensor<1x2xf32>) -> tensor<?x2xf32> {
  %0 = graph.concat %x, %z {axis = 0 : i64} : (tensor<?x2xf32>, tensor<1x2xf32>) -> tensor<?x2xf32>
  // expected-error @below {{expects extents of b0 to agree, but got size(input0, 0) where size(input0, 0) + 1 is needed}}
  %1 = graph.add %0, %y : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  return %1 : tensor<?x2xf32>
}
