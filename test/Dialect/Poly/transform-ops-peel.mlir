// RUN: espalier-opt %s -transform-interpreter | FileCheck %s
// RUN: not espalier-opt %s -transform-interpreter=entry-point=inside 2>&1 | FileCheck %s --check-prefix=INSIDE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not espalier-opt %s -transform-interpreter=entry-point=lanes 2>&1 | FileCheck %s --check-prefix=LANES

#box = affine_set<(k, i, j)[N] : (k >= 0, N - 1 - k >= 0, i >= 0, N - 1 - i >= 0, j >= 0, N - 1 - j >= 0)>
#ij = affine_map<(k, i, j)[N] -> (i, j)>
#ik = affine_map<(k, i, j)[N] -> (i, k)>
#kj = affine_map<(k, i, j)[N] -> (k, j)>

module attributes {transform.with_named_sequence} {
// A row reads the element in which another loop is: before it and behind it the
// iterations are free.
// CHECK: #[[BEFORE:.*]] = affine_set<(d0, d1, d2)[s0] : (d0 - d2 - 1 >= 0)>
// CHECK: #[[FROM:.*]] = affine_set<(d0, d1, d2)[s0] : (d2 - d0 >= 0)>
// CHECK: #[[BEHIND:.*]] = affine_set<(d0, d1, d2)[s0] : (d2 - (d0 + 1) >= 0)>
// CHECK-LABEL: poly.kernel @paths
poly.kernel @paths(%A: memref<?x?xi32>, %N: index) {
  poly.compute @step dims ["k", "i", "j"] domain [#box] reads(%A[#ij], %A[#ik], %A[#kj] : memref<?x?xi32>, memref<?x?xi32>, memref<?x?xi32>) writes(%A[#ij] : memref<?x?xi32>) {
  ^bb0(%a: i32, %b: i32, %c: i32):
    %s = arith.addi %b, %c : i32
    %m = arith.minsi %a, %s : i32
    poly.yield %m : i32
  }
  // CHECK: poly.band [@step] {{.*}} names ["k", "i"] {
  // CHECK:   poly.filter [@step] where [#[[BEFORE]]] {
  // CHECK:     poly.band [@step] {{.*}} loops [sequential, vector(16)]
  // CHECK:   poly.filter [@step] where [#[[FROM]]] {
  // CHECK:     poly.filter [@step] where [#[[BEHIND]]] {
  // CHECK:       poly.band [@step] {{.*}} loops [sequential, vector(16)]
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @paths::@step of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.peel %s loop "j" at affine_map<(k) -> (k)> of ["k"] : !transform.any_op
  transform.poly.peel %s loop "j.peel" at affine_map<(k) -> (k + 1)> of ["k"] : !transform.any_op
  transform.poly.vectorize %s loop "j" width 16 : !transform.any_op
  transform.poly.vectorize %s loop "j.peel.peel" width 16 : !transform.any_op
  transform.yield
}

// INSIDE: error: 'transform.poly.peel' op expects a loop around "k", but got "j"
transform.named_sequence @inside(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @paths::@step of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.peel %s loop "k" at affine_map<(j) -> (j)> of ["j"] : !transform.any_op
  transform.yield
}

// UNKNOWN: error: 'transform.poly.peel' op expects a loop of @step, one of ["k", "i", "j"], but got "x"
transform.named_sequence @unknown(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @paths::@step of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.peel %s loop "j" at affine_map<(x) -> (x)> of ["x"] : !transform.any_op
  transform.yield
}

// LANES: error: 'transform.poly.vectorize' op expects the vector(16) loop "j.peel.1" to carry no dependence
transform.named_sequence @lanes(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @paths::@step of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.peel %s loop "j" at affine_map<(k) -> (k)> of ["k"] : !transform.any_op
  transform.poly.vectorize %s loop "j.peel" width 16 : !transform.any_op
  transform.yield
}
}
