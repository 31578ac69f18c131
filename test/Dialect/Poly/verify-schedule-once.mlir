// What the pass that makes a schedule has proved is not proved again, so that
// no operations are left for it.
// RUN: espalier-opt %s -pass-pipeline='builtin.module(poly.kernel(poly-default-schedule,poly-verify-schedule{max-operations=1}))' | FileCheck %s
// Others prove it.
// RUN: espalier-opt %s -pass-pipeline='builtin.module(poly.kernel(poly-default-schedule))' -o %t
// RUN: not espalier-opt %t -pass-pipeline='builtin.module(poly.kernel(poly-verify-schedule{max-operations=1}))' 2>&1 | FileCheck %s --check-prefix=AGAIN

// CHECK: poly.schedule
// AGAIN: expects a schedule that can be checked, but got: too many operations on integer sets
poly.kernel @shift(%A: memref<40x40xf32>) {
  poly.compute @step domain [affine_set<(t, i) : (t >= 0, 38 - t >= 0, i >= 0, 38 - i >= 0)>]
      reads(%A[affine_map<(t, i) -> (t, i)>] : memref<40x40xf32>)
      writes(%A[affine_map<(t, i) -> (t + 1, i)>] : memref<40x40xf32>) {
  ^bb0(%before: f32):
    poly.yield %before : f32
  }
}
