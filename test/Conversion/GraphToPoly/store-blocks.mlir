// RUN: espalier-opt %s -split-input-file -convert-graph-to-poly -verify-diagnostics | FileCheck %s

// Of a block all elements are entries: zeros as well, in both rows.
// CHECK-DAG: memref<3xi32> = dense<[0, 2, 4]>
// CHECK-DAG: memref<4xi32> = dense<[2, 3, 2, 3]>
// CHECK-DAG: dense<[5.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]>
// CHECK: poly.compute @s0 dims ["i", "j", "e"] {{.*}} where
#blocks = #sparse_tensor.encoding<{ map = (k, j) -> (j floordiv 2 : dense, k floordiv 2 : compressed, j mod 2 : dense, k mod 2 : dense) }>
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x2xf32> {
  %w = graph.constant dense<[[0.0, 0.0], [0.0, 0.0], [5.0, 0.0], [0.0, 0.0]]> : tensor<4x2xf32, #blocks>
  %r = graph.matmul %x, %w : (tensor<?x4xf32>, tensor<4x2xf32, #blocks>) -> tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}

// -----

// The last blocks have fewer rows and columns than the others.
// CHECK-DAG: memref<4xi32> = dense<[0, 0, 0, 1]>
// CHECK-DAG: memref<1xi32> = dense<4>
// CHECK: poly.compute @s0 {{.*}} where
#rest = #sparse_tensor.encoding<{ map = (k, j) -> (j floordiv 2 : dense, k floordiv 2 : compressed, j mod 2 : dense, k mod 2 : dense) }>
func.func @main(%x: tensor<?x5xf32>) -> tensor<?x3xf32> {
  %w = graph.constant dense<[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]> : tensor<5x3xf32, #rest>
  %r = graph.matmul %x, %w : (tensor<?x5xf32>, tensor<5x3xf32, #rest>) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

// -----

// Filters in blocks of channels; a tap is a place of its own.
// CHECK-DAG: memref<2xi32> = dense<[0, 2]>
// CHECK-DAG: memref<2xi32> = dense<[0, 1]>
// CHECK-DAG: memref<2xi32> = dense<1>
// CHECK: poly.compute @s0 {{.*}} where
#filters = #sparse_tensor.encoding<{ map = (o, c, k) -> (o : dense, c floordiv 2 : compressed(nonunique), k : singleton, c mod 2 : dense) }>
func.func @main(%x: tensor<1x2x8xf32>) -> tensor<1x1x6xf32> {
  %w = graph.constant dense<[[[0.0, 5.0, 0.0], [0.0, 0.0, 0.0]]]> : tensor<1x2x3xf32, #filters>
  %r = graph.conv %x, %w {dilations = array<i64: 1>, groups = 1 : i64, pads_high = array<i64: 0>, pads_low = array<i64: 0>, strides = array<i64: 1>} : (tensor<1x2x8xf32>, tensor<1x2x3xf32, #filters>) -> tensor<1x1x6xf32>
  return %r : tensor<1x1x6xf32>
}

// -----

// Two of four: the rows are those of other entries.
// CHECK-DAG: memref<3xi32> = dense<[0, 2, 3]>
// CHECK-DAG: memref<3xi32> = dense<[1, 2, 4]>
// CHECK: poly.compute @s0 {{.*}} where
#pairs = #sparse_tensor.encoding<{ map = (k, j) -> (j : dense, k floordiv 4 : dense, k mod 4 : structured[2, 4]) }>
func.func @main(%x: tensor<?x5xf32>) -> tensor<?x2xf32> {
  %w = graph.constant dense<[[0.0, 0.0], [2.0, 0.0], [3.0, 0.0], [0.0, 0.0], [0.0, 7.0]]> : tensor<5x2xf32, #pairs>
  %r = graph.matmul %x, %w : (tensor<?x5xf32>, tensor<5x2xf32, #pairs>) -> tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}

// -----

// What the type says has to be so.
#pairs = #sparse_tensor.encoding<{ map = (k, j) -> (j : dense, k floordiv 4 : dense, k mod 4 : structured[2, 4]) }>
func.func @main(%x: tensor<?x8xf32>) -> tensor<?x2xf32> {
  // expected-error @below {{expects structured[2, 4], at most 2 of 4 neighbours along dimension 0 that are not zero, but got 3 from element [4, 1] on}}
  %w = graph.constant dense<[[0.0, 0.0], [2.0, 0.0], [3.0, 0.0], [0.0, 7.0], [0.0, 1.0], [0.0, 1.0], [0.0, 0.0], [0.0, 1.0]]> : tensor<8x2xf32, #pairs>
  %r = graph.matmul %x, %w : (tensor<?x8xf32>, tensor<8x2xf32, #pairs>) -> tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}

// -----

// A level in blocks whose places are compressed is no list row by row.
#other = #sparse_tensor.encoding<{ map = (k, j) -> (j : dense, k floordiv 2 : compressed, k mod 2 : compressed) }>
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x2xf32> {
  %w = graph.constant dense<[[0.0, 0.0], [0.0, 0.0], [5.0, 0.0], [0.0, 0.0]]> : tensor<4x2xf32, #other>
  // expected-error @below {{but got no format of entries row by row}}
  %r = graph.matmul %x, %w : (tensor<?x4xf32>, tensor<4x2xf32, #other>) -> tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}
