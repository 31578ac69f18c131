// RUN: espalier-opt %s -pass-pipeline='builtin.module(poly.kernel(poly-default-schedule,poly-verify-schedule))' | FileCheck %s

// What writes nothing has no array that its loops would go along.
// CHECK-LABEL: poly.kernel @nothing
// CHECK:         writes()
// CHECK-NOT:     vector(
poly.kernel @nothing(%x: memref<32xf32>) {
  poly.compute @s domain [affine_set<(i) : (i >= 0, 31 - i >= 0)>]
      reads(%x[affine_map<(i) -> (i)>] : memref<32xf32>) writes() {
  ^bb0(%v: f32):
    poly.yield
  }
}
