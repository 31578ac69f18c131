// RUN: espalier-opt %s -graph-sparsify='max-density=0.5 min-elements=4' -remarks-filter=graph-sparsify 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t
// RUN: espalier-opt %s -graph-sparsify='max-density=0.5' | FileCheck %s --check-prefix=SMALL
// RUN: espalier-opt %s -graph-sparsify='max-density=0.2 min-elements=4' | FileCheck %s --check-prefix=SMALL

// RUN: not espalier-opt %s -graph-sparsify=max-density=nan 2>&1 | FileCheck %s --check-prefix=NAN
// RUN: not espalier-opt %s -graph-sparsify=min-elements=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NAN: error: expects a max-density and min-elements of at least 0, but got {{nan|NAN|NaN}} and 1024
// NEGATIVE: error: expects a max-density and min-elements of at least 0, but got {{.*}} and -1

// Sums of fewer elements, or of more that are not zero, stay as they are.
// SMALL-NOT: sparse_tensor

// CHECK-DAG: #[[COLUMNS:.*]] = #sparse_tensor.encoding<{ map = (d0, d1) -> (d1 : dense, d0 : compressed) }>
// CHECK-DAG: #[[ROWS:.*]] = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>
// CHECK-DAG: #[[FILTERS:.*]] = #sparse_tensor.encoding<{ map = (d0, d1, d2) -> (d0 : dense, d1 : compressed(nonunique), d2 : singleton) }>

// CHECK-LABEL: @right
// CHECK: graph.constant {{.*}} : tensor<3x2xf32, #[[COLUMNS]]>
// CHECK: graph.matmul {{.*}} : (tensor<?x3xf32>, tensor<3x2xf32, #[[COLUMNS]]>) -> tensor<?x2xf32>
// REMARK: remark: [Passed] Sparse | Category:graph-sparsify | Elements=6, Entries=2
// REMARK-SAME: products with zero are left out
func.func @right(%x: tensor<?x3xf32>) -> tensor<?x2xf32> {
  %w = graph.constant dense<[[1.0, 0.0], [-0.0, 2.0], [0.0, 0.0]]> : tensor<3x2xf32>
  %r = graph.matmul %x, %w : (tensor<?x3xf32>, tensor<3x2xf32>) -> tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}

// CHECK-LABEL: @left
// CHECK: graph.matmul {{.*}} : (tensor<3x2xf32, #[[ROWS]]>, tensor<2x?xf32>) -> tensor<3x?xf32>
func.func @left(%x: tensor<2x?xf32>) -> tensor<3x?xf32> {
  %w = graph.constant dense<[[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]]> : tensor<3x2xf32>
  %r = graph.matmul %w, %x : (tensor<3x2xf32>, tensor<2x?xf32>) -> tensor<3x?xf32>
  return %r : tensor<3x?xf32>
}

// A transposed constant is a constant.
// CHECK-LABEL: @transposed
// CHECK-NOT: graph.transpose
// CHECK: graph.matmul {{.*}} tensor<3x2xf32, #[[COLUMNS]]>
func.func @transposed(%x: tensor<?x3xf32>) -> tensor<?x2xf32> {
  %w = graph.constant dense<[[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]> : tensor<2x3xf32>
  %t = graph.transpose %w {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %r = graph.matmul %x, %t : (tensor<?x3xf32>, tensor<3x2xf32>) -> tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}

// CHECK-LABEL: @conv
// CHECK: graph.conv {{.*}} tensor<2x1x3xf32, #[[FILTERS]]>
func.func @conv(%x: tensor<1x1x8xf32>) -> tensor<1x2x8xf32> {
  %w = graph.constant dense<[[[0.0, 1.0, 0.0]], [[0.0, 0.0, 2.0]]]> : tensor<2x1x3xf32>
  %r = graph.conv %x, %w {dilations = array<i64: 1>, pads_high = array<i64: 1>, pads_low = array<i64: 1>, strides = array<i64: 1>} : (tensor<1x1x8xf32>, tensor<2x1x3xf32>) -> tensor<1x2x8xf32>
  return %r : tensor<1x2x8xf32>
}

// What else reads the constant reads the dense one.
// CHECK-LABEL: @read_twice
// CHECK: graph.constant {{.*}} : tensor<3x2xf32, #[[COLUMNS]]>
// CHECK: %[[DENSE:.*]] = graph.constant {{.*}} : tensor<3x2xf32>
// CHECK: graph.relu %[[DENSE]]
func.func @read_twice(%x: tensor<4x3xf32>) -> (tensor<4x2xf32>, tensor<3x2xf32>) {
  %w = graph.constant dense<[[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]]> : tensor<3x2xf32>
  %r = graph.matmul %x, %w : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  %s = graph.relu %w : (tensor<3x2xf32>) -> tensor<3x2xf32>
  return %r, %s : tensor<4x2xf32>, tensor<3x2xf32>
}

// No sum of products.
// CHECK-LABEL: @sum
// CHECK-NOT: graph.add {{.*}}#
func.func @sum(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %w = graph.constant dense<[[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]]> : tensor<3x2xf32>
  %r = graph.add %x, %w : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}
