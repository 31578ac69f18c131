// RUN: espalier-opt %s -split-input-file -convert-poly-to-loops -canonicalize -cse | FileCheck %s

// The loop runs over a row, and the sum stays in a register.
// CHECK-LABEL: func.func @spmv(
// CHECK-SAME:    %[[P:.*]]: memref<?xi32>, %[[C:.*]]: memref<?xi32>, %[[V:.*]]: memref<?xf32>, %[[X:.*]]: memref<?xf32>, %[[Y:.*]]: memref<?xf32>
// CHECK:         scf.for %[[N:.*]] = %c0
// CHECK:           %[[B0:.*]] = memref.load %[[P]][%[[N]]]
// CHECK:           %[[NEXT:.*]] = arith.addi %[[N]], %c1
// CHECK:           %[[E0:.*]] = memref.load %[[P]][%[[NEXT]]]
// CHECK:           %[[B:.*]] = arith.index_cast %[[B0]]
// CHECK:           %[[L:.*]] = arith.maxsi %[[B]], %c0
// CHECK:           %[[E:.*]] = arith.index_cast %[[E0]]
// CHECK:           %[[U:.*]] = arith.minsi {{.*}}%[[E]]
// CHECK:           arith.cmpi slt, %[[L]], %[[U]]
// CHECK:           memref.load %[[Y]][%[[N]]]
// CHECK:           %[[SUM:.*]] = scf.for %[[J:.*]] = %[[L]] to %[[U]] {{.*}} iter_args
// CHECK-NOT:         scf.if
// CHECK-NOT:         memref.store
// CHECK:             %[[COL:.*]] = memref.load %[[C]][%[[J]]]
// CHECK:             memref.load %[[X]]
// CHECK:             scf.yield
// CHECK:           memref.store %[[SUM]], %[[Y]][%[[N]]]
#all = affine_set<(n, j)[N, E] : (n >= 0, N - 1 - n >= 0, j >= 0, E - 1 - j >= 0)>
#row = affine_set<(n, j)[N, E, b, e] : (j - b >= 0, e - 1 - j >= 0)>
#n = affine_map<(n, j)[N, E] -> (n)>
#j = affine_map<(n, j)[N, E] -> (j)>
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
}

// -----

// Lanes of a row: from its first element on, and masked where some are not in
// the row.
// CHECK-LABEL: func.func @lanes(
// CHECK:         scf.for
// CHECK:           memref.load %{{.*}}[%{{.*}}] : memref<?xi32>
// CHECK:           scf.for
// CHECK-NOT:         scf.if
// CHECK:             %[[FIRST:.*]] = arith.maxsi
// CHECK:             %[[LAST:.*]] = arith.minsi
// CHECK:             %[[COUNT0:.*]] = arith.subi {{.*}}, %[[FIRST]]
// CHECK:             %[[COUNT:.*]] = arith.maxsi %[[COUNT0]], %c0
// CHECK:             vector.create_mask %[[COUNT]] : vector<8xi1>
// CHECK:             %[[FULL:.*]] = arith.cmpi eq, %[[COUNT]], %c8
// CHECK:             scf.if %[[FULL]] {
// CHECK:               vector.load
// CHECK:               vector.store
// CHECK:             } else {
// CHECK:               vector.maskedload
// CHECK-NOT:           scf.if
// CHECK:               vector.maskedstore
#all = affine_set<(n, j)[N, E] : (n >= 0, N - 1 - n >= 0, j >= 0, E - 1 - j >= 0)>
#row = affine_set<(n, j)[N, E, b, e] : (j - b >= 0, e - 1 - j >= 0)>
#n = affine_map<(n, j)[N, E] -> (n)>
#j = affine_map<(n, j)[N, E] -> (j)>
poly.kernel @lanes(%P: memref<?xi32> {poly.monotonic}, %s: memref<?xf32>, %x: memref<?xf32>, %N: index, %E: index) {
  poly.compute @scale dims ["n", "j"] domain [#all] where #row
      reads(%P[#n], %P[affine_map<(n, j)[N, E] -> (n + 1)>], %s[#n], %x[#j] : memref<?xi32>, memref<?xi32>, memref<?xf32>, memref<?xf32>)
      writes(%x[#j] : memref<?xf32>) {
  ^bb0(%b: i32, %e: i32, %a: f32, %v: f32):
    %r = arith.mulf %a, %v : f32
    poly.yield %r : f32
  }
  poly.schedule {
    poly.band [@scale] maps [affine_map<(n, j)[N, E] -> (n, j floordiv 8, j mod 8)>] loops [sequential, sequential, vector(8)]
  }
}

// -----

// A computation without the condition runs in all iterations, the other one
// where it holds. What the kernel writes is read at each point.
// CHECK-LABEL: func.func @guarded(
// CHECK:         scf.for %[[I:.*]] = %c0
// CHECK:           memref.store
// CHECK:           %[[V:.*]] = memref.load
// CHECK:           %[[HOLDS:.*]] = arith.cmpi sge
// CHECK:           scf.if %[[HOLDS]]
// CHECK:             memref.store
#all = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>
poly.kernel @guarded(%m: memref<?xi32>, %x: memref<?xi32>, %y: memref<?xf32>, %N: index) {
  poly.compute @mask dims ["i"] domain [#all] reads(%x[#i] : memref<?xi32>) writes(%m[#i] : memref<?xi32>) {
  ^bb0(%v: i32):
    poly.yield %v : i32
  }
  poly.compute @clear dims ["i"] domain [#all] where affine_set<(i)[N, m] : (m - 1 - i >= 0)>
      reads(%m[#i] : memref<?xi32>) writes(%y[#i] : memref<?xf32>) {
  ^bb0(%v: i32):
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.schedule {
    poly.band [@mask, @clear] maps [#i, #i] loops [sequential] {
      poly.sequence {
        poly.filter [@mask]
        poly.filter [@clear]
      }
    }
  }
}

// -----

// What 64 bits may not hold is compared in more, unless a bound is stated.
// CHECK-LABEL: func.func @wide(
// CHECK:         %[[V:.*]] = memref.load %{{.*}} : memref<?xi64>
// CHECK:         %[[B:.*]] = memref.load %{{.*}} : memref<?xi64>
// CHECK:         %[[W:.*]] = arith.extsi %[[V]] : i64 to i128
// CHECK-NEXT:    %[[LOW:.*]] = arith.addi %[[W]], %{{.*}} overflow<nsw> : i128
// CHECK-NEXT:    arith.cmpi sge, %[[LOW]], %{{.*}} : i128
// CHECK:         %[[I:.*]] = arith.index_cast %[[B]] : i64 to index
// CHECK-NEXT:    %[[NEAR:.*]] = arith.addi %[[I]], %{{.*}} overflow<nsw> : index
// CHECK-NEXT:    arith.cmpi sge, %[[NEAR]], %{{.*}} : index
#all = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>
poly.kernel @wide(%c: memref<?xi64>, %b: memref<?xi64> {poly.bounded_by = affine_map<()[N] -> (N)>}, %y: memref<?xf32>, %N: index) {
  poly.compute @one dims ["i"] domain [#all] where affine_set<(i)[N, c, b] : (c - 7 >= 0, b - 7 >= 0)>
      reads(%c[#i], %b[#i] : memref<?xi64>, memref<?xi64>) writes(%y[#i] : memref<?xf32>) {
  ^bb0(%v: i64, %w: i64):
    %one = arith.constant 1.0 : f32
    poly.yield %one : f32
  }
}
