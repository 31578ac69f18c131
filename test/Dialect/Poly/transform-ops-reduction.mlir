// RUN: espalier-opt %s -transform-interpreter -split-input-file | FileCheck %s
// RUN: espalier-opt %s -transform-interpreter -split-input-file -convert-poly-to-loops -cse -canonicalize | FileCheck %s --check-prefix=LOOPS

#one = affine_set<()[N] : (0 == 0)>
#points = affine_set<(k)[N] : (k >= 0, N - 1 - k >= 0)>
#k = affine_map<(k)[N] -> (k)>
#element = affine_map<(k)[N] -> ()>

// A dot product in 16 lanes. Lanes beyond the end keep what they added up.
// CHECK-LABEL: poly.kernel @dot(
// CHECK:         %[[PARTS:.*]] = poly.array register : memref<16xf32>
// CHECK:         poly.compute @dot_init dims ["k.1"] {{.*}} writes(%[[PARTS]][
// CHECK-NEXT:      arith.constant -0.0
// CHECK:         poly.compute @dot dims ["k"] {{.*}} writes(%[[PARTS]][{{.*}} reduction add
// CHECK:         poly.compute @dot_combine dims ["k.1"] {{.*}} reads(%[[PARTS]][{{.*}} reduction add
// CHECK:           %[[SUM:.*]] = arith.addf
// CHECK-NEXT:      poly.yield %[[SUM]]
// CHECK:         poly.sequence
// CHECK-NEXT:      poly.filter [@zero]
// CHECK:           poly.filter [@dot_init]
// CHECK:           poly.filter [@dot]
// CHECK:           poly.filter [@dot_combine]
// LOOPS-LABEL: func.func @dot(
// LOOPS:         %[[SUMS:.*]] = scf.for {{.*}} iter_args(%[[BEFORE:.*]] = %{{.*}}) -> (vector<16xf32>)
// LOOPS:           %[[MASK:.*]] = vector.create_mask
// LOOPS:           %[[AFTER:.*]] = arith.addf %[[BEFORE]]
// LOOPS:           %[[KEPT:.*]] = arith.select %[[MASK]], %[[AFTER]], %[[BEFORE]]
// LOOPS:           scf.yield %[[KEPT]]
// LOOPS:         vector.reduction <add>
// LOOPS-NOT:     memref.alloc
module attributes {transform.with_named_sequence} {
poly.kernel @dot(%x: memref<?xf32>, %y: memref<?xf32>, %s: memref<f32>, %N: index) {
  poly.compute @zero domain [#one] reads() writes(%s[affine_map<()[N] -> ()>] : memref<f32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @dot dims ["k"] domain [#points] reads(%x[#k], %y[#k], %s[#element] : memref<?xf32>, memref<?xf32>, memref<f32>)
      writes(%s[#element] : memref<f32>) reduction add {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %r = arith.addf %c, %p : f32
    poly.yield %r : f32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %dot = transform.poly.computation @dot::@dot of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.split %dot loop "k" factors [16] : !transform.any_op
  %parts, %init, %combine = transform.poly.rfactor %dot loop "k.1" place register
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.poly.vectorize %dot loop "k.1" width 16 : !transform.any_op
  transform.poly.vectorize %init loop "k.1" width 16 : !transform.any_op
  transform.poly.vectorize %combine loop "k.1" width 16 : !transform.any_op
  transform.yield
}
}

// -----

#points = affine_set<(i, k)[M, N] : (i >= 0, M - 1 - i >= 0, k >= 0, N - 1 - k >= 0)>

// The largest value of each row, on as many threads as a row has parts: around
// the outermost loop over the row.
// CHECK-LABEL: poly.kernel @rows(
// CHECK:         %[[PARTS:.*]] = poly.array : memref<?x?x1xi32> storage #{{.*}} as memref<?x1xi32> extents
// CHECK:         poly.compute @max_init dims ["i", "part", "e0"] {{.*}} writes(%[[PARTS]][
// CHECK-NEXT:      arith.constant -2147483648 : i32
// CHECK:         poly.compute @max_combine {{.*}} reduction max
// CHECK:           arith.maxsi
// CHECK:         poly.band [@max, @max_init, @max_combine] {{.*}} loops [sequential] names ["i"]
// CHECK-NEXT:      poly.sequence
// CHECK-NEXT:        poly.filter [@max_init]
// CHECK:             poly.filter [@max]
// CHECK-NEXT:          poly.band [@max] {{.*}} loops [parallel, sequential] names ["part", "k"]
// CHECK:             poly.filter [@max_combine]
// The threads share the parts.
// LOOPS-LABEL: func.func @rows(
// LOOPS:         memref.alloc(
// LOOPS:         scf.for
// LOOPS:           scf.parallel
// LOOPS:             scf.for
// LOOPS-NOT:           memref.alloc
// LOOPS:               arith.maxsi
module attributes {transform.with_named_sequence} {
poly.kernel @rows(%A: memref<?x?xi32>, %s: memref<?xi32>, %M: index, %N: index) {
  poly.compute @max dims ["i", "k"] domain [#points]
      reads(%A[affine_map<(i, k)[M, N] -> (i, k)>], %s[affine_map<(i, k)[M, N] -> (i)>] : memref<?x?xi32>, memref<?xi32>)
      writes(%s[affine_map<(i, k)[M, N] -> (i)>] : memref<?xi32>) reduction max {
  ^bb0(%a: i32, %c: i32):
    %r = arith.maxsi %c, %a : i32
    poly.yield %r : i32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %max = transform.poly.computation @rows::@max of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.split %max loop "k" factors [1024] into ["part", "k"] : !transform.any_op
  transform.poly.rfactor %max loop "part" : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.poly.parallelize %max loop "part" : !transform.any_op
  transform.yield
}
}

// -----

#all = affine_set<(i)[N, M] : (i >= 0, N - 1 - i >= 0)>

// Each thread counts into a copy of the histogram, which starts neutral.
// CHECK-LABEL: poly.kernel @histogram(
// CHECK:         %[[PARTS:.*]] = poly.array : memref<?x?xi64> storage
// CHECK:         poly.compute @count_init dims ["part", "e0"]
// CHECK-SAME:      writes(%[[PARTS]][
// CHECK:         poly.compute @count dims ["i"]
// CHECK-SAME:      reads(%{{.*}}[#{{.*}}], %[[PARTS]][
// CHECK-SAME:      writes(%[[PARTS]][
// CHECK:         poly.compute @count_combine dims ["part", "e0"]
// CHECK-SAME:      reduction add
// LOOPS-LABEL: func.func @histogram(
// LOOPS:         scf.parallel
// LOOPS:           scf.for
// LOOPS:             %[[AT:.*]] = memref.load %{{.*}} : memref<?xi32>
// LOOPS:             memref.store
module attributes {transform.with_named_sequence} {
poly.kernel @histogram(%I: memref<?xi32> {poly.bounded_by = affine_map<()[N, M] -> (M)>}, %h: memref<?xi64> {poly.shape = affine_map<()[N, M] -> (M)>}, %N: index, %M: index) {
  poly.compute @count dims ["i"] domain [#all]
      reads(%I[affine_map<(i)[N, M] -> (i)>], %h[affine_map<(i)[N, M, v] -> (v)>] : memref<?xi32>, memref<?xi64>)
      writes(%h[affine_map<(i)[N, M, v, w] -> (v)>] : memref<?xi64>) reduction add {
  ^bb0(%v: i32, %c: i64):
    %one = arith.constant 1 : i64
    %r = arith.addi %c, %one : i64
    poly.yield %r : i64
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %count = transform.poly.computation @histogram::@count of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.split %count loop "i" factors [1024] into ["part", "i"] : !transform.any_op
  transform.poly.rfactor %count loop "part" : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.poly.parallelize %count loop "part" : !transform.any_op
  transform.yield
}
}

// -----

#all = affine_set<(i)[N, M] : (i >= 0, N - 1 - i >= 0)>

// Threads meet in the elements themselves.
// CHECK-LABEL: poly.kernel @shared(
// CHECK-NOT:     poly.array
// CHECK:         poly.compute @count {{.*}} reduction add atomic
// CHECK:         loops [parallel] names ["i"]
// LOOPS-LABEL: func.func @shared(
// LOOPS:         scf.parallel
// LOOPS-NOT:       memref.store
// LOOPS:           memref.atomic_rmw addf %{{.*}}, %{{.*}} : (f32, memref<?xf32>) -> f32
module attributes {transform.with_named_sequence} {
poly.kernel @shared(%I: memref<?xi32> {poly.bounded_by = affine_map<()[N, M] -> (M)>}, %v: memref<?xf32>, %h: memref<?xf32> {poly.shape = affine_map<()[N, M] -> (M)>}, %N: index, %M: index) {
  poly.compute @count dims ["i"] domain [#all]
      reads(%I[affine_map<(i)[N, M] -> (i)>], %v[affine_map<(i)[N, M] -> (i)>], %h[affine_map<(i)[N, M, v, w] -> (v)>] : memref<?xi32>, memref<?xf32>, memref<?xf32>)
      writes(%h[affine_map<(i)[N, M, v, w, c] -> (v)>] : memref<?xf32>) reduction add {
  ^bb0(%v0: i32, %w: f32, %c: f32):
    %r = arith.addf %c, %w : f32
    poly.yield %r : f32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %count = transform.poly.computation @shared::@count of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.parallelize %count loop "i" atomic : !transform.any_op
  transform.yield
}
}
