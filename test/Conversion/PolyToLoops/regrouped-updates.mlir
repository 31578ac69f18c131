// RUN: espalier-opt %s -convert-poly-to-loops | FileCheck %s

#i = affine_map<(i) -> (i)>
#all = affine_map<(i) -> ()>
#points = affine_set<(i) : (i >= 0, 15 - i >= 0)>

// That no sum overflows is said of sums from the first element on. Those of
// lanes may: 2147483647, -1, 1, -1 in two lanes.
// CHECK-LABEL: func.func @sum(
// CHECK:         arith.addi %{{[^ ]*}}, %{{[^ ]*}} : vector<2xi32>
// CHECK:         arith.addi %{{[^ ]*}}, %{{[^ ]*}} : vector<2xi32>
// CHECK:         vector.reduction <add>
poly.kernel @sum(%x: memref<16xi32>, %s: memref<i32>) {
  poly.compute @add domain [#points] reads(%x[#i], %s[#all] : memref<16xi32>, memref<i32>)
      writes(%s[#all] : memref<i32>) reduction add {
  ^bb0(%b: i32, %a: i32):
    %0 = arith.addi %b, %b overflow<nsw, nuw> : i32
    %1 = arith.addi %a, %0 overflow<nsw> : i32
    poly.yield %1 : i32
  }
  poly.schedule {
    poly.band [@add] maps [#i] loops [vector(2)] {
    }
  }
}

// Parts of a product that is finite may be infinite. How it may be computed
// stays.
// CHECK-LABEL: func.func @product(
// CHECK:         arith.mulf %{{[^ ]*}}, %{{[^ ]*}} fastmath<reassoc> : f32
poly.kernel @product(%x: memref<16xf32>, %s: memref<f32>) {
  poly.compute @mul domain [#points] reads(%x[#i], %s[#all] : memref<16xf32>, memref<f32>)
      writes(%s[#all] : memref<f32>) reduction mul {
  ^bb0(%b: f32, %a: f32):
    %0 = arith.mulf %a, %b fastmath<reassoc,nnan,ninf> : f32
    poly.yield %0 : f32
  }
}

// What a combiner combines is regrouped, too.
// CHECK-LABEL: func.func @combined(
// CHECK:         arith.addi %{{[^ ]*}}, %{{[^ ]*}} : i32
poly.kernel @combined(%x: memref<16xi32>, %s: memref<i32>) {
  poly.combiner @plus commutative neutral [0 : i32] {
  ^bb0(%a: i32, %b: i32):
    %0 = arith.addi %a, %b overflow<nsw> : i32
    poly.yield %0 : i32
  }
  poly.compute @add domain [#points] reads(%x[#i], %s[#all] : memref<16xi32>, memref<i32>)
      writes(%s[#all] : memref<i32>) combiner @plus {
  ^bb0(%b: i32, %a: i32):
    %0 = arith.addi %a, %b overflow<nsw> : i32
    poly.yield %0 : i32
  }
}

// A map has one order.
// CHECK-LABEL: func.func @map(
// CHECK:         arith.addi %{{[^ ]*}}, %{{[^ ]*}} overflow<nsw> : i32
poly.kernel @map(%x: memref<16xi32>, %y: memref<16xi32>) {
  poly.compute @add domain [#points] reads(%x[#i] : memref<16xi32>) writes(%y[#i] : memref<16xi32>) {
  ^bb0(%a: i32):
    %0 = arith.addi %a, %a overflow<nsw> : i32
    poly.yield %0 : i32
  }
}
