// RUN: espalier-opt %s -split-input-file -pass-pipeline='builtin.module(poly.kernel(poly-verify-accesses))' -verify-diagnostics

#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>

// Inside of what `poly.shape` says, for all sizes.
poly.kernel @inside(%A: memref<?xf32> {poly.shape = affine_map<()[N] -> (N + 1)>}, %B: memref<?xf32> {poly.shape = affine_map<()[N] -> (N)>}, %N: index) {
  poly.compute @s domain [#points] reads(%A[affine_map<(i)[N] -> (i + 1)>] : memref<?xf32>) writes(%B[#i] : memref<?xf32>) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
}

// -----

#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>

poly.kernel @beyond(%A: memref<?xf32> {espalier.name = "A", poly.shape = affine_map<()[N] -> (N)>}, %B: memref<?xf32>, %N: index) {
  // expected-error @below {{expects to read 'A' inside its extent 1 in dimension 0, but at point (0) with parameters (1) the index is 1}}
  poly.compute @s domain [#points] reads(%A[affine_map<(i)[N] -> (i + 1)>] : memref<?xf32>) writes(%B[#i] : memref<?xf32>) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
}

// -----

#points = affine_set<(i) : (i >= 0, 7 - i >= 0)>

poly.kernel @before(%A: memref<8xf32> {poly.shape = affine_map<() -> (8)>}) {
  // expected-error @below {{expects to write argument #0 inside its extent 8 in dimension 0, but at point (0) the index is -1}}
  poly.compute @s domain [#points] reads() writes(%A[affine_map<(i) -> (i - 1)>] : memref<8xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// -----

#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>

poly.kernel @local(%A: memref<?xf32> {poly.shape = affine_map<()[N] -> (N)>}, %N: index) {
  %a = poly.array heap(%N) : memref<?xf32>
  // expected-error @below {{expects to write array #0 inside its extent 1 in dimension 0, but at point (0) with parameters (1) the index is 1}}
  poly.compute @s domain [#points] reads() writes(%a[affine_map<(i)[N] -> (i + 1)>] : memref<?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// -----

// The extents of the memory are not those of the array; these count, if there
// are any.
poly.kernel @stored(%A: memref<?xf32> {poly.shape = affine_map<()[N] -> (N)>}, %N: index) {
  %a = poly.array : memref<?xf32> storage affine_map<(i) -> (i mod 2)> as memref<2xf32>
  %b = poly.array heap(%N) : memref<?xf32> storage affine_map<(i) -> (i mod 2)> as memref<2xf32>
  poly.compute @s domain [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>] reads() writes(%a[affine_map<(i)[N] -> (i + 1)>] : memref<?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  // expected-error @below {{expects to write array #1 inside its extent 1 in dimension 0, but at point (0) with parameters (1) the index is 1}}
  poly.compute @t domain [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>] reads() writes(%b[affine_map<(i)[N] -> (i + 1)>] : memref<?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// -----

// What holds for sizes counts: there is a first element.
#one = affine_set<()[N] : ()>

poly.kernel @assumed(%A: memref<?xf32> {poly.shape = affine_map<()[N] -> (N)>}, %N: index) attributes {poly.assumptions = affine_set<()[N] : (N - 1 >= 0)>} {
  poly.compute @s domain [#one] reads() writes(%A[affine_map<()[N] -> (0)>] : memref<?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// -----

// Subscripts that depend on data without bounds are not looked at; nor is a
// kernel that states no extents.
#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>

poly.kernel @indirect(%r: memref<?xi32> {poly.shape = affine_map<()[N] -> (N)>}, %A: memref<?xf32> {poly.shape = affine_map<()[N] -> (N)>}, %N: index) {
  poly.compute @s domain [#points] reads(%r[#i] : memref<?xi32>) writes(%A[affine_map<(i)[N, r] -> (r)>] : memref<?xf32>) {
  ^bb0(%row: i32):
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}
poly.kernel @unstated(%A: memref<8xf32>, %N: index) {
  poly.compute @s domain [#points] reads() writes(%A[#i] : memref<8xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// -----

// A value that is bounded by the extent is inside, and one more is not.
#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>

poly.kernel @bounded(%r: memref<?xi32> {poly.shape = affine_map<()[N] -> (N)>, poly.bounded_by = affine_map<()[N] -> (N)>}, %A: memref<?xf32> {poly.shape = affine_map<()[N] -> (N)>}, %N: index) {
  poly.compute @s domain [#points] reads(%r[#i] : memref<?xi32>) writes(%A[affine_map<(i)[N, r] -> (r)>] : memref<?xf32>) {
  ^bb0(%row: i32):
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  // expected-error @below {{'poly.compute' op expects to write argument #1 inside its extent 1 in dimension 0, but at point (0) with parameters (1) the index is 1}}
  poly.compute @t domain [#points] reads(%r[#i] : memref<?xi32>) writes(%A[affine_map<(i)[N, r] -> (r + 1)>] : memref<?xf32>) {
  ^bb0(%row: i32):
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// -----

#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>

poly.kernel @negative(%r: memref<?xi32> {poly.shape = affine_map<()[N] -> (N)>, poly.bounded_by = affine_map<()[N] -> (N)>}, %A: memref<?xf32> {poly.shape = affine_map<()[N] -> (N)>}, %N: index) {
  // expected-error @below {{'poly.compute' op expects to write argument #1 inside its extent 1 in dimension 0, but at point (0) with parameters (1) the index is -1}}
  poly.compute @s domain [#points] reads(%r[#i] : memref<?xi32>) writes(%A[affine_map<(i)[N, r] -> (r - 1)>] : memref<?xf32>) {
  ^bb0(%row: i32):
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// -----

// Points beyond the bound of what bounds a loop do not run.
#all = affine_set<(n, j)[N, E] : (n >= 0, N - 1 - n >= 0, j >= 0, E + 7 - j >= 0)>
#row = affine_set<(n, j)[N, E, b, e] : (j - b >= 0, e - 1 - j >= 0)>

poly.kernel @rows(%P: memref<?xi32> {poly.shape = affine_map<()[N, E] -> (N + 1)>, poly.monotonic, poly.bounded_by = affine_map<()[N, E] -> (E + 1)>},
                  %x: memref<?xf32> {poly.shape = affine_map<()[N, E] -> (E)>}, %N: index, %E: index) {
  poly.compute @clear dims ["n", "j"] domain [#all] where #row
      reads(%P[affine_map<(n, j)[N, E] -> (n)>], %P[affine_map<(n, j)[N, E] -> (n + 1)>] : memref<?xi32>, memref<?xi32>)
      writes(%x[affine_map<(n, j)[N, E] -> (j)>] : memref<?xf32>) {
  ^bb0(%b: i32, %e: i32):
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}
