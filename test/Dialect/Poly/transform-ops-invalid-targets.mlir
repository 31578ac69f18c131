// RUN: not espalier-opt %s -transform-interpreter=entry-point=place_symbolic 2>&1 | FileCheck %s --check-prefix=PLACE-SYMBOLIC
// RUN: not espalier-opt %s -transform-interpreter=entry-point=inline_sum 2>&1 | FileCheck %s --check-prefix=INLINE-SUM
// RUN: not espalier-opt %s -transform-interpreter=entry-point=inline_result 2>&1 | FileCheck %s --check-prefix=INLINE-RESULT
// RUN: not espalier-opt %s -transform-interpreter=entry-point=fuse_point 2>&1 | FileCheck %s --check-prefix=FUSE-POINT

// What a command cannot do with this computation or array. Each case is an
// entry point.

#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#terms = affine_set<(i, k)[N] : (i >= 0, N - 1 - i >= 0, k >= 0, 7 - k >= 0)>
#i = affine_map<(i)[N] -> (i)>
module attributes {transform.with_named_sequence} {
poly.kernel @k(%A: memref<?x8xf32>, %R: memref<?xf32>, %S: memref<f32>, %N: index) {
  %t = poly.array(%N) : memref<?xf32>
  poly.compute @init dims ["i"] domain [#points] reads() writes(%t[#i] : memref<?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @acc dims ["i", "k"] domain [#terms]
      reads(%A[affine_map<(i, k)[N] -> (i, k)>], %t[affine_map<(i, k)[N] -> (i)>] : memref<?x8xf32>, memref<?xf32>)
      writes(%t[affine_map<(i, k)[N] -> (i)>] : memref<?xf32>) reduction add {
  ^bb0(%a: f32, %s: f32):
    %r = arith.addf %s, %a : f32
    poly.yield %r : f32
  }
  poly.compute @store dims ["i"] domain [#points] reads(%t[#i] : memref<?xf32>) writes(%R[#i] : memref<?xf32>) {
  ^bb0(%s: f32):
    poly.yield %s : f32
  }
  poly.compute @point domain [affine_set<()[N] : (0 == 0)>] reads() writes(%S[affine_map<()[N] -> ()>] : memref<f32>) {
    %z = arith.constant 1.0 : f32
    poly.yield %z : f32
  }
}

// PLACE-SYMBOLIC: error: 'transform.poly.place' op expects an array of constant size in stack memory, but array #0 is memref<?xf32>; legal after fold_storage to a tile
transform.named_sequence @place_symbolic(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @k::@init of %module : (!transform.any_op) -> !transform.any_op
  %t = transform.poly.written_array of %init : (!transform.any_op) -> !transform.any_op
  transform.poly.place %t stack : !transform.any_op
  transform.yield
}

// INLINE-SUM: error: 'transform.poly.inline' op expects a producer without reduction, but @acc is one
transform.named_sequence @inline_sum(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @k::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.inline %acc : !transform.any_op
  transform.yield
}

// INLINE-RESULT: error: 'transform.poly.inline' op expects a producer that writes one array of the kernel and nothing else, but @store does not
transform.named_sequence @inline_result(%module: !transform.any_op {transform.readonly}) {
  %store = transform.poly.computation @k::@store of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.inline %store : !transform.any_op
  transform.yield
}

// FUSE-POINT: error: 'transform.poly.fuse' op expects loops to share around @point, but there are none
transform.named_sequence @fuse_point(%module: !transform.any_op {transform.readonly}) {
  %point = transform.poly.computation @k::@point of %module : (!transform.any_op) -> !transform.any_op
  %store = transform.poly.computation @k::@store of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fuse %store with %point loops 1 : !transform.any_op, !transform.any_op
  transform.yield
}
}
