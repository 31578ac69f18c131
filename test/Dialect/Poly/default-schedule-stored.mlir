// RUN: espalier-opt %s -split-input-file -pass-pipeline='builtin.module(poly.kernel(poly-default-schedule,poly-verify-schedule))' | FileCheck %s

#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 1>
#w = affine_map<(b, i, j, k) -> (i, k)>
#x = affine_map<(b, i, j, k) -> (b, k, j)>
#t = affine_map<(b, i, j, k) -> (b, i, j)>
#m = affine_map<(b, i, j) -> (b, i, j)>
#tile = affine_set<(b, i, j) : (b >= 0, 1 - b >= 0, i >= 0, 191 - i >= 0, j >= 0, 998 - j >= 0)>
#points = affine_set<(b, i, j, k) : (b >= 0, 1 - b >= 0, i >= 0, 191 - i >= 0, j >= 0, 998 - j >= 0, k >= 0, 9 - k >= 0)>

// 192 rows of 999 results leave the cache before a second panel stores what is
// beside the first: so all panels, which stay there, pass each tile of rows.
// CHECK-DAG:   #[[FAR:.*]] = affine_map<(d0, d1, d2) -> (d0, d1 floordiv 4, d2 floordiv 24)>
// CHECK-LABEL: poly.kernel @far
// CHECK:         poly.band [@init, @acc, @store] maps [#[[FAR]],
module attributes {poly.target = #target} {
  poly.kernel @far(%W: memref<192x10xf32>, %X: memref<2x10x999xf32>, %Y: memref<2x192x999xf32>) {
    %s = poly.array : memref<2x192x999xf32>
    poly.compute @init domain [#tile] reads() writes(%s[#m] : memref<2x192x999xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc domain [#points] reads(%W[#w], %X[#x], %s[#t] : memref<192x10xf32>, memref<2x10x999xf32>, memref<2x192x999xf32>)
        writes(%s[#t] : memref<2x192x999xf32>) reduction add {
    ^bb0(%w: f32, %x: f32, %sum: f32):
      %p = arith.mulf %w, %x : f32
      %r = arith.addf %sum, %p : f32
      poly.yield %r : f32
    }
    poly.compute @store domain [#tile] reads(%s[#m] : memref<2x192x999xf32>) writes(%Y[#m] : memref<2x192x999xf32>) {
    ^bb0(%sum: f32):
      poly.yield %sum : f32
    }
  }
}

// -----

#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 1>
#w = affine_map<(b, i, j, k) -> (i, k)>
#x = affine_map<(b, i, j, k) -> (b, k, j)>
#t = affine_map<(b, i, j, k) -> (b, i, j)>
#m = affine_map<(b, i, j) -> (b, i, j)>
#tile = affine_set<(b, i, j) : (b >= 0, 1 - b >= 0, i >= 0, 23 - i >= 0, j >= 0, 959 - j >= 0)>
#points = affine_set<(b, i, j, k) : (b >= 0, 1 - b >= 0, i >= 0, 23 - i >= 0, j >= 0, 959 - j >= 0, k >= 0, 31 - k >= 0)>

// Those of 24 rows stay in the second-level cache, and panels not in the first.
// CHECK-DAG:   #[[NEAR:.*]] = affine_map<(d0, d1, d2) -> (d0, d2 floordiv 24, d1 floordiv 4)>
// CHECK-LABEL: poly.kernel @near
// CHECK:         poly.band [@init, @acc, @store] maps [#[[NEAR]],
module attributes {poly.target = #target} {
  poly.kernel @near(%W: memref<24x32xf32>, %X: memref<2x32x960xf32>, %Y: memref<2x24x960xf32>) {
    %s = poly.array : memref<2x24x960xf32>
    poly.compute @init domain [#tile] reads() writes(%s[#m] : memref<2x24x960xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc domain [#points] reads(%W[#w], %X[#x], %s[#t] : memref<24x32xf32>, memref<2x32x960xf32>, memref<2x24x960xf32>)
        writes(%s[#t] : memref<2x24x960xf32>) reduction add {
    ^bb0(%w: f32, %x: f32, %sum: f32):
      %p = arith.mulf %w, %x : f32
      %r = arith.addf %sum, %p : f32
      poly.yield %r : f32
    }
    poly.compute @store domain [#tile] reads(%s[#m] : memref<2x24x960xf32>) writes(%Y[#m] : memref<2x24x960xf32>) {
    ^bb0(%sum: f32):
      poly.yield %sum : f32
    }
  }
}

// -----

#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 1>
#w = affine_map<(b, i, j, k) -> (i, k)>
#x = affine_map<(b, i, j, k) -> (b, k, j)>
#t = affine_map<(b, i, j, k) -> (b, i, j)>
#m = affine_map<(b, i, j) -> (b, i, j)>
#tile = affine_set<(b, i, j) : (b >= 0, 1 - b >= 0, i >= 0, 1535 - i >= 0, j >= 0, 63 - j >= 0)>
#points = affine_set<(b, i, j, k) : (b >= 0, 1 - b >= 0, i >= 0, 1535 - i >= 0, j >= 0, 63 - j >= 0, k >= 0, 63 - k >= 0)>

// Whole lines of rows that are close to one another are stored once.
// CHECK-DAG:   #[[WHOLE:.*]] = affine_map<(d0, d1, d2) -> (d0, d2 floordiv 16, d1 floordiv 6)>
// CHECK-LABEL: poly.kernel @whole
// CHECK:         poly.band [@init, @acc, @store] maps [#[[WHOLE]],
module attributes {poly.target = #target} {
  poly.kernel @whole(%W: memref<1536x64xf32>, %X: memref<2x64x64xf32>, %Y: memref<2x1536x64xf32>) {
    %s = poly.array : memref<2x1536x64xf32>
    poly.compute @init domain [#tile] reads() writes(%s[#m] : memref<2x1536x64xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc domain [#points] reads(%W[#w], %X[#x], %s[#t] : memref<1536x64xf32>, memref<2x64x64xf32>, memref<2x1536x64xf32>)
        writes(%s[#t] : memref<2x1536x64xf32>) reduction add {
    ^bb0(%w: f32, %x: f32, %sum: f32):
      %p = arith.mulf %w, %x : f32
      %r = arith.addf %sum, %p : f32
      poly.yield %r : f32
    }
    poly.compute @store domain [#tile] reads(%s[#m] : memref<2x1536x64xf32>) writes(%Y[#m] : memref<2x1536x64xf32>) {
    ^bb0(%sum: f32):
      poly.yield %sum : f32
    }
  }
}
