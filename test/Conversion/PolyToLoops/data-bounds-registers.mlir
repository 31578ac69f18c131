// RUN: espalier-opt %s -transform-interpreter -convert-poly-to-loops -canonicalize -cse | FileCheck %s

// What a row adds up stays in vectors, across the loop over its elements.
// CHECK-LABEL: func.func @spmm(
// CHECK:         %[[X:.*]] = memref.collapse_shape %arg3
// CHECK:         %[[Y:.*]] = memref.collapse_shape %arg4
// CHECK:         scf.parallel (%[[N:.*]]) =
// CHECK:           vector.load %[[Y]]
// CHECK:           vector.load %[[Y]]
// CHECK-NOT:       scf.if
// CHECK:           memref.load %arg0[%[[N]]]
// CHECK:           scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>)
// CHECK:             memref.load %arg1
// CHECK:             memref.load %arg2
// CHECK:             vector.load %[[X]]
// CHECK:             vector.load %[[X]]
// CHECK-NOT:         %[[Y]]
// CHECK:             scf.yield {{.*}} : vector<16xf32>, vector<16xf32>
// CHECK:           vector.store {{.*}} %[[Y]]
// CHECK:           vector.store {{.*}} %[[Y]]
#all = affine_set<(n, j, k)[N, E] : (n >= 0, N - 1 - n >= 0, j >= 0, E - 1 - j >= 0, k >= 0, 31 - k >= 0)>
#row = affine_set<(n, j, k)[N, E, b, e] : (j - b >= 0, e - 1 - j >= 0)>
#n = affine_map<(n, j, k)[N, E] -> (n)>
#j = affine_map<(n, j, k)[N, E] -> (j)>
#nk = affine_map<(n, j, k)[N, E] -> (n, k)>
module attributes {transform.with_named_sequence} {
poly.kernel @spmm(%starts: memref<?xi32> {poly.monotonic}, %col: memref<?xi32>, %val: memref<?xf32>, %x: memref<?x32xf32>, %y: memref<?x32xf32>, %N: index, %E: index) {
  poly.compute @acc dims ["n", "j", "k"] domain [#all] where #row
      reads(%starts[#n], %starts[affine_map<(n, j, k)[N, E] -> (n + 1)>], %col[#j], %val[#j],
            %x[affine_map<(n, j, k)[N, E, b, e, c, v] -> (c, k)>], %y[#nk]
            : memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?xf32>, memref<?x32xf32>, memref<?x32xf32>)
      writes(%y[#nk] : memref<?x32xf32>) reduction add {
  ^bb0(%b: i32, %e: i32, %c: i32, %v: f32, %xv: f32, %s: f32):
    %p = arith.mulf %v, %xv : f32
    %r = arith.addf %s, %p : f32
    poly.yield %r : f32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @spmm::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.vectorize %acc loop "k" width 16 : !transform.any_op
  transform.poly.interchange %acc loops ["n", "j", "k.0"] : !transform.any_op
  transform.poly.unroll %acc loop "k.0" : !transform.any_op
  transform.poly.parallelize %acc loop "n" : !transform.any_op
  %t, %in, %out = transform.poly.cache_write %acc write 0 at "n" place register : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.poly.vectorize %in loop "e1" width 16 : !transform.any_op
  transform.poly.unroll %in loop "e1.0" : !transform.any_op
  transform.poly.vectorize %out loop "e1" width 16 : !transform.any_op
  transform.poly.unroll %out loop "e1.0" : !transform.any_op
  transform.yield
}
}
