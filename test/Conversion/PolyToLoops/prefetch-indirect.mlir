// RUN: espalier-opt %s -convert-poly-to-loops -canonicalize -cse | FileCheck %s

// The index of an element eight iterations ahead is read as far as its array
// goes; the element is fetched, whether the loop gets there or not.
// CHECK-LABEL: func.func @spmv(
// CHECK-SAME:    %[[P:[a-z0-9]+]]: memref<?xi32>, %[[C:[a-z0-9]+]]: memref<?xi32>, %[[V:[a-z0-9]+]]: memref<?xf32>, %[[X:[a-z0-9]+]]: memref<?xf32>
// CHECK:         scf.for
// CHECK:           scf.for %[[J:[a-z0-9]*]] =
// CHECK:           %[[AHEAD:.*]] = arith.addi %[[J]], %c8
// CHECK:           %[[INSIDE:.*]] = arith.cmpi ult, %[[AHEAD]], %{{.*}}
// CHECK:           scf.if %[[INSIDE]] {
// CHECK-NEXT:        %[[COL:.*]] = memref.load %[[C]][%[[AHEAD]]]
// CHECK-NEXT:        %[[INDEX:.*]] = arith.index_cast %[[COL]]
// CHECK-NEXT:        memref.prefetch %[[X]][%[[INDEX]]], read
// CHECK-NEXT:      }
// CHECK:           memref.load %[[C]][%[[J]]]

// The place of the index is read too.
// CHECK-LABEL: func.func @from_start(
// CHECK-SAME:    %[[P:[a-z0-9]+]]: memref<?xi32>, %[[C:[a-z0-9]+]]: memref<?xi32>, %[[X:[a-z0-9]+]]: memref<?xf32>
// CHECK:         scf.for %[[N:[a-z0-9]*]] =
// CHECK:           scf.for %[[J:[a-z0-9]*]] =
// CHECK:             scf.if
// CHECK:               %[[START:.*]] = memref.load %[[P]][%[[N]]]
// CHECK:               %[[PLACE:.*]] = arith.addi %{{.*}}, %c8
// CHECK:               %[[INSIDE:.*]] = arith.cmpi ult, %[[PLACE]], %{{.*}}
// CHECK:               scf.if %[[INSIDE]] {
// CHECK:                 %[[COL:.*]] = memref.load %[[C]][%[[PLACE]]]
// CHECK:                 %[[INDEX:.*]] = arith.index_cast %[[COL]]
// CHECK:                 memref.prefetch %[[X]][%[[INDEX]]], read
#all = affine_set<(n, j)[N, E] : (n >= 0, N - 1 - n >= 0, j >= 0, E - 1 - j >= 0)>
#row = affine_set<(n, j)[N, E, b, e] : (j - b >= 0, e - 1 - j >= 0)>
#n = affine_map<(n, j)[N, E] -> (n)>
#j = affine_map<(n, j)[N, E] -> (j)>
#nj = affine_map<(n, j)[N, E] -> (n, j)>
poly.kernel @spmv(%P: memref<?xi32> {poly.monotonic}, %C: memref<?xi32>, %V: memref<?xf32>, %x: memref<?xf32>, %y: memref<?xf32>, %N: index, %E: index) {
  poly.compute @acc dims ["n", "j"] domain [#all] where #row
      reads(%P[#n], %P[affine_map<(n, j)[N, E] -> (n + 1)>], %C[#j], %V[#j],
            %x[affine_map<(n, j)[N, E, b, e, c, v] -> (c)>], %y[#n]
            : memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?xf32>, memref<?xf32>, memref<?xf32>)
      writes(%y[#n] : memref<?xf32>) reduction add {
  ^bb0(%b: i32, %e: i32, %c: i32, %v: f32, %xv: f32, %s: f32):
    %p = arith.mulf %v, %xv : f32
    %r = arith.addf %s, %p : f32
    poly.yield %r : f32
  }
  poly.schedule {
    poly.band [@acc] maps [#nj] loops [sequential, sequential] {
      poly.prefetch @acc read 4 at affine_map<(n, j)[N, E] -> (n, j + 8)> bytes 64 {
      }
    }
  }
}

poly.kernel @from_start(%P: memref<?xi32>, %C: memref<?xi32>, %x: memref<?xf32>, %y: memref<?xf32>, %N: index, %E: index) {
  poly.compute @acc dims ["n", "j"] domain [#all] where affine_set<(n, j)[N, E, b, e] : (e - 1 - b - j >= 0)>
      reads(%P[#n], %P[affine_map<(n, j)[N, E] -> (n + 1)>], %C[affine_map<(n, j)[N, E, b, e] -> (b + j)>],
            %x[affine_map<(n, j)[N, E, b, e, c] -> (c)>], %y[#n]
            : memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?xf32>, memref<?xf32>)
      writes(%y[#n] : memref<?xf32>) reduction add {
  ^bb0(%b: i32, %e: i32, %c: i32, %xv: f32, %s: f32):
    %r = arith.addf %s, %xv : f32
    poly.yield %r : f32
  }
  poly.schedule {
    poly.band [@acc] maps [#nj] loops [sequential, sequential] {
      poly.prefetch @acc read 3 at affine_map<(n, j)[N, E] -> (n, j + 8)> bytes 64 {
      }
    }
  }
}
