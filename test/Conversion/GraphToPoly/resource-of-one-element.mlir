// RUN: espalier-opt %s --convert-graph-to-poly | FileCheck %s

// A resource of one element has one value everywhere, but no literal takes its
// place: it stays an array.

// CHECK: memref.global "private" constant @{{.*}} : memref<1x1xf32> = dense_resource<weight>
// CHECK: poly.compute
// CHECK: arith.mulf
func.func @main(%x: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %w = arith.constant dense_resource<weight> : tensor<1x1xf32>
  %y = graph.mul %x, %w : (tensor<4x1xf32>, tensor<1x1xf32>) -> tensor<4x1xf32>
  return %y : tensor<4x1xf32>
}

{-#
  dialect_resources: {
    builtin: {
      weight: "0x0400000000000040"
    }
  }
#-}
