// RUN: espalier-opt %s -convert-poly-to-loops -split-input-file -verify-diagnostics

#i = affine_map<(i)[N] -> (i)>
#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
poly.kernel @registers_need_an_extent(%A: memref<?xf32>, %N: index) {
  // expected-error @below {{expects static extents for an array in registers, but got 'memref<?xf32>'}}
  %s = poly.array register(%N) : memref<?xf32>
  poly.compute @a domain [#points] reads() writes(%s[#i] : memref<?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// -----

#i = affine_map<(i) -> (i)>
#points = affine_set<(i) : (i >= 0, 3 - i >= 0)>
// expected-error @below {{expects an element of an array in registers to be written, in the same iteration, before 'b' reads it, and its loops to be unrolled}}
poly.kernel @registers_need_unrolled_loops(%A: memref<4xf32>) {
  %s = poly.array register : memref<4xf32>
  poly.compute @a domain [#points] reads() writes(%s[#i] : memref<4xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @b domain [#points] reads(%s[#i] : memref<4xf32>) writes(%A[#i] : memref<4xf32>) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
}
