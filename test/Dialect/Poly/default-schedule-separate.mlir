// RUN: espalier-opt %s -pass-pipeline='builtin.module(poly.kernel(poly-default-schedule))' | FileCheck %s --check-prefix=FUSED
// RUN: espalier-opt %s -pass-pipeline='builtin.module(poly.kernel(poly-default-schedule{fuse=false},poly-verify-schedule))' | FileCheck %s

#out = affine_map<(i, j) -> (i, j)>
#sum = affine_map<(i, j, k) -> (i, j)>
#lhs = affine_map<(i, j, k) -> (i, k)>
#rhs = affine_map<(i, j, k) -> (k, j)>
#tile = affine_set<(i, j) : (i >= 0, 63 - i >= 0, j >= 0, 63 - j >= 0)>
#all = affine_set<(i, j, k) : (i >= 0, 63 - i >= 0, j >= 0, 63 - j >= 0, k >= 0, 63 - k >= 0)>
!m = memref<64x64xf32>

// What starts the sum stays with it; its readers have loops of their own.
// FUSED:     poly.band [@init, @acc, @relu]
// CHECK:     poly.filter [@init, @acc]
// CHECK:       poly.band [@init, @acc]
// CHECK:     poly.filter [@relu]
// CHECK:       poly.band [@relu]
poly.kernel @product(%a: !m, %b: !m, %c: !m) {
  %s = poly.array : !m
  poly.compute @init dims ["i", "j"] domain [#tile] reads() writes(%s[#out] : !m) {
  ^bb0:
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
  poly.compute @acc dims ["i", "j", "k"] domain [#all]
      reads(%a[#lhs], %b[#rhs], %s[#sum] : !m, !m, !m) writes(%s[#sum] : !m) reduction add {
  ^bb0(%x: f32, %y: f32, %t: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %t, %p : f32
    poly.yield %r : f32
  }
  poly.compute @relu dims ["i", "j"] domain [#tile] reads(%s[#out] : !m) writes(%c[#out] : !m) {
  ^bb0(%x: f32):
    %zero = arith.constant 0.0 : f32
    %r = arith.maximumf %x, %zero : f32
    poly.yield %r : f32
  }
}
