// RUN: espalier-opt %s -convert-poly-to-loops -canonicalize -split-input-file | FileCheck %s

#row = affine_map<(i) -> (i)>
#points = affine_set<(i) : (i >= 0, 18 - i >= 0)>
#tiles = affine_map<(i) -> (i floordiv 8, i mod 8)>

// Of 19 elements, two vectors are whole. The rest follows with a mask.
// CHECK-LABEL: func.func @of_nineteen(
// CHECK-NOT:     mask
// CHECK:         scf.for %{{.*}} = %c0 to %c2 step %c1
// CHECK-NOT:     mask
// CHECK:           vector.store
// CHECK:         %[[MASK:.*]] = vector.constant_mask [3] : vector<8xi1>
// CHECK:         vector.maskedload %{{.*}}[%c16], %[[MASK]]
// CHECK:         vector.maskedstore %{{.*}}[%c16], %[[MASK]]
poly.kernel @of_nineteen(%A: memref<19xf32>, %B: memref<19xf32>) {
  poly.compute @s domain [#points] reads(%A[#row] : memref<19xf32>) writes(%B[#row] : memref<19xf32>) {
  ^bb0(%x: f32):
    %y = arith.negf %x : f32
    poly.yield %y : f32
  }
  poly.schedule {
    poly.band [@s] maps [#tiles] loops [sequential, vector(8)] {
    }
  }
}

// -----

#row = affine_map<(i) -> (i)>
#points = affine_set<(i) : (i >= 0, 6 - i >= 0)>
#tiles = affine_map<(i) -> (i floordiv 8, i mod 8)>

// No vector is whole.
// CHECK-LABEL: func.func @of_seven(
// CHECK-NOT:     scf.for
// CHECK:         vector.maskedstore
// CHECK-NEXT:    return
poly.kernel @of_seven(%A: memref<7xf32>, %B: memref<7xf32>) {
  poly.compute @s domain [#points] reads(%A[#row] : memref<7xf32>) writes(%B[#row] : memref<7xf32>) {
  ^bb0(%x: f32):
    %y = arith.negf %x : f32
    poly.yield %y : f32
  }
  poly.schedule {
    poly.band [@s] maps [#tiles] loops [sequential, vector(8)] {
    }
  }
}

// -----

#row = affine_map<(i, j)[N] -> (i, j)>
#start = affine_map<(i)[N] -> (i)>
#sum = affine_map<(i, j)[N] -> (i)>
#rows = affine_set<(i)[N] : (i >= 0, 3 - i >= 0)>
#points = affine_set<(i, j)[N] : (i >= 0, 3 - i >= 0, j >= 0, N - 1 - j >= 0)>
#tiles = affine_map<(i, j)[N] -> (j floordiv 8, j mod 8)>

// The length is known when the program runs: a sum adds whole vectors, then
// what is left.
// CHECK-LABEL: func.func @of_any(
// CHECK:         scf.if
// CHECK:         %[[FULL:.*]] = arith.minsi
// CHECK:         %[[PART:.*]] = scf.for %{{.*}} = %c0 to %[[FULL]] step %c1 iter_args({{.*}}) -> (vector<8xf32>)
// CHECK-NOT:       mask
// CHECK:           vector.load
// CHECK:         %[[SUM:.*]] = vector.reduction <add>, %[[PART]], %{{.*}}
// CHECK:         scf.for
// CHECK:           vector.create_mask
// CHECK:           vector.maskedload
poly.kernel @of_any(%A: memref<4x?xf32>, %B: memref<4xf32>, %N: index) {
  poly.compute @s_init domain [#rows] reads() writes(%B[#start] : memref<4xf32>) {
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
  poly.compute @s domain [#points] reads(%A[#row], %B[#sum] : memref<4x?xf32>, memref<4xf32>) writes(%B[#sum] : memref<4xf32>) reduction add {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %y, %x : f32
    poly.yield %z : f32
  }
  poly.schedule {
    poly.band [@s_init, @s] maps [#start, #sum] loops [sequential] {
      poly.sequence {
        poly.filter [@s_init] {
        }
        poly.filter [@s] {
          poly.band [@s] maps [#tiles] loops [sequential, vector(8)] {
          }
        }
      }
    }
  }
}
