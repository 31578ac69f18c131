// RUN: espalier-opt %s -convert-poly-to-loops -cse | FileCheck %s

// Both elements of each pair are read at once, and distributed to lanes. A sum
// of products of bf16 has no order.
// CHECK-LABEL: func.func @read
// CHECK:         %[[PAIRS:.*]] = vector.load %{{.*}} : memref<256xbf16>, vector<32xbf16>
// CHECK:         vector.shuffle %[[PAIRS]], %[[PAIRS]] [0, 2, 4, {{.*}}, 30] : vector<32xbf16>, vector<32xbf16>
// CHECK:         arith.addf {{.*}} fastmath<reassoc> : vector<16xf32>
// CHECK-NOT:     vector.load
// CHECK:         vector.shuffle %[[PAIRS]], %[[PAIRS]] [1, 3, 5, {{.*}}, 31] : vector<32xbf16>, vector<32xbf16>
// CHECK:         arith.addf {{.*}} fastmath<reassoc> : vector<16xf32>
// CHECK:         vector.store
#sum = affine_set<(j, k, p) : (j >= 0, 15 - j >= 0, k >= 0, 7 - k >= 0, p >= 0, 1 - p >= 0)>
poly.kernel @read(%x: memref<16xbf16>, %w: memref<8x16x2xbf16>, %y: memref<16xf32>) {
  poly.compute @acc domain [#sum]
      reads(%x[affine_map<(j, k, p) -> (2 * k + p)>], %w[affine_map<(j, k, p) -> (k, j, p)>], %y[affine_map<(j, k, p) -> (j)>] : memref<16xbf16>, memref<8x16x2xbf16>, memref<16xf32>)
      writes(%y[affine_map<(j, k, p) -> (j)>] : memref<16xf32>) reduction add {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %af = arith.extf %a : bf16 to f32
    %bf = arith.extf %b : bf16 to f32
    %p = arith.mulf %af, %bf : f32
    %s = arith.addf %c, %p : f32
    poly.yield %s : f32
  }
  poly.schedule {
    poly.band [@acc] maps [affine_map<(j, k, p) -> (k, p, j)>] loops [sequential, unroll, vector(16)]
  }
}

// Of lanes that are not there, no pair is read.
// CHECK-LABEL: func.func @read_some
// CHECK:         vector.maskedload %{{.*}} : memref<176xbf16>, vector<32xi1>, vector<32xbf16> into vector<32xbf16>
#some = affine_set<(j, k, p) : (j >= 0, 10 - j >= 0, k >= 0, 7 - k >= 0, p >= 0, 1 - p >= 0)>
poly.kernel @read_some(%w: memref<8x11x2xbf16>, %y: memref<8x2x11xbf16>) {
  poly.compute @copy domain [#some]
      reads(%w[affine_map<(j, k, p) -> (k, j, p)>] : memref<8x11x2xbf16>)
      writes(%y[affine_map<(j, k, p) -> (k, p, j)>] : memref<8x2x11xbf16>) {
  ^bb0(%b: bf16):
    poly.yield %b : bf16
  }
  poly.schedule {
    poly.band [@copy] maps [affine_map<(j, k, p) -> (k, p, j)>] loops [sequential, unroll, vector(16)]
  }
}

// Rows become pairs, which one vector stores.
// CHECK-LABEL: func.func @write
// CHECK-DAG:     %[[EVEN:.*]] = vector.load %{{.*}} : memref<256xbf16>, vector<16xbf16>
// CHECK-DAG:     %[[ODD:.*]] = vector.load %{{.*}} : memref<256xbf16>, vector<16xbf16>
// CHECK:         %[[PAIRS:.*]] = vector.shuffle %{{.*}}, %{{.*}} [0, 16, 1, 17, {{.*}}, 15, 31] : vector<16xbf16>, vector<16xbf16>
// CHECK-NEXT:    vector.store %[[PAIRS]], %{{.*}} : memref<256xbf16>, vector<32xbf16>
// CHECK-NOT:     vector.scatter
poly.kernel @write(%x: memref<16x16xbf16>, %w: memref<8x16x2xbf16>) {
  poly.compute @copy domain [#sum]
      reads(%x[affine_map<(j, k, p) -> (2 * k + p, j)>] : memref<16x16xbf16>)
      writes(%w[affine_map<(j, k, p) -> (k, j, p)>] : memref<8x16x2xbf16>) {
  ^bb0(%b: bf16):
    poly.yield %b : bf16
  }
  poly.schedule {
    poly.band [@copy] maps [affine_map<(j, k, p) -> (k, p, j)>] loops [sequential, unroll, vector(16)]
  }
}
