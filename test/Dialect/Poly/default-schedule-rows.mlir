// RUN: espalier-opt %s -pass-pipeline='builtin.module(poly.kernel(poly-default-schedule,poly-verify-schedule))' | FileCheck %s

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>
#x = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#y = affine_map<(i, j, k) -> (i, j)>
#m = affine_map<(i, j) -> (i, j)>

// A matrix that is read once: four rows at a time, along the rows. Threads
// share the columns, and each has the sums of its own.
// CHECK-DAG:   #[[SUMS:.*]] = affine_map<(d0, d1) -> (d1 mod 1024)>
// CHECK-DAG:   #[[TERMS:.*]] = affine_map<(d0, d1, d2) -> (d2 floordiv 4, (d1 mod 1024) floordiv 16, d2 mod 4, d1 mod 16)>
// CHECK-LABEL: poly.kernel @product
// CHECK:         poly.array stack : memref<1x2048xf32> storage #[[SUMS]] as memref<1024xf32>
// CHECK:         poly.band [@init, @acc, @out] maps {{.*}} loops [parallel] {
// CHECK:           poly.band [@acc] maps [#[[TERMS]]] loops [sequential, sequential, unroll, vector(16)]
#rows = affine_set<(i, j) : (i >= 0, -i >= 0, j >= 0, 2047 - j >= 0)>
#terms = affine_set<(i, j, k) : (i >= 0, -i >= 0, j >= 0, 2047 - j >= 0, k >= 0, 1023 - k >= 0)>
module attributes {poly.target = #target} {
  poly.kernel @product(%x: memref<1x1024xf32>, %B: memref<1024x2048xf32>, %y: memref<1x2048xf32>) {
    %sum = poly.array : memref<1x2048xf32>
    poly.compute @init domain [#rows] reads() writes(%sum[#m] : memref<1x2048xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc domain [#terms] reads(%x[#x], %B[#b], %sum[#y] : memref<1x1024xf32>, memref<1024x2048xf32>, memref<1x2048xf32>)
        writes(%sum[#y] : memref<1x2048xf32>) reduction add {
    ^bb0(%a: f32, %b: f32, %s: f32):
      %p = arith.mulf %a, %b : f32
      %t = arith.addf %s, %p : f32
      poly.yield %t : f32
    }
    poly.compute @out domain [#rows] reads(%sum[#m] : memref<1x2048xf32>) writes(%y[#m] : memref<1x2048xf32>) {
    ^bb0(%a: f32):
      poly.yield %a : f32
    }
  }
}
