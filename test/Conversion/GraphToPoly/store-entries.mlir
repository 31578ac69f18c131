// RUN: espalier-opt %s -split-input-file -convert-graph-to-poly -remarks-filter=convert-graph-to-poly 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t
// RUN: espalier-opt %s -split-input-file -espalier-compile='to=scheduled entries=true' | FileCheck %s --check-prefix=SCHEDULE
// RUN: espalier-opt %s -split-input-file -espalier-compile='to=statements entries=true' | sed 's/dense<\[0, 1, 3\]>/dense<[0, 4, 3]>/' \
// RUN:   | not espalier-opt -split-input-file -espalier-compile='to=loops entries=true' 2>&1 | FileCheck %s --check-prefix=STARTS
// RUN: espalier-opt %s -split-input-file -espalier-compile='to=statements entries=true' | sed 's/dense<\[2, 0, 1\]>/dense<[3, 0, 1]>/' \
// RUN:   | not espalier-opt -split-input-file -espalier-compile='to=loops entries=true' 2>&1 | FileCheck %s --check-prefix=COLUMNS
// RUN: espalier-opt %s -split-input-file -convert-graph-to-poly=entries=false -remarks-filter=convert-graph-to-poly 2>%t.dense | FileCheck %s --check-prefix=DENSE
// RUN: FileCheck %s --check-prefix=NOT-ASKED --input-file=%t.dense

// Types alone leave out no product.
// DENSE: poly.compute
// DENSE-NOT: {{ where }}
// NOT-ASKED: remark: [Missed] StaysDense {{.*}} Reason="sums over entries, which leave out products with zero, are not asked for"

// What is stored is checked like any other data; see the examples.
// STARTS: error: 'poly.call' op expects constants as operand #{{.*}} from 0 to less than 4, but element 1 is 4
// COLUMNS: error: 'poly.call' op expects constants as operand #{{.*}} from 0 to less than 3, but element 0 is 3

// Entries of column 0: 1.0 in row 2; of column 1: 2.0 and 3.0 in rows 0 and 1.
// CHECK: affine_set<(d0, d1, d2)[s0, s1, s2] : (d2 - s1 >= 0, -d2 + s2 - 1 >= 0)>
// CHECK-DAG: dense<[0, 1, 3]>
// CHECK-DAG: dense<[2, 0, 1]>
// CHECK-DAG: dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]>
// CHECK: poly.kernel {{.*}} memref<3xi32> {poly.bounded_by = affine_map<()[s0] -> (3)>}, {{.*}} memref<3xi32> {poly.bounded_by = affine_map<()[s0] -> (4)>, poly.monotonic}
// CHECK: poly.compute @s0 dims ["i", "j", "e"] {{.*}} where
// REMARK: remark: [Passed] SumOfEntries | Category:convert-graph-to-poly | Entries=3

// Lanes along the rows of the dense operand, which lie side by side for it; the
// bias and the activation are in the same kernel.
// SCHEDULE: poly.kernel private @matmul_relu_{{.*}} memref<?x3x64xf32>
// SCHEDULE: poly.compute @s0 dims ["i", "j", "e"] {{.*}} where
// SCHEDULE: arith.maximumf
// SCHEDULE: poly.prefetch @s0 read 3
// SCHEDULE-NEXT: poly.band [@s0] {{.*}} loops [unroll, vector(16)]
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 1>} {
  func.func @main(%x: tensor<?x3xf32>, %b: tensor<2xf32>) -> tensor<?x2xf32> {
    %w = graph.constant dense<[[0.0, 2.0], [0.0, 3.0], [1.0, 0.0]]> : tensor<3x2xf32, #sparse_tensor.encoding<{ map = (k, j) -> (j : dense, k : compressed) }>>
    %0 = graph.matmul %x, %w : (tensor<?x3xf32>, tensor<3x2xf32, #sparse_tensor.encoding<{ map = (k, j) -> (j : dense, k : compressed) }>>) -> tensor<?x2xf32>
    %1 = graph.add %0, %b : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
    %2 = graph.relu %1 : (tensor<?x2xf32>) -> tensor<?x2xf32>
    return %2 : tensor<?x2xf32>
  }
}

// -----

// Two numbers say where an entry of a filter is. The filters that a group has
// no entries of are empty rows.
// CHECK: poly.compute @s0 dims ["n", "o", "p0", "e"] {{.*}} where
// REMARK: remark: [Passed] SumOfEntries | Category:convert-graph-to-poly | Entries=1
func.func @main(%x: tensor<1x2x8xf32>) -> tensor<1x2x6xf32> {
  %w = graph.constant dense<[[[0.0, 5.0, 0.0]], [[0.0, 0.0, 0.0]]]> : tensor<2x1x3xf32, #sparse_tensor.encoding<{ map = (o, c, k) -> (o : dense, c : compressed(nonunique), k : singleton) }>>
  %r = graph.conv %x, %w {dilations = array<i64: 1>, groups = 2 : i64, pads_high = array<i64: 0>, pads_low = array<i64: 0>, strides = array<i64: 1>} : (tensor<1x2x8xf32>, tensor<2x1x3xf32, #sparse_tensor.encoding<{ map = (o, c, k) -> (o : dense, c : compressed(nonunique), k : singleton) }>>) -> tensor<1x2x6xf32>
  return %r : tensor<1x2x6xf32>
}

// -----

// A row has to be one of the result.
// CHECK-NOT: where
// REMARK: remark: [Missed] StaysDense {{.*}} Reason="a sum over other dimensions than those that are stored"
func.func @main(%x: tensor<4x3xf32>) -> tensor<4x2xf32> {
  %w = graph.constant {poly.may_stay_dense} dense<[[0.0, 2.0], [0.0, 3.0], [1.0, 0.0]]> : tensor<3x2xf32, #sparse_tensor.encoding<{ map = (k, j) -> (k : dense, j : compressed) }>>
  %r = graph.matmul %x, %w : (tensor<4x3xf32>, tensor<3x2xf32, #sparse_tensor.encoding<{ map = (k, j) -> (k : dense, j : compressed) }>>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// -----

// Lists of lists are no entries row by row.
// CHECK-NOT: where
// REMARK: remark: [Missed] StaysDense {{.*}} Reason="no format of entries row by row"
func.func @main(%x: tensor<4x3xf32>) -> tensor<4x2xf32> {
  %w = graph.constant {poly.may_stay_dense} dense<[[0.0, 2.0], [0.0, 3.0], [1.0, 0.0]]> : tensor<3x2xf32, #sparse_tensor.encoding<{ map = (k, j) -> (j : compressed, k : compressed) }>>
  %r = graph.matmul %x, %w : (tensor<4x3xf32>, tensor<3x2xf32, #sparse_tensor.encoding<{ map = (k, j) -> (j : compressed, k : compressed) }>>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// -----

// Only sums run over entries.
// CHECK-NOT: where
// REMARK: remark: [Missed] StaysDense {{.*}} Reason="no sum of its products"
func.func @main(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %w = graph.constant {poly.may_stay_dense} dense<[[0.0, 2.0], [0.0, 3.0], [1.0, 0.0]]> : tensor<3x2xf32, #sparse_tensor.encoding<{ map = (k, j) -> (j : dense, k : compressed) }>>
  %r = graph.add %x, %w : (tensor<3x2xf32>, tensor<3x2xf32, #sparse_tensor.encoding<{ map = (k, j) -> (j : dense, k : compressed) }>>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}
