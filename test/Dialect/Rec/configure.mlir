// RUN: espalier-opt %s --rec-configure="hoist=false specialize=false batching=nodes" -o %t
// RUN: FileCheck %s --input-file=%t
// RUN: espalier-opt %t --graph-print-definitions 2>&1 | FileCheck %s --check-prefix=DEFINITION
// RUN: espalier-opt %t --rec-explain-batching 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: espalier-opt %s --rec-explain-batching 2>&1 | FileCheck %s --check-prefix=EXPLAIN

!node = !rec.node<dag>

// CHECK: rec.model private @sum
// CHECK-SAME: attributes {batching = #rec.batching<nodes>, hoist = false, specialize = false}
// EXPLAIN: remark: '@sum' computes leaves first, then interior nodes level by level
// OTHER: remark: '@sum' computes leaves first, then interior nodes one by one
rec.model private @sum(%n: !node, %x: tensor<?x1x4xf32>, %w: tensor<4x4xf32>) -> tensor<1x4xf32> {
  rec.case leaf {
    %h = arith.constant dense<0.0> : tensor<1x4xf32>
    // EXPLAIN: remark: result #0 is the same for all leaves, and is not stored for each
    // OTHER: remark: result #0 is the same for all leaves, but is stored for each, as the model is not specialized
    // DEFINITION: remark: K0[j0, j1] = 0
    // DEFINITION-NEXT: L1[n, j0, j1] = K0[j0, j1]
    rec.yield %h : tensor<1x4xf32>
  }
  rec.case interior {
    %f = rec.feature %x at %n : tensor<?x1x4xf32>, !node -> tensor<1x4xf32>
    %s = rec.children %n reduce [add] {
    ^bb0(%k: tensor<1x4xf32>):
      // EXPLAIN: remark: is computed in the recursion, for all nodes of a level
      // EXPLAIN: remark: could be computed with the child: rec-refactor moves it
      // OTHER: remark: is computed in the recursion, node by node
      %p = graph.matmul %k, %w : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
      rec.yield %p : tensor<1x4xf32>
    } : !node -> tensor<1x4xf32>
    // DEFINITION: C2[m, k, j0, j1] =
    // EXPLAIN: remark: is hoisted: computed for all interior nodes before the recursion, as it depends on no child
    // OTHER: remark: is computed in the recursion, as the model does not hoist what depends on no child
    // DEFINITION: tanh
    %t = graph.tanh %f : (tensor<1x4xf32>) -> tensor<1x4xf32>
    // EXPLAIN: remark: is computed once, as it depends on weights alone
    %u = graph.exp %w : (tensor<4x4xf32>) -> tensor<4x4xf32>
    // EXPLAIN: remark: is computed in the recursion
    // EXPLAIN: remark: stays in the parent's cell: expects a term of one child, but got one of several
    %v = graph.matmul %s, %u : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
    %h = graph.add %v, %t : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
    rec.yield %h : tensor<1x4xf32>
  }
}

func.func @main(%arity: tensor<?xi32>, %children: tensor<?x?xi32>, %levels: tensor<?xi32>,
                %roots: tensor<?xi32>, %x: tensor<?x1x4xf32>, %w: tensor<4x4xf32>)
    -> tensor<?x1x4xf32> {
  %h = rec.apply @sum at nodes of [%arity, %children, %levels, %roots](%x, %w)
      : [tensor<?xi32>, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>]
        (tensor<?x1x4xf32>, tensor<4x4xf32>) -> tensor<?x1x4xf32>
  return %h : tensor<?x1x4xf32>
}

// Rows that are looked up are not computed in the recursion, hoisted or not:
// nothing would be known of their numbers there.

!chain = !rec.node<sequence, arity = 1>

rec.model private @chain(%n: !chain, %words: tensor<?xi32>, %table: tensor<9x4xf32>) -> tensor<4xf32> attributes {hoist = false} {
  rec.case leaf {
    %w = rec.feature %words at %n : tensor<?xi32>, !chain -> tensor<i32>
    %h = graph.gather %table, %w {axis = 0 : i64} : (tensor<9x4xf32>, tensor<i32>) -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  rec.case interior {
    %w = rec.feature %words at %n : tensor<?xi32>, !chain -> tensor<i32>
    // OTHER: remark: is hoisted
    %x = graph.gather %table, %w {axis = 0 : i64} : (tensor<9x4xf32>, tensor<i32>) -> tensor<4xf32>
    // OTHER: remark: is computed in the recursion, as the model does not hoist
    %t = graph.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
    %l = rec.call %n child 0 : !chain -> tensor<4xf32>
    %h = graph.add %t, %l : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
}
