// A binary TreeLSTM, hidden size 4, over 3 words, written without Python.

!node = !rec.node<tree, arity = 2>
!numbers = tensor<?xi32>
!state = tensor<4xf32>

module @tree_lstm {
rec.model private @cell(%n: !node, %words: !numbers, %emb: tensor<3x4xf32>,
                        %u: tensor<8x20xf32>, %b: tensor<20xf32>) -> (!state, !state) {
  rec.case leaf {
    %w = rec.feature %words at %n : !numbers, !node -> tensor<i32>
    %h = graph.gather %emb, %w {axis = 0 : i64} : (tensor<3x4xf32>, tensor<i32>) -> !state
    %c = arith.constant dense<0.0> : !state
    rec.yield %h, %c : !state, !state
  }
  rec.case interior {
    %hl, %cl = rec.call %n child 0 : !node -> !state, !state
    %hr, %cr = rec.call %n child 1 : !node -> !state, !state
    %x = graph.concat %hl, %hr {axis = 0 : i64} : (!state, !state) -> tensor<8xf32>
    %row = graph.reshape %x to [1, 8] : (tensor<8xf32>) -> tensor<1x8xf32>
    %product = graph.matmul %row, %u : (tensor<1x8xf32>, tensor<8x20xf32>) -> tensor<1x20xf32>
    %sum = graph.add %product, %b : (tensor<1x20xf32>, tensor<20xf32>) -> tensor<1x20xf32>
    %gates = graph.reshape %sum to [5, 4] : (tensor<1x20xf32>) -> tensor<5x4xf32>
    %all = graph.sigmoid %gates : (tensor<5x4xf32>) -> tensor<5x4xf32>
    %i = graph.slice %all [0, 0] [1, 4] {steps = array<i64: 1, 1>} : (tensor<5x4xf32>) -> tensor<1x4xf32>
    %o = graph.slice %all [1, 0] [1, 4] {steps = array<i64: 1, 1>} : (tensor<5x4xf32>) -> tensor<1x4xf32>
    %g = graph.slice %gates [2, 0] [1, 4] {steps = array<i64: 1, 1>} : (tensor<5x4xf32>) -> tensor<1x4xf32>
    %fl = graph.slice %all [3, 0] [1, 4] {steps = array<i64: 1, 1>} : (tensor<5x4xf32>) -> tensor<1x4xf32>
    %fr = graph.slice %all [4, 0] [1, 4] {steps = array<i64: 1, 1>} : (tensor<5x4xf32>) -> tensor<1x4xf32>
    %t = graph.tanh %g : (tensor<1x4xf32>) -> tensor<1x4xf32>
    %new = graph.mul %i, %t : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
    %left = graph.mul %fl, %cl : (tensor<1x4xf32>, !state) -> tensor<1x4xf32>
    %right = graph.mul %fr, %cr : (tensor<1x4xf32>, !state) -> tensor<1x4xf32>
    %kept = graph.add %left, %right : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
    %c = graph.add %new, %kept : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
    %s = graph.tanh %c : (tensor<1x4xf32>) -> tensor<1x4xf32>
    %h = graph.mul %o, %s : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
    %h1 = graph.reshape %h to [4] : (tensor<1x4xf32>) -> !state
    %c1 = graph.reshape %c to [4] : (tensor<1x4xf32>) -> !state
    rec.yield %h1, %c1 : !state, !state
  }
}
func.func @main(%arity: !numbers {espalier.name = "arity", espalier.dims = ["num_nodes"]},
                %children: tensor<?x2xi32> {espalier.name = "children", espalier.dims = ["num_interior", ""]},
                %levels: !numbers {espalier.name = "levels", espalier.dims = ["num_bounds"]},
                %roots: !numbers {espalier.name = "roots", espalier.dims = ["num_roots"]},
                %words: !numbers {espalier.name = "words", espalier.dims = ["num_nodes"]},
                %emb: tensor<3x4xf32> {espalier.name = "emb"},
                %u: tensor<8x20xf32> {espalier.name = "u"},
                %b: tensor<20xf32> {espalier.name = "b"})
    -> (tensor<?x4xf32> {espalier.name = "h"}, tensor<?x4xf32> {espalier.name = "c"}) {
  %h, %c = rec.apply @cell at roots of [%arity, %children, %levels, %roots](%words, %emb, %u, %b)
      : [!numbers, tensor<?x2xi32>, !numbers, !numbers]
        (!numbers, tensor<3x4xf32>, tensor<8x20xf32>, tensor<20xf32>)
        -> (tensor<?x4xf32>, tensor<?x4xf32>)
  return %h, %c : tensor<?x4xf32>, tensor<?x4xf32>
}
}
