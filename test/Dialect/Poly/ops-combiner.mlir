// RUN: espalier-opt %s | espalier-opt | FileCheck %s
// RUN: espalier-opt %s -mlir-print-op-generic | espalier-opt | FileCheck %s

#all = affine_set<(i, k)[M, N] : (i >= 0, M - 1 - i >= 0, k >= 0, N - 1 - k >= 0)>
#at = affine_map<(i, k)[M, N] -> (i, k)>
#i = affine_map<(i, k)[M, N] -> (i)>

// The largest element and where it is, the first if there are several: proved of
// integers and comparisons as they are.
// CHECK-LABEL: poly.kernel @first_largest(
// CHECK:         poly.combiner @first commutative neutral [0xFF800000 : f32, 2147483647 : i32] {
// CHECK-NEXT:    ^bb0(%{{.*}}: f32, %{{.*}}: i32, %{{.*}}: f32, %{{.*}}: i32):
// CHECK:           poly.yield %{{.*}}, %{{.*}} : f32, i32
// CHECK:         poly.compute @pick {{.*}} combiner @first {
poly.kernel @first_largest(%x: memref<?x?xf32>, %best: memref<?xf32>, %place: memref<?xi32>, %M: index, %N: index) {
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

// A maximum and a sum of exponentials relative to it, in one pass.
// CHECK-LABEL: poly.kernel @log_sum_exp(
// CHECK:         poly.combiner @join commutative neutral [0xFF800000 : f32, 0.000000e+00 : f32]
// CHECK:         poly.compute @add {{.*}} combiner @join {
poly.kernel @log_sum_exp(%x: memref<?x?xf32>, %T: memref<?xf32>, %S: memref<?xf32>, %M: index, %N: index) {
  poly.combiner @join commutative neutral [0xFF800000 : f32, 0.0 : f32] {
  ^bb0(%m: f32, %s: f32, %n: f32, %t: f32):
    %one = arith.constant 1.0 : f32
    %top = arith.maximumf %m, %n : f32
    %dm = arith.subf %m, %top : f32
    %em = math.exp %dm : f32
    %is_m = arith.cmpf oeq, %m, %top : f32
    %fm = arith.select %is_m, %one, %em : f32
    %dn = arith.subf %n, %top : f32
    %en = math.exp %dn : f32
    %is_n = arith.cmpf oeq, %n, %top : f32
    %fn = arith.select %is_n, %one, %en : f32
    %a = arith.mulf %s, %fm : f32
    %b = arith.mulf %t, %fn : f32
    %sum = arith.addf %a, %b : f32
    poly.yield %top, %sum : f32, f32
  }
  poly.compute @add dims ["i", "k"] domain [#all]
      reads(%x[#at], %T[#i], %S[#i] : memref<?x?xf32>, memref<?xf32>, memref<?xf32>)
      writes(%T[#i], %S[#i] : memref<?xf32>, memref<?xf32>) combiner @join {
  ^bb0(%n: f32, %m: f32, %s: f32):
    %top = arith.maximumf %m, %n : f32
    %dm = arith.subf %m, %top : f32
    %em = math.exp %dm : f32
    %dn = arith.subf %n, %top : f32
    %en = math.exp %dn : f32
    %a = arith.mulf %s, %em : f32
    %sum = arith.addf %a, %en : f32
    poly.yield %top, %sum : f32, f32
  }
}

// One affine function after another, x -> a x + b: grouped in any way, but in
// this order.
// CHECK-LABEL: poly.kernel @chain(
// CHECK:         poly.combiner @after neutral [1.000000e+00 : f32, 0.000000e+00 : f32]
poly.kernel @chain(%a: memref<?x?xf32>, %P: memref<?xf32>, %Q: memref<?xf32>, %M: index, %N: index) {
  poly.combiner @after neutral [1.0 : f32, 0.0 : f32] {
  ^bb0(%m: f32, %s: f32, %n: f32, %t: f32):
    %mn = arith.mulf %m, %n : f32
    %ns = arith.mulf %n, %s : f32
    %r = arith.addf %ns, %t : f32
    poly.yield %mn, %r : f32, f32
  }
  poly.compute @apply dims ["i", "k"] domain [#all]
      reads(%a[#at], %P[#i], %Q[#i] : memref<?x?xf32>, memref<?xf32>, memref<?xf32>)
      writes(%P[#i], %Q[#i] : memref<?xf32>, memref<?xf32>) combiner @after {
  ^bb0(%n: f32, %m: f32, %s: f32):
    %mn = arith.mulf %m, %n : f32
    %ns = arith.mulf %n, %s : f32
    %r = arith.addf %ns, %n : f32
    poly.yield %mn, %r : f32, f32
  }
}

// Counts, sums and sums of squares, of which means and variances are made.
// CHECK-LABEL: poly.kernel @moments(
poly.kernel @moments(%x: memref<?x?xf32>, %C: memref<?xi64>, %S: memref<?xf32>, %Q: memref<?xf32>, %M: index, %N: index) {
  poly.combiner @sums commutative neutral [0 : i64, -0.0 : f32, -0.0 : f32] {
  ^bb0(%c: i64, %s: f32, %q: f32, %d: i64, %t: f32, %r: f32):
    %count = arith.addi %c, %d : i64
    %sum = arith.addf %s, %t : f32
    %squares = arith.addf %q, %r : f32
    poly.yield %count, %sum, %squares : i64, f32, f32
  }
  poly.compute @add dims ["i", "k"] domain [#all]
      reads(%x[#at], %C[#i], %S[#i], %Q[#i] : memref<?x?xf32>, memref<?xi64>, memref<?xf32>, memref<?xf32>)
      writes(%C[#i], %S[#i], %Q[#i] : memref<?xi64>, memref<?xf32>, memref<?xf32>) combiner @sums {
  ^bb0(%v: f32, %c: i64, %s: f32, %q: f32):
    %one = arith.constant 1 : i64
    %count = arith.addi %c, %one : i64
    %sum = arith.addf %s, %v : f32
    %squares = math.fma %v, %v, %q : f32
    poly.yield %count, %sum, %squares : i64, f32, f32
  }
}
