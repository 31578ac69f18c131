// RUN: espalier-opt %s -pass-pipeline='builtin.module(poly.kernel(poly-verify-schedule))' -split-input-file -verify-diagnostics | FileCheck %s

#begin = affine_map<(n, j)[N, E] -> (n)>
#end = affine_map<(n, j)[N, E] -> (n + 1)>
#j = affine_map<(n, j)[N, E] -> (j)>
#all = affine_set<(n, j)[N, E] : (n >= 0, N - 1 - n >= 0, j >= 0, E - 1 - j >= 0)>
#row = affine_set<(n, j)[N, E, b, e] : (j - b >= 0, e - 1 - j >= 0)>

// Rows have no element in common if their starts do not decrease.
// CHECK: poly.kernel @rows
poly.kernel @rows(%P: memref<?xi32> {poly.monotonic}, %s: memref<?xf32>, %x: memref<?xf32>, %N: index, %E: index) {
  poly.compute @scale domain [#all] where #row
      reads(%P[#begin], %P[#end], %s[#begin], %x[#j] : memref<?xi32>, memref<?xi32>, memref<?xf32>, memref<?xf32>)
      writes(%x[#j] : memref<?xf32>) {
  ^bb0(%b: i32, %e: i32, %a: f32, %v: f32):
    %r = arith.mulf %a, %v : f32
    poly.yield %r : f32
  }
  poly.schedule {
    poly.band [@scale] maps [affine_map<(n, j)[N, E] -> (n, j)>] loops [parallel, sequential]
  }
}

// -----

#begin = affine_map<(n, j)[N, E] -> (n)>
#end = affine_map<(n, j)[N, E] -> (n + 1)>
#j = affine_map<(n, j)[N, E] -> (j)>
#all = affine_set<(n, j)[N, E] : (n >= 0, N - 1 - n >= 0, j >= 0, E - 1 - j >= 0)>
#row = affine_set<(n, j)[N, E, b, e] : (j - b >= 0, e - 1 - j >= 0)>

// Otherwise they may; but not rows side by side, one of which ends where the
// other begins.
poly.kernel @rows(%P: memref<?xi32>, %s: memref<?xf32>, %x: memref<?xf32>, %N: index, %E: index) {
  // expected-note @below {{the source runs first in program order}}
  poly.compute @scale domain [#all] where #row
      reads(%P[#begin], %P[#end], %s[#begin], %x[#j] : memref<?xi32>, memref<?xi32>, memref<?xf32>, memref<?xf32>)
      writes(%x[#j] : memref<?xf32>) {
  ^bb0(%b: i32, %e: i32, %a: f32, %v: f32):
    %r = arith.mulf %a, %v : f32
    poly.yield %r : f32
  }
  // expected-error @below {{expects the parallel loop to carry no dependence, but got the flow dependence from @scale(0, 0) to @scale(2, 0)}}
  poly.schedule {
    poly.band [@scale] maps [affine_map<(n, j)[N, E] -> (n, j)>] loops [parallel, sequential]
  }
}

// -----

#begin = affine_map<(n, j)[N, E] -> (n)>
#end = affine_map<(n, j)[N, E] -> (n + 1)>
#j = affine_map<(n, j)[N, E] -> (j)>
#all = affine_set<(n, j)[N, E] : (n >= 0, N - 1 - n >= 0, j >= 0, E - 1 - j >= 0)>
#row = affine_set<(n, j)[N, E, b, e] : (j - b >= 0, e - 1 - j >= 0)>

// Elements of a row and of the next but one, by way of a shift: rows that
// overlap by the shift are in order.
poly.kernel @shifted(%P: memref<?xi32> {poly.monotonic}, %x: memref<?xf32>, %N: index, %E: index) {
  // expected-note @below {{the source runs first in program order}}
  poly.compute @move domain [#all] where #row
      reads(%P[#begin], %P[#end], %x[affine_map<(n, j)[N, E] -> (j + 1)>] : memref<?xi32>, memref<?xi32>, memref<?xf32>)
      writes(%x[#j] : memref<?xf32>) {
  ^bb0(%b: i32, %e: i32, %v: f32):
    poly.yield %v : f32
  }
  // expected-error @below {{expects the parallel loop to carry no dependence, but got the anti dependence from @move(0, 0) to @move(1, 1)}}
  poly.schedule {
    poly.band [@move] maps [affine_map<(n, j)[N, E] -> (n, j)>] loops [parallel, sequential]
  }
}

// -----

#all = affine_set<(n, j)[N, E] : (n >= 0, N - 1 - n >= 0, j >= 0, E - 1 - j >= 0)>
#row = affine_set<(n, j)[N, E, b, e] : (j - b >= 0, e - 1 - j >= 0)>

// Outside of the loop that decides where its bounds are read, a loop runs over
// all of its domain, and the bounds are a condition.
// CHECK: poly.kernel @outside
poly.kernel @outside(%P: memref<?xi32> {poly.monotonic}, %x: memref<?x?xf32>, %N: index, %E: index) {
  poly.compute @clear dims ["n", "j"] domain [#all] where #row
      reads(%P[affine_map<(n, j)[N, E] -> (n)>], %P[affine_map<(n, j)[N, E] -> (n + 1)>] : memref<?xi32>, memref<?xi32>)
      writes(%x[affine_map<(n, j)[N, E] -> (n, j)>] : memref<?x?xf32>) {
  ^bb0(%b: i32, %e: i32):
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.schedule {
    poly.band [@clear] maps [affine_map<(n, j)[N, E] -> (j, n)>] loops [sequential, sequential]
  }
}

// -----

#all = affine_set<(n, j)[N, E] : (n >= 0, N - 1 - n >= 0, j >= 0, E - 1 - j >= 0)>
#row = affine_set<(n, j)[N, E, b, e] : (j - b >= 0, e - 1 - j >= 0)>

// It may be skewed by them, and cut; they may be cut too.
// CHECK: poly.kernel @inside
poly.kernel @inside(%P: memref<?xi32> {poly.monotonic}, %x: memref<?x?xf32>, %N: index, %E: index) {
  poly.compute @clear dims ["n", "j"] domain [#all] where #row
      reads(%P[affine_map<(n, j)[N, E] -> (n)>], %P[affine_map<(n, j)[N, E] -> (n + 1)>] : memref<?xi32>, memref<?xi32>)
      writes(%x[affine_map<(n, j)[N, E] -> (n, j)>] : memref<?x?xf32>) {
  ^bb0(%b: i32, %e: i32):
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.schedule {
    poly.band [@clear] maps [affine_map<(n, j)[N, E] -> (n floordiv 8, n mod 8, (j + n) floordiv 4, (j + n) mod 4)>] loops [parallel, sequential, sequential, vector(4)]
  }
}

// -----

#all = affine_set<(n, j)[N, E] : (n >= 0, N - 1 - n >= 0, j >= 0, E - 1 - j >= 0)>
#row = affine_set<(n, j)[N, E, b, e] : (j - b >= 0, e - 1 - j >= 0)>

// Or it runs between the tiles of that loop.
// CHECK: poly.kernel @between
poly.kernel @between(%P: memref<?xi32> {poly.monotonic}, %x: memref<?x?xf32>, %N: index, %E: index) {
  poly.compute @clear dims ["n", "j"] domain [#all] where #row
      reads(%P[affine_map<(n, j)[N, E] -> (n)>], %P[affine_map<(n, j)[N, E] -> (n + 1)>] : memref<?xi32>, memref<?xi32>)
      writes(%x[affine_map<(n, j)[N, E] -> (n, j)>] : memref<?x?xf32>) {
  ^bb0(%b: i32, %e: i32):
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.schedule {
    poly.band [@clear] maps [affine_map<(n, j)[N, E] -> (n floordiv 8, j, n mod 8)>] loops [sequential, sequential, sequential]
  }
}

// -----

#i = affine_map<(i)[N] -> (i)>
#all = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>

// What is read beyond the bound is not what is written below it.
// CHECK: poly.kernel @halves
poly.kernel @halves(%I: memref<?xi32> {poly.bounded_by = affine_map<()[N] -> (N)>, poly.injective}, %y: memref<?xf32>, %N: index) {
  poly.compute @put domain [#all] reads(%I[#i], %y[affine_map<(i)[N] -> (N + i)>] : memref<?xi32>, memref<?xf32>)
      writes(%y[affine_map<(i)[N, v, w] -> (v)>] : memref<?xf32>) {
  ^bb0(%at: i32, %a: f32):
    poly.yield %a : f32
  }
  poly.schedule {
    poly.band [@put] maps [#i] loops [parallel]
  }
}

// -----

#i = affine_map<(i)[N] -> (i)>
#all = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>

// One less, and it may be.
poly.kernel @halves(%I: memref<?xi32> {poly.bounded_by = affine_map<()[N] -> (N + 1)>, poly.injective}, %y: memref<?xf32>, %N: index) {
  // expected-note @below {{the source runs first in program order}}
  poly.compute @put domain [#all] reads(%I[#i], %y[affine_map<(i)[N] -> (N + i)>] : memref<?xi32>, memref<?xf32>)
      writes(%y[affine_map<(i)[N, v, w] -> (v)>] : memref<?xf32>) {
  ^bb0(%at: i32, %a: f32):
    poly.yield %a : f32
  }
  // expected-error @below {{expects the parallel loop to carry no dependence, but got the anti dependence from @put(0) to @put(1)}}
  poly.schedule {
    poly.band [@put] maps [#i] loops [parallel]
  }
}
