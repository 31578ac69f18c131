// RUN: espalier-opt %s -graph-sparsify | FileCheck %s

// No element of what is zero everywhere is looked at, however many there are.
// CHECK-LABEL: @zero
// CHECK: graph.matmul {{.*}} tensor<100000000x100000000xf32, #{{.*}}>
func.func @zero(%x: tensor<?x100000000xf32>) -> tensor<?x100000000xf32> {
  %w = graph.constant dense<0.0> : tensor<100000000x100000000xf32>
  %r = graph.matmul %x, %w : (tensor<?x100000000xf32>, tensor<100000000x100000000xf32>) -> tensor<?x100000000xf32>
  return %r : tensor<?x100000000xf32>
}
