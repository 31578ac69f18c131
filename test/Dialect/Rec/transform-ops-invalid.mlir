// RUN: espalier-opt %s --transform-interpreter -split-input-file -verify-diagnostics

!node = !rec.node<dag>

rec.model private @sum(%n: !node, %x: tensor<?x4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !node -> tensor<4xf32>
    // expected-note @below {{target op}}
    %t = graph.tanh %h : (tensor<4xf32>) -> tensor<4xf32>
    rec.yield %t : tensor<4xf32>
  }
  rec.case interior {
    %s = rec.children %n reduce [add] {
    ^bb0(%k: tensor<4xf32>):
      rec.yield %k : tensor<4xf32>
    } : !node -> tensor<4xf32>
    rec.yield %s : tensor<4xf32>
  }
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %term = transform.structured.match ops{["graph.tanh"]} in %module
        : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{expects a term of a child, but got one of the node's features}}
    transform.rec.refactor %term : !transform.any_op
    transform.yield
  }
}

// -----

!node = !rec.node<dag>

rec.model private @sum(%n: !node, %w: tensor<4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    rec.yield %w : tensor<4xf32>
  }
  rec.case interior {
    // expected-note @below {{target op}}
    %t = graph.tanh %w : (tensor<4xf32>) -> tensor<4xf32>
    rec.yield %t : tensor<4xf32>
  }
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %term = transform.structured.match ops{["graph.tanh"]} in %module
        : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{expects a term of a child, but got one of weights alone}}
    transform.rec.refactor %term : !transform.any_op
    transform.yield
  }
}

// -----

!node = !rec.node<dag>

rec.model private @sum(%n: !node, %w: tensor<4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    rec.yield %w : tensor<4xf32>
  }
  rec.case interior {
    // expected-note @below {{target op}}
    %s = rec.children %n reduce [add] {
    ^bb0(%k: tensor<4xf32>):
      rec.yield %k : tensor<4xf32>
    } : !node -> tensor<4xf32>
    rec.yield %s : tensor<4xf32>
  }
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %sum = transform.structured.match ops{["rec.children"]} in %module
        : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{expects an operator with one result in a cell, but got 'rec.children'}}
    transform.rec.refactor %sum : !transform.any_op
    transform.yield
  }
}

// -----

func.func private @f()

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %f = transform.structured.match ops{["func.func"]} in %module
        : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{expects targets to be rec.model, but got func.func}}
    transform.rec.configure %f {hoist = false} : !transform.any_op
    transform.yield
  }
}
