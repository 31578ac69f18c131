// RUN: espalier-opt %s --graph-print-definitions -verify-diagnostics -o %t

func.func @f(%x: tensor<2x?xf32>, %w: tensor<?x5xf32>) -> tensor<5x2xf32> {
  // expected-remark @below {{R[i, j] = sum(k) A[i, k] * B[k, j]}}
  %0 = graph.matmul %x, %w : (tensor<2x?xf32>, tensor<?x5xf32>) -> tensor<2x5xf32>
  // expected-remark @below {{R[i0, i1] = X[i1, i0]}}
  %1 = graph.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<2x5xf32>) -> tensor<5x2xf32>
  // What is no operator has no definition.
  return %1 : tensor<5x2xf32>
}
