// RUN: espalier-opt %s --transform-interpreter -verify-diagnostics -o %t

module attributes {transform.with_named_sequence} {
  func.func @f() {
    // expected-remark @below {{found}}
    return
  }

  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %returns = transform.structured.match ops{["func.return"]} in %root
        : (!transform.any_op) -> !transform.any_op
    transform.debug.emit_remark_at %returns, "found" : !transform.any_op
    transform.yield
  }
}
