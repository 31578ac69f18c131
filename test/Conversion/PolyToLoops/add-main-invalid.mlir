// RUN: espalier-opt %s -poly-add-main -split-input-file -verify-diagnostics

// expected-error @below {{expects another name than that of the program's function 'main_plan'}}
poly.kernel @main_plan(%A: memref<?xf32>, %N: index) {
}

// -----

// With no extent would all values be inside.
#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>

// expected-note @below {{nothing is known of the values in argument #0, for which 'poly.bounded_by' would state a bound}}
poly.kernel @indirect(%r: memref<?xi32>, %A: memref<?xf32>, %N: index) {
  // expected-error @below {{expects to write argument #1 inside its extent 0 in dimension 0, but at point (0) with parameters (1) the index is -1}}
  poly.compute @s domain [#points] reads(%r[affine_map<(i)[N] -> (i)>] : memref<?xi32>) writes(%A[affine_map<(i)[N, r] -> (r)>] : memref<?xf32>) {
  ^bb0(%row: i32):
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// -----

#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>

poly.kernel @product(%r: memref<?xi32>, %A: memref<?xf32>, %N: index) {
  // expected-error @below {{expects an index of argument #1 that can be checked, but in dimension 0 of affine_map<(d0)[s0, s1] -> (s0 * s1)>: nothing bounds what is read}}
  poly.compute @s domain [#points] reads(%r[affine_map<(i)[N] -> (i)>] : memref<?xi32>) writes(%A[affine_map<(i)[N, r] -> (r * N)>] : memref<?xf32>) {
  ^bb0(%row: i32):
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// -----

#points = affine_set<(i, j)[N, M] : (i >= 0, N - 1 - i >= 0, M - 1 - i >= 0, j - i >= 0, i - j >= 0)>

poly.kernel @many(%r: memref<?xi32> {poly.bounded_by = affine_map<()[N, M] -> (N)>}, %A: memref<?xf32>, %N: index, %M: index) {
  // expected-error @below {{: it has over 6 variables}}
  poly.compute @s domain [#points] reads(%r[affine_map<(i, j)[N, M] -> (i)>] : memref<?xi32>)
      writes(%A[affine_map<(i, j)[N, M, r] -> (r * r * r * r + r * r * r)>] : memref<?xf32>) {
  ^bb0(%row: i32):
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}
