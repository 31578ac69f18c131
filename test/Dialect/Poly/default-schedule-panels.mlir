// RUN: espalier-opt %s -pass-pipeline='builtin.module(poly.kernel(poly-default-schedule))' | FileCheck %s
// RUN: espalier-opt %s -pass-pipeline='builtin.module(poly.kernel(poly-default-schedule,poly-verify-schedule),convert-poly-to-loops)' | FileCheck %s --check-prefix=LOOPS

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (j floordiv 32, k, j mod 32)>
#c = affine_map<(i, j, k) -> (i, j)>
#m = affine_map<(i, j) -> (i, j)>
#tile = affine_set<(i, j) : (i >= 0, 34 - i >= 0, j >= 0, 1023 - j >= 0)>
#points = affine_set<(i, j, k) : (i >= 0, 34 - i >= 0, j >= 0, 1023 - j >= 0, k >= 0, 511 - k >= 0)>

// Panels too large for the cache: one loop over them is around all rows, the
// rest of the rows as well, and each tile of rows fetches a share of the next, a
// line in the first of the steps for it.
// CHECK-DAG:   #[[PANEL:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 32)>
// CHECK-DAG:   #[[AHEAD:.*]] = affine_map<(d0, d1, d2) -> (d0, d1 + 32, (d0 floordiv 12) * 171 + d2 floordiv 2)>
// CHECK-LABEL: poly.kernel @streamed
// CHECK:         poly.schedule {
// CHECK-NEXT:      poly.band [@init, @acc, @out] maps [#{{.*}}, #[[PANEL]], #{{.*}}] loops [parallel] {
// CHECK-NEXT:        poly.sequence {
// CHECK-NEXT:          poly.filter [@init, @acc, @out] where
// CHECK-NEXT:            poly.band [@init, @acc, @out] maps {{.*}} loops [sequential] {
// CHECK:                   poly.prefetch @acc read 1 at #[[AHEAD]] bytes 128 {
// CHECK:               poly.filter [@init, @acc, @out] where
// CHECK:                   poly.prefetch @acc read {{.*}} at #[[AHEAD]]
// LOOPS:       scf.parallel
// LOOPS:         scf.for
// LOOPS:           %[[FIRST:.*]] = arith.cmpi slt
// LOOPS-NEXT:      scf.if %[[FIRST]] {
// LOOPS:           memref.prefetch %{{.*}}, read, locality<2>, data : memref<524288xf32>
// LOOPS:           memref.prefetch %{{.*}}, read, locality<2>, data : memref<524288xf32>
// LOOPS:           vector.load
// LOOPS-NOT:       memref.prefetch
// LOOPS:           scf.yield
module attributes {poly.target = #target} {
  poly.kernel @streamed(%A: memref<35x512xf32>, %B: memref<32x512x32xf32>, %C: memref<35x1024xf32>) {
    %sum = poly.array : memref<35x1024xf32>
    poly.compute @init domain [#tile] reads() writes(%sum[#m] : memref<35x1024xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc domain [#points] reads(%A[#a], %B[#b], %sum[#c] : memref<35x512xf32>, memref<32x512x32xf32>, memref<35x1024xf32>)
        writes(%sum[#c] : memref<35x1024xf32>) reduction add {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      poly.yield %t : f32
    }
    poly.compute @out domain [#tile] reads(%sum[#m] : memref<35x1024xf32>) writes(%C[#m] : memref<35x1024xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
  }
}
