// RUN: espalier-opt %s | espalier-opt | FileCheck %s
// RUN: espalier-opt %s -mlir-print-op-generic | espalier-opt | FileCheck %s

!node = !rec.node<tree, arity = 2>

// CHECK-LABEL: rec.model private @tree_rnn(
// CHECK-SAME: !rec.node<tree, arity = 2>
rec.model private @tree_rnn(%n: !node, %words: tensor<?xi32>, %emb: tensor<?x4xf32>)
    -> tensor<4xf32> {
  // CHECK: rec.case leaf {
  rec.case leaf {
    // CHECK: rec.feature %{{.*}} at %{{.*}} : tensor<?xi32>, <tree, arity = 2> -> tensor<i32>
    %w = rec.feature %words at %n : tensor<?xi32>, !node -> tensor<i32>
    %h = graph.gather %emb, %w {axis = 0 : i64} : (tensor<?x4xf32>, tensor<i32>) -> tensor<4xf32>
    // CHECK: rec.yield %{{.*}} : tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  // CHECK: rec.case interior {
  rec.case interior {
    // CHECK: rec.call %{{.*}} child 0 : <tree, arity = 2> -> tensor<4xf32>
    %l = rec.call %n child 0 : !node -> tensor<4xf32>
    %r = rec.call %n child 1 : !node -> tensor<4xf32>
    %s = graph.add %l, %r : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    rec.yield %s : tensor<4xf32>
  }
}

// CHECK-LABEL: rec.model private @dag(
// CHECK-SAME: !rec.node<dag>
rec.model private @dag(%n: !rec.node<dag>, %x: tensor<?x4xf32>) -> (tensor<4xf32>, tensor<f32>) {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !rec.node<dag> -> tensor<4xf32>
    %c = arith.constant dense<1.0> : tensor<f32>
    rec.yield %h, %c : tensor<4xf32>, tensor<f32>
  }
  rec.case interior {
    // CHECK: rec.children %{{.*}} reduce [add, max] {
    // CHECK-NEXT: ^bb0(%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<f32>):
    // CHECK: } : <dag> -> tensor<4xf32>, tensor<f32>
    %h, %c = rec.children %n reduce [add, max] {
    ^bb0(%hk: tensor<4xf32>, %ck: tensor<f32>):
      rec.yield %hk, %ck : tensor<4xf32>, tensor<f32>
    } : !rec.node<dag> -> tensor<4xf32>, tensor<f32>
    rec.yield %h, %c : tensor<4xf32>, tensor<f32>
  }
}

// CHECK-LABEL: @main(
func.func @main(%arity: tensor<?xi32>, %children: tensor<?x2xi32>, %levels: tensor<?xi32>,
                %roots: tensor<?xi32>, %words: tensor<?xi32>, %emb: tensor<?x4xf32>)
    -> tensor<?x4xf32> {
  // CHECK: rec.apply @tree_rnn at roots of[
  // CHECK-SAME: [tensor<?xi32>, tensor<?x2xi32>, tensor<?xi32>, tensor<?xi32>] (tensor<?xi32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %h = rec.apply @tree_rnn at roots of [%arity, %children, %levels, %roots](%words, %emb)
      : [tensor<?xi32>, tensor<?x2xi32>, tensor<?xi32>, tensor<?xi32>]
        (tensor<?xi32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %h : tensor<?x4xf32>
}
