// RUN: espalier-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: @transpose_identity
func.func @transpose_identity(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  // CHECK-NOT: graph.transpose
  %r = graph.transpose %x {permutation = array<i64: 0, 1>} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  return %r : tensor<2x?xf32>
}

// A sharper result type is information, which stays.
// CHECK-LABEL: @transpose_that_refines_stays
func.func @transpose_that_refines_stays(%x: tensor<2x?xf32>) -> tensor<2x3xf32> {
  // CHECK: graph.transpose
  %r = graph.transpose %x {permutation = array<i64: 0, 1>} : (tensor<2x?xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// It is there for the order in memory.
// CHECK-LABEL: @transpose_with_layout_stays
// CHECK: graph.transpose %arg0 {graph.layout
// CHECK: graph.transpose
func.func @transpose_with_layout_stays(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = graph.transpose %x {permutation = array<i64: 0, 1>, graph.layout = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}

// CHECK-LABEL: @transpose_of_transpose
// CHECK-SAME: %[[X:.*]]: tensor<2x3x4xf32>
func.func @transpose_of_transpose(%x: tensor<2x3x4xf32>) -> tensor<4x3x2xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.transpose %[[X]] {permutation = array<i64: 2, 1, 0>}
  // CHECK-NEXT: return %[[R]]
  %0 = graph.transpose %x {permutation = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 1, 0, 2>} : (tensor<3x4x2xf32>) -> tensor<4x3x2xf32>
  return %1 : tensor<4x3x2xf32>
}

// CHECK-LABEL: @transpose_there_and_back
// CHECK-SAME: %[[X:.*]]: tensor<2x3x4xf32>
func.func @transpose_there_and_back(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = graph.transpose %x {permutation = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 2, 0, 1>} : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  return %1 : tensor<2x3x4xf32>
}

// CHECK-LABEL: @reshape_identity
func.func @reshape_identity(%x: tensor<?x3xf32>, %n: index) -> tensor<?x3xf32> {
  // CHECK-NOT: graph.reshape
  %r = graph.reshape %x to [%n, 3] : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

// Two unknown extents may be exchanged.
// CHECK-LABEL: @reshape_of_two_unknown_extents_stays
func.func @reshape_of_two_unknown_extents_stays(%x: tensor<?x?xf32>, %n: index, %m: index) -> tensor<?x?xf32> {
  // CHECK: graph.reshape
  %r = graph.reshape %x to [%n, %m] : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @reshape_of_reshape
// CHECK-SAME: %[[X:.*]]: tensor<2x6xf32>
func.func @reshape_of_reshape(%x: tensor<2x6xf32>) -> tensor<4x3xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.reshape %[[X]] to [4, 3]
  // CHECK-NEXT: return %[[R]]
  %0 = graph.reshape %x to [12] : (tensor<2x6xf32>) -> tensor<12xf32>
  %1 = graph.reshape %0 to [4, 3] : (tensor<12xf32>) -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// CHECK-LABEL: @reshape_with_constant_size
func.func @reshape_with_constant_size(%x: tensor<?x6xf32>, %n: index) -> tensor<?x?xf32> {
  // CHECK: graph.reshape %{{.*}} to [%{{.*}}, 2] : (tensor<?x6xf32>) -> tensor<?x?xf32>
  %c2 = arith.constant 2 : index
  %r = graph.reshape %x to [%n, %c2] : (tensor<?x6xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @cast_to_the_same_type
func.func @cast_to_the_same_type(%x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK-NOT: graph.cast
  %r = graph.cast %x {to = f32} : (tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: @add_zero
func.func @add_zero(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NOT: graph.add
  %zero = graph.constant dense<0.0> : tensor<f32>
  %r = graph.add %zero, %x : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// The zeros have more elements than the other operand.
// CHECK-LABEL: @add_zero_that_broadcasts_stays
func.func @add_zero_that_broadcasts_stays(%x: tensor<1x3xf32>) -> tensor<2x3xf32> {
  // CHECK: graph.add
  %zero = graph.constant dense<0.0> : tensor<2x1xf32>
  %r = graph.add %x, %zero : (tensor<1x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: @mul_one
func.func @mul_one(%x: tensor<2xi32>) -> tensor<2xi32> {
  // CHECK-NOT: graph.mul
  %one = graph.constant dense<1> : tensor<2xi32>
  %r = graph.mul %x, %one : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return %r : tensor<2xi32>
}

// Zero times not-a-number is no zero.
// CHECK-LABEL: @mul_zero_stays
func.func @mul_zero_stays(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: graph.mul
  %zero = graph.constant dense<0.0> : tensor<2xf32>
  %r = graph.mul %x, %zero : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// CHECK-LABEL: @shape_operators_that_do_nothing
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @shape_operators_that_do_nothing(%x: tensor<2x3xf32>, %v: tensor<f32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = graph.expand %x to [2, 3] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = graph.slice %0 [0, 0] [2, 3] {steps = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = graph.concat %1 {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = graph.pad %2, %v {low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %3 : tensor<2x3xf32>
}

// CHECK-LABEL: @slice_that_reverses_stays
func.func @slice_that_reverses_stays(%x: tensor<3xf32>) -> tensor<3xf32> {
  // CHECK: graph.slice
  %r = graph.slice %x [2] [3] {steps = array<i64: -1>} : (tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// CHECK-LABEL: @equal_constants_are_one
func.func @equal_constants_are_one() -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK-NEXT: %[[C:.*]] = graph.constant dense<1.000000e+00>
  // CHECK-NEXT: return %[[C]], %[[C]]
  %a = graph.constant dense<1.0> : tensor<2xf32>
  %b = graph.constant dense<1.0> : tensor<2xf32>
  return %a, %b : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: @unused_operators_go
func.func @unused_operators_go(%x: tensor<2xf32>) {
  // CHECK-NEXT: return
  %r = graph.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// Points are apart from each other, and the reshape is a view.
// CHECK-LABEL: @transpose_of_merged_points
// CHECK:         %[[MOVED:.*]] = graph.transpose %arg0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x32x8x4xf32>) -> tensor<1x8x4x32xf32>
// CHECK:         %[[ROWS:.*]] = graph.reshape %[[MOVED]]{{.*}} : (tensor<1x8x4x32xf32>{{.*}}) -> tensor<1x32x32xf32>
// CHECK:         return %[[ROWS]]
func.func @transpose_of_merged_points(%x: tensor<1x32x8x4xf32>) -> tensor<1x32x32xf32> {
  %0 = graph.reshape %x to [1, 32, 32] : (tensor<1x32x8x4xf32>) -> tensor<1x32x32xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 0, 2, 1>} : (tensor<1x32x32xf32>) -> tensor<1x32x32xf32>
  return %1 : tensor<1x32x32xf32>
}

// CHECK-LABEL: @split_points_of_a_transpose
// CHECK:         %[[IMAGE:.*]] = graph.reshape %arg0{{.*}} : (tensor<2x24x5xf32>{{.*}}) -> tensor<2x4x6x5xf32>
// CHECK:         %[[MOVED:.*]] = graph.transpose %[[IMAGE]] {permutation = array<i64: 0, 3, 1, 2>} : (tensor<2x4x6x5xf32>) -> tensor<2x5x4x6xf32>
// CHECK:         return %[[MOVED]]
func.func @split_points_of_a_transpose(%x: tensor<2x24x5xf32>) -> tensor<2x5x4x6xf32> {
  %0 = graph.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<2x24x5xf32>) -> tensor<2x5x24xf32>
  %1 = graph.reshape %0 to [2, 5, 4, 6] : (tensor<2x5x24xf32>) -> tensor<2x5x4x6xf32>
  return %1 : tensor<2x5x4x6xf32>
}

// An extent that is not known is one on both sides.
// CHECK-LABEL: @images_of_any_number
// CHECK:         %[[MOVED:.*]] = graph.transpose %arg0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<?x32x8x4xf32>) -> tensor<?x8x4x32xf32>
// CHECK:         graph.reshape %[[MOVED]] to [%arg1, 32, 32]
func.func @images_of_any_number(%x: tensor<?x32x8x4xf32>, %n: index) -> tensor<?x32x32xf32> {
  %0 = graph.reshape %x to [%n, 32, 32] : (tensor<?x32x8x4xf32>) -> tensor<?x32x32xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 0, 2, 1>} : (tensor<?x32x32xf32>) -> tensor<?x32x32xf32>
  return %1 : tensor<?x32x32xf32>
}

// Heads are split before, merged after, and what is not known may be no product.
// CHECK-LABEL: @heads_stay
// CHECK:         graph.reshape
// CHECK-NEXT:    graph.transpose
// CHECK-NEXT:    graph.transpose
// CHECK-NEXT:    graph.reshape
func.func @heads_stay(%x: tensor<7x12xf32>, %d: tensor<?x4x3xf32>, %n: index) -> (tensor<3x7x4xf32>, tensor<4x?xf32>) {
  %0 = graph.reshape %x to [7, 3, 4] : (tensor<7x12xf32>) -> tensor<7x3x4xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 1, 0, 2>} : (tensor<7x3x4xf32>) -> tensor<3x7x4xf32>
  %2 = graph.transpose %d {permutation = array<i64: 1, 0, 2>} : (tensor<?x4x3xf32>) -> tensor<4x?x3xf32>
  %3 = graph.reshape %2 to [4, %n] : (tensor<4x?x3xf32>) -> tensor<4x?xf32>
  return %1, %3 : tensor<3x7x4xf32>, tensor<4x?xf32>
}

// A second time, it changes nothing more.
// CHECK-LABEL: @idempotent
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>, %[[N:.*]]: tensor<2x3xi32>
// CHECK-NEXT: %[[RELU:.*]] = graph.relu %[[X]]
// CHECK-NEXT: %[[CEIL:.*]] = graph.ceil %[[X]]
// CHECK-NEXT: %[[FLOOR:.*]] = graph.floor %[[X]]
// CHECK-NEXT: %[[ROUND:.*]] = graph.round %[[X]]
// CHECK-NEXT: %[[SIGN:.*]] = graph.sign %[[X]]
// CHECK-NEXT: %[[ABS:.*]] = graph.abs %[[N]]
// CHECK-NEXT: return %[[RELU]], %[[CEIL]], %[[FLOOR]], %[[ROUND]], %[[SIGN]], %[[ABS]]
func.func @idempotent(%x: tensor<2x3xf32>, %n: tensor<2x3xi32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xi32>) {
  %0 = graph.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = graph.relu %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = graph.ceil %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = graph.ceil %2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = graph.floor %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = graph.floor %4 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = graph.round %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = graph.round %6 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %8 = graph.sign %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %9 = graph.sign %8 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %10 = graph.abs %n : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %11 = graph.abs %10 : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return %1, %3, %5, %7, %9, %11 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xi32>
}

// CHECK-LABEL: @relu_that_refines_stays
// CHECK-COUNT-2: graph.relu
func.func @relu_that_refines_stays(%x: tensor<2x?xf32>) -> tensor<2x3xf32> {
  %0 = graph.relu %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %1 = graph.relu %0 : (tensor<2x?xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
