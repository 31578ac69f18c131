// RUN: espalier-opt %s -pass-pipeline='builtin.module(poly.kernel(poly-default-schedule))' | FileCheck %s

// Two rows at a time become pairs, and the terms of a pair are written out, also
// where a sum is cut. While a part passes, that of the next panel is fetched.
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1) -> (d0 mod 2, d1 mod 16)>
// CHECK-DAG: #[[PARTS:.*]] = affine_map<(d0, d1, d2, d3) -> (d2 floordiv [[TERMS:[0-9]+]], {{.*}}, d2 mod [[TERMS]])>
// CHECK-DAG: #[[NEXT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1 + 64, d2, {{.*}})>
// CHECK-DAG: #[[PAIR:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d0 mod 6, {{.*}}, d1 mod 16)>
#panels = affine_map<(k, j) -> (j floordiv 32, k floordiv 2, j mod 32, k mod 2)>
#panel = affine_map<(i, j, k, p) -> (j floordiv 32, k, j mod 32, p)>
#sum = affine_set<(i, j, k, p) : (i >= 0, 1023 - i >= 0, j >= 0, 1023 - j >= 0, k >= 0, 2047 - k >= 0, p >= 0, 1 - p >= 0)>
#result = affine_set<(i, j) : (i >= 0, 1023 - i >= 0, j >= 0, 1023 - j >= 0)>
#ij = affine_map<(i, j) -> (i, j)>
module attributes {poly.target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 1>} {
// CHECK-LABEL: poly.kernel @copy
// CHECK:         poly.band [@pack] maps [#[[ROWS]]] loops [unroll, vector(16)]
poly.kernel @copy(%x: memref<1024x1024xbf16>, %y: memref<32x512x32x2xbf16>) {
  poly.compute @pack domain [affine_set<(k, j) : (k >= 0, 1023 - k >= 0, j >= 0, 1023 - j >= 0)>]
      reads(%x[affine_map<(k, j) -> (k, j)>] : memref<1024x1024xbf16>) writes(%y[#panels] : memref<32x512x32x2xbf16>) {
  ^bb0(%v: bf16):
    poly.yield %v : bf16
  }
}

// CHECK-LABEL: poly.kernel @product
// CHECK:         poly.band [@acc] maps [#[[PARTS]]] loops [sequential, sequential, sequential]
// CHECK-NEXT:      poly.prefetch @acc read 1 at #[[NEXT]]
// CHECK-NEXT:        poly.band [@acc] maps [#[[PAIR]]] loops [unroll, unroll, unroll, vector(16)]
poly.kernel @product(%x: memref<1024x4096xbf16>, %w: memref<32x2048x32x2xbf16>, %y: memref<1024x1024xf32>) {
  %sum = poly.array : memref<1024x1024xf32>
  poly.compute @init domain [#result] reads() writes(%sum[#ij] : memref<1024x1024xf32>) {
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
  poly.compute @acc domain [#sum]
      reads(%x[affine_map<(i, j, k, p) -> (i, 2 * k + p)>], %w[#panel], %sum[affine_map<(i, j, k, p) -> (i, j)>] : memref<1024x4096xbf16>, memref<32x2048x32x2xbf16>, memref<1024x1024xf32>)
      writes(%sum[affine_map<(i, j, k, p) -> (i, j)>] : memref<1024x1024xf32>) reduction add {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %af = arith.extf %a : bf16 to f32
    %bf = arith.extf %b : bf16 to f32
    %p = arith.mulf %af, %bf : f32
    %s = arith.addf %c, %p : f32
    poly.yield %s : f32
  }
  poly.compute @store domain [#result] reads(%sum[#ij] : memref<1024x1024xf32>) writes(%y[#ij] : memref<1024x1024xf32>) {
  ^bb0(%v: f32):
    poly.yield %v : f32
  }
}
}
