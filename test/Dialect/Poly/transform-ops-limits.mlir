// RUN: espalier-opt %s -transform-interpreter -verify-diagnostics

// What a command would do to dependences that nobody can compute is not known:
// it is refused, and the kernel stays.
#points = affine_set<(t, i)[T, N] : (t >= 0, T - 1 - t >= 0, i - 1 >= 0, N - 2 - i >= 0)>
#from = affine_map<(t, i)[T, N] -> ((t * 7901 + i * 7919) mod 99991 + (i * 31 + t) floordiv 7, (t * 17 + i * 7907) mod 99989)>
#to = affine_map<(t, i)[T, N] -> ((t * 7853 + i * 7817) mod 99971 + (i * 37 + t) floordiv 13, (t * 19 + i * 7793) mod 99961)>
poly.kernel @scattered(%A: memref<?x?xf32>, %T: index, %N: index) {
  // expected-note @below {{target op}}
  poly.compute @step dims ["t", "i"] domain [#points] reads(%A[#from] : memref<?x?xf32>) writes(%A[#to] : memref<?x?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %step = transform.poly.computation @scattered::@step of %m : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{expects a schedule that can be checked, but got: }}
    transform.poly.interchange %step loops ["i", "t"] : !transform.any_op
    transform.yield
  }
}
