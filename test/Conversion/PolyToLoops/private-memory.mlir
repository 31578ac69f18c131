// RUN: espalier-opt %s -convert-poly-to-loops -canonicalize -cse | FileCheck %s

// What the last iteration keeps in memory of its own is used there, though
// nothing would forbid to use it after the loop.
// CHECK-LABEL: func.func @last(
// CHECK:         scf.parallel
// CHECK:           %[[OWN:.*]] = memref.alloca() {{.*}} : memref<1xf32>
// CHECK:           memref.store %{{.*}}, %[[OWN]]
// CHECK:           scf.if
// CHECK:             memref.load %[[OWN]]
// CHECK:           scf.reduce
// CHECK-NOT:     memref.load
// CHECK:         return
poly.kernel @last(%A: memref<4xf32>, %B: memref<4xf32>) {
  %t = poly.array stack : memref<?x1xf32> storage affine_map<(i, e) -> (e)> as memref<1xf32>
  poly.compute @fill dims ["i"] domain [affine_set<(i) : (i >= 0, 3 - i >= 0)>]
      reads(%A[affine_map<(i) -> (i)>] : memref<4xf32>) writes(%t[affine_map<(i) -> (i, 0)>] : memref<?x1xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @use dims ["i"] domain [affine_set<(i) : (i - 3 == 0)>]
      reads(%t[affine_map<(i) -> (i, 0)>] : memref<?x1xf32>) writes(%B[affine_map<(i) -> (i)>] : memref<4xf32>) interleaved 1 {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.schedule {
    poly.band [@fill, @use] maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] loops [parallel] names ["i"] {
      poly.sequence {
        poly.filter [@fill]
        poly.filter [@use]
      }
    }
  }
}
