// RUN: espalier-opt %s -transform-interpreter -split-input-file -verify-diagnostics

// SplitOp, unknown loop
#points = affine_set<(t, i) : (t >= 0, 9 - t >= 0, i - 1 >= 0, 62 - i >= 0)>
#west = affine_map<(t, i) -> (t, i - 1)>
#next = affine_map<(t, i) -> (t + 1, i)>

module attributes {transform.with_named_sequence} {
poly.kernel @stencil(%A: memref<11x64xf32>) {
  // expected-note @below {{target op}}
  poly.compute @step dims ["t", "i"] domain [#points] reads(%A[#west] : memref<11x64xf32>) writes(%A[#next] : memref<11x64xf32>) {
  ^bb0(%west: f32):
    poly.yield %west : f32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %step = transform.poly.computation @stencil::@step of %module : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{expects a loop of @step, one of ["t", "i"], but got "x"}}
  transform.poly.split %step loop "x" factors [4] : !transform.any_op
  transform.yield
}
}

// -----

// SplitOp, factors
#points = affine_set<(t, i) : (t >= 0, 9 - t >= 0, i - 1 >= 0, 62 - i >= 0)>
#west = affine_map<(t, i) -> (t, i - 1)>
#next = affine_map<(t, i) -> (t + 1, i)>

module attributes {transform.with_named_sequence} {
poly.kernel @stencil(%A: memref<11x64xf32>) {
  // expected-note @below {{target op}}
  poly.compute @step dims ["t", "i"] domain [#points] reads(%A[#west] : memref<11x64xf32>) writes(%A[#next] : memref<11x64xf32>) {
  ^bb0(%west: f32):
    poly.yield %west : f32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %step = transform.poly.computation @stencil::@step of %module : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{expects at least one factor}}
  transform.poly.split %step loop "i" factors [] : !transform.any_op
  transform.yield
}
}

// -----

// SplitOp, factors
#points = affine_set<(t, i) : (t >= 0, 9 - t >= 0, i - 1 >= 0, 62 - i >= 0)>
#west = affine_map<(t, i) -> (t, i - 1)>
#next = affine_map<(t, i) -> (t + 1, i)>

module attributes {transform.with_named_sequence} {
poly.kernel @stencil(%A: memref<11x64xf32>) {
  // expected-note @below {{target op}}
  poly.compute @step dims ["t", "i"] domain [#points] reads(%A[#west] : memref<11x64xf32>) writes(%A[#next] : memref<11x64xf32>) {
  ^bb0(%west: f32):
    poly.yield %west : f32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %step = transform.poly.computation @stencil::@step of %module : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{expects positive factors, but got 0}}
  transform.poly.split %step loop "i" factors [0] : !transform.any_op
  transform.yield
}
}

// -----

// SplitOp, factors
#points = affine_set<(t, i) : (t >= 0, 9 - t >= 0, i - 1 >= 0, 62 - i >= 0)>
#west = affine_map<(t, i) -> (t, i - 1)>
#next = affine_map<(t, i) -> (t + 1, i)>

module attributes {transform.with_named_sequence} {
poly.kernel @stencil(%A: memref<11x64xf32>) {
  // expected-note @below {{target op}}
  poly.compute @step dims ["t", "i"] domain [#points] reads(%A[#west] : memref<11x64xf32>) writes(%A[#next] : memref<11x64xf32>) {
  ^bb0(%west: f32):
    poly.yield %west : f32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %step = transform.poly.computation @stencil::@step of %module : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{expects a product of factors of at most 2^30, but got [4611686018427387904, 4]}}
  transform.poly.split %step loop "i" factors [4611686018427387904, 4] : !transform.any_op
  transform.yield
}
}

// -----

// SplitOp, factors
#points = affine_set<(t, i) : (t >= 0, 9 - t >= 0, i - 1 >= 0, 62 - i >= 0)>
#west = affine_map<(t, i) -> (t, i - 1)>
#next = affine_map<(t, i) -> (t + 1, i)>

module attributes {transform.with_named_sequence} {
poly.kernel @stencil(%A: memref<11x64xf32>) {
  // expected-note @below {{target op}}
  poly.compute @step dims ["t", "i"] domain [#points] reads(%A[#west] : memref<11x64xf32>) writes(%A[#next] : memref<11x64xf32>) {
  ^bb0(%west: f32):
    poly.yield %west : f32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %step = transform.poly.computation @stencil::@step of %module : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{expects a product of factors of at most 10, the extent of "t", but got 16}}
  transform.poly.split %step loop "t" factors [2, 8] : !transform.any_op
  transform.yield
}
}

// -----

// SplitOp, names
#points = affine_set<(t, i) : (t >= 0, 9 - t >= 0, i - 1 >= 0, 62 - i >= 0)>
#west = affine_map<(t, i) -> (t, i - 1)>
#next = affine_map<(t, i) -> (t + 1, i)>

module attributes {transform.with_named_sequence} {
poly.kernel @stencil(%A: memref<11x64xf32>) {
  // expected-note @below {{target op}}
  poly.compute @step dims ["t", "i"] domain [#points] reads(%A[#west] : memref<11x64xf32>) writes(%A[#next] : memref<11x64xf32>) {
  ^bb0(%west: f32):
    poly.yield %west : f32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %step = transform.poly.computation @stencil::@step of %module : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{expects 2 names, one for each loop that "i" becomes, but got 3}}
  transform.poly.split %step loop "i" factors [4] into ["a", "b", "c"] : !transform.any_op
  transform.yield
}
}

// -----

// SplitOp, names
#points = affine_set<(t, i) : (t >= 0, 9 - t >= 0, i - 1 >= 0, 62 - i >= 0)>
#west = affine_map<(t, i) -> (t, i - 1)>
#next = affine_map<(t, i) -> (t + 1, i)>

module attributes {transform.with_named_sequence} {
poly.kernel @stencil(%A: memref<11x64xf32>) {
  // expected-note @below {{target op}}
  poly.compute @step dims ["t", "i"] domain [#points] reads(%A[#west] : memref<11x64xf32>) writes(%A[#next] : memref<11x64xf32>) {
  ^bb0(%west: f32):
    poly.yield %west : f32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %step = transform.poly.computation @stencil::@step of %module : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{would make a kernel that is not valid: 'poly.band' op expects the loops of @step to have different names, but two are "t"}}
  transform.poly.split %step loop "i" factors [4] into ["t", "b"] : !transform.any_op
  transform.yield
}
}

// -----

// ParallelizeOp
#points = affine_set<(t, i) : (t >= 0, 9 - t >= 0, i - 1 >= 0, 62 - i >= 0)>
#west = affine_map<(t, i) -> (t, i - 1)>
#next = affine_map<(t, i) -> (t + 1, i)>

module attributes {transform.with_named_sequence} {
poly.kernel @stencil(%A: memref<11x64xf32>) {
  // expected-note @below {{target op}}
  poly.compute @step dims ["t", "i"] domain [#points] reads(%A[#west] : memref<11x64xf32>) writes(%A[#next] : memref<11x64xf32>) {
  ^bb0(%west: f32):
    poly.yield %west : f32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %step = transform.poly.computation @stencil::@step of %module : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{expects the parallel loop "t" to carry no dependence, but got the flow dependence from @step(0, 1) to @step(1, 2), distance (1, 1), on argument #0 (write 0 at [t + 1, i], read 0 at [t, i - 1]); the loops of @step that may be parallel are ["i"]}}
  transform.poly.parallelize %step loop "t" : !transform.any_op
  transform.yield
}
}

// -----

// SplitOp, target
#points = affine_set<(t, i) : (t >= 0, 9 - t >= 0, i - 1 >= 0, 62 - i >= 0)>
#west = affine_map<(t, i) -> (t, i - 1)>
#next = affine_map<(t, i) -> (t + 1, i)>

// expected-note @below {{target op}}
module attributes {transform.with_named_sequence} {
poly.kernel @stencil(%A: memref<11x64xf32>) {
  poly.compute @step dims ["t", "i"] domain [#points] reads(%A[#west] : memref<11x64xf32>) writes(%A[#next] : memref<11x64xf32>) {
  ^bb0(%west: f32):
    poly.yield %west : f32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  // expected-error @below {{expects targets to be poly.compute, but got builtin.module}}
  transform.poly.split %module loop "t" factors [2] : !transform.any_op
  transform.yield
}
}

// -----

// ComputationOp
#points = affine_set<(t, i) : (t >= 0, 9 - t >= 0, i - 1 >= 0, 62 - i >= 0)>
#west = affine_map<(t, i) -> (t, i - 1)>
#next = affine_map<(t, i) -> (t + 1, i)>

module attributes {transform.with_named_sequence} {
poly.kernel @stencil(%A: memref<11x64xf32>) {
  poly.compute @step dims ["t", "i"] domain [#points] reads(%A[#west] : memref<11x64xf32>) writes(%A[#next] : memref<11x64xf32>) {
  ^bb0(%west: f32):
    poly.yield %west : f32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  // expected-error @below {{expects a kernel, one of [@stencil], but got @k}}
  %k = transform.poly.computation @k::@step of %module : (!transform.any_op) -> !transform.any_op
  transform.yield
}
}

// -----

// ComputationOp
#points = affine_set<(t, i) : (t >= 0, 9 - t >= 0, i - 1 >= 0, 62 - i >= 0)>
#west = affine_map<(t, i) -> (t, i - 1)>
#next = affine_map<(t, i) -> (t + 1, i)>

module attributes {transform.with_named_sequence} {
poly.kernel @stencil(%A: memref<11x64xf32>) {
  poly.compute @step dims ["t", "i"] domain [#points] reads(%A[#west] : memref<11x64xf32>) writes(%A[#next] : memref<11x64xf32>) {
  ^bb0(%west: f32):
    poly.yield %west : f32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  // expected-error @below {{expects a computation of @stencil, one of [@step], but got @s}}
  %s = transform.poly.computation @stencil::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.yield
}
}

// -----

// ComputationOp
#points = affine_set<(t, i) : (t >= 0, 9 - t >= 0, i - 1 >= 0, 62 - i >= 0)>
#west = affine_map<(t, i) -> (t, i - 1)>
#next = affine_map<(t, i) -> (t + 1, i)>

module attributes {transform.with_named_sequence} {
poly.kernel @stencil(%A: memref<11x64xf32>) {
  poly.compute @step dims ["t", "i"] domain [#points] reads(%A[#west] : memref<11x64xf32>) writes(%A[#next] : memref<11x64xf32>) {
  ^bb0(%west: f32):
    poly.yield %west : f32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %step = transform.poly.computation @stencil::@step of %module : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{expects one module or poly.kernel as root, but got 1 ops, the first of them a poly.compute}}
  %s = transform.poly.computation @step of %step : (!transform.any_op) -> !transform.any_op
  transform.yield
}
}
