// RUN: espalier-opt %s -split-input-file -pass-pipeline='builtin.module(poly.kernel(poly-default-schedule,poly-verify-schedule))' | FileCheck %s

#target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 1>
#x = affine_map<(i, j, k) -> (i, k)>
#w0 = affine_map<(i, j, k) -> (0, k, j)>
#w1 = affine_map<(i, j, k) -> (1, k, j)>
#sum = affine_map<(i, j, k) -> (i, j)>
#m = affine_map<(i, j) -> (i, j)>
#even = affine_map<(i, j) -> (2 * i, j)>
#odd = affine_map<(i, j) -> (2 * i + 1, j)>
#tile = affine_set<(i, j) : (i >= 0, 8191 - i >= 0, j >= 0, 31 - j >= 0)>
#points = affine_set<(i, j, k) : (i >= 0, 8191 - i >= 0, j >= 0, 31 - j >= 0, k >= 0, 63 - k >= 0)>

// Two sums over the same rows fill a result that does not stay in cache: both
// run in one tile.
// CHECK-LABEL: poly.kernel @phases
// CHECK:         poly.band [@init0, @acc0, @store0, @init1, @acc1, @store1]
// CHECK-NOT:     poly.band [@init1, @acc1, @store1]
module attributes {poly.target = #target} {
  poly.kernel @phases(%X: memref<8192x64xf32>, %W: memref<2x64x32xf32>, %Y: memref<16384x32xf32>) {
    %s = poly.array : memref<8192x32xf32>
    %t = poly.array : memref<8192x32xf32>
    poly.compute @init0 domain [#tile] reads() writes(%s[#m] : memref<8192x32xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc0 domain [#points] reads(%X[#x], %W[#w0], %s[#sum] : memref<8192x64xf32>, memref<2x64x32xf32>, memref<8192x32xf32>)
        writes(%s[#sum] : memref<8192x32xf32>) reduction add {
    ^bb0(%x: f32, %y: f32, %a: f32):
      %p = arith.mulf %x, %y : f32
      %r = arith.addf %a, %p : f32
      poly.yield %r : f32
    }
    poly.compute @store0 domain [#tile] reads(%s[#m] : memref<8192x32xf32>) writes(%Y[#even] : memref<16384x32xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
    poly.compute @init1 domain [#tile] reads() writes(%t[#m] : memref<8192x32xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc1 domain [#points] reads(%X[#x], %W[#w1], %t[#sum] : memref<8192x64xf32>, memref<2x64x32xf32>, memref<8192x32xf32>)
        writes(%t[#sum] : memref<8192x32xf32>) reduction add {
    ^bb0(%x: f32, %y: f32, %a: f32):
      %p = arith.mulf %x, %y : f32
      %r = arith.addf %a, %p : f32
      poly.yield %r : f32
    }
    poly.compute @store1 domain [#tile] reads(%t[#m] : memref<8192x32xf32>) writes(%Y[#odd] : memref<16384x32xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
  }
}

// -----

#target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 1>
#x = affine_map<(i, j, k) -> (i, k)>
#w0 = affine_map<(i, j, k) -> (0, k, j)>
#w1 = affine_map<(i, j, k) -> (1, k, j)>
#sum = affine_map<(i, j, k) -> (i, j)>
#m = affine_map<(i, j) -> (i, j)>
#even = affine_map<(i, j) -> (2 * i, j)>
#odd = affine_map<(i, j) -> (2 * i + 1, j)>
#tile = affine_set<(i, j) : (i >= 0, 63 - i >= 0, j >= 0, 31 - j >= 0)>
#points = affine_set<(i, j, k) : (i >= 0, 63 - i >= 0, j >= 0, 31 - j >= 0, k >= 0, 63 - k >= 0)>

// A small result stays there from one to the next, and so do the panels of each.
// CHECK-LABEL: poly.kernel @phases
// CHECK:         poly.band [@init0, @acc0, @store0]
// CHECK:         poly.band [@init1, @acc1, @store1]
module attributes {poly.target = #target} {
  poly.kernel @phases(%X: memref<64x64xf32>, %W: memref<2x64x32xf32>, %Y: memref<128x32xf32>) {
    %s = poly.array : memref<64x32xf32>
    %t = poly.array : memref<64x32xf32>
    poly.compute @init0 domain [#tile] reads() writes(%s[#m] : memref<64x32xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc0 domain [#points] reads(%X[#x], %W[#w0], %s[#sum] : memref<64x64xf32>, memref<2x64x32xf32>, memref<64x32xf32>)
        writes(%s[#sum] : memref<64x32xf32>) reduction add {
    ^bb0(%x: f32, %y: f32, %a: f32):
      %p = arith.mulf %x, %y : f32
      %r = arith.addf %a, %p : f32
      poly.yield %r : f32
    }
    poly.compute @store0 domain [#tile] reads(%s[#m] : memref<64x32xf32>) writes(%Y[#even] : memref<128x32xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
    poly.compute @init1 domain [#tile] reads() writes(%t[#m] : memref<64x32xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc1 domain [#points] reads(%X[#x], %W[#w1], %t[#sum] : memref<64x64xf32>, memref<2x64x32xf32>, memref<64x32xf32>)
        writes(%t[#sum] : memref<64x32xf32>) reduction add {
    ^bb0(%x: f32, %y: f32, %a: f32):
      %p = arith.mulf %x, %y : f32
      %r = arith.addf %a, %p : f32
      poly.yield %r : f32
    }
    poly.compute @store1 domain [#tile] reads(%t[#m] : memref<64x32xf32>) writes(%Y[#odd] : memref<128x32xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
  }
}

// -----

#target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 1>
#x = affine_map<(i, j, k) -> (i, k)>
#w0 = affine_map<(i, j, k) -> (0, k, j)>
#w1 = affine_map<(i, j, k) -> (1, k, j)>
#sum = affine_map<(i, j, k) -> (i, j)>
#m = affine_map<(i, j) -> (i, j)>
#even = affine_map<(i, j) -> (2 * i, j)>
#odd = affine_map<(i, j) -> (2 * i + 1, j)>
#tile = affine_set<(i, j) : (i >= 0, 8191 - i >= 0, j >= 0, 31 - j >= 0)>
#points = affine_set<(i, j, k) : (i >= 0, 8191 - i >= 0, j >= 0, 31 - j >= 0, k >= 0, 4095 - k >= 0)>

// Panels that do not stay in cache beside each other pass one after the other.
// CHECK-LABEL: poly.kernel @phases
// CHECK:         poly.band [@init0, @acc0, @store0]
// CHECK:         poly.band [@init1, @acc1, @store1]
module attributes {poly.target = #target} {
  poly.kernel @phases(%X: memref<8192x4096xf32>, %W: memref<2x4096x32xf32>, %Y: memref<16384x32xf32>) {
    %s = poly.array : memref<8192x32xf32>
    %t = poly.array : memref<8192x32xf32>
    poly.compute @init0 domain [#tile] reads() writes(%s[#m] : memref<8192x32xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc0 domain [#points] reads(%X[#x], %W[#w0], %s[#sum] : memref<8192x4096xf32>, memref<2x4096x32xf32>, memref<8192x32xf32>)
        writes(%s[#sum] : memref<8192x32xf32>) reduction add {
    ^bb0(%x: f32, %y: f32, %a: f32):
      %p = arith.mulf %x, %y : f32
      %r = arith.addf %a, %p : f32
      poly.yield %r : f32
    }
    poly.compute @store0 domain [#tile] reads(%s[#m] : memref<8192x32xf32>) writes(%Y[#even] : memref<16384x32xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
    poly.compute @init1 domain [#tile] reads() writes(%t[#m] : memref<8192x32xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc1 domain [#points] reads(%X[#x], %W[#w1], %t[#sum] : memref<8192x4096xf32>, memref<2x4096x32xf32>, memref<8192x32xf32>)
        writes(%t[#sum] : memref<8192x32xf32>) reduction add {
    ^bb0(%x: f32, %y: f32, %a: f32):
      %p = arith.mulf %x, %y : f32
      %r = arith.addf %a, %p : f32
      poly.yield %r : f32
    }
    poly.compute @store1 domain [#tile] reads(%t[#m] : memref<8192x32xf32>) writes(%Y[#odd] : memref<16384x32xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
  }
}
