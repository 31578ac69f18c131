// RUN: espalier-opt %s -compile-to=poly | FileCheck %s

// What is beyond the integers, as the number before the first one that a
// minimum finds, is the largest.
// CHECK: poly.compute @s1_init
// CHECK-NEXT: arith.constant 9223372036854775807 : i64
func.func @infinite(%x: tensor<2x3xi32>) -> tensor<2xi64> {
  %r = graph.arg_max %x {axis = 1 : i64} : (tensor<2x3xi32>) -> tensor<2xi64>
  return %r : tensor<2xi64>
}
