// RUN: espalier-opt %s -transform-interpreter -split-input-file | FileCheck %s
// RUN: espalier-opt %s -transform-interpreter -split-input-file -convert-poly-to-loops -cse -canonicalize | FileCheck %s --check-prefix=LOOPS

#all = affine_set<(i, k)[M, N] : (i >= 0, M - 1 - i >= 0, k >= 0, N - 1 - k >= 0)>
#at = affine_map<(i, k)[M, N] -> (i, k)>
#i = affine_map<(i, k)[M, N] -> (i)>

// Eight lanes have the largest of their own and where it is; they are combined
// after the row, as the combiner says.
// CHECK-LABEL: poly.kernel @lanes(
// CHECK:         %[[VALUES:.*]] = poly.array register
// CHECK:         %[[PLACES:.*]] = poly.array register
// CHECK:         poly.compute @pick_init {{.*}} writes(%[[VALUES]][{{.*}}], %[[PLACES]][
// CHECK-NEXT:      %[[V:.*]] = arith.constant 0xFF800000 : f32
// CHECK-NEXT:      %[[P:.*]] = arith.constant 2147483647 : i32
// CHECK-NEXT:      poly.yield %[[V]], %[[P]]
// CHECK:         poly.compute @pick {{.*}} writes(%[[VALUES]][{{.*}}], %[[PLACES]][{{.*}} combiner @first
// CHECK:         poly.compute @pick_combine {{.*}} reads(%[[VALUES]][{{.*}} combiner @first
// LOOPS-LABEL: func.func @lanes(
// LOOPS:         scf.for
// LOOPS:           scf.for {{.*}} -> (vector<8xf32>, vector<8xi32>)
// LOOPS:             arith.cmpf ogt, {{.*}} : vector<8xf32>
// LOOPS:             arith.cmpi slt, {{.*}} : vector<8xi32>
// LOOPS-NOT:     memref.alloc
module attributes {transform.with_named_sequence} {
poly.kernel @lanes(%x: memref<?x?xf32>, %best: memref<?xf32>, %place: memref<?xi32>, %M: index, %N: index) {
  poly.combiner @first commutative neutral [0xFF800000 : f32, 0x7FFFFFFF : i32] {
  ^bb0(%v: f32, %i: i32, %w: f32, %j: i32):
    %more = arith.cmpf ogt, %w, %v : f32
    %equal = arith.cmpf oeq, %w, %v : f32
    %before = arith.cmpi slt, %j, %i : i32
    %tie = arith.andi %equal, %before : i1
    %second = arith.ori %more, %tie : i1
    %value = arith.select %second, %w, %v : f32
    %index = arith.select %second, %j, %i : i32
    poly.yield %value, %index : f32, i32
  }
  poly.compute @pick dims ["i", "k"] domain [#all]
      reads(%x[#at], %best[#i], %place[#i] : memref<?x?xf32>, memref<?xf32>, memref<?xi32>)
      writes(%best[#i], %place[#i] : memref<?xf32>, memref<?xi32>) combiner @first {
  ^bb0(%w: f32, %v: f32, %i: i32):
    %k = poly.index 1
    %j = arith.index_cast %k : index to i32
    %more = arith.cmpf ogt, %w, %v : f32
    %equal = arith.cmpf oeq, %w, %v : f32
    %before = arith.cmpi slt, %j, %i : i32
    %tie = arith.andi %equal, %before : i1
    %second = arith.ori %more, %tie : i1
    %value = arith.select %second, %w, %v : f32
    %index = arith.select %second, %j, %i : i32
    poly.yield %value, %index : f32, i32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %pick = transform.poly.computation @lanes::@pick of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.split %pick loop "k" factors [8] : !transform.any_op
  %parts, %init, %combine = transform.poly.rfactor %pick loop "k.1" place register
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.poly.vectorize %pick loop "k.1" width 8 : !transform.any_op
  transform.poly.vectorize %init loop "k.1" width 8 : !transform.any_op
  transform.poly.unroll %combine loop "k.1" : !transform.any_op
  transform.yield
}
}

// -----

#all = affine_set<(k)[N] : (k >= 0, N - 1 - k >= 0)>
#k = affine_map<(k)[N] -> (k)>
#one = affine_map<(k)[N] -> ()>

// Affine functions are applied one after the other: in parts that threads
// compute, whose order stays.
// CHECK-LABEL: poly.kernel @chain(
// CHECK:         poly.compute @apply_init dims ["part"]
// CHECK:         poly.compute @apply_combine dims ["part"] {{.*}} combiner @after
// CHECK:         poly.band [@apply] {{.*}} loops [parallel, sequential] names ["part", "k"]
// CHECK:         poly.band [@apply_combine] {{.*}} loops [sequential] names ["part"]
// LOOPS-LABEL: func.func @chain(
// LOOPS:         scf.parallel
// LOOPS:           scf.for
module attributes {transform.with_named_sequence} {
poly.kernel @chain(%a: memref<?xf32>, %b: memref<?xf32>, %P: memref<f32>, %Q: memref<f32>, %N: index) {
  poly.combiner @after neutral [1.0 : f32, 0.0 : f32] {
  ^bb0(%m: f32, %s: f32, %n: f32, %t: f32):
    %mn = arith.mulf %m, %n : f32
    %ns = arith.mulf %n, %s : f32
    %r = arith.addf %ns, %t : f32
    poly.yield %mn, %r : f32, f32
  }
  poly.compute @apply dims ["k"] domain [#all]
      reads(%a[#k], %b[#k], %P[#one], %Q[#one] : memref<?xf32>, memref<?xf32>, memref<f32>, memref<f32>)
      writes(%P[#one], %Q[#one] : memref<f32>, memref<f32>) combiner @after {
  ^bb0(%n: f32, %t: f32, %m: f32, %s: f32):
    %mn = arith.mulf %m, %n : f32
    %ns = arith.mulf %n, %s : f32
    %r = arith.addf %ns, %t : f32
    poly.yield %mn, %r : f32, f32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %apply = transform.poly.computation @chain::@apply of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.split %apply loop "k" factors [1024] into ["part", "k"] : !transform.any_op
  transform.poly.rfactor %apply loop "part" : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.poly.parallelize %apply loop "part" : !transform.any_op
  transform.yield
}
}
