// RUN: espalier-opt %s --graph-print-definitions 2>&1 | FileCheck %s

// What depends on no child stands before the recurrence; equal leaves are one
// element; children are masked where their number is not fixed.

!node = !rec.node<dag>

rec.model private @sum(%n: !node, %x: tensor<?x4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    %h = arith.constant dense<1.5> : tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  rec.case interior {
    %f = rec.feature %x at %n : tensor<?x4xf32>, !node -> tensor<4xf32>
    %s = rec.children %n reduce [add] {
    ^bb0(%k: tensor<4xf32>):
      %p = graph.mul %k, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %q = graph.add %f, %p : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      rec.yield %q : tensor<4xf32>
    } : !node -> tensor<4xf32>
    %t = graph.tanh %f : (tensor<4xf32>) -> tensor<4xf32>
    %u = graph.exp %w : (tensor<4xf32>) -> tensor<4xf32>
    %v = graph.add %s, %t : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %h = graph.mul %v, %u : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
}

// CHECK: remark: K0[j0] = 1.5
// CHECK-NEXT: R{{[0-9]+}}[m, b0] = tanh(A0[size(arity, 0) - size(children, 0) + m, b0])
// CHECK-NEXT: R{{[0-9]+}}[b0] = exp(A1[b0])
// CHECK-NEXT: C1[m, k, j0] = K0[j0] if children[m, k] < size(arity, 0) - size(children, 0) else R[[H:[0-9]+]][children[m, k] - (size(arity, 0) - size(children, 0)), j0]
// CHECK-NEXT: R2[m, k, b0] = C1[m, k, b0] * A1[b0]
// CHECK-NEXT: R3[m, k, b0] = A0[size(arity, 0) - size(children, 0) + m, b0] + R2[m, k, b0]
// CHECK-NEXT: S4[m, j0] = sum(k | k < arity[size(arity, 0) - size(children, 0) + m]) R3[m, k, j0]
// CHECK: R[[H]][m, b0] =
// CHECK-NEXT: R{{[0-9]+}}[n, j0] = K0[j0] if n < size(arity, 0) - size(children, 0) else R[[H]][n - (size(arity, 0) - size(children, 0)), j0]
func.func @main(%arity: tensor<?xi32>, %children: tensor<?x?xi32>, %levels: tensor<?xi32>,
                %roots: tensor<?xi32>, %x: tensor<?x4xf32>, %w: tensor<4xf32>) -> tensor<?x4xf32> {
  %h = rec.apply @sum at nodes of [%arity, %children, %levels, %roots](%x, %w)
      : [tensor<?xi32>, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>]
        (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  return %h : tensor<?x4xf32>
}
