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

// Without a bound, what is read may be any number.
#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>

// expected-note @below {{nothing is known of the values in argument #0, for which 'poly.bounded_by' would state a bound}}
poly.kernel @indirect(%r: memref<?xi32> {poly.shape = affine_map<()[N] -> (N)>}, %A: memref<?xf32> {poly.shape = affine_map<()[N] -> (N)>}, %N: index) {
  // expected-error @below {{expects to write argument #1 inside its extent 1 in dimension 0, but at point (0) with parameters (1) the index is -1}}
  poly.compute @s domain [#points] reads(%r[#i] : memref<?xi32>) writes(%A[affine_map<(i)[N, r] -> (r)>] : memref<?xf32>) {
  ^bb0(%row: i32):
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// -----

// But a remainder is what it is.
#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>

poly.kernel @remainder(%r: memref<?xi32> {poly.shape = affine_map<()[N] -> (N)>}, %A: memref<7xf32>, %N: index) {
  poly.compute @s domain [#points] reads(%r[#i] : memref<?xi32>) writes(%A[affine_map<(i)[N, r] -> (r mod 7)>] : memref<7xf32>) {
  ^bb0(%row: i32):
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// -----

// Values that the kernel computes are known to nobody.
#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>

// expected-note @below {{nothing is known of the values in array #0, which the kernel computes}}
poly.kernel @computed(%A: memref<?xf32> {poly.shape = affine_map<()[N] -> (N)>}, %N: index) {
  %r = poly.array heap(%N) : memref<?xi32>
  poly.compute @r domain [#points] reads() writes(%r[#i] : memref<?xi32>) {
    %z = arith.constant 0 : i32
    poly.yield %z : i32
  }
  // expected-error @below {{expects to write argument #0 inside its extent 1 in dimension 0, but at point (0) with parameters (1) the index is -1}}
  poly.compute @s domain [#points] reads(%r[#i] : memref<?xi32>) writes(%A[affine_map<(i)[N, r] -> (r)>] : memref<?xf32>) {
  ^bb0(%row: i32):
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// -----

// That values have a bound does not say that there are any.
#points = affine_set<(i)[N, M] : (i >= 0, N - 1 - i >= 0)>

poly.kernel @empty(%r: memref<?xi32> {poly.shape = affine_map<()[N, M] -> (M)>, poly.bounded_by = affine_map<()[N, M] -> (M)>}, %A: memref<?xf32> {poly.shape = affine_map<()[N, M] -> (M)>}, %N: index, %M: index) {
  // expected-error @below {{expects to read argument #0 inside its extent 0 in dimension 0, but at point (0) with parameters (1, 0) the index is 0}}
  poly.compute @s domain [#points] reads(%r[affine_map<(i)[N, M] -> (0)>] : memref<?xi32>) writes(%A[affine_map<(i)[N, M, r] -> (r)>] : memref<?xf32>) {
  ^bb0(%row: i32):
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// -----

// A kernel that states no extents is not looked at.
#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>
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

// -----

// The place in a row is inside, as `where` says that it does not begin before,
// and rows do not end before they begin.
#all = affine_set<(n, j)[N, E] : (n >= 0, N - 1 - n >= 0, j >= 0, E - 1 - j >= 0)>
#row = affine_set<(n, j)[N, E, b, e] : (j - b >= 0, e - 1 - j >= 0)>

poly.kernel @place(%P: memref<?xi32> {poly.shape = affine_map<()[N, E] -> (N + 1)>, poly.monotonic, poly.bounded_by = affine_map<()[N, E] -> (E + 1)>},
                   %x: memref<?xf32> {poly.shape = affine_map<()[N, E] -> (E)>}, %N: index, %E: index) {
  poly.compute @clear dims ["n", "j"] domain [#all] where #row
      reads(%P[affine_map<(n, j)[N, E] -> (n)>], %P[affine_map<(n, j)[N, E] -> (n + 1)>] : memref<?xi32>, memref<?xi32>)
      writes(%x[affine_map<(n, j)[N, E, b, e] -> (j - b)>] : memref<?xf32>) {
  ^bb0(%b: i32, %e: i32):
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  // What decides the row is read for all points.
  // expected-error @below {{expects to read argument #0 inside its extent}}
  poly.compute @reads dims ["n", "j"] domain [#all] where affine_set<(n, j)[N, E, b, e] : (n - j >= 0, j - b >= 0)>
      reads(%P[affine_map<(n, j)[N, E] -> (j)>], %P[affine_map<(n, j)[N, E] -> (n)>] : memref<?xi32>, memref<?xi32>)
      writes(%x[affine_map<(n, j)[N, E] -> (j)>] : memref<?xf32>) {
  ^bb0(%b: i32, %e: i32):
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}
