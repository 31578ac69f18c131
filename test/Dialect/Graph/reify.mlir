// RUN: espalier-opt %s -resolve-shaped-type-result-dims -canonicalize | FileCheck %s

// CHECK-LABEL: @matmul
// CHECK-SAME: %[[A:[^:]*]]: tensor<?x4x8xf32>, %[[B:[^:]*]]: tensor<8x?xf32>
func.func @matmul(%a: tensor<?x4x8xf32>, %b: tensor<8x?xf32>) -> (index, index) {
  // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
  // CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
  // CHECK-DAG: %[[N:.*]] = tensor.dim %[[A]], %[[C0]]
  // CHECK-DAG: %[[M:.*]] = tensor.dim %[[B]], %[[C1]]
  // CHECK: return %[[N]], %[[M]]
  %r = graph.matmul %a, %b : (tensor<?x4x8xf32>, tensor<8x?xf32>) -> tensor<?x4x?xf32>
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %r, %c0 : tensor<?x4x?xf32>
  %m = tensor.dim %r, %c2 : tensor<?x4x?xf32>
  return %n, %m : index, index
}

// CHECK-LABEL: @conv
func.func @conv(%x: tensor<1x3x?xf32>, %w: tensor<8x3x3xf32>) -> index {
  // (n + 2 - 3) / 2 + 1, not below 0
  // CHECK: %[[N:.*]] = tensor.dim
  // CHECK: arith.floordivsi
  // CHECK: %[[R:.*]] = arith.maxsi
  // CHECK: return %[[R]]
  %r = graph.conv %x, %w {strides = array<i64: 2>, pads_low = array<i64: 1>, pads_high = array<i64: 1>,
                          dilations = array<i64: 1>}
      : (tensor<1x3x?xf32>, tensor<8x3x3xf32>) -> tensor<1x8x?xf32>
  %c2 = arith.constant 2 : index
  %n = tensor.dim %r, %c2 : tensor<1x8x?xf32>
  return %n : index
}

// CHECK-LABEL: @reshape
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x6xf32>, %[[N:[^:]*]]: index
func.func @reshape(%x: tensor<?x6xf32>, %n: index) -> index {
  // One unknown extent on either side: they are the same.
  // CHECK: %[[R:.*]] = tensor.dim %[[X]]
  // CHECK: return %[[R]]
  %r = graph.reshape %x to [%n, 3, 2] : (tensor<?x6xf32>) -> tensor<?x3x2xf32>
  %c0 = arith.constant 0 : index
  %d = tensor.dim %r, %c0 : tensor<?x3x2xf32>
  return %d : index
}

// CHECK-LABEL: @iota
// CHECK-SAME: %[[N:.*]]: index
func.func @iota(%n: index) -> index {
  // CHECK: return %[[N]]
  %r = graph.iota [%n] {axis = 0 : i64, element_type = i64} : tensor<?xi64>
  %c0 = arith.constant 0 : index
  %d = tensor.dim %r, %c0 : tensor<?xi64>
  return %d : index
}
