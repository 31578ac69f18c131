// RUN: espalier-opt %s -poly-decompose-phases | FileCheck %s

// Phases of a sum over entries would be every other entry.
// CHECK: affine_map<(d0, d1, d2) -> (d0, (d1 - d2 + 7) floordiv 2)>
// CHECK-COUNT-1: reduction add
// CHECK-NOT: reduction add
module attributes {espalier.stage = "statements"} {
  memref.global "private" constant @starts : memref<3xi32> = dense<[0, 3, 8]> {alignment = 64 : i64}
  memref.global "private" constant @w : memref<8xf32> = dense<[1., 2., 3., 4., 5., 6., 7., 8.]> {alignment = 64 : i64}
  poly.kernel private @k(%x: memref<2x13xf32>, %w: memref<8xf32>, %s: memref<3xi32> {poly.bounded_by = affine_map<() -> (9)>, poly.monotonic}, %o: memref<2x6xf32>) attributes {poly.shared_dims = 2 : i64} {
    poly.compute @s0_init dims ["n", "p"] domain [affine_set<(d0, d1) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 5 >= 0)>] reads() writes(%o[affine_map<(d0,d1)->(d0,d1)>] : memref<2x6xf32>) {
      %cst = arith.constant 0.000000e+00 : f32
      poly.yield %cst : f32
    }
    poly.compute @s0 dims ["n", "p", "e"] domain [affine_set<(d0, d1, d2) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 5 >= 0, d2 >= 0, -d2 + 7 >= 0, (d1 - d2 + 7) mod 2 == 0)>] where affine_set<(d0, d1, d2)[s0, s1] : (d2 - s0 >= 0, -d2 + s1 - 1 >= 0)> reads(%s[affine_map<(d0,d1,d2)->(d0)>], %s[affine_map<(d0,d1,d2)->(d0+1)>], %x[affine_map<(d0,d1,d2)->(d0, (d1 - d2 + 7) floordiv 2)>], %w[affine_map<(d0,d1,d2)->(d2)>], %o[affine_map<(d0,d1,d2)->(d0,d1)>] : memref<3xi32>, memref<3xi32>, memref<2x13xf32>, memref<8xf32>, memref<2x6xf32>) writes(%o[affine_map<(d0,d1,d2)->(d0,d1)>] : memref<2x6xf32>) reduction add {
    ^bb0(%a: i32, %b: i32, %c: f32, %d: f32, %e: f32):
      %0 = arith.mulf %c, %d : f32
      %1 = arith.addf %e, %0 : f32
      poly.yield %1 : f32
    }
  }
  func.func @main(%arg0: memref<2x13xf32>, %arg1: memref<2x6xf32>) attributes {espalier.num_inputs = 1 : i64} {
    %w = memref.get_global @w : memref<8xf32>
    %s = memref.get_global @starts : memref<3xi32>
    poly.call @k(%arg0, %w, %s, %arg1) : memref<2x13xf32>, memref<8xf32>, memref<3xi32>, memref<2x6xf32>
    return
  }
  func.func @main_plan(%arg0: index, %arg1: index) -> (index, index) {
    %c2 = arith.constant 2 : index
    %c6 = arith.constant 6 : index
    return %c2, %c6 : index, index
  }
}
