// RUN: espalier-opt %s -pass-pipeline='builtin.module(poly.kernel(poly-default-schedule,poly-verify-schedule))' | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#back = affine_map<(i, j) -> (i - 1, j - 1)>
#inside = affine_set<(i, j) : (i - 1 >= 0, 8 - i >= 0, j - 1 >= 0, 32 - j >= 0)>

// Lanes are counted from where a row begins, so that whole vectors fill it.
// CHECK-DAG:   #[[FROM_ONE:.*]] = affine_map<(d0, d1) -> (d0, (d1 - 1) floordiv 16)>
// CHECK-DAG:   #[[LANES:.*]] = affine_map<(d0, d1) -> ((d1 - 1) mod 16)>
// CHECK-DAG:   #[[SQUARE:.*]] = affine_map<(d0, d1) -> ((d1 - 1) mod 16, d0 mod 16)>
// CHECK-DAG:   #[[WHOLE:.*]] = affine_set<(d0, d1) : (d1 - 1 >= 0, -d1 + 16 >= 0)>
// CHECK-DAG:   #[[REST:.*]] = affine_set<(d0, d1) : (d1 - 17 >= 0, -d1 + 18 >= 0)>
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

  // A square that is transposed is counted from there, too: of 18 columns, 16
  // and two.
  // CHECK-LABEL: poly.kernel @square
  // CHECK:         poly.filter [@s] where [#[[WHOLE]]]
  // CHECK-NEXT:      poly.band [@s] maps [#{{.*}}] loops [sequential, sequential]
  // CHECK-NEXT:        poly.band [@s] maps [#[[SQUARE]]] loops [unroll, vector(16)]
  // CHECK:         poly.filter [@s] where [#[[REST]]]
  poly.kernel @square(%x: memref<32x18xf32>, %y: memref<20x32xf32>) {
    poly.compute @s domain [affine_set<(i, j) : (i >= 0, 31 - i >= 0, j - 1 >= 0, 18 - j >= 0)>] reads(%x[affine_map<(i, j) -> (i, j - 1)>] : memref<32x18xf32>) writes(%y[affine_map<(i, j) -> (j, i)>] : memref<20x32xf32>) {
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
