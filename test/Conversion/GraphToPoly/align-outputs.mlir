// RUN: espalier-opt %s -convert-graph-to-poly -poly-form-kernels -poly-store-in-place -poly-name-kernels -split-input-file | FileCheck %s

// The transposed activation is the product's epilogue; its loops keep their names.
// CHECK:       #[[TRANSPOSED:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK:       poly.kernel private @matmul_transpose_{{[0-9a-f]+}}(
// CHECK:         reduction add
// CHECK:         dims ["i1", "i0"] {{.*}} writes(%{{.*}}[#[[TRANSPOSED]]] : memref<16x6xf32>)
// CHECK:         arith.maximumf
// CHECK-NOT:   poly.kernel
func.func @main(%x: tensor<6x19xf32>, %w: tensor<19x16xf32>) -> tensor<16x6xf32> {
  %0 = graph.matmul %x, %w : (tensor<6x19xf32>, tensor<19x16xf32>) -> tensor<6x16xf32>
  %1 = graph.relu %0 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %2 = graph.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<6x16xf32>) -> tensor<16x6xf32>
  return %2 : tensor<16x6xf32>
}

// -----

// Somebody reads the transposed elements row by row.
// CHECK:       poly.kernel private @matmul_{{[0-9a-f]+}}(
// CHECK:         reduction add
// CHECK:       poly.kernel private @softmax_{{[0-9a-f]+}}(
// CHECK:         reduction max
func.func @main(%x: tensor<6x19xf32>, %w: tensor<19x16xf32>) -> tensor<16x6xf32> {
  %0 = graph.matmul %x, %w : (tensor<6x19xf32>, tensor<19x16xf32>) -> tensor<6x16xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<6x16xf32>) -> tensor<16x6xf32>
  %2 = graph.softmax %1 {axis = 1 : i64} : (tensor<16x6xf32>) -> tensor<16x6xf32>
  return %2 : tensor<16x6xf32>
}

// -----

// Of a part of the columns, the transposed map runs over that part alone.
// CHECK:       #[[PART:.*]] = affine_set<(d0, d1) : (d0 >= 0, -d0 + 5 >= 0, d1 >= 0, -d1 + 15 >= 0)>
// CHECK:       poly.kernel private @transpose_{{[0-9a-f]+}}(
// CHECK:         dims ["i1", "i0"] domain [#[[PART]]]
func.func @main(%x: tensor<6x5xf32>, %w: tensor<5x19xf32>) -> tensor<16x6xf32> {
  %0 = graph.matmul %x, %w : (tensor<6x5xf32>, tensor<5x19xf32>) -> tensor<6x19xf32>
  %1 = graph.slice %0 [0, 0] [6, 16] {steps = array<i64: 1, 1>} : (tensor<6x19xf32>) -> tensor<6x16xf32>
  %2 = graph.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<6x16xf32>) -> tensor<16x6xf32>
  return %2 : tensor<16x6xf32>
}
