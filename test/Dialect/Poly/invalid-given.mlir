// RUN: espalier-opt %s -split-input-file -verify-diagnostics

#i = affine_map<(i)[N] -> (i)>
#all = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#positive = affine_set<(i)[N, v] : (v - 1 >= 0)>

// GivenOp C1
poly.kernel @no_domain(%x: memref<?xi32>, %N: index) {
  // expected-error @below {{expects at least one set as domain}}
  poly.given @positive domain [] reads(%x[#i] : memref<?xi32>) holds #positive
}

// -----

#i = affine_map<(i)[N] -> (i)>
#all = affine_set<(i)[N, M] : (i >= 0, N - 1 - i >= 0)>
#positive = affine_set<(i)[N, v] : (v - 1 >= 0)>

// GivenOp C1
poly.kernel @other_symbols(%x: memref<?xi32>, %N: index) {
  // expected-error @below {{expects sets of 1 dimensions with the kernel's 1 parameters as symbols, but set #0 has 1 and 2}}
  poly.given @positive domain [#all] reads(%x[#i] : memref<?xi32>) holds #positive
}

// -----

#all = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#positive = affine_set<(i)[N, v] : (v - 1 >= 0)>

// GivenOp C2
poly.kernel @two_indices(%x: memref<?xi32>, %N: index) {
  // expected-error @below {{expects a map from 1 dimensions and 1 parameters to 1 indices for read #0, but got affine_map<(d0)[s0] -> (d0, d0)>}}
  poly.given @positive domain [#all] reads(%x[affine_map<(i)[N] -> (i, i)>] : memref<?xi32>) holds #positive
}

// -----

#i = affine_map<(i)[N] -> (i)>
#all = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#positive = affine_set<(i)[N, v] : (v - 1 >= 0)>

// GivenOp C3
poly.kernel @floats(%x: memref<?xf32>, %N: index) {
  // expected-error @below {{expects reads of arguments that are memrefs of integers with a sign, but read #0 is of memref<?xf32>}}
  poly.given @positive domain [#all] reads(%x[#i] : memref<?xf32>) holds #positive
}

// -----

#i = affine_map<(i)[N] -> (i)>
#all = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#positive = affine_set<(i)[N, v] : (v - 1 >= 0)>

// GivenOp C3
poly.kernel @unsigned(%x: memref<?xi8> {espalier.dtype = "u8"}, %N: index) {
  // expected-error @below {{integers with a sign, but read #0 holds u8}}
  poly.given @positive domain [#all] reads(%x[#i] : memref<?xi8>) holds #positive
}

// -----

#i = affine_map<(i)[N] -> (i)>
#all = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#positive = affine_set<(i)[N, v] : (v - 1 >= 0)>

// GivenOp C3
poly.kernel @written(%x: memref<?xi32>, %N: index) {
  // expected-error @below {{expects reads of arguments that no computation writes, but read #0 is written by @clear}}
  poly.given @positive domain [#all] reads(%x[#i] : memref<?xi32>) holds #positive
  poly.compute @clear domain [#all] reads() writes(%x[#i] : memref<?xi32>) {
    %zero = arith.constant 0 : i32
    poly.yield %zero : i32
  }
}

// -----

#i = affine_map<(i)[N] -> (i)>
#all = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>

// GivenOp C4
poly.kernel @two_values(%x: memref<?xi32>, %N: index) {
  // expected-error @below {{expects 'holds' to have 1 dimensions, with 1 parameters and at most 1 values of reads as symbols, but got 1 dimensions and 3 symbols}}
  poly.given @positive domain [#all] reads(%x[#i] : memref<?xi32>)
      holds affine_set<(i)[N, v, w] : (v - w >= 0)>
}

// -----

#i = affine_map<(i)[N] -> (i)>
#all = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>

// GivenOp C5
poly.kernel @product(%x: memref<?xi32>, %N: index) {
  // expected-error @below {{expects 'holds' with affine expressions, but got s0 * s1 - 1}}
  poly.given @positive domain [#all] reads(%x[#i] : memref<?xi32>)
      holds affine_set<(i)[N, v] : (v * N - 1 >= 0)>
}

// -----

#ij = affine_map<(i, j)[N] -> (i)>
#all = affine_set<(i, j)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, N - 1 - j >= 0)>

// GivenOp C6
poly.kernel @names(%x: memref<?xi32>, %N: index) {
  // expected-error @below {{expects a different name for each of 2 dimensions, but got ["i", "i"]}}
  poly.given @positive dims ["i", "i"] domain [#all] reads(%x[#ij] : memref<?xi32>)
      holds affine_set<(i, j)[N, v] : (v - 1 >= 0)>
}

// -----

#all = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>

// GivenOp C2
poly.kernel @no_reads(%x: memref<?xi32>, %N: index) {
  // expected-error @below {{expects at least one read; what holds of sizes alone belongs to 'poly.assumptions'}}
  poly.given @large domain [#all] reads() holds affine_set<(i)[N] : (N - 100000 >= 0)>
}

// -----

#i = affine_map<(i)[N] -> (i)>
#all = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#positive = affine_set<(i)[N, v] : (v - 1 >= 0)>

// GivenOp C3
poly.kernel @wide(%x: memref<?xi128>, %N: index) {
  // expected-error @below {{expects reads of arguments that are memrefs of integers with a sign, but read #0 is 'i128'}}
  poly.given @positive domain [#all] reads(%x[#i] : memref<?xi128>) holds #positive
}

// -----

#i = affine_map<(i)[N] -> (i)>
#all = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>

// GivenOp C7
poly.kernel @overflow(%x: memref<?xi32>, %N: index) {
  // expected-error @below {{expects 'holds' with expressions that are at most 2^62 in size, for values of 2^31 and sizes of 2^40, but got}}
  poly.given @small domain [#all] reads(%x[#i], %x[#i], %x[#i] : memref<?xi32>, memref<?xi32>, memref<?xi32>)
      holds affine_set<(i)[N, a, b, c] : (-2147483647 * a - 2147483647 * b - 2147483647 * c >= 0)>
}
