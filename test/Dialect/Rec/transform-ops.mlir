// RUN: espalier-opt %s --transform-interpreter | FileCheck %s

!node = !rec.node<dag>

// CHECK-LABEL: rec.model private @sum
// CHECK-SAME: -> (tensor<1x4xf32>, tensor<1x4xf32>)
// CHECK-SAME: attributes {batching = #rec.batching<nodes>, hoist = false}
rec.model private @sum(%n: !node, %x: tensor<?x1x4xf32>, %u: tensor<4x4xf32>) -> tensor<1x4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x1x4xf32>, !node -> tensor<1x4xf32>
    rec.yield %h : tensor<1x4xf32>
  }
  rec.case interior {
    // CHECK: rec.children
    %s = rec.children %n reduce [add] {
    ^bb0(%k: tensor<1x4xf32>):
      // CHECK-NOT: graph.matmul
      // CHECK: rec.yield %{{.*}}
      %p = graph.matmul %k, %u : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
      rec.yield %p : tensor<1x4xf32>
    } : !node -> tensor<1x4xf32>
    rec.yield %s : tensor<1x4xf32>
  }
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %model = transform.structured.match ops{["rec.model"]} in %module
        : (!transform.any_op) -> !transform.any_op
    transform.rec.configure %model {hoist = false, batching = #rec.batching<nodes>}
        : !transform.any_op
    %product = transform.structured.match ops{["graph.matmul"]} in %module
        : (!transform.any_op) -> !transform.any_op
    transform.rec.refactor %product : !transform.any_op
    transform.yield
  }
}
