// RUN: espalier-opt %s -convert-graph-to-poly -poly-form-kernels -poly-store-in-place -poly-name-kernels | FileCheck %s

// Each version has its kernels and its buffers, and what is before and behind
// the choice is part of both. The plan is that of the second one.
// CHECK-COUNT-3: poly.kernel private @
// CHECK-LABEL: func.func @main(
//  CHECK-SAME:   %[[X:[a-z0-9]+]]: memref<?x8xf32>, %[[W:[a-z0-9]+]]: memref<8x8xf32>, %[[R:[a-z0-9]+]]: memref<?x8xf32>)
//       CHECK:   %[[N:.*]] = memref.dim %[[X]]
//       CHECK:   %[[HOLDS:.*]] = arith.cmpi sge, %[[N]], %{{.*}}
//       CHECK:   scf.if %[[HOLDS]] {
//       CHECK:     %[[A:.*]] = memref.alloc
//       CHECK:     poly.call @[[EXP:.*]](%[[X]], %[[A]]
//       CHECK:     poly.call @[[LAST:.*]](%[[A]], %[[W]], %[[R]]
//       CHECK:   } else {
//       CHECK:     %[[B:.*]] = memref.alloc
//       CHECK:     poly.call @[[EXP]](%[[X]], %[[B]]
//       CHECK:     %[[C:.*]] = memref.alloc
//       CHECK:     poly.call @{{.*}}(%[[B]], %[[W]], %[[C]]
//       CHECK:     poly.call @[[LAST]](%[[C]], %[[W]], %[[R]]
//       CHECK:   }
//       CHECK:   return
// CHECK-LABEL: func.func @main_plan(
//  CHECK-SAME:   %[[ROWS:[a-z0-9]+]]: index
//       CHECK:   return %[[ROWS]], %{{.*}} : index, index
func.func @main(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %holds = arith.cmpi sge, %n, %c4 : index
  %0 = graph.exp %x : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %r = scf.if %holds -> (tensor<?x8xf32>) {
    %1 = graph.matmul %0, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
    scf.yield %1 : tensor<?x8xf32>
  } else {
    %1 = graph.matmul %0, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
    %2 = graph.matmul %1, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
    scf.yield %2 : tensor<?x8xf32>
  }
  %s = graph.relu %r : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %s : tensor<?x8xf32>
}
