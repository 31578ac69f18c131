// linalg on tensors enters at the first stage, with arguments or without. A
// function of both dialects belongs to neither.

// RUN: split-file %s %t
// RUN: espalier-opt %t/constant.mlir --compile-to=poly | FileCheck %s --check-prefix=POLY
// RUN: espalier-run %t/constant.mlir | FileCheck %s
// RUN: not espalier-opt %t/mixed.mlir --compile-to=poly 2>&1 | FileCheck %s --check-prefix=MIXED

// POLY: poly.kernel private @square_{{[0-9a-f]+}}(
// POLY: func.func @main_plan(
// CHECK: output0: 2xf32 = [9, 9]
// MIXED: error: expects an operation of linalg, or one that gives a constant, a shape or a scalar, but got graph.relu

//--- constant.mlir
func.func @main() -> tensor<2xf32> {
  %three = arith.constant 3.0 : f32
  %empty = tensor.empty() : tensor<2xf32>
  %threes = linalg.fill ins(%three : f32) outs(%empty : tensor<2xf32>) -> tensor<2xf32>
  %r = linalg.square ins(%threes : tensor<2xf32>) outs(%empty : tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

//--- mixed.mlir
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = graph.relu %x : (tensor<2xf32>) -> tensor<2xf32>
  %empty = tensor.empty() : tensor<2xf32>
  %r = linalg.square ins(%0 : tensor<2xf32>) outs(%empty : tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
