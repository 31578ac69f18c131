// RUN: espalier-opt %s -convert-poly-to-loops -canonicalize -convert-scf-to-openmp | FileCheck %s

// Directly nested parallel loops are one loop to the threads, whatever their
// extents: 3 rows of 1000 elements keep 8 of them busy. OpenMP divides the
// iterations, and finds the two indices again.
// CHECK-LABEL: func.func @tiles(
// CHECK-SAME:    %[[M:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index)
// CHECK:         omp.loop_nest (%{{.*}}, %{{.*}}) : index = (%c0, %c0) to (%{{.*}}, %{{.*}}) step (%c1, %c1) collapse(2)
// CHECK-COUNT-2: scf.for
#all = affine_set<(i, j)[M, N] : (i >= 0, M - 1 - i >= 0, j >= 0, N - 1 - j >= 0)>
#ij = affine_map<(i, j)[M, N] -> (i, j)>
poly.kernel @tiles(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %M: index, %N: index) {
  poly.compute @copy dims ["i", "j"] domain [#all] reads(%x[#ij] : memref<?x?xf32>) writes(%y[#ij] : memref<?x?xf32>) {
  ^bb0(%v: f32):
    poly.yield %v : f32
  }
  poly.schedule {
    poly.band [@copy] maps [affine_map<(i, j)[M, N] -> (i floordiv 4, j floordiv 8, i mod 4, j mod 8)>]
        loops [parallel, parallel, sequential, sequential]
  }
}

// The inner bounds depend on the outer loop: threads divide that alone.
// CHECK-LABEL: func.func @triangle(
// CHECK:         omp.loop_nest (%[[I:.*]]) : index = (%c0) to (%{{.*}}) step (%c1) {
#triangle = affine_set<(i, j)[M, N] : (i >= 0, M - 1 - i >= 0, j >= 0, i - j >= 0)>
poly.kernel @triangle(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %M: index, %N: index) {
  poly.compute @copy dims ["i", "j"] domain [#triangle] reads(%x[#ij] : memref<?x?xf32>) writes(%y[#ij] : memref<?x?xf32>) {
  ^bb0(%v: f32):
    poly.yield %v : f32
  }
  poly.schedule { poly.band [@copy] maps [#ij] loops [parallel, parallel] }
}
