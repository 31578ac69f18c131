// RUN: espalier-opt %s -convert-poly-to-loops | FileCheck %s

// Of the second vector, six lanes are all that the registers hold: what the
// others compute is never stored, and nothing is selected.
// CHECK-LABEL: func.func @all_elements(
// CHECK:         %[[MASK:.*]] = vector.create_mask
// CHECK-NOT:     arith.select
// CHECK:         vector.maskedstore
#i = affine_map<(i) -> (i)>
#whole = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#part = affine_set<(i) : (i >= 0, 5 - i >= 0)>
#rows = affine_set<(i) : (i >= 0, 13 - i >= 0)>
#vectors = affine_map<(i) -> (i floordiv 8, i mod 8)>
poly.kernel @all_elements(%a: memref<14xf32>, %b: memref<14xf32>, %o: memref<14xf32>) {
  %t = poly.array register : memref<14xf32>
  poly.compute @init domain [#rows] reads(%b[#i] : memref<14xf32>) writes(%t[#i] : memref<14xf32>) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.compute @more domain [#rows] reads(%a[#i], %t[#i] : memref<14xf32>, memref<14xf32>) writes(%t[#i] : memref<14xf32>) {
  ^bb0(%x: f32, %s: f32):
    %r = arith.addf %x, %s : f32
    poly.yield %r : f32
  }
  poly.compute @out domain [#rows] reads(%t[#i] : memref<14xf32>) writes(%o[#i] : memref<14xf32>) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.schedule {
    poly.sequence {
      poly.filter [@init] { poly.band [@init] maps [#vectors] loops [unroll, vector(8)] {} }
      poly.filter [@more] { poly.band [@more] maps [#vectors] loops [unroll, vector(8)] {} }
      poly.filter [@out] { poly.band [@out] maps [#vectors] loops [unroll, vector(8)] {} }
    }
  }
}

// Two more elements are there, and stay.
// CHECK-LABEL: func.func @some_elements(
// CHECK:         %[[OLD:.*]] = vector.load
// CHECK:         %[[NEW:.*]] = arith.addf
// CHECK:         %[[BOTH:.*]] = arith.select %{{.*}}, %[[NEW]], %[[OLD]]
// CHECK:         vector.store %[[BOTH]]
poly.kernel @some_elements(%a: memref<6xf32>, %b: memref<8xf32>, %o: memref<8xf32>) {
  %t = poly.array register : memref<8xf32>
  poly.compute @init domain [#whole] reads(%b[#i] : memref<8xf32>) writes(%t[#i] : memref<8xf32>) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.compute @more domain [#part] reads(%a[#i], %t[#i] : memref<6xf32>, memref<8xf32>) writes(%t[#i] : memref<8xf32>) {
  ^bb0(%x: f32, %s: f32):
    %r = arith.addf %x, %s : f32
    poly.yield %r : f32
  }
  poly.compute @out domain [#whole] reads(%t[#i] : memref<8xf32>) writes(%o[#i] : memref<8xf32>) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.schedule {
    poly.sequence {
      poly.filter [@init] { poly.band [@init] maps [#i] loops [vector(8)] {} }
      poly.filter [@more] { poly.band [@more] maps [#i] loops [vector(8)] {} }
      poly.filter [@out] { poly.band [@out] maps [#i] loops [vector(8)] {} }
    }
  }
}
