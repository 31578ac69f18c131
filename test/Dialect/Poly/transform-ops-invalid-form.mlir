// RUN: espalier-opt %s -split-input-file -verify-diagnostics

// ShiftOp C1
transform.sequence failures(propagate) {
^bb0(%step: !transform.any_op):
  // expected-error @below {{expects a map from symbols to one result, but got affine_map<(d0) -> (d0)>}}
  transform.poly.shift %step loop "i" by affine_map<(i) -> (i)> : !transform.any_op
}

// -----

// SpecializeOp C1
transform.sequence failures(propagate) {
^bb0(%step: !transform.any_op):
  // expected-error @below {{expects one of 'extents' and 'when'}}
  transform.poly.specialize %step loop "i" : !transform.any_op
}

// -----

// SpecializeOp C1
transform.sequence failures(propagate) {
^bb0(%step: !transform.any_op):
  // expected-error @below {{expects one of 'extents' and 'when'}}
  transform.poly.specialize %step loop "i" extents [1] when affine_set<()[N] : (N - 4 >= 0)> : !transform.any_op
}

// -----

// SpecializeOp C2
transform.sequence failures(propagate) {
^bb0(%step: !transform.any_op):
  // expected-error @below {{expects 'when' to be a set without dimensions, but it has 1}}
  transform.poly.specialize %step loop "i" when affine_set<(i)[N] : (N - i >= 0)> : !transform.any_op
}

// -----

// PeelOp C1
transform.sequence failures(propagate) {
^bb0(%step: !transform.any_op):
  // expected-error @below {{expects one of 'first', 'last' and 'at'}}
  transform.poly.peel %step loop "i" : !transform.any_op
}

// -----

// PeelOp C1
transform.sequence failures(propagate) {
^bb0(%step: !transform.any_op):
  // expected-error @below {{expects one of 'first', 'last' and 'at'}}
  transform.poly.peel %step loop "i" first 1 last 1 : !transform.any_op
}

// -----

// PeelOp C2
transform.sequence failures(propagate) {
^bb0(%step: !transform.any_op):
  // expected-error @below {{expects a map from symbols to one result, but got affine_map<()[s0] -> (s0, 0)>}}
  transform.poly.peel %step loop "i" at affine_map<()[N] -> (N, 0)> : !transform.any_op
}

// -----

// PeelOp C2
transform.sequence failures(propagate) {
^bb0(%step: !transform.any_op):
  // expected-error @below {{expects 'at' to be a map from 1 loops to one result}}
  transform.poly.peel %step loop "i" at 3 of ["k"] : !transform.any_op
}

// -----

// BranchOp C1
transform.sequence failures(propagate) {
^bb0(%step: !transform.any_op):
  // expected-error @below {{expects a name for each of one or more sets, but got 2 for 1}}
  transform.poly.branch %step when [affine_set<()[N] : (N - 4 >= 0)>] as ["a", "b"] : !transform.any_op
}

// -----

// BranchOp C1
transform.sequence failures(propagate) {
^bb0(%step: !transform.any_op):
  // expected-error @below {{expects a name for each of one or more sets, but got 0 for 0}}
  transform.poly.branch %step when [] as [] : !transform.any_op
}

// -----

// BranchOp C2
transform.sequence failures(propagate) {
^bb0(%step: !transform.any_op):
  // expected-error @below {{expects sets without dimensions, but one has 1}}
  transform.poly.branch %step when [affine_set<(i)[N] : (N - i >= 0)>] as ["a"] : !transform.any_op
}
