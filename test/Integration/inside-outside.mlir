// RUN: espalier check %s --no-cache | FileCheck %s

// Two models over the same trees, with two numberings: the first computes nodes
// from the leaves up, the second from the roots down, of what the first gives at
// all nodes. A node's outside depends on its parent's and on its siblings' inside.

// CHECK: interpreter: inside: error
// CHECK: interpreter: outside: error
// CHECK: passed

!up = !rec.node<tree, arity = 2>
!down = !rec.node<dag, arity = 1>
!numbers = tensor<?xi32>
!rows = tensor<?x1x5xf32>
!row = tensor<1x5xf32>

rec.model private @inside(%n: !up, %x: !rows, %w: tensor<5x5xf32>) -> (!row, !row) {
  rec.case leaf {
    %h = rec.feature %x at %n : !rows, !up -> !row
    %none = arith.constant dense<0.0> : !row
    rec.yield %h, %none : !row, !row
  }
  rec.case interior {
    %l, %ls = rec.call %n child 0 : !up -> !row, !row
    %r, %rs = rec.call %n child 1 : !up -> !row, !row
    %sum = graph.add %l, %r : (!row, !row) -> !row
    %p = graph.matmul %sum, %w : (!row, tensor<5x5xf32>) -> !row
    %h = graph.tanh %p : (!row) -> !row
    rec.yield %h, %sum : !row, !row
  }
}

rec.model private @outside(%n: !down, %h: !rows, %sum: !rows, %v: tensor<5x5xf32>)
    -> (!row, !row) {
  rec.case leaf {
    %own = rec.feature %sum at %n : !rows, !down -> !row
    %one = arith.constant dense<1.0> : !row
    rec.yield %one, %own : !row, !row
  }
  rec.case interior {
    %own = rec.feature %sum at %n : !rows, !down -> !row
    %inside = rec.feature %h at %n : !rows, !down -> !row
    %d, %both = rec.call %n child 0 : !down -> !row, !row
    %sibling = graph.sub %both, %inside : (!row, !row) -> !row
    %term = graph.add %d, %sibling : (!row, !row) -> !row
    %p = graph.matmul %term, %v : (!row, tensor<5x5xf32>) -> !row
    %t = graph.tanh %p : (!row) -> !row
    rec.yield %t, %own : !row, !row
  }
}

func.func @main(%arity: !numbers {espalier.name = "arity", espalier.dims = ["nodes"]},
                %children: tensor<?x2xi32> {espalier.name = "children", espalier.dims = ["interior", ""]},
                %levels: !numbers {espalier.name = "levels", espalier.dims = ["bounds"]},
                %roots: !numbers {espalier.name = "roots", espalier.dims = ["roots"]},
                %arity2: !numbers {espalier.name = "arity_down", espalier.dims = ["nodes"]},
                %children2: tensor<?x1xi32> {espalier.name = "children_down", espalier.dims = ["below", ""]},
                %levels2: !numbers {espalier.name = "levels_down", espalier.dims = ["bounds_down"]},
                %roots2: !numbers {espalier.name = "roots_down", espalier.dims = ["roots_down"]},
                %order: !numbers {espalier.name = "order_down", espalier.dims = ["nodes"]},
                %x: !rows {espalier.name = "x", espalier.dims = ["nodes", "", ""]},
                %w: tensor<5x5xf32> {espalier.name = "w"}, %v: tensor<5x5xf32> {espalier.name = "v"})
    -> (!rows {espalier.name = "inside"}, !rows {espalier.name = "outside"}) {
  %h, %sum = rec.apply @inside at nodes of [%arity, %children, %levels, %roots](%x, %w)
      : [!numbers, tensor<?x2xi32>, !numbers, !numbers] (!rows, tensor<5x5xf32>) -> (!rows, !rows)
  // Rows in the order of the second numbering.
  %h2 = graph.gather %h, %order {axis = 0 : i64} : (!rows, !numbers) -> !rows
  %sum2 = graph.gather %sum, %order {axis = 0 : i64} : (!rows, !numbers) -> !rows
  %d, %s = rec.apply @outside at nodes of [%arity2, %children2, %levels2, %roots2](%h2, %sum2, %v)
      : [!numbers, tensor<?x1xi32>, !numbers, !numbers] (!rows, !rows, tensor<5x5xf32>)
        -> (!rows, !rows)
  return %h, %d : !rows, !rows
}
