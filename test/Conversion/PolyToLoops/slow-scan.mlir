// RUN: espalier-opt %s -convert-poly-to-loops | FileCheck %s

// Full tiles of sets with strides take isl too long: then they have no code of
// their own, and every schedule that was accepted has loops.

// CHECK-LABEL: func.func @strided
// CHECK:       scf.for
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             memref.store
poly.kernel @strided(%y: memref<?x?xi64>, %n: index, %m: index) {
  poly.compute @c dims ["i", "j", "k"]
      domain [affine_set<(i, j, k)[n, m] : (i >= 0, n - 1 - i >= 0, j >= 0, 6 - j >= 0, k - 2 >= 0, m - 1 - k >= 0, i mod 2 == 0)>,
              affine_set<(i, j, k)[n, m] : (i >= 0, 2 - i >= 0, j >= 0, m - 1 - j >= 0, k >= 0, m - 1 - k >= 0, (i + j + k) mod 2 == 0)>]
      reads() writes(%y[affine_map<(i, j, k)[n, m] -> (i, k)>] : memref<?x?xi64>) {
    %c = arith.constant 2 : i64
    poly.yield %c : i64
  }
  poly.schedule {
    poly.band [@c] maps [affine_map<(i, j, k)[n, m] -> (i - 2)>] loops [sequential] names ["i"] {
      poly.band [@c] maps [affine_map<(i, j, k)[n, m] -> (j)>] loops [sequential] names ["j"] {
        poly.band [@c] maps [affine_map<(i, j, k)[n, m] -> ((k + m + 1) floordiv 12)>] loops [sequential] names ["k0"] full_tiles {
          poly.band [@c] maps [affine_map<(i, j, k)[n, m] -> (((k + m + 1) mod 12) floordiv 3, (k + m + 1) mod 3)>] loops [unroll, sequential] names ["k1", "k2"] {
          }
        }
      }
    }
  }
}
