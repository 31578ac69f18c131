// RUN: espalier-opt %s -pass-pipeline='builtin.module(poly.kernel(poly-default-schedule,poly-verify-schedule))' | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#back = affine_map<(i, j) -> (i - 1, j - 1)>
#inside = affine_set<(i, j) : (i - 1 >= 0, 8 - i >= 0, j - 1 >= 0, 32 - j >= 0)>

// Lanes are counted from where a row begins, so that whole vectors fill it.
// CHECK-DAG:   #[[FROM_ONE:.*]] = affine_map<(d0, d1) -> (d0, (d1 - 1) floordiv 16)>
// CHECK-DAG:   #[[LANES:.*]] = affine_map<(d0, d1) -> ((d1 - 1) mod 16)>
// CHECK-LABEL: poly.kernel @inside
// CHECK:       poly.band [@s] maps [#[[FROM_ONE]]]
// CHECK-NEXT:    poly.band [@s] maps [#[[LANES]]] loops [vector(16)]
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  poly.kernel @inside(%x: memref<8x32xf32>, %y: memref<10x34xf32>) {
    poly.compute @s domain [#inside] reads(%x[#back] : memref<8x32xf32>) writes(%y[#id] : memref<10x34xf32>) {
    ^bb0(%v: f32):
      poly.yield %v : f32
    }
  }

  // Where two computations of one nest begin apart, there are none.
  // CHECK-LABEL: poly.kernel @apart
  // CHECK-NOT:   vector(
  poly.kernel @apart(%x: memref<10x34xf32>, %y: memref<10x34xf32>) {
    %t = poly.array : memref<10x34xf32>
    poly.compute @s domain [affine_set<(i, j) : (i >= 0, 9 - i >= 0, j >= 0, 32 - j >= 0)>] reads(%x[#id] : memref<10x34xf32>) writes(%t[#id] : memref<10x34xf32>) {
    ^bb0(%v: f32):
      %n = arith.negf %v : f32
      poly.yield %n : f32
    }
    poly.compute @r domain [#inside] reads(%t[#id] : memref<10x34xf32>) writes(%y[#id] : memref<10x34xf32>) {
    ^bb0(%v: f32):
      poly.yield %v : f32
    }
  }
}
