// RUN: espalier-opt %s -convert-graph-to-poly -poly-form-kernels -poly-store-in-place -poly-name-kernels | FileCheck %s

// A sum that others read is accumulated apart, and stored once.
// CHECK-LABEL: poly.kernel private @reduce_sum_{{[0-9a-f]+}}(
// CHECK-SAME:      %[[X:.*]]: memref<5x7xf32>, %[[Y:.*]]: memref<5xf32>)
// CHECK:         %[[SUM:.*]] = poly.array : memref<5xf32>
// CHECK:         poly.compute @s0_init {{.*}} writes(%[[SUM]]
// CHECK:         poly.compute @s0 {{.*}} writes(%[[SUM]]{{.*}} reduction add
// CHECK:         poly.compute @s1 {{.*}} reads(%[[SUM]]{{.*}} writes(%[[Y]]
func.func @main(%x: tensor<5x7xf32>) -> tensor<5xf32> {
  %0 = graph.reduce_sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<5x7xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
