// RUN: not espalier-opt %s -espalier-statements -transform-interpreter -espalier-poly 2>&1 | FileCheck %s

// A product is no convolution.
// CHECK: chosen-invalid.mlir:[[@LINE+4]]:10: error: expects a sum that Winograd's algorithm is for, to be computed by it: a convolution
module attributes {transform.with_named_sequence} {
  func.func @main(%m: tensor<4x40xf32>) -> tensor<4x48xf32> {
    %v = graph.constant dense_resource<v> : tensor<40x48xf32>
    %2 = graph.matmul %m, %v : (tensor<4x40xf32>, tensor<40x48xf32>) -> tensor<4x48xf32>
    return %2 : tensor<4x48xf32>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %product = transform.poly.computation @matmul_fb4a1f81::@s0 of %module : (!transform.any_op) -> !transform.any_op
    transform.poly.algorithm %product winograd : !transform.any_op
    transform.yield
  }
}
