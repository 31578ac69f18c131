// RUN: espalier-opt %s -pass-pipeline='builtin.module(poly.kernel(poly-default-schedule,poly-verify-schedule))' | FileCheck %s

// CHECK-DAG: #[[KNOWN:.*]] = affine_map<(d0, d1, d2)[s0, s1] -> (d2 floordiv 96, d1, (d2 mod 96) floordiv 16, d2 mod 16)>
// CHECK-DAG: #[[UNKNOWN:.*]] = affine_map<(d0, d1, d2)[s0, s1, s2] -> (d2 floordiv 64, d1, (d2 mod 64) floordiv 16, d2 mod 16)>

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 1>
#zero = affine_set<(n, k)[N, E] : (n >= 0, N - 1 - n >= 0, k >= 0, 95 - k >= 0)>
#all = affine_set<(n, j, k)[N, E] : (n >= 0, N - 1 - n >= 0, j >= 0, E - 1 - j >= 0, k >= 0, 95 - k >= 0)>
#some = affine_set<(n, j, k)[N, E, K] : (n >= 0, N - 1 - n >= 0, j >= 0, E - 1 - j >= 0, k >= 0, K - 1 - k >= 0)>
#row = affine_set<(n, j, k)[N, E, b, e] : (j - b >= 0, e - 1 - j >= 0)>
#part = affine_set<(n, j, k)[N, E, K, b, e] : (j - b >= 0, e - 1 - j >= 0)>
#n = affine_map<(n, j, k)[N, E] -> (n)>
#j = affine_map<(n, j, k)[N, E] -> (j)>
#nk = affine_map<(n, j, k)[N, E] -> (n, k)>
#m = affine_map<(n, j, k)[N, E, K] -> (n)>
#i = affine_map<(n, j, k)[N, E, K] -> (j)>
#mk = affine_map<(n, j, k)[N, E, K] -> (n, k)>
module attributes {poly.target = #target} {
  // All sums of a row are registers while its entries pass.
  // CHECK-LABEL: poly.kernel @known
  // CHECK:         poly.band [@acc] maps [#[[KNOWN]]] loops [sequential, sequential, unroll, vector(16)]
  poly.kernel @known(%starts: memref<?xi32> {poly.monotonic}, %col: memref<?xi32>, %x: memref<?x96xf32>, %y: memref<?x96xf32>, %N: index, %E: index) {
    poly.compute @init dims ["n", "k"] domain [#zero] reads() writes(%y[affine_map<(n, k)[N, E] -> (n, k)>] : memref<?x96xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc dims ["n", "j", "k"] domain [#all] where #row
        reads(%starts[#n], %starts[affine_map<(n, j, k)[N, E] -> (n + 1)>], %col[#j],
              %x[affine_map<(n, j, k)[N, E, b, e, c] -> (c, k)>], %y[#nk]
              : memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?x96xf32>, memref<?x96xf32>)
        writes(%y[#nk] : memref<?x96xf32>) reduction add {
    ^bb0(%b: i32, %e: i32, %c: i32, %v: f32, %s: f32):
      %r = arith.addf %s, %v : f32
      poly.yield %r : f32
    }
  }

  // Of how many there are, nothing is known: four vectors at a time.
  // CHECK-LABEL: poly.kernel @unknown
  // CHECK:         poly.band [@acc] maps [#[[UNKNOWN]]] loops [sequential, sequential, unroll, vector(16)]
  poly.kernel @unknown(%starts: memref<?xi32> {poly.monotonic}, %col: memref<?xi32>, %x: memref<?x?xf32>, %y: memref<?x?xf32>, %N: index, %E: index, %K: index) {
    poly.compute @acc dims ["n", "j", "k"] domain [#some] where #part
        reads(%starts[#m], %starts[affine_map<(n, j, k)[N, E, K] -> (n + 1)>], %col[#i],
              %x[affine_map<(n, j, k)[N, E, K, b, e, c] -> (c, k)>], %y[#mk]
              : memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?x?xf32>, memref<?x?xf32>)
        writes(%y[#mk] : memref<?x?xf32>) reduction add {
    ^bb0(%b: i32, %e: i32, %c: i32, %v: f32, %s: f32):
      %r = arith.addf %s, %v : f32
      poly.yield %r : f32
    }
  }
}
