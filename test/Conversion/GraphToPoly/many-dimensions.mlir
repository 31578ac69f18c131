// RUN: espalier-opt %s -convert-graph-to-poly -poly-form-kernels | FileCheck %s

// A view of more dimensions than small vectors hold is read as any other.
// CHECK-LABEL: func.func @main(
//  CHECK-SAME:   %[[X:[a-z0-9]+]]: memref<7x2x2x3x3xf32>, %[[Y:[a-z0-9]+]]: memref<7x2x2x3x3x1x1xf32>)
//       CHECK:   %[[ALLOC:.*]] = memref.alloc()
//       CHECK:   poly.call @{{.*}}(%[[X]], %[[ALLOC]])
//       CHECK:   %[[VIEW:.*]] = memref.reinterpret_cast %[[ALLOC]] {{.*}}strides: [36, 18, 9, 3, 1, 1, 1]
//       CHECK:   %[[CAST:.*]] = memref.cast %[[VIEW]]
//       CHECK:   poly.call @{{.*}}(%[[CAST]], %[[Y]])
func.func @main(%x: tensor<7x2x2x3x3xf32>) -> tensor<7x2x2x3x3x1x1xf32> {
  %0 = graph.transpose %x {permutation = array<i64: 0, 1, 2, 4, 3>}
      : (tensor<7x2x2x3x3xf32>) -> tensor<7x2x2x3x3xf32>
  %1 = graph.reshape %0 to [7, 2, 2, 3, 3, 1, 1]
      : (tensor<7x2x2x3x3xf32>) -> tensor<7x2x2x3x3x1x1xf32>
  %2 = graph.matmul %1, %1
      : (tensor<7x2x2x3x3x1x1xf32>, tensor<7x2x2x3x3x1x1xf32>) -> tensor<7x2x2x3x3x1x1xf32>
  return %2 : tensor<7x2x2x3x3x1x1xf32>
}
