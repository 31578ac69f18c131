// RUN: espalier-opt %s -convert-graph-to-poly | FileCheck %s

// Of a model's results, only the first is read at roots: the others are not
// collected there, and the last, which no parent reads, is computed at no node.
// The calls are the recurrence, four that say what children there are not, and
// the rows of the first result.

// CHECK-NOT: math.exp
// CHECK: math.tanh
// CHECK-NOT: math.exp
// CHECK-LABEL: func.func @main(
// CHECK-COUNT-6: poly.call
// CHECK-NOT: poly.call
// CHECK: return

!node = !rec.node<sequence, arity = 1>
rec.model private @three(%n: !node, %x: tensor<?x4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !node -> tensor<4xf32>
    rec.yield %h, %h, %h : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  rec.case interior {
    %c:3 = rec.call %n child 0 : !node -> tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    %h = graph.add %c#0, %c#1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %t = graph.tanh %h : (tensor<4xf32>) -> tensor<4xf32>
    %e = graph.exp %h : (tensor<4xf32>) -> tensor<4xf32>
    rec.yield %h, %t, %e : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}
func.func @main(%arity: tensor<?xi32>, %children: tensor<?x1xi32>, %levels: tensor<?xi32>,
                %roots: tensor<?xi32>, %x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %r:3 = rec.apply @three at roots of [%arity, %children, %levels, %roots](%x)
      : [tensor<?xi32>, tensor<?x1xi32>, tensor<?xi32>, tensor<?xi32>]
        (tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>)
  return %r#0 : tensor<?x4xf32>
}
