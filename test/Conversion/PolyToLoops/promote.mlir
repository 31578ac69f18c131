// RUN: espalier-opt %s -convert-poly-to-loops -canonicalize -cse -split-input-file | FileCheck %s

// The sums of a tile are vectors that the loop carries; nothing is stored in it.
#p = affine_set<(i, k, j)[N] : (i >= 0, 15 - i >= 0, k >= 0, N - 1 - k >= 0, j >= 0, 15 - j >= 0)>
#ij = affine_map<(i, k, j)[N] -> (i, j)>
#ik = affine_map<(i, k, j)[N] -> (i, k)>
#kj = affine_map<(i, k, j)[N] -> (k, j)>
// CHECK-LABEL: func.func @product(
// CHECK:          scf.if
// CHECK-COUNT-2:  vector.load
// CHECK:          scf.for {{.*}} iter_args({{.*}}, {{.*}}) -> (vector<8xf32>, vector<8xf32>) {
// CHECK-NOT:        store
// CHECK:            scf.yield
// CHECK-NEXT:     }
// CHECK-COUNT-2:  vector.store
poly.kernel @product(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>, %N: index) {
  poly.compute @acc dims ["i", "k", "j"] domain [#p] reads(%C[#ij], %A[#ik], %B[#kj] : memref<?x?xf32>, memref<?x?xf32>, memref<?x?xf32>) writes(%C[#ij] : memref<?x?xf32>) reduction add {
  ^bb0(%c: f32, %a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    poly.yield %s : f32
  }
  poly.schedule {
    poly.band [@acc] maps [affine_map<(i, k, j)[N] -> (i floordiv 2, j floordiv 8, k, i mod 2, j mod 8)>]
        loops [sequential, sequential, sequential, unroll, vector(8)]
  }
}

// -----

// Elements of one array: the loop's bounds tell a[i, j] from a[i, k] and
// a[k, j], which come before it.
#p = affine_set<(i, j, k)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, i - 1 - j >= 0, k >= 0, j - 1 - k >= 0)>
#ij = affine_map<(i, j, k)[N] -> (i, j)>
#ik = affine_map<(i, j, k)[N] -> (i, k)>
#kj = affine_map<(i, j, k)[N] -> (k, j)>
// CHECK-LABEL: func.func @eliminate(
// CHECK:         scf.if
// CHECK:           %[[SUM:.*]] = memref.load
// CHECK-NEXT:      %[[LAST:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[SUM]]) -> (f32) {
// CHECK-NOT:         store
// CHECK:           }
// CHECK-NEXT:      memref.store %[[LAST]]
poly.kernel @eliminate(%A: memref<?x?xf32>, %N: index) {
  poly.compute @update dims ["i", "j", "k"] domain [#p] reads(%A[#ij], %A[#ik], %A[#kj] : memref<?x?xf32>, memref<?x?xf32>, memref<?x?xf32>) writes(%A[#ij] : memref<?x?xf32>) {
  ^bb0(%c: f32, %a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.subf %c, %m : f32
    poly.yield %s : f32
  }
  poly.schedule {
    poly.band [@update] maps [affine_map<(i, j, k)[N] -> (i, j, k)>] loops [sequential, sequential, sequential]
  }
}

// -----

// Here the loop also reads what it writes, in one of its iterations.
#p = affine_set<(i, k)[N] : (i >= 0, N - 1 - i >= 0, k >= 0, N - 1 - k >= 0)>
#i = affine_map<(i, k)[N] -> (i)>
#k = affine_map<(i, k)[N] -> (k)>
// CHECK-LABEL: func.func @meets(
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK-NOT:       iter_args
// CHECK:             memref.store
poly.kernel @meets(%A: memref<?xf32>, %N: index) {
  poly.compute @update dims ["i", "k"] domain [#p] reads(%A[#i], %A[#k] : memref<?xf32>, memref<?xf32>) writes(%A[#i] : memref<?xf32>) {
  ^bb0(%c: f32, %a: f32):
    %s = arith.addf %c, %a : f32
    poly.yield %s : f32
  }
  poly.schedule {
    poly.band [@update] maps [affine_map<(i, k)[N] -> (i, k)>] loops [sequential, sequential]
  }
}

// -----

// The lanes that a loop's own iterator masks are not the same in all of them.
#p = affine_set<(k, j)[N] : (k >= 0, N - 1 - k >= 0, j >= 0, k - j >= 0, 7 - j >= 0)>
#j = affine_map<(k, j)[N] -> (j)>
#k = affine_map<(k, j)[N] -> (k)>
// CHECK-LABEL: func.func @masked(
// CHECK:         scf.for
// CHECK-NOT:       iter_args
// CHECK:           vector.create_mask
// CHECK:           vector.maskedstore
poly.kernel @masked(%A: memref<?xf32>, %B: memref<?xf32>, %N: index) {
  poly.compute @update dims ["k", "j"] domain [#p] reads(%A[#j], %B[#k] : memref<?xf32>, memref<?xf32>) writes(%A[#j] : memref<?xf32>) {
  ^bb0(%c: f32, %a: f32):
    %s = arith.addf %c, %a : f32
    poly.yield %s : f32
  }
  poly.schedule {
    poly.band [@update] maps [affine_map<(k, j)[N] -> (k, j)>] loops [sequential, vector(8)]
  }
}

// -----

// What is read at data may be any element, but of its own array alone, even if
// the kernel writes that one elsewhere.
#p = affine_set<(i, k)[N] : (i >= 0, N - 1 - i >= 0, k >= 0, N - 1 - k >= 0)>
#q = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i, k)[N] -> (i)>
#k = affine_map<(i, k)[N] -> (k)>
#data = affine_map<(i, k)[N, at] -> (at)>
#own = affine_map<(i)[N] -> (i)>
// CHECK-LABEL: func.func @other_array(
// CHECK:         memref.store %{{.*}}, %arg1
// CHECK:         scf.for
// CHECK:           memref.load %arg2
// CHECK:           scf.for {{.*}} iter_args
// CHECK-NOT:         memref.store
// CHECK:             scf.yield
// CHECK:           memref.store %{{.*}}, %arg2
poly.kernel @other_array(%at: memref<?xi32> {poly.bounded_by = affine_map<()[N] -> (N)>}, %B: memref<?xf32>, %A: memref<?xf32>, %N: index) {
  poly.compute @fill domain [#q] reads() writes(%B[#own] : memref<?xf32>) {
    %c = arith.constant 1.0 : f32
    poly.yield %c : f32
  }
  poly.compute @update dims ["i", "k"] domain [#p] reads(%at[#k], %B[#data], %A[#i] : memref<?xi32>, memref<?xf32>, memref<?xf32>) writes(%A[#i] : memref<?xf32>) {
  ^bb0(%n: i32, %b: f32, %c: f32):
    %s = arith.addf %c, %b : f32
    poly.yield %s : f32
  }
  poly.schedule {
    poly.sequence {
      poly.filter [@fill] {
        poly.band [@fill] maps [#own] loops [sequential]
      }
      poly.filter [@update] {
        poly.band [@update] maps [affine_map<(i, k)[N] -> (i, k)>] loops [sequential, sequential]
      }
    }
  }
}

// -----

// It may be what the loop writes.
#p = affine_set<(i, k)[N] : (i >= 0, N - 1 - i >= 0, k >= 0, N - 1 - k >= 0)>
#i = affine_map<(i, k)[N] -> (i)>
#k = affine_map<(i, k)[N] -> (k)>
#data = affine_map<(i, k)[N, at] -> (at)>
// CHECK-LABEL: func.func @same_array(
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK-NOT:       iter_args
// CHECK:             memref.store
poly.kernel @same_array(%at: memref<?xi32> {poly.bounded_by = affine_map<()[N] -> (N)>}, %A: memref<?xf32>, %N: index) {
  poly.compute @update dims ["i", "k"] domain [#p] reads(%at[#k], %A[#data], %A[#i] : memref<?xi32>, memref<?xf32>, memref<?xf32>) writes(%A[#i] : memref<?xf32>) {
  ^bb0(%n: i32, %b: f32, %c: f32):
    %s = arith.addf %c, %b : f32
    poly.yield %s : f32
  }
  poly.schedule {
    poly.band [@update] maps [affine_map<(i, k)[N] -> (i, k)>] loops [sequential, sequential]
  }
}
