// RUN: espalier-opt %s -convert-graph-to-poly -remarks-filter=convert-graph-to-poly 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t

// Of what is zero everywhere no element is looked at: 16 GB of them would be many.
// CHECK: memref<400001xi32> = dense<0>
// CHECK: poly.compute @s0 {{.*}} where
// REMARK: remark: [Passed] SumOfEntries
func.func @main(%x: tensor<4x10000xf32>) -> tensor<4x400000xf32> {
  %w = graph.constant dense<0.0> : tensor<10000x400000xf32, #sparse_tensor.encoding<{ map = (k, j) -> (j : dense, k : compressed) }>>
  %r = graph.matmul %x, %w : (tensor<4x10000xf32>, tensor<10000x400000xf32, #sparse_tensor.encoding<{ map = (k, j) -> (j : dense, k : compressed) }>>) -> tensor<4x400000xf32>
  return %r : tensor<4x400000xf32>
}
