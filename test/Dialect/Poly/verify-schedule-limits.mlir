// RUN: espalier-opt %s -pass-pipeline='builtin.module(poly.kernel(poly-verify-schedule{max-operations=10}))' -verify-diagnostics

#points = affine_set<(t, i)[T, N] : (t >= 0, T - 1 - t >= 0, i - 1 >= 0, N - 2 - i >= 0)>

// What takes too long is not decided.
poly.kernel @too_many_operations(%A: memref<?x?xf32>, %T: index, %N: index) {
  poly.compute @step domain [#points] reads(%A[affine_map<(t, i)[T, N] -> (t, i + 1)>] : memref<?x?xf32>) writes(%A[affine_map<(t, i)[T, N] -> (t + 1, i)>] : memref<?x?xf32>) {
  ^bb0(%east: f32):
    poly.yield %east : f32
  }
  // expected-error @below {{expects a schedule that can be checked, but got: too many operations on integer sets}}
  poly.schedule {
    poly.band [@step] maps [affine_map<(t, i)[T, N] -> (t floordiv 4, i floordiv 4, t mod 4, i mod 4)>]
        loops [sequential, sequential, sequential, sequential]
  }
}
