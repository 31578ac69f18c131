// RUN: espalier-opt %s -pass-pipeline='builtin.module(poly.kernel(poly-verify-schedule))' -split-input-file -verify-diagnostics | FileCheck %s

#i = affine_map<(i)[N] -> (i)>
#at = affine_map<(i)[N, v] -> (v)>
#all = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>

// Different places: in parallel.
// CHECK: poly.kernel @scatter
poly.kernel @scatter(%I: memref<?xi32> {poly.injective, poly.bounded_by = affine_map<()[N] -> (N)>}, %x: memref<?xf32>, %y: memref<?xf32>, %N: index) {
  poly.compute @put domain [#all] reads(%I[#i], %x[#i] : memref<?xi32>, memref<?xf32>)
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
#at = affine_map<(i)[N, v] -> (v)>
#all = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>

// A bound alone does not make them different.
poly.kernel @scatter(%I: memref<?xi32> {poly.bounded_by = affine_map<()[N] -> (N)>}, %x: memref<?xf32>, %y: memref<?xf32>, %N: index) {
  // expected-note @below {{the source runs first in program order}}
  poly.compute @put domain [#all] reads(%I[#i], %x[#i] : memref<?xi32>, memref<?xf32>)
      writes(%y[affine_map<(i)[N, v, w] -> (v)>] : memref<?xf32>) {
  ^bb0(%at: i32, %a: f32):
    poly.yield %a : f32
  }
  // expected-error @below {{expects the parallel loop to carry no dependence, but got the output dependence from @put(0) to @put(1)}}
  poly.schedule {
    poly.band [@put] maps [#i] loops [parallel]
  }
}

// -----

#i = affine_map<(i)[N] -> (i)>
#all = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>

// Nor are values at other distances: I[i] + 1 may be I[j].
poly.kernel @neighbours(%I: memref<?xi32> {poly.injective, poly.bounded_by = affine_map<()[N] -> (N)>}, %y: memref<?xf32>, %N: index) {
  // expected-note @below {{the source runs first in program order}}
  poly.compute @shift domain [#all] reads(%I[#i], %y[affine_map<(i)[N, v] -> (v + 1)>] : memref<?xi32>, memref<?xf32>)
      writes(%y[affine_map<(i)[N, v, w] -> (v)>] : memref<?xf32>) {
  ^bb0(%at: i32, %a: f32):
    poly.yield %a : f32
  }
  // expected-error @below {{expects the parallel loop to carry no dependence, but got the flow dependence from @shift(0) to @shift(1), distance (1), on argument #1 (write 0 at [<read 0>], read 1 at [<read 0> + 1])}}
  poly.schedule {
    poly.band [@shift] maps [#i] loops [parallel]
  }
}

// -----

#ij = affine_set<(i, j)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, N - 1 - j >= 0)>

// Two points may use one element of the index array: only the loop over its
// elements is parallel.
// CHECK: poly.kernel @rows
poly.kernel @rows(%I: memref<?xi32> {poly.injective, poly.bounded_by = affine_map<()[N] -> (N)>}, %x: memref<?x?xf32>, %y: memref<?xf32>, %N: index) {
  poly.compute @add domain [#ij] reads(%I[affine_map<(i, j)[N] -> (i)>], %x[affine_map<(i, j)[N] -> (i, j)>], %y[affine_map<(i, j)[N, v, w] -> (v)>] : memref<?xi32>, memref<?x?xf32>, memref<?xf32>)
      writes(%y[affine_map<(i, j)[N, v, w, z] -> (v)>] : memref<?xf32>) {
  ^bb0(%at: i32, %a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    poly.yield %s : f32
  }
  poly.schedule {
    poly.band [@add] maps [affine_map<(i, j)[N] -> (i, j)>] loops [parallel, sequential]
  }
}
