// RUN: espalier-opt %s -transform-interpreter -verify-diagnostics

#all = affine_set<(k)[N] : (k >= 0, N - 1 - k >= 0)>
#k = affine_map<(k)[N] -> (k)>
#one = affine_map<(k)[N] -> ()>

// ParallelizeOp, what memory does not do at once
module attributes {transform.with_named_sequence} {
poly.kernel @product(%x: memref<?xf32>, %s: memref<f32>, %N: index) {
  // expected-note @below {{target op}}
  poly.compute @mul dims ["k"] domain [#all] reads(%x[#k], %s[#one] : memref<?xf32>, memref<f32>)
      writes(%s[#one] : memref<f32>) reduction mul {
  ^bb0(%a: f32, %c: f32):
    %r = arith.mulf %c, %a : f32
    poly.yield %r : f32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %mul = transform.poly.computation @product::@mul of %module : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{expects 'atomic' on a reduction that adds, takes maxima or minima, or combines bits, but got one by arith.mulf}}
  transform.poly.parallelize %mul loop "k" atomic : !transform.any_op
  transform.yield
}
}
