// RUN: espalier-opt %s -split-input-file -transform-interpreter -verify-diagnostics

// A script may not change what a kernel computes, nor say that another thing holds.
#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>
module attributes {transform.with_named_sequence} {
poly.kernel @k(%x: memref<?xf32>, %y: memref<?xf32>, %N: index) {
  poly.compute @s dims ["i"] domain [#points] reads(%x[#i] : memref<?xf32>) writes(%y[#i] : memref<?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @k::@s of %module : (!transform.any_op) -> !transform.any_op
  %p = transform.param.constant [affine_map<(i)[N] -> (0)>] -> !transform.any_param
  // expected-error @below {{expects a script of scheduling commands, which keep the definition of a kernel, but 'transform.annotate' may change it}}
  transform.annotate %s "read_maps" = %p : !transform.any_op, !transform.any_param
  transform.yield
}
}

// -----

// Nor in a part of it, before the first command.
#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>
module attributes {transform.with_named_sequence} {
poly.kernel @k(%x: memref<?xf32>, %N: index) {
  poly.compute @s dims ["i"] domain [#points] reads() writes(%x[#i] : memref<?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}
transform.named_sequence @assume(%module: !transform.any_op {transform.readonly}) {
  %kernels = transform.structured.match ops{["poly.kernel"]} in %module : (!transform.any_op) -> !transform.any_op
  transform.foreach %kernels : !transform.any_op {
  ^bb0(%kernel: !transform.any_op):
    // expected-error @below {{but 'transform.annotate' may change it}}
    transform.annotate %kernel "poly.assumptions" : !transform.any_op
  }
  transform.yield
}
transform.named_sequence @reverse(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @k::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.reverse %s loop "i" : !transform.any_op
  transform.yield
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  transform.include @reverse failures(propagate) (%module) : (!transform.any_op) -> ()
  transform.include @assume failures(propagate) (%module) : (!transform.any_op) -> ()
  transform.yield
}
}

// -----

// Passes and patterns change what they like.
#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>
module attributes {transform.with_named_sequence} {
poly.kernel @k(%x: memref<?xf32>, %N: index) {
  poly.compute @s dims ["i"] domain [#points] reads() writes(%x[#i] : memref<?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.consumed}) {
  %s = transform.structured.match ops{["poly.compute"]} in %module : (!transform.any_op) -> !transform.any_op
  transform.poly.reverse %s loop "i" : !transform.any_op
  // expected-error @below {{but 'transform.apply_registered_pass' may change it}}
  %new = transform.apply_registered_pass "canonicalize" to %module : (!transform.any_op) -> !transform.any_op
  transform.yield
}
}

// -----

// Finding, choosing and printing change nothing.
#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>
module attributes {transform.with_named_sequence} {
// expected-remark @below {{scheduled}}
poly.kernel @k(%x: memref<?xf32>, %N: index) {
  poly.compute @s dims ["i"] domain [#points] reads() writes(%x[#i] : memref<?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %all = transform.structured.match ops{["poly.compute"]} in %module : (!transform.any_op) -> !transform.any_op
  transform.foreach %all : !transform.any_op {
  ^bb0(%s: !transform.any_op):
    transform.poly.reverse %s loop "i" : !transform.any_op
  }
  %kernel = transform.get_parent_op %all {op_name = "poly.kernel"} : (!transform.any_op) -> !transform.any_op
  transform.debug.emit_remark_at %kernel, "scheduled" : !transform.any_op
  transform.yield
}
}
