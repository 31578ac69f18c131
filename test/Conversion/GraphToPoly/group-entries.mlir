// RUN: espalier-opt %s -split-input-file -convert-graph-to-poly -poly-assign-layouts -poly-fuse-kernels -poly-separate-accumulators -poly-group-entries -remarks-filter=poly-group-entries 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t
// RUN: espalier-opt %s -split-input-file -espalier-compile='to=scheduled entries=true' | FileCheck %s --check-prefix=SCHEDULE
// RUN: espalier-opt %s -split-input-file -convert-graph-to-poly -poly-assign-layouts -poly-fuse-kernels -poly-separate-accumulators -poly-group-entries -poly-apply-layouts -o %t.chain
// RUN: espalier-opt %s -split-input-file -convert-graph-to-poly -poly-assign-layouts -poly-fuse-kernels -poly-separate-accumulators -poly-group-entries -poly-fuse-windows -poly-apply-layouts | diff - %t.chain

// Columns 0 and 1 have an entry in rows 0 to 11 and 4 to 15: 4 are of the first
// alone, 8 of both, 4 of the second alone. Each has its list, and what is added to
// the sums of both rows is read once for both.
// CHECK-DAG: dense<[0, 4]>
// CHECK-DAG: dense<[0, 8]>
// CHECK-DAG: dense<[0, 1, 2, 3]>
// CHECK-DAG: dense<[12, 13, 14, 15]>
// CHECK-DAG: dense<[4, 5, 6, 7, 8, 9, 10, 11]>
// CHECK: %[[SUM:.*]] = poly.array(%{{.*}}) {{.*}} : memref<?x1x2xf32>
// CHECK: poly.compute @s0 {{.*}} writes(%[[SUM]]
// CHECK: poly.compute @s1 {{.*}} where {{.*}} writes(%[[SUM]]{{.*}}) reduction add
// CHECK: poly.compute @s2 {{.*}} where {{.*}} writes(%[[SUM]]{{.*}}) reduction add
// CHECK: poly.compute @s3 {{.*}} where {{.*}} writes(%[[SUM]]{{.*}}) reduction add
// CHECK-NOT: reduction add

// The sums are registers from the first list to the last.
// SCHEDULE: poly.array register
#columns = #sparse_tensor.encoding<{ map = (k, j) -> (j : dense, k : compressed) }>
#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 1>
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<?x16xf32>, %b: tensor<2xf32>) -> tensor<?x2xf32> {
    %w = graph.constant dense<[[1., 0.], [2., 0.], [3., 0.], [4., 0.], [5., 1.], [6., 2.], [7., 3.], [8., 4.],
                               [9., 5.], [1., 6.], [2., 7.], [3., 8.], [0., 9.], [0., 1.], [0., 2.], [0., 3.]]> : tensor<16x2xf32, #columns>
    %0 = graph.matmul %x, %w : (tensor<?x16xf32>, tensor<16x2xf32, #columns>) -> tensor<?x2xf32>
    %1 = graph.add %0, %b : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
    %2 = graph.relu %1 : (tensor<?x2xf32>) -> tensor<?x2xf32>
    return %2 : tensor<?x2xf32>
  }
}

// -----

// Rows that have nothing in common share nothing.
// CHECK: poly.compute @s0 {{.*}} reduction add
// CHECK-NOT: reduction add
// REMARK: remark: [Missed] RowsStayAlone | Category:poly-group-entries | Reason="rows that share little"
#columns = #sparse_tensor.encoding<{ map = (k, j) -> (j : dense, k : compressed) }>
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x2xf32> {
  %w = graph.constant dense<[[1., 0.], [2., 0.], [0., 3.], [0., 4.]]> : tensor<4x2xf32, #columns>
  %0 = graph.matmul %x, %w : (tensor<?x4xf32>, tensor<4x2xf32, #columns>) -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}
