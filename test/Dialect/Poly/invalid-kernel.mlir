// RUN: espalier-opt %s -split-input-file -verify-diagnostics

// KernelOp C1
// expected-error @below {{expects a body, but got a declaration}}
poly.kernel private @k(memref<?xf32>)

// -----

// KernelOp C1
// expected-error @below {{expects no results, but got 1}}
poly.kernel @k(%A: memref<?xf32>) -> f32 {
}

// -----

// KernelOp C2
// expected-error @below {{expects arguments that are memrefs of numbers, or numbers, but argument #1 is 'tensor<4xf32>'}}
poly.kernel @k(%A: memref<?xf32>, %B: tensor<4xf32>) {
}

// -----

// KernelOp C3
poly.kernel @k(%A: memref<?xf32>) {
  // expected-error @below {{expects to be outside poly.kernel, which holds arrays, statements on data, combiners, computations and a schedule}}
  %c = arith.constant 0 : index
}

// -----

// KernelOp C3
poly.kernel @k(%A: memref<?xf32>) {
  poly.schedule
  // expected-error @below {{expects to be the only schedule of its kernel}}
  poly.schedule
}

// -----

// KernelOp C4
// expected-error @below {{expects 'poly.shape' to map 1 symbols to the extents of a memref, but argument #0 is 'memref<?xf32>' with affine_map<()[s0] -> (s0, s0)>}}
poly.kernel @k(%A: memref<?xf32> {poly.shape = affine_map<()[N] -> (N, N)>}, %N: index) {
}

// -----

// KernelOp C4
// expected-error @below {{expects 'poly.shape' to map 1 symbols to the extents of a memref, but argument #0 is 'memref<4xf32>'}}
poly.kernel @k(%A: memref<4xf32> {poly.shape = affine_map<()[N] -> (N)>}, %N: index) {
}

// -----

// KernelOp C5
// expected-error @below {{expects 'poly.assumptions' to be a set with 1 symbols and no dimensions, but got affine_set<(d0)[s0] : (s0 - 1 >= 0)>}}
poly.kernel @k(%A: memref<?xf32>, %N: index) attributes {poly.assumptions = affine_set<(i)[N] : (N - 1 >= 0)>} {
}

// -----

// KernelOp C6
// expected-error @below {{expects 'poly.bounded_by' to map the parameters to a constant, or to one of them plus a constant, but argument #0 has affine_map<()[s0] -> (s0 * 2)>}}
poly.kernel @k(%I: memref<?xi32> {poly.bounded_by = affine_map<()[N] -> (N * 2)>}, %N: index) {
}

// -----

// KernelOp C7
// expected-error @below {{expects 'poly.injective' to be a unit attribute beside 'poly.bounded_by', but argument #0 has unit alone}}
poly.kernel @k(%I: memref<?xi32> {poly.injective}) {
}

// -----

// KernelOp C8
// expected-error @below {{expects 'poly.bounded_by' on memrefs of integers, but argument #0 is 'memref<?xf32>'}}
poly.kernel @k(%I: memref<?xf32> {poly.bounded_by = affine_map<() -> (4)>}) {
}

// -----

// KernelOp C8
// expected-error @below {{expects 'poly.bounded_by' on arguments that no computation writes, but argument #0 is written by @a}}
poly.kernel @k(%I: memref<?xi32> {poly.injective, poly.bounded_by = affine_map<() -> (4)>}) {
  poly.compute @a domain [affine_set<(i) : (i >= 0, 3 - i >= 0)>] reads() writes(%I[affine_map<(i) -> (i)>] : memref<?xi32>) {
    %c = arith.constant 0 : i32
    poly.yield %c : i32
  }
}

// -----

// KernelOp C8
// expected-error @below {{expects 'poly.bounded_by' on integers with a sign, but argument #0 holds u8}}
poly.kernel @k(%I: memref<?xi8> {poly.bounded_by = affine_map<() -> (4)>, espalier.dtype = "u8"}) {
}

// -----

// KernelOp C8
// expected-error @below {{expects 'poly.bounded_by' on integers with a sign, but argument #0 holds truth values}}
poly.kernel @k(%I: memref<?xi1> {poly.bounded_by = affine_map<() -> (2)>}) {
}

// -----

// KernelOp C9
// expected-error @below {{expects 'poly.monotonic' to be a unit attribute of a memref with one dimension, but argument #0 is 'memref<?x?xi32>' with unit}}
poly.kernel @k(%P: memref<?x?xi32> {poly.monotonic}) {
}

// -----

poly.kernel @dynamic_stack(%N: index) {
  // KernelOp C10
  // expected-error @below {{expects static extents in stack memory, but got 'memref<?xf32>'}}
  %a = poly.array stack(%N) : memref<?xf32>
}

// -----

poly.kernel @dynamic_registers(%N: index) {
  // KernelOp C10
  // expected-error @below {{expects static extents in register memory, but got 'memref<?xf32>'}}
  %a = poly.array register(%N) : memref<?xf32>
}

// -----

// What counts is the memory, not the array.
poly.kernel @large_stack(%N: index) {
  %all = poly.array stack(%N) : memref<?xf32> storage affine_map<(i) -> (i mod 8)> as memref<8xf32>
  %a = poly.array stack : memref<512x500xi32>
  // KernelOp C10
  // expected-error @below {{expects arrays in stack memory, and others that may be in the same place, to take at most 1048576 bytes together, but this 'memref<3073xi64>' takes 24584 beside 1024032 of others}}
  %b = poly.array stack : memref<3073xi64>
}

// -----

poly.kernel @larger_than_memory() {
  // KernelOp C10
  // expected-error @below {{takes 9223372036854775807 beside 0 of others}}
  %a = poly.array stack : memref<4611686018427387904x8xf64>
}
