// RUN: espalier-opt %s -pass-pipeline='builtin.module(poly.kernel(poly-default-schedule,poly-verify-schedule))' | FileCheck %s

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
// CHECK-DAG:   #[[AHEAD:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2 + 32, (d1 floordiv 14) * 74 + d3 floordiv 14)>
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
