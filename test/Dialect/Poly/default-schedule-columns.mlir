// RUN: espalier-opt %s -split-input-file -pass-pipeline='builtin.module(poly.kernel(poly-default-schedule,poly-verify-schedule))' | FileCheck %s

#target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 1>
#a = affine_map<(i, j, k) -> (k, i)>
#b = affine_map<(i, j, k) -> (k, j)>
#sum = affine_map<(i, j, k) -> (i, j)>
#m = affine_map<(i, j) -> (i, j)>
#tile = affine_set<(i, j) : (i >= 0, 4095 - i >= 0, j >= 0, 31 - j >= 0)>
#points = affine_set<(i, j, k) : (i >= 0, 4095 - i >= 0, j >= 0, 31 - j >= 0, k >= 0, 63 - k >= 0)>

// The terms of a sum lie in rows of 16 KiB, of which a tile uses a line each:
// every step fetches the last line that the second tile after this one uses.
// CHECK-DAG:   #[[AHEAD:.*]] = affine_map<(d0, d1, d2) -> (d0 + 41, d1, d2)>
// CHECK-LABEL: poly.kernel @columns
// CHECK:         poly.prefetch @acc read 0 at #[[AHEAD]] bytes 64
module attributes {poly.target = #target} {
  poly.kernel @columns(%A: memref<64x4096xf32>, %B: memref<64x32xf32>, %Y: memref<4096x32xf32>) {
    %s = poly.array : memref<4096x32xf32>
    poly.compute @init domain [#tile] reads() writes(%s[#m] : memref<4096x32xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc domain [#points] reads(%A[#a], %B[#b], %s[#sum] : memref<64x4096xf32>, memref<64x32xf32>, memref<4096x32xf32>)
        writes(%s[#sum] : memref<4096x32xf32>) reduction add {
    ^bb0(%x: f32, %y: f32, %a: f32):
      %p = arith.mulf %x, %y : f32
      %r = arith.addf %a, %p : f32
      poly.yield %r : f32
    }
    poly.compute @store domain [#tile] reads(%s[#m] : memref<4096x32xf32>) writes(%Y[#m] : memref<4096x32xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
  }
}

// -----

#target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 1>
#a = affine_map<(i, j, k) -> (k, i)>
#b = affine_map<(i, j, k) -> (k, j)>
#sum = affine_map<(i, j, k) -> (i, j)>
#m = affine_map<(i, j) -> (i, j)>
#tile = affine_set<(i, j) : (i >= 0, 895 - i >= 0, j >= 0, 31 - j >= 0)>
#points = affine_set<(i, j, k) : (i >= 0, 895 - i >= 0, j >= 0, 31 - j >= 0, k >= 0, 63 - k >= 0)>

// Shorter rows are near each other: the hardware fetches them.
// CHECK-LABEL: poly.kernel @columns
// CHECK-NOT:     poly.prefetch
module attributes {poly.target = #target} {
  poly.kernel @columns(%A: memref<64x896xf32>, %B: memref<64x32xf32>, %Y: memref<896x32xf32>) {
    %s = poly.array : memref<896x32xf32>
    poly.compute @init domain [#tile] reads() writes(%s[#m] : memref<896x32xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc domain [#points] reads(%A[#a], %B[#b], %s[#sum] : memref<64x896xf32>, memref<64x32xf32>, memref<896x32xf32>)
        writes(%s[#sum] : memref<896x32xf32>) reduction add {
    ^bb0(%x: f32, %y: f32, %a: f32):
      %p = arith.mulf %x, %y : f32
      %r = arith.addf %a, %p : f32
      poly.yield %r : f32
    }
    poly.compute @store domain [#tile] reads(%s[#m] : memref<896x32xf32>) writes(%Y[#m] : memref<896x32xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
  }
}
