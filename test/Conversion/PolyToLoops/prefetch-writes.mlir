// RUN: espalier-opt %s -convert-poly-to-loops | FileCheck %s

#ij = affine_set<(i, j) : (i >= 0, 2 - i >= 0, j >= 0, 3 - j >= 0)>
#i = affine_set<(i) : (i >= 0, 2 - i >= 0)>
#id = affine_map<(i, j) -> (i, j)>

// What is written is fetched for that. The array of a loop's iterations, each of
// which has its own, is not there outside, and what is in it is not fetched.
// CHECK-LABEL: func.func @k(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<3x4xf32>, %[[Y:[a-z0-9]+]]: memref<3x4xf32>
// CHECK:         %[[FLAT:.*]] = memref.collapse_shape %[[Y]]
// CHECK:         scf.for
// CHECK:           memref.prefetch %[[FLAT]][%{{.*}}], write
// CHECK-NOT:       memref.prefetch
poly.kernel @k(%x: memref<3x4xf32>, %y: memref<3x4xf32>, %z: memref<3xf32>) {
  %p = poly.array stack : memref<3x4xf32> storage affine_map<(i, j) -> (j)> as memref<4xf32>
  poly.compute @fill dims ["i"] domain [#i] reads() writes(%z[affine_map<(i) -> (i)>] : memref<3xf32>) {
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
  poly.compute @a dims ["i", "j"] domain [#ij] reads(%x[#id] : memref<3x4xf32>) writes(%p[#id] : memref<3x4xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @b dims ["i", "j"] domain [#ij] reads(%p[#id] : memref<3x4xf32>) writes(%y[#id] : memref<3x4xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.schedule {
    poly.sequence {
      poly.filter [@fill] {
        poly.band [@fill] maps [affine_map<(i) -> (i)>] loops [sequential] {
          poly.prefetch @fill write 0 of @b at affine_map<(i) -> (i, 0)> bytes 16 {
            poly.prefetch @fill write 0 of @a at affine_map<(i) -> (i, 0)> bytes 16 {
              poly.prefetch @fill read 0 of @b at affine_map<(i) -> (i, 0)> bytes 16
            }
          }
        }
      }
      poly.filter [@a, @b] {
        poly.band [@a, @b] maps [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>] loops [parallel] {
          poly.sequence {
            poly.filter [@a] { poly.band [@a] maps [affine_map<(i, j) -> (j)>] loops [sequential] }
            poly.filter [@b] { poly.band [@b] maps [affine_map<(i, j) -> (j)>] loops [sequential] }
          }
        }
      }
    }
  }
}
