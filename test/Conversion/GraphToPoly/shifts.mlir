// RUN: espalier-opt %s --compile-to=poly | FileCheck %s

// Powers of 2 are shifts, also after kernels have been read and written again,
// and so are unsigned quotients by them. Signed ones round towards 0.

// CHECK-LABEL: poly.kernel private @div
// CHECK:         ^bb0(%[[X:.*]]: i32, %[[N:.*]]: i32):
// CHECK-NOT:     math.ipowi
// CHECK:         arith.shrui %[[X]], %{{.*}} : i32
// CHECK-LABEL: poly.kernel private @div
// CHECK:         ^bb0(%[[X:.*]]: i32, %[[N:.*]]: i32):
// CHECK:         %[[POWER:.*]] = arith.shli %{{.*}}, %[[N]] : i32
// CHECK:         arith.divsi %[[X]], %[[POWER]] : i32
func.func @main(%x: tensor<64xui32>, %n: tensor<64xui32>, %y: tensor<9xi32>, %m: tensor<9xi32>)
    -> (tensor<64xui32>, tensor<9xi32>) {
  %two = arith.constant dense<2> : tensor<ui32>
  %0 = graph.pow %two, %n : (tensor<ui32>, tensor<64xui32>) -> tensor<64xui32>
  %1 = graph.div %x, %0 : (tensor<64xui32>, tensor<64xui32>) -> tensor<64xui32>
  %other = arith.constant dense<2> : tensor<i32>
  %2 = graph.pow %other, %m : (tensor<i32>, tensor<9xi32>) -> tensor<9xi32>
  %3 = graph.div %y, %2 : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi32>
  return %1, %3 : tensor<64xui32>, tensor<9xi32>
}
