// RUN: espalier-opt %s -transform-interpreter | FileCheck %s
// RUN: espalier-opt %s -transform-interpreter=entry-point=sizes -convert-poly-to-loops -canonicalize -cse | FileCheck %s --check-prefix=SIZES
// RUN: not espalier-opt %s -transform-interpreter=entry-point=never 2>&1 | FileCheck %s --check-prefix=NEVER
// RUN: not espalier-opt %s -transform-interpreter=entry-point=same 2>&1 | FileCheck %s --check-prefix=SAME
// RUN: not espalier-opt %s -transform-interpreter=entry-point=many 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not espalier-opt %s -transform-interpreter=entry-point=zero 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not espalier-opt %s -transform-interpreter=entry-point=unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not espalier-opt %s -transform-interpreter=entry-point=other 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not espalier-opt %s -transform-interpreter=entry-point=always 2>&1 | FileCheck %s --check-prefix=ALWAYS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=nothing 2>&1 | FileCheck %s --check-prefix=NOTHING

#box = affine_set<(i, j)[N, M] : (i >= 0, N - 1 - i >= 0, j >= 0, M - 1 - j >= 0)>
#ij = affine_map<(i, j)[N, M] -> (i, j)>

module attributes {transform.with_named_sequence} {
// The last tile has 1, 2 or 3 rows, the others have 4.
// CHECK-DAG: #[[ONE:.*]] = affine_set<(d0, d1)[s0, s1] : ((d0 floordiv 4) * 4 - s0 + 1 == 0)>
// CHECK-DAG: #[[TWO:.*]] = affine_set<(d0, d1)[s0, s1] : ((d0 floordiv 4) * 4 - s0 + 2 == 0)>
// CHECK-DAG: #[[THREE:.*]] = affine_set<(d0, d1)[s0, s1] : ((d0 floordiv 4) * 4 - s0 + 3 == 0)>
// CHECK-DAG: #[[FOUR:.*]] = affine_set<(d0, d1)[s0, s1] : ((d0 floordiv 4) * -4 + s0 - 4 >= 0)>
// CHECK-LABEL: poly.kernel @square
poly.kernel @square(%A: memref<?x?xf32>, %N: index, %M: index) {
  poly.compute @s dims ["i", "j"] domain [#box] reads(%A[#ij] : memref<?x?xf32>) writes(%A[#ij] : memref<?x?xf32>) {
  ^bb0(%a: f32):
    %m = arith.mulf %a, %a : f32
    poly.yield %m : f32
  }
  // CHECK: poly.band [@s] {{.*}} names ["i.0"] {
  // CHECK:   poly.filter [@s] where [#[[ONE]]] {
  // CHECK:     poly.band [@s] {{.*}} names ["i.1.is1", "j.is1"]
  // CHECK:   poly.filter [@s] where [#[[TWO]]] {
  // CHECK:     poly.band [@s] {{.*}} loops [unroll, sequential] names ["i.1.is2", "j.is2"]
  // CHECK:   poly.filter [@s] where [#[[FOUR]]] {
  // CHECK:     poly.band [@s] {{.*}} loops [unroll, sequential] names ["i.1.is4", "j.is4"]
  // CHECK:   poly.filter [@s] where [#[[THREE]]] {
  // CHECK:     poly.band [@s] {{.*}} loops [sequential, sequential] names ["i.1", "j"]
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @square::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.split %s loop "i" factors [4] : !transform.any_op
  transform.poly.specialize %s loop "i.1" extents [4, 1, 2] : !transform.any_op
  transform.poly.unroll %s loop "i.1.is2" : !transform.any_op
  transform.poly.unroll %s loop "i.1.is4" : !transform.any_op
  transform.yield
}

// Where lanes divide the rows no masks are needed.
// SIZES-LABEL: func.func @square
// SIZES: scf.if
// SIZES-NOT: mask
// SIZES: vector.load
// SIZES-NOT: mask
// SIZES: vector.store
// SIZES: else
// SIZES: vector.maskedload
// SIZES: vector.maskedstore
transform.named_sequence @sizes(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @square::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.vectorize %s loop "j" width 16 : !transform.any_op
  transform.poly.specialize %s loop "i" when affine_set<()[N, M] : (M mod 16 == 0)> : !transform.any_op
  transform.yield
}

// NEVER: error: 'transform.poly.specialize' op expects extents that "i.1" can have, but it never has 5
transform.named_sequence @never(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @square::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.split %s loop "i" factors [4] : !transform.any_op
  transform.poly.specialize %s loop "i.1" extents [4, 5] : !transform.any_op
  transform.yield
}

// SAME: error: 'transform.poly.specialize' op expects between 1 and 64 different extents from 1 to 2^30, but got [4, 4]
transform.named_sequence @same(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @square::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.specialize %s loop "i" extents [4, 4] : !transform.any_op
  transform.yield
}

// ZERO: error: 'transform.poly.specialize' op expects between 1 and 64 different extents from 1 to 2^30, but got [0]
transform.named_sequence @zero(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @square::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.specialize %s loop "i" extents [0] : !transform.any_op
  transform.yield
}

// MANY: error: 'transform.poly.specialize' op expects at most 64 versions, that of the rest included, but there would be 65 or more
transform.named_sequence @many(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @square::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.specialize %s loop "i" extents [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64] : !transform.any_op
  transform.yield
}

// UNKNOWN: error: 'transform.poly.specialize' op expects a loop of @s, one of ["i", "j"], but got "k"
transform.named_sequence @unknown(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @square::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.specialize %s loop "k" extents [1] : !transform.any_op
  transform.yield
}

// OTHER: error: 'transform.poly.specialize' op expects an affine expression of 0 loops and 2 parameters, with numbers of at most 2^30, but got s2
transform.named_sequence @other(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @square::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.specialize %s loop "i" when affine_set<()[N, M, K] : (K >= 0)> : !transform.any_op
  transform.yield
}

// ALWAYS: error: 'transform.poly.specialize' op expects a condition that decides, but it always holds
transform.named_sequence @always(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @square::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.specialize %s loop "j" when affine_set<()[N, M] : (N - 1 >= 0)> : !transform.any_op
  transform.yield
}

// NOTHING: error: 'transform.poly.specialize' op expects a condition that sizes can meet, but none do
transform.named_sequence @nothing(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @square::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.specialize %s loop "j" when affine_set<()[N, M] : (-N >= 0)> : !transform.any_op
  transform.yield
}
}
