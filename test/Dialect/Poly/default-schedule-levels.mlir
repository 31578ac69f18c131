// RUN: espalier-opt %s -pass-pipeline='builtin.module(poly.kernel(poly-default-schedule,poly-verify-schedule))' | FileCheck %s
// RUN: espalier-opt %s -pass-pipeline='builtin.module(poly.kernel(poly-default-schedule),convert-poly-to-loops,canonicalize,cse)' | FileCheck %s --check-prefix=LOOPS
// RUN: sed -e 's/vector_bits = 512, registers = 32/vector_bits = 256, registers = 16/' %s | espalier-opt -pass-pipeline='builtin.module(poly.kernel(poly-default-schedule,poly-verify-schedule))' | FileCheck %s --check-prefix=PAIRS

// Levels whose nodes are counted from where a level begins. The program's loop
// over levels is around all; inside it, what is gathered is one group, and the
// product with its start and its epilogue another, with a tile of registers over
// nodes and features.

// CHECK-DAG: #[[TILE:.*]] = affine_map<(d0, d1, d2) -> (d1 mod 6, d2 mod 64)>
// CHECK: poly.array register({{.*}}) : memref<?x?x64xf32> storage #[[TILE]] as memref<6x64xf32>
// CHECK: poly.band [@take, @init, @sum, @store] maps {{.*}} loops [sequential]
// CHECK: poly.filter [@take]
// CHECK-NEXT: poly.band [@take] {{.*}} loops [sequential, sequential]
// CHECK: poly.filter [@init, @sum, @store]
// CHECK: poly.filter [@sum]
// CHECK-NEXT: loops [sequential, unroll, unroll, vector(16)]

// With vectors of 8, panels are 16 wide, and there are four. Nodes of a tile pass
// two of them before the next tile does, which `program-join-sums` looks for.

// PAIRS-DAG: #[[TILE:.*]] = affine_map<(d0, d1, d2) -> (d1 mod 6, d2 mod 16)>
// PAIRS-DAG: #[[AROUND:.*]] = affine_map<(d0, d1, d2)[s0, s1] -> (d1 floordiv 6, d2 floordiv 32, (d2 mod 32) floordiv 16)>
// PAIRS: poly.array register({{.*}}) : memref<?x?x64xf32> storage #[[TILE]] as memref<6x16xf32>
// PAIRS: poly.filter [@init, @sum, @store]
// PAIRS-NEXT: poly.band [@init, @sum, @store] maps [#[[AROUND]], {{.*}} loops [sequential, sequential, sequential] {

// There is code for each number of nodes in a tile, without conditions inside.

// LOOPS: scf.for
// LOOPS: %[[FULL:.*]] = arith.cmpi eq, %[[ROWS:.*]], %c6
// LOOPS: scf.if %[[FULL]] {
// LOOPS-NEXT: %{{.*}}:24 = scf.for {{.*}} %c64 step %c1 iter_args
// LOOPS-NOT: scf.if
// LOOPS: else
// LOOPS: %[[FIVE:.*]] = arith.cmpi eq, %[[ROWS]], %c5
// LOOPS: scf.if %[[FIVE]] {
// LOOPS-NEXT: %{{.*}}:20 = scf.for {{.*}} %c64 step %c1 iter_args
// LOOPS: arith.cmpi eq, %[[ROWS]], %c1
// LOOPS: %{{.*}}:4 = scf.for {{.*}} %c64 step %c1 iter_args

#nodes = affine_set<(l, p, j)[L, N] : (l >= 0, L - 2 - l >= 0, p >= 0, N - 1 - p >= 0, j >= 0, 63 - j >= 0)>
#terms = affine_set<(l, p, j, k)[L, N] : (l >= 0, L - 2 - l >= 0, p >= 0, N - 1 - p >= 0, j >= 0, 63 - j >= 0, k >= 0, 63 - k >= 0)>
#in = affine_set<(l, p, j)[L, N, b, e] : (e - b - 1 - p >= 0)>
#inTerms = affine_set<(l, p, j, k)[L, N, b, e] : (e - b - 1 - p >= 0)>
#begin = affine_map<(l, p, j)[L, N] -> (l)>
#end = affine_map<(l, p, j)[L, N] -> (l + 1)>
#own = affine_map<(l, p, j)[L, N] -> (l, p, j)>
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 1>} {
poly.kernel @levels(%levels: memref<?xi32>, %child: memref<?xi32>, %W: memref<64x64xf32>, %H: memref<?x64xf32>, %L: index, %N: index) {
  %S = poly.array(%L, %N) : memref<?x?x64xf32> storage affine_map<(l, p, j) -> (p, j)> as memref<?x64xf32>
  %G = poly.array(%L, %N) : memref<?x?x64xf32> storage affine_map<(l, p, j) -> (p, j)> as memref<?x64xf32>
  poly.compute @take dims ["l", "p", "j"] domain [#nodes] where #in
      reads(%levels[#begin], %levels[#end], %child[affine_map<(l, p, j)[L, N, b, e] -> (p + b)>],
            %H[affine_map<(l, p, j)[L, N, b, e, c] -> (c, j)>] : memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?x64xf32>)
      writes(%S[#own] : memref<?x?x64xf32>) {
  ^bb0(%b: i32, %e: i32, %c: i32, %h: f32):
    poly.yield %h : f32
  }
  poly.compute @init dims ["l", "p", "j"] domain [#nodes] where #in
      reads(%levels[#begin], %levels[#end] : memref<?xi32>, memref<?xi32>)
      writes(%G[#own] : memref<?x?x64xf32>) interleaved 1 {
  ^bb0(%b: i32, %e: i32):
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @sum dims ["l", "p", "j", "k"] domain [#terms] where #inTerms
      reads(%levels[affine_map<(l, p, j, k)[L, N] -> (l)>], %levels[affine_map<(l, p, j, k)[L, N] -> (l + 1)>],
            %S[affine_map<(l, p, j, k)[L, N] -> (l, p, k)>], %W[affine_map<(l, p, j, k)[L, N] -> (k, j)>],
            %G[affine_map<(l, p, j, k)[L, N] -> (l, p, j)>]
            : memref<?xi32>, memref<?xi32>, memref<?x?x64xf32>, memref<64x64xf32>, memref<?x?x64xf32>)
      writes(%G[affine_map<(l, p, j, k)[L, N] -> (l, p, j)>] : memref<?x?x64xf32>) reduction add interleaved 1 {
  ^bb0(%b: i32, %e: i32, %s: f32, %w: f32, %g: f32):
    %0 = arith.mulf %s, %w : f32
    %1 = arith.addf %g, %0 : f32
    poly.yield %1 : f32
  }
  poly.compute @store dims ["l", "p", "j"] domain [#nodes] where #in
      reads(%levels[#begin], %levels[#end], %G[#own] : memref<?xi32>, memref<?xi32>, memref<?x?x64xf32>)
      writes(%H[affine_map<(l, p, j)[L, N, b, e, g] -> (p + b, j)>] : memref<?x64xf32>) interleaved 1 {
  ^bb0(%b: i32, %e: i32, %g: f32):
    %0 = arith.mulf %g, %g : f32
    poly.yield %0 : f32
  }
}
}
