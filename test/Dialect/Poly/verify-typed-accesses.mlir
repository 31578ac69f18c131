// RUN: espalier-opt %s -pass-pipeline='builtin.module(poly.kernel(poly-verify-accesses{types=true}))' -verify-diagnostics
// RUN: espalier-opt %s --compile-to=loops -verify-diagnostics

// Where there are no sizes, types say all of the kernels that somebody wrote.
#points = affine_set<(i) : (i >= 0, 3 - i >= 0)>
#i = affine_map<(i) -> (i)>

poly.kernel @typed(%c: memref<4xi32> {poly.bounded_by = affine_map<() -> (9)>}, %A: memref<4xf32>, %B: memref<4xf32>) {
  // expected-error @below {{expects to read argument #1 inside its extent 4 in dimension 0, but at point (0) the index is 8}}
  poly.compute @s domain [#points] reads(%c[#i], %A[affine_map<(i)[v] -> (v)>] : memref<4xi32>, memref<4xf32>) writes(%B[#i] : memref<4xf32>) {
  ^bb0(%v: i32, %x: f32):
    poly.yield %x : f32
  }
}
