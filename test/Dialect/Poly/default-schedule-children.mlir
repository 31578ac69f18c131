// RUN: espalier-opt %s -pass-pipeline='builtin.module(poly.kernel(poly-default-schedule,poly-verify-schedule))' | FileCheck %s

// The states of a node's children, as many as it has, are added up. Each is read
// once: so a tile has one node, as nodes share nothing but where their level
// ends. Threads do not meet in each level: it is not known that children are
// many.

// CHECK: poly.band [@take, @init, @sum, @store] maps {{.*}} loops [sequential]
// CHECK-NOT: parallel
// CHECK: poly.filter [@sum]
// CHECK-NEXT: poly.band [@sum] {{.*}} loops [sequential, unroll, vector(16)]
// CHECK-NOT: parallel

#nodes = affine_set<(l, p, j)[L, N, K] : (l >= 0, L - 2 - l >= 0, p >= 0, N - 1 - p >= 0, j >= 0, 255 - j >= 0)>
#terms = affine_set<(l, p, j, k)[L, N, K] : (l >= 0, L - 2 - l >= 0, p >= 0, N - 1 - p >= 0, j >= 0, 255 - j >= 0, k >= 0, K - 1 - k >= 0)>
#in = affine_set<(l, p, j)[L, N, K, b, e] : (e - b - 1 - p >= 0)>
#inTerms = affine_set<(l, p, j, k)[L, N, K, b, e] : (e - b - 1 - p >= 0)>
#begin = affine_map<(l, p, j)[L, N, K] -> (l)>
#end = affine_map<(l, p, j)[L, N, K] -> (l + 1)>
#beginTerm = affine_map<(l, p, j, k)[L, N, K] -> (l)>
#endTerm = affine_map<(l, p, j, k)[L, N, K] -> (l + 1)>
#own = affine_map<(l, p, j)[L, N, K] -> (l, p, j)>
#ownTerm = affine_map<(l, p, j, k)[L, N, K] -> (l, p, j)>
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 8>} {
poly.kernel @children(%levels: memref<?xi32>, %child: memref<?x?xi32>, %H: memref<?x256xf32>, %L: index, %N: index, %K: index) {
  %G = poly.array(%L, %N) : memref<?x?x256xf32> storage affine_map<(l, p, j) -> (p, j)> as memref<?x256xf32>
  %S = poly.array(%L, %N, %K) : memref<?x?x?x256xf32> storage affine_map<(l, p, k, j) -> (p, k, j)> as memref<?x?x256xf32>
  poly.compute @take dims ["l", "p", "j", "k"] domain [#terms] where #inTerms
      reads(%levels[#beginTerm], %levels[#endTerm], %child[affine_map<(l, p, j, k)[L, N, K, b, e] -> (p + b, k)>],
            %H[affine_map<(l, p, j, k)[L, N, K, b, e, c] -> (c, j)>]
            : memref<?xi32>, memref<?xi32>, memref<?x?xi32>, memref<?x256xf32>)
      writes(%S[affine_map<(l, p, j, k)[L, N, K] -> (l, p, k, j)>] : memref<?x?x?x256xf32>) {
  ^bb0(%b: i32, %e: i32, %c: i32, %h: f32):
    poly.yield %h : f32
  }
  poly.compute @init dims ["l", "p", "j"] domain [#nodes] where #in
      reads(%levels[#begin], %levels[#end] : memref<?xi32>, memref<?xi32>)
      writes(%G[#own] : memref<?x?x256xf32>) interleaved 1 {
  ^bb0(%b: i32, %e: i32):
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @sum dims ["l", "p", "j", "k"] domain [#terms] where #inTerms
      reads(%levels[#beginTerm], %levels[#endTerm], %S[affine_map<(l, p, j, k)[L, N, K] -> (l, p, k, j)>], %G[#ownTerm]
            : memref<?xi32>, memref<?xi32>, memref<?x?x?x256xf32>, memref<?x?x256xf32>)
      writes(%G[#ownTerm] : memref<?x?x256xf32>) reduction add interleaved 1 {
  ^bb0(%b: i32, %e: i32, %h: f32, %g: f32):
    %0 = arith.addf %g, %h : f32
    poly.yield %0 : f32
  }
  poly.compute @store dims ["l", "p", "j"] domain [#nodes] where #in
      reads(%levels[#begin], %levels[#end], %G[#own] : memref<?xi32>, memref<?xi32>, memref<?x?x256xf32>)
      writes(%H[affine_map<(l, p, j)[L, N, K, b, e, g] -> (p + b, j)>] : memref<?x256xf32>) interleaved 1 {
  ^bb0(%b: i32, %e: i32, %g: f32):
    %0 = math.tanh %g : f32
    poly.yield %0 : f32
  }
}
}
