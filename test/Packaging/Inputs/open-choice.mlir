// A script that leaves a choice open.
module attributes {transform.with_named_sequence} {
poly.kernel @zero(%R: memref<?xf32>, %N: index) {
  poly.compute @fill dims ["i"] domain [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>]
      reads() writes(%R[affine_map<(i)[N] -> (i)>] : memref<?xf32>) {
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %fill = transform.poly.computation @zero::@fill of %module : (!transform.any_op) -> !transform.any_op
  %rows = transform.tune.knob<"rows"> options = [4, 8] -> !transform.param<i64>
  transform.poly.split %fill loop "i" factors [%rows] : !transform.any_op
  transform.yield
}
}
