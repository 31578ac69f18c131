// RUN: espalier-opt %s -transform-interpreter | FileCheck %s
// RUN: espalier-opt %s -transform-interpreter -convert-poly-to-loops -canonicalize -cse | FileCheck %s --check-prefix=LOOPS
// RUN: espalier-opt %s -transform-interpreter=entry-point=scheduled | FileCheck %s --check-prefix=SCHEDULED
// RUN: not espalier-opt %s -transform-interpreter=entry-point=never 2>&1 | FileCheck %s --check-prefix=NEVER
// RUN: not espalier-opt %s -transform-interpreter=entry-point=covered 2>&1 | FileCheck %s --check-prefix=COVERED
// RUN: not espalier-opt %s -transform-interpreter=entry-point=always 2>&1 | FileCheck %s --check-prefix=ALWAYS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=known 2>&1 | FileCheck %s --check-prefix=KNOWN
// RUN: not espalier-opt %s -transform-interpreter=entry-point=other 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not espalier-opt %s -transform-interpreter=entry-point=taken 2>&1 | FileCheck %s --check-prefix=TAKEN
// RUN: not espalier-opt %s -transform-interpreter=entry-point=unnamed 2>&1 | FileCheck %s --check-prefix=UNNAMED
// RUN: not espalier-opt %s -transform-interpreter=entry-point=many 2>&1 | FileCheck %s --check-prefix=NINE

#i = affine_map<(i)[N] -> (i)>
#row = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#one = affine_set<()[N] : (N - 1 == 0)>
#fixed = affine_set<(i) : (i >= 0, 31 - i >= 0)>

module attributes {transform.with_named_sequence} {
// CHECK-DAG: #[[FEW:.*]] = affine_set<(d0)[s0] : (d0 >= 0, -d0 + s0 - 1 >= 0, -s0 + 4 >= 0)>
// CHECK-DAG: #[[SOME:.*]] = affine_set<(d0)[s0] : (d0 >= 0, -d0 + s0 - 1 >= 0, {{.*}}s0 - 5 >= 0{{.*}})>
// CHECK-DAG: #[[MANY:.*]] = affine_set<(d0)[s0] : (d0 >= 0, -d0 + s0 - 1 >= 0, s0 - 65 >= 0)>
// CHECK-LABEL: poly.kernel @squares
// LOOPS-LABEL: func.func @squares
poly.kernel @squares(%A: memref<?xf32>, %N: index) {
  // CHECK: %[[T:.*]] = poly.array
  // CHECK: poly.compute @s dims ["i"] domain [#[[MANY]]] {{.*}} writes(%[[T]]
  // CHECK: poly.compute @t dims ["i"] domain [#[[MANY]]] reads(%[[T]]
  // CHECK: %[[U:.*]] = poly.array
  // CHECK: poly.compute @s.few dims ["i"] domain [#[[FEW]]] {{.*}} writes(%[[U]]
  // CHECK: poly.compute @t.few dims ["i"] domain [#[[FEW]]] reads(%[[U]]
  // CHECK: poly.compute @s.some dims ["i"] domain [#[[SOME]]]
  // CHECK: poly.compute @t.some dims ["i"] domain [#[[SOME]]]
  // CHECK: poly.sequence {
  // CHECK-NEXT: poly.filter [@s.few] {
  // CHECK: poly.filter [@t.few] {
  // CHECK: poly.filter [@s.some] {
  // CHECK: poly.filter [@t.some] {
  // CHECK: poly.filter [@s] {
  // CHECK-NEXT: poly.band [@s] {{.*}} loops [sequential, vector(8)]
  // CHECK: poly.filter [@t] {
  // LOOPS: scf.if
  // LOOPS-NOT: vector
  // LOOPS: else
  // LOOPS: vector<8xf32>
  %t = poly.array heap(%N) : memref<?xf32>
  poly.compute @s dims ["i"] domain [#row] reads(%A[#i] : memref<?xf32>) writes(%t[#i] : memref<?xf32>) {
  ^bb0(%a: f32):
    %m = arith.mulf %a, %a : f32
    poly.yield %m : f32
  }
  poly.compute @t dims ["i"] domain [#row] reads(%t[#i] : memref<?xf32>) writes(%A[#i] : memref<?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
poly.kernel @rows(%A: memref<32xf32>) {
  poly.compute @s dims ["i"] domain [#fixed] reads(%A[affine_map<(i) -> (i)>] : memref<32xf32>) writes(%A[affine_map<(i) -> (i)>] : memref<32xf32>) {
  ^bb0(%a: f32):
    %m = arith.mulf %a, %a : f32
    poly.yield %m : f32
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @squares::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.branch %s when [affine_set<()[N] : (4 - N >= 0)>, affine_set<()[N] : (64 - N >= 0)>] as ["few", "some"] : !transform.any_op
  transform.poly.vectorize %s loop "i" width 8 : !transform.any_op
  transform.yield
}

// A copy has the loops that its original had.
// SCHEDULED: poly.filter [@s.few, @t.few] {
// SCHEDULED-NEXT: poly.band [@s.few, @t.few] {{.*}} loops [parallel] names ["i"]
// SCHEDULED: poly.filter [@s, @t] {
// SCHEDULED-NEXT: poly.band [@s, @t] {{.*}} loops [sequential] names ["i"]
transform.named_sequence @scheduled(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @squares::@s of %module : (!transform.any_op) -> !transform.any_op
  %t = transform.poly.computation @squares::@t of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fuse %s with %t loops 1 : !transform.any_op, !transform.any_op
  transform.poly.parallelize %s loop "i" : !transform.any_op
  transform.poly.branch %s when [affine_set<()[N] : (4 - N >= 0)>] as ["few"] : !transform.any_op
  transform.poly.serialize %s loop "i" : !transform.any_op
  transform.yield
}

// NEVER: error: 'transform.poly.branch' op expects sizes that meet condition #0 and none before it, but there are none
transform.named_sequence @never(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @squares::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.branch %s when [affine_set<()[N] : (-1 - N >= 0)>] as ["few"] : !transform.any_op
  transform.yield
}

// COVERED: error: 'transform.poly.branch' op expects sizes that meet condition #1 and none before it, but there are none
transform.named_sequence @covered(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @squares::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.branch %s when [affine_set<()[N] : (9 - N >= 0)>, affine_set<()[N] : (4 - N >= 0)>] as ["some", "few"] : !transform.any_op
  transform.yield
}

// ALWAYS: error: 'transform.poly.branch' op expects sizes that meet no condition, but all meet one
transform.named_sequence @always(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @squares::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.branch %s when [affine_set<()[N] : (4 - N >= 0)>, affine_set<()[N] : (N - 5 >= 0)>] as ["few", "many"] : !transform.any_op
  transform.yield
}

// KNOWN: error: 'transform.poly.branch' op expects a kernel with sizes that are not known
transform.named_sequence @known(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @rows::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.branch %s when [affine_set<()[N] : (4 - N >= 0)>] as ["few"] : !transform.any_op
  transform.yield
}

// OTHER: error: 'transform.poly.branch' op expects an affine expression of 0 loops and 1 parameters, with numbers of at most 2^30, but got s1
transform.named_sequence @other(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @squares::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.branch %s when [affine_set<()[N, M] : (M >= 0)>] as ["few"] : !transform.any_op
  transform.yield
}

// TAKEN: error: 'transform.poly.branch' op expects names that are not taken, but there is @s.few
transform.named_sequence @taken(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @squares::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.branch %s when [affine_set<()[N] : (4 - N >= 0)>, affine_set<()[N] : (8 - N >= 0)>] as ["few", "few"] : !transform.any_op
  transform.yield
}

// UNNAMED: error: 'transform.poly.branch' op expects names for copies, but got ""
transform.named_sequence @unnamed(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @squares::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.branch %s when [affine_set<()[N] : (4 - N >= 0)>] as [""] : !transform.any_op
  transform.yield
}

// NINE: error: 'transform.poly.branch' op expects at most 8 conditions, but got 9
transform.named_sequence @many(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @squares::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.branch %s when [#one, #one, #one, #one, #one, #one, #one, #one, #one] as ["a", "b", "c", "d", "e", "f", "g", "h", "i"] : !transform.any_op
  transform.yield
}
}
