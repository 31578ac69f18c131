// RUN: espalier-opt %s -convert-poly-to-loops -canonicalize -cse -split-input-file | FileCheck %s

// What a row adds up stays in registers while its lists pass, some of which may
// be empty: the first entry loads it, and nothing is stored if there is none.
#all = affine_set<(n, l, e)[N, L, E] : (n >= 0, N - 1 - n >= 0, l >= 0, L - 1 - l >= 0, e >= 0, E - 1 - e >= 0)>
#lists = affine_set<(n, l, e)[N, L, E, b, c, d, f] : (l - b >= 0, c - 1 - l >= 0, e - d >= 0, f - 1 - e >= 0)>
#n = affine_map<(n, l, e)[N, L, E] -> (n)>
#l = affine_map<(n, l, e)[N, L, E] -> (l)>
#e = affine_map<(n, l, e)[N, L, E] -> (e)>
// CHECK-LABEL: func.func @sums(
// CHECK:         %[[SUM:.*]]:2 = scf.for {{.*}} iter_args(%[[THERE:.*]] = %false, %[[OLD:.*]] = %cst) -> (i1, f32) {
// CHECK:           memref.load %arg1
// CHECK:           memref.load %arg1
// CHECK:           scf.if
// CHECK:             scf.if %[[THERE]] -> (f32) {
// CHECK-NEXT:          scf.yield %[[OLD]]
// CHECK-NEXT:        } else {
// CHECK-NEXT:          memref.load %arg3
// CHECK:             scf.for
// CHECK-NOT:           %arg3
// CHECK:               scf.yield
// CHECK-NOT:       memref.store
// CHECK:         scf.if %[[SUM]]#0 {
// CHECK-NEXT:      memref.store %[[SUM]]#1, %arg3
poly.kernel @sums(%rows: memref<?xi32>, %starts: memref<?xi32>, %x: memref<?xf32>, %y: memref<?xf32>, %N: index, %L: index, %E: index) {
  poly.compute @acc dims ["n", "l", "e"] domain [#all] where #lists
      reads(%rows[#n], %rows[affine_map<(n, l, e)[N, L, E] -> (n + 1)>],
            %starts[#l], %starts[affine_map<(n, l, e)[N, L, E] -> (l + 1)>], %x[#e], %y[#n]
            : memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?xf32>, memref<?xf32>)
      writes(%y[#n] : memref<?xf32>) reduction add {
  ^bb0(%b: i32, %c: i32, %d: i32, %f: i32, %v: f32, %s: f32):
    %r = arith.addf %s, %v : f32
    poly.yield %r : f32
  }
  poly.schedule {
    poly.band [@acc] maps [affine_map<(n, l, e)[N, L, E] -> (n, l, e)>] loops [sequential, sequential, sequential]
  }
}

// -----

// Some list may read what another one adds to: only its own sum is a register.
#all = affine_set<(n, l, e)[N, L, E] : (n >= 0, N - 1 - n >= 0, l >= 0, L - 1 - l >= 0, e >= 0, E - 1 - e >= 0)>
#lists = affine_set<(n, l, e)[N, L, E, d, f] : (e - d >= 0, f - 1 - e >= 0)>
#n = affine_map<(n, l, e)[N, L, E] -> (n)>
#l = affine_map<(n, l, e)[N, L, E] -> (l)>
// CHECK-LABEL: func.func @meets(
// CHECK-NOT:     iter_args
// CHECK:         memref.store
// CHECK:         return
poly.kernel @meets(%starts: memref<?xi32>, %y: memref<?xf32>, %N: index, %L: index, %E: index) {
  poly.compute @acc dims ["n", "l", "e"] domain [#all] where #lists
      reads(%starts[#l], %starts[affine_map<(n, l, e)[N, L, E] -> (l + 1)>], %y[#l], %y[#n]
            : memref<?xi32>, memref<?xi32>, memref<?xf32>, memref<?xf32>)
      writes(%y[#n] : memref<?xf32>) {
  ^bb0(%d: i32, %f: i32, %v: f32, %s: f32):
    %r = arith.addf %s, %v : f32
    poly.yield %r : f32
  }
  poly.schedule {
    poly.band [@acc] maps [affine_map<(n, l, e)[N, L, E] -> (n, l, e)>] loops [sequential, sequential, sequential]
  }
}

// -----

// An element of each list: not the same one in all of them.
#all = affine_set<(n, l, e)[N, L, E] : (n >= 0, N - 1 - n >= 0, l >= 0, L - 1 - l >= 0, e >= 0, E - 1 - e >= 0)>
#lists = affine_set<(n, l, e)[N, L, E, d, f] : (e - d >= 0, f - 1 - e >= 0)>
#l = affine_map<(n, l, e)[N, L, E] -> (l)>
// CHECK-LABEL: func.func @of_lists(
// CHECK:         scf.for
// CHECK-NOT:     iter_args
// CHECK:         scf.for
// CHECK-NOT:     iter_args
// CHECK:         scf.for {{.*}} iter_args({{.*}}) -> (f32)
// CHECK:         }
// CHECK-NEXT:    memref.store
poly.kernel @of_lists(%starts: memref<?xi32>, %x: memref<?xf32>, %y: memref<?xf32>, %N: index, %L: index, %E: index) {
  poly.compute @acc dims ["n", "l", "e"] domain [#all] where #lists
      reads(%starts[#l], %starts[affine_map<(n, l, e)[N, L, E] -> (l + 1)>], %x[affine_map<(n, l, e)[N, L, E] -> (e)>], %y[#l]
            : memref<?xi32>, memref<?xi32>, memref<?xf32>, memref<?xf32>)
      writes(%y[#l] : memref<?xf32>) {
  ^bb0(%d: i32, %f: i32, %v: f32, %s: f32):
    %r = arith.addf %s, %v : f32
    poly.yield %r : f32
  }
  poly.schedule {
    poly.band [@acc] maps [affine_map<(n, l, e)[N, L, E] -> (n, l, e)>] loops [sequential, sequential, sequential]
  }
}
