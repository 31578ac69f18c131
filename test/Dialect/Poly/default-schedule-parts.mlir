// RUN: espalier-opt %s -split-input-file -pass-pipeline='builtin.module(poly.kernel(poly-default-schedule,poly-verify-schedule))' | FileCheck %s

#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 1048576, cores = 2>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (j floordiv 16, k, j mod 16)>
#c = affine_map<(i, j, k) -> (i, j)>
#m = affine_map<(i, j) -> (i, j)>
#tile = affine_set<(i, j) : (i >= 0, 53 - i >= 0, j >= 0, 511 - j >= 0)>
#points = affine_set<(i, j, k) : (i >= 0, 53 - i >= 0, j >= 0, 511 - j >= 0, k >= 0, 2047 - k >= 0)>

// A panel and the rows that pass it do not fit the second-level cache. So all
// rows pass one part of the sum after the other, of which panels stay in the
// first-level cache.
// CHECK-DAG:   #[[PANEL:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 16)>
// CHECK-DAG:   #[[PARTS:.*]] = affine_map<(d0, d1, d2) -> (d2 floordiv 512, d0 floordiv 6, d2 mod 512, d0 mod 6, (d1 mod 16) floordiv 8, d1 mod 8)>
// CHECK-LABEL: poly.kernel @long
// CHECK:         poly.array stack : memref<54x512xf32> storage #{{.*}} as memref<54x16xf32>
// CHECK:         poly.band [@init, @acc, @store] maps [#{{.*}}, #[[PANEL]], #{{.*}}]
// CHECK:         poly.band [@acc] maps [#[[PARTS]]]
module attributes {poly.target = #target} {
  poly.kernel @long(%A: memref<54x2054xf32>, %B: memref<32x2054x16xf32>, %C: memref<54x512xf32>) {
    %t = poly.array : memref<54x512xf32>
    poly.compute @init domain [#tile] reads() writes(%t[#m] : memref<54x512xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc domain [#points] reads(%A[#a], %B[#b], %t[#c] : memref<54x2054xf32>, memref<32x2054x16xf32>, memref<54x512xf32>)
        writes(%t[#c] : memref<54x512xf32>) reduction add {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %r = arith.addf %s, %p : f32
      poly.yield %r : f32
    }
    poly.compute @store domain [#tile] reads(%t[#m] : memref<54x512xf32>) writes(%C[#m] : memref<54x512xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
  }
}

// -----

#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 1048576, cores = 2>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (j floordiv 16, k, j mod 16)>
#c = affine_map<(i, j, k) -> (i, j)>
#m = affine_map<(i, j) -> (i, j)>
#tile = affine_set<(i, j) : (i >= 0, 959 - i >= 0, j >= 0, 511 - j >= 0)>
#points = affine_set<(i, j, k) : (i >= 0, 959 - i >= 0, j >= 0, 511 - j >= 0, k >= 0, 2047 - k >= 0)>

// As many rows as the stack has room for, times a panel.
// CHECK-DAG:   #[[BLOCKS:.*]] = affine_map<(d0, d1, d2) -> (d0 floordiv 240, d1 floordiv 16)>
// CHECK-DAG:   #[[PARTS:.*]] = affine_map<(d0, d1, d2) -> (d2 floordiv 512, (d0 mod 240) floordiv 6, d2 mod 512, d0 mod 6, (d1 mod 16) floordiv 8, d1 mod 8)>
// CHECK-LABEL: poly.kernel @tall
// CHECK:         poly.array stack : memref<960x512xf32> storage #{{.*}} as memref<240x16xf32>
// CHECK:         poly.band [@init, @acc, @store] maps [#{{.*}}, #[[BLOCKS]], #{{.*}}]
// CHECK:         poly.band [@acc] maps [#[[PARTS]]]
module attributes {poly.target = #target} {
  poly.kernel @tall(%A: memref<960x2048xf32>, %B: memref<32x2048x16xf32>, %C: memref<960x512xf32>) {
    %t = poly.array : memref<960x512xf32>
    poly.compute @init domain [#tile] reads() writes(%t[#m] : memref<960x512xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc domain [#points] reads(%A[#a], %B[#b], %t[#c] : memref<960x2048xf32>, memref<32x2048x16xf32>, memref<960x512xf32>)
        writes(%t[#c] : memref<960x512xf32>) reduction add {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %r = arith.addf %s, %p : f32
      poly.yield %r : f32
    }
    poly.compute @store domain [#tile] reads(%t[#m] : memref<960x512xf32>) writes(%C[#m] : memref<960x512xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
  }
}

// -----

#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 1048576, cores = 2>
#a = affine_map<(i, j, c, w) -> (c, i + w)>
#b = affine_map<(i, j, c, w) -> (j floordiv 16, c, w, j mod 16)>
#c = affine_map<(i, j, c, w) -> (i, j)>
#m = affine_map<(i, j) -> (i, j)>
#tile = affine_set<(i, j) : (i >= 0, 53 - i >= 0, j >= 0, 511 - j >= 0)>
#points = affine_set<(i, j, c, w) : (i >= 0, 53 - i >= 0, j >= 0, 511 - j >= 0, c >= 0, 2047 - c >= 0, w >= 0, 2 - w >= 0)>

// A convolution. Parts of three terms would be too short: each has whole
// windows of many channels.
// CHECK-DAG:   #[[PARTS:.*]] = affine_map<(d0, d1, d2, d3) -> (d2 floordiv 158, d0 floordiv 6, d2 mod 158, d3, d0 mod 6, (d1 mod 16) floordiv 8, d1 mod 8)>
// CHECK-LABEL: poly.kernel @window
// CHECK:         poly.band [@acc] maps [#[[PARTS]]]
module attributes {poly.target = #target} {
  poly.kernel @window(%A: memref<2048x56xf32>, %B: memref<32x2048x3x16xf32>, %C: memref<54x512xf32>) {
    %t = poly.array : memref<54x512xf32>
    poly.compute @init domain [#tile] reads() writes(%t[#m] : memref<54x512xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc domain [#points] reads(%A[#a], %B[#b], %t[#c] : memref<2048x56xf32>, memref<32x2048x3x16xf32>, memref<54x512xf32>)
        writes(%t[#c] : memref<54x512xf32>) reduction add {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %r = arith.addf %s, %p : f32
      poly.yield %r : f32
    }
    poly.compute @store domain [#tile] reads(%t[#m] : memref<54x512xf32>) writes(%C[#m] : memref<54x512xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
  }
}

// -----

#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (j floordiv 16, k, j mod 16)>
#c = affine_map<(i, j, k) -> (i, j)>
#m = affine_map<(i, j) -> (i, j)>
#tile = affine_set<(i, j) : (i >= 0, 959 - i >= 0, j >= 0, 511 - j >= 0)>
#points = affine_set<(i, j, k) : (i >= 0, 959 - i >= 0, j >= 0, 511 - j >= 0, k >= 0, 2047 - k >= 0)>

// Rows that the shared cache holds pass whole panels: few registers are small
// tiles, which begin and end each part of a sum too often.
// CHECK-LABEL: poly.kernel @near
// CHECK:         poly.array register : memref<960x512xf32>
module attributes {poly.target = #target} {
  poly.kernel @near(%A: memref<960x2048xf32>, %B: memref<32x2048x16xf32>, %C: memref<960x512xf32>) {
    %t = poly.array : memref<960x512xf32>
    poly.compute @init domain [#tile] reads() writes(%t[#m] : memref<960x512xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc domain [#points] reads(%A[#a], %B[#b], %t[#c] : memref<960x2048xf32>, memref<32x2048x16xf32>, memref<960x512xf32>)
        writes(%t[#c] : memref<960x512xf32>) reduction add {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %r = arith.addf %s, %p : f32
      poly.yield %r : f32
    }
    poly.compute @store domain [#tile] reads(%t[#m] : memref<960x512xf32>) writes(%C[#m] : memref<960x512xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
  }
}
