// RUN: espalier-opt %s -convert-graph-to-poly | FileCheck %s

// Kernels and constants of all functions have names of their own, also beside
// functions of such names.
// CHECK-DAG: poly.kernel private @kernel_1(
// CHECK-DAG: memref.global "private" constant @[[$FIRST:constant_.*]] : memref<4xf32> = dense<2.0
// CHECK-DAG: memref.global "private" constant @[[$SECOND:constant_.*]] : memref<4xf32> = dense<3.0
// CHECK-LABEL: func.func @kernel_0(
//       CHECK:   memref.get_global @[[$FIRST]]
//       CHECK:   poly.call @kernel_1(
func.func @kernel_0(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<2.0> : tensor<4xf32>
  %0 = graph.mul %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @kernel_0_plan(
//       CHECK: poly.kernel private @kernel_2(
// CHECK-LABEL: func.func @main(
//       CHECK:   memref.get_global @[[$SECOND]]
//       CHECK:   poly.call @kernel_2(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<3.0> : tensor<4xf32>
  %0 = graph.add %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
