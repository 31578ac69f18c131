// RUN: espalier-opt %s -pass-pipeline='builtin.module(poly.kernel(poly-default-schedule,poly-verify-schedule))' | FileCheck %s

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>
#a = affine_map<(j, k) -> (k)>
#b = affine_map<(j, k) -> (k, j)>
#c = affine_map<(j, k) -> (j)>
#m = affine_map<(j) -> (j)>
#p = affine_map<(i, j) -> (i, j)>
#pa = affine_map<(i, j, k) -> (i, k)>
#pb = affine_map<(i, j, k) -> (j, k)>
#pc = affine_map<(i, j, k) -> (i, j)>
#tile = affine_set<(i, j) : (i >= 0, 2 - i >= 0, j >= 0, 3999 - j >= 0)>
#terms = affine_set<(i, j, k) : (i >= 0, 2 - i >= 0, j >= 0, 3999 - j >= 0, k >= 0, 999 - k >= 0)>
#row = affine_set<(j) : (j >= 0, 4095 - j >= 0)>
#part = affine_set<(j) : (j >= 0, 1999 - j >= 0)>
#few = affine_set<(j, k) : (j >= 0, 1999 - j >= 0, k >= 0, 4094 - k >= 0)>
#points = affine_set<(j, k) : (j >= 0, 4095 - j >= 0, k >= 0, 4094 - k >= 0)>

// A matrix that is read once, along eight rows at a time, half of each by one thread. The last part of the sum has fewer.
// CHECK-DAG: #[[PART:.*]] = affine_map<(d0, d1) -> (d0 floordiv 2048)>
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1) -> (d1 floordiv 8, (d0 mod 2048) floordiv 16, d1 mod 8, d0 mod 16)>
// CHECK-DAG: #[[FAR:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[FARSUM:.*]] = affine_map<(d0, d1, d2) -> (d1, d0)>
// Halves of rows that are less than a page: each step fetches a row's part for a later one.
// CHECK-DAG: #[[AHEAD:.*]] = affine_map<(d0, d1) -> (d0, d1 + 16)>

module attributes {poly.target = #target} {
  // CHECK-LABEL: poly.kernel @vector
  // CHECK-NOT:   poly.prefetch
  // CHECK:       poly.band [@init, @acc, @out] maps [#{{.*}}, #[[PART]], #{{.*}}] loops [parallel]
  // CHECK:       poly.band [@acc] maps [#[[ROWS]]] loops [sequential, sequential, unroll, vector(16)]
  poly.kernel @vector(%A: memref<4095xf32>, %B: memref<4095x4096xf32>, %C: memref<4096xf32>) {
    %sum = poly.array : memref<4096xf32>
    poly.compute @init domain [#row] reads() writes(%sum[#m] : memref<4096xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc domain [#points] reads(%A[#a], %B[#b], %sum[#c] : memref<4095xf32>, memref<4095x4096xf32>, memref<4096xf32>)
        writes(%sum[#c] : memref<4096xf32>) reduction add {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      poly.yield %t : f32
    }
    poly.compute @out domain [#row] reads(%sum[#m] : memref<4096xf32>) writes(%C[#m] : memref<4096xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
  }

  // CHECK-LABEL: poly.kernel @narrow
  // CHECK:       poly.prefetch @acc read 1 at #[[AHEAD]] bytes 512
  poly.kernel @narrow(%A: memref<4095xf32>, %B: memref<4095x2000xf32>, %C: memref<2000xf32>) {
    %sum = poly.array : memref<2000xf32>
    poly.compute @init domain [#part] reads() writes(%sum[#m] : memref<2000xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc domain [#few] reads(%A[#a], %B[#b], %sum[#c] : memref<4095xf32>, memref<4095x2000xf32>, memref<2000xf32>)
        writes(%sum[#c] : memref<2000xf32>) reduction add {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      poly.yield %t : f32
    }
    poly.compute @out domain [#part] reads(%sum[#m] : memref<2000xf32>) writes(%C[#m] : memref<2000xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
  }

  // Three rows by each of the rows of a matrix, which is read once for all.
  // CHECK-LABEL: poly.kernel @rows
  // CHECK:       poly.band [@init, @acc, @out] maps [#[[FAR]], #[[FARSUM]], #[[FAR]]] loops [parallel, sequential]
  poly.kernel @rows(%A: memref<3x1000xf32>, %B: memref<4000x1000xf32>, %C: memref<3x4000xf32>) {
    %sum = poly.array : memref<3x4000xf32>
    poly.compute @init domain [#tile] reads() writes(%sum[#p] : memref<3x4000xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc domain [#terms] reads(%A[#pa], %B[#pb], %sum[#pc] : memref<3x1000xf32>, memref<4000x1000xf32>, memref<3x4000xf32>)
        writes(%sum[#pc] : memref<3x4000xf32>) reduction add {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      poly.yield %t : f32
    }
    poly.compute @out domain [#tile] reads(%sum[#p] : memref<3x4000xf32>) writes(%C[#p] : memref<3x4000xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
  }
}
