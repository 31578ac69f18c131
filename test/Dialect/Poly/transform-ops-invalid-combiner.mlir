// RUN: espalier-opt %s -transform-interpreter -split-input-file -verify-diagnostics

#all = affine_set<(k)[N] : (k >= 0, N - 1 - k >= 0)>
#k = affine_map<(k)[N] -> (k)>
#one = affine_map<(k)[N] -> ()>

// RfactorOp, parts that are no neighbours of one another
module attributes {transform.with_named_sequence} {
poly.kernel @last(%a: memref<?xi32>, %P: memref<i32>, %Q: memref<i32>, %N: index) {
  poly.combiner @last neutral [0 : i32, 0 : i32] {
  ^bb0(%f: i32, %v: i32, %g: i32, %w: i32):
    %zero = arith.constant 0 : i32
    %none = arith.cmpi eq, %g, %zero : i32
    %flag = arith.select %none, %f, %g : i32
    %value = arith.select %none, %v, %w : i32
    poly.yield %flag, %value : i32, i32
  }
  // expected-note @below {{target op}}
  poly.compute @keep dims ["k"] domain [#all]
      reads(%a[#k], %P[#one], %Q[#one] : memref<?xi32>, memref<i32>, memref<i32>)
      writes(%P[#one], %Q[#one] : memref<i32>, memref<i32>) combiner @last {
  ^bb0(%x: i32, %f: i32, %v: i32):
    %one = arith.constant 1 : i32
    %odd = arith.andi %x, %one : i32
    %zero = arith.constant 0 : i32
    %none = arith.cmpi eq, %odd, %zero : i32
    %flag = arith.select %none, %f, %odd : i32
    %value = arith.select %none, %v, %x : i32
    poly.yield %flag, %value : i32, i32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %keep = transform.poly.computation @last::@keep of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.split %keep loop "k" factors [8] : !transform.any_op
  // expected-error @below {{expects the outermost loop over the updates of an element, whose order stays as @last is not 'commutative', but "k.1" is inside of "k.0"}}
  transform.poly.rfactor %keep loop "k.1" : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.yield
}
}

// -----

#all = affine_set<(k)[N, M, L] : (k >= 0, N - 1 - k >= 0)>
#k = affine_map<(k)[N, M, L] -> (k)>
#read = affine_map<(k)[N, M, L, i] -> (i)>
#write = affine_map<(k)[N, M, L, i, s, t] -> (i)>

// RfactorOp, arrays of different extents that data indexes
module attributes {transform.with_named_sequence} {
poly.kernel @histograms(%I: memref<?xi32>, %h: memref<?xi64> {espalier.name = "h", poly.shape = affine_map<()[N, M, L] -> (M)>},
                        %g: memref<?xi64> {espalier.name = "g", poly.shape = affine_map<()[N, M, L] -> (L)>},
                        %N: index, %M: index, %L: index) {
  poly.combiner @both commutative neutral [0, 0] {
  ^bb0(%a: i64, %b: i64, %c: i64, %d: i64):
    %s = arith.addi %a, %c : i64
    %t = arith.addi %b, %d : i64
    poly.yield %s, %t : i64, i64
  }
  // expected-note @below {{target op}}
  poly.compute @count dims ["k"] domain [#all]
      reads(%I[#k], %h[#read], %g[affine_map<(k)[N, M, L, i, s] -> (i)>] : memref<?xi32>, memref<?xi64>, memref<?xi64>)
      writes(%h[#write], %g[#write] : memref<?xi64>, memref<?xi64>) combiner @both {
  ^bb0(%i: i32, %a: i64, %b: i64):
    %one = arith.constant 1 : i64
    %s = arith.addi %a, %one : i64
    %t = arith.subi %b, %one : i64
    poly.yield %s, %t : i64, i64
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %count = transform.poly.computation @histograms::@count of %module : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{expects as many elements of 'g' as of 'h'}}
  transform.poly.rfactor %count loop "k" : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.yield
}
}
