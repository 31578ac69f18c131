// RUN: espalier-opt %s --graph-optimize=rules=%S/Inputs/associate.rules | FileCheck %s

// The product of two small weights is computed ahead of time, and costs nothing.
// CHECK-LABEL: func @small_weights
// CHECK: %[[W:.*]] = graph.matmul %{{[0-9]+}}, %{{[0-9]+}} :
// CHECK: graph.matmul %arg0, %[[W]]
func.func @small_weights(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %a = graph.constant dense<1.0> : tensor<64x64xf32>
  %b = graph.constant dense<2.0> : tensor<64x64xf32>
  %0 = graph.matmul %x, %a : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = graph.matmul %0, %b : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}

// That of large ones would be computed by the program, each time.
// CHECK-LABEL: func @large_weights
// CHECK: %[[Y:.*]] = graph.matmul %arg0
// CHECK: graph.matmul %[[Y]]
func.func @large_weights(%x: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %a = graph.constant dense<1.0> : tensor<1024x1024xf32>
  %b = graph.constant dense<2.0> : tensor<1024x1024xf32>
  %0 = graph.matmul %x, %a : (tensor<64x1024xf32>, tensor<1024x1024xf32>) -> tensor<64x1024xf32>
  %1 = graph.matmul %0, %b : (tensor<64x1024xf32>, tensor<1024x1024xf32>) -> tensor<64x1024xf32>
  return %1 : tensor<64x1024xf32>
}
