// RUN: espalier-opt %s -poly-extract-script | FileCheck %s

// A long row that ends in part of a vector: four vectors at a time, so that the rest alone is masked.
// CHECK: poly.computation @long::@s0
// CHECK-NEXT: poly.plan {{.*}} tile ["d0"] by [64] lanes "d0" width 16
// Whole vectors need no mask, and LLVM writes out a short row.
// CHECK: poly.computation @whole::@s0
// CHECK-NEXT: poly.plan %{{.*}} shared 1 loops ["d0"] lanes "d0" width 16
// CHECK: poly.computation @short::@s0
// CHECK-NEXT: poly.plan %{{.*}} shared 1 loops ["d0"] lanes "d0" width 16
// Every second element is shuffled out of vectors, one at a time.
// CHECK: poly.computation @strided::@s0
// CHECK-NEXT: poly.plan %{{.*}} shared 1 loops ["d0"] lanes "d0" width 16
// Loops are around one another as the result lies in memory, whatever order the domain has.
// CHECK: poly.computation @channels_last::@s0
// CHECK-NEXT: poly.plan %{{.*}} shared 3 loops ["d1", "d2", "d0"] parallel 2 lanes "d0" width 16
// Where a distance varies, they stay.
// CHECK: poly.computation @folded::@s0
// CHECK-NEXT: poly.plan %{{.*}} shared 3 loops ["d0", "d1", "d2"] parallel 2 lanes "d0" width 16
#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>
#m = affine_map<(i) -> (i)>
module attributes {poly.target = #target} {
  poly.kernel @long(%x: memref<1444xf32>, %y: memref<1444xf32>) {
    poly.compute @s0 domain [affine_set<(i) : (i >= 0, 1443 - i >= 0)>] reads(%x[#m] : memref<1444xf32>) writes(%y[#m] : memref<1444xf32>) {
    ^bb0(%a: f32):
      %r = arith.negf %a : f32
      poly.yield %r : f32
    }
  }
  poly.kernel @whole(%x: memref<1440xf32>, %y: memref<1440xf32>) {
    poly.compute @s0 domain [affine_set<(i) : (i >= 0, 1439 - i >= 0)>] reads(%x[#m] : memref<1440xf32>) writes(%y[#m] : memref<1440xf32>) {
    ^bb0(%a: f32):
      %r = arith.negf %a : f32
      poly.yield %r : f32
    }
  }
  poly.kernel @short(%x: memref<100xf32>, %y: memref<100xf32>) {
    poly.compute @s0 domain [affine_set<(i) : (i >= 0, 99 - i >= 0)>] reads(%x[#m] : memref<100xf32>) writes(%y[#m] : memref<100xf32>) {
    ^bb0(%a: f32):
      %r = arith.negf %a : f32
      poly.yield %r : f32
    }
  }
  poly.kernel @strided(%x: memref<2888xf32>, %y: memref<1444xf32>) {
    poly.compute @s0 domain [affine_set<(i) : (i >= 0, 1443 - i >= 0)>] reads(%x[affine_map<(i) -> (2 * i)>] : memref<2888xf32>) writes(%y[#m] : memref<1444xf32>) {
    ^bb0(%a: f32):
      %r = arith.negf %a : f32
      poly.yield %r : f32
    }
  }
  poly.kernel @channels_last(%x: memref<28x28x64xf32>, %b: memref<64xf32>, %y: memref<28x28x64xf32>) {
    poly.compute @s0 domain [affine_set<(c, h, w) : (c >= 0, 63 - c >= 0, h >= 0, 27 - h >= 0, w >= 0, 27 - w >= 0)>] reads(%x[affine_map<(c, h, w) -> (h, w, c)>], %b[affine_map<(c, h, w) -> (c)>] : memref<28x28x64xf32>, memref<64xf32>) writes(%y[affine_map<(c, h, w) -> (h, w, c)>] : memref<28x28x64xf32>) {
    ^bb0(%a: f32, %s: f32):
      %r = arith.mulf %a, %s : f32
      poly.yield %r : f32
    }
  }
  poly.kernel @folded(%x: memref<28x28x64xf32>, %b: memref<64xf32>, %y: memref<28x28x64xf32>) {
    poly.compute @s0 domain [affine_set<(c, h, w) : (c >= 0, 63 - c >= 0, h >= 0, 27 - h >= 0, w >= 0, 27 - w >= 0)>] reads(%x[affine_map<(c, h, w) -> (h, w, c)>], %b[affine_map<(c, h, w) -> (c)>] : memref<28x28x64xf32>, memref<64xf32>) writes(%y[affine_map<(c, h, w) -> (h floordiv 4 + 7 * (h mod 4), w, c)>] : memref<28x28x64xf32>) {
    ^bb0(%a: f32, %s: f32):
      %r = arith.mulf %a, %s : f32
      poly.yield %r : f32
    }
  }
}
