// RUN: espalier-opt %s -split-input-file -pass-pipeline='builtin.module(poly.kernel(poly-default-schedule,poly-verify-schedule))' | FileCheck %s

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>
#a = affine_map<(n, i, j, k) -> (n, i, k)>
#b = affine_map<(n, i, j, k) -> (j floordiv 32, k, j mod 32)>
#c = affine_map<(n, i, j, k) -> (n, i, j)>
#m = affine_map<(n, i, j) -> (n, i, j)>
#tile = affine_set<(n, i, j) : (n >= 0, 15 - n >= 0, i >= 0, 195 - i >= 0, j >= 0, 511 - j >= 0)>
#points = affine_set<(n, i, j, k) : (n >= 0, 15 - n >= 0, i >= 0, 195 - i >= 0, j >= 0, 511 - j >= 0, k >= 0, 1023 - k >= 0)>

// Neither the panels nor all rows stay in cache, but the rows of one image do:
// all panels pass for each image, rather than all images for each panel. The
// next panel is fetched by the tiles of one image.
// CHECK-DAG:   #[[LOOPS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2 floordiv 32, d1 floordiv 14)>
// CHECK-DAG:   #[[AHEAD:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2 + 32, (d1 floordiv 14) * 74 + d3 floordiv 8)>
// CHECK:         poly.band [@init, @acc] maps [#{{.*}}, #[[LOOPS]]]
// CHECK:         poly.prefetch @acc read {{.*}} at #[[AHEAD]]
module attributes {poly.target = #target} {
  poly.kernel @batches(%A: memref<16x196x1040xf32>, %B: memref<16x1024x32xf32>, %C: memref<16x196x512xf32>) {
    poly.compute @init domain [#tile] reads() writes(%C[#m] : memref<16x196x512xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc domain [#points] reads(%A[#a], %B[#b], %C[#c] : memref<16x196x1040xf32>, memref<16x1024x32xf32>, memref<16x196x512xf32>)
        writes(%C[#c] : memref<16x196x512xf32>) reduction add {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      poly.yield %t : f32
    }
  }
}

// -----

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>
#a = affine_map<(n, i, j, k) -> (n, i, k)>
#b = affine_map<(n, i, j, k) -> (n, k, j)>
#c = affine_map<(n, i, j, k) -> (n, i, j)>
#m = affine_map<(n, i, j) -> (n, i, j)>
#rows = affine_set<(n, i, k) : (n >= 0, 15 - n >= 0, i >= 0, 31 - i >= 0, k >= 0, 1023 - k >= 0)>
#tile = affine_set<(n, i, j) : (n >= 0, 15 - n >= 0, i >= 0, 31 - i >= 0, j >= 0, 2047 - j >= 0)>
#points = affine_set<(n, i, j, k) : (n >= 0, 15 - n >= 0, i >= 0, 31 - i >= 0, j >= 0, 2047 - j >= 0, k >= 0, 1023 - k >= 0)>

// The program runs the loop over the batch around a copy and a product, which
// could share the rows as well: then a tile would have one. Each matrix of the
// batch is read once, in blocks of columns.
// CHECK-DAG:   #[[BATCH:.*]] = affine_map<(d0, d1, d2, d3) -> (d0)>
// CHECK-DAG:   #[[PARTS:.*]] = affine_map<(d0, d1, d2, d3) -> (d3 floordiv 32, (d2 mod 128) floordiv 32, d1 floordiv 8, d3 mod 32)>
// CHECK-LABEL: poly.kernel @thin
// CHECK:         poly.band [@copy, @init, @acc, @store] maps [#{{.*}}, #{{.*}}, #[[BATCH]], #{{.*}}] loops [parallel]
// CHECK:         poly.band [@acc] maps [#[[PARTS]]]
module attributes {poly.target = #target} {
  poly.kernel @thin(%A: memref<16x32x1024xf32>, %B: memref<16x1024x2048xf32>, %C: memref<16x32x2048xf32>) {
    %p = poly.array : memref<16x32x1040xf32>
    %t = poly.array : memref<16x32x2048xf32>
    poly.compute @copy domain [#rows] reads(%A[#m] : memref<16x32x1024xf32>) writes(%p[#m] : memref<16x32x1040xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
    poly.compute @init domain [#tile] reads() writes(%t[#m] : memref<16x32x2048xf32>) interleaved 1 {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc domain [#points] reads(%p[#a], %B[#b], %t[#c] : memref<16x32x1040xf32>, memref<16x1024x2048xf32>, memref<16x32x2048xf32>)
        writes(%t[#c] : memref<16x32x2048xf32>) reduction add interleaved 1 {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %r = arith.mulf %x, %y : f32
      %u = arith.addf %s, %r : f32
      poly.yield %u : f32
    }
    poly.compute @store domain [#tile] reads(%t[#m] : memref<16x32x2048xf32>) writes(%C[#m] : memref<16x32x2048xf32>) interleaved 1 {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
  }
}
