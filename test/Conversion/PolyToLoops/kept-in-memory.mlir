// RUN: espalier-opt %s -convert-poly-to-loops --remarks-filter="convert-poly-to-loops" 2>&1 | FileCheck %s

// Remarks come first.
// CHECK: remark: [Missed] KeptInMemory | Category:convert-poly-to-loops {{.*}}expects an element of an array in registers to be written, in the same iteration, before 'b' reads it, and its loops to be unrolled
// CHECK: remark: [Missed] KeptInMemory | Category:convert-poly-to-loops {{.*}}expects elements of an array in registers to be used in the same lanes, or each by itself, but 'first' uses them otherwise
// CHECK: remark: [Missed] KeptInMemory | Category:convert-poly-to-loops {{.*}}expects elements of an array in registers to be used in the same lanes, or each by itself, but 'other' uses them otherwise

// CHECK: remark: [Missed] KeptInMemory | Category:convert-poly-to-loops {{.*}}expects accesses that lanes can make, in a vector loop with arrays in registers

// Code cannot tell which element is meant where its loop is not unrolled: then
// the array is in memory.
// CHECK-LABEL: func.func @registers_need_unrolled_loops(
// CHECK:         %[[S:.*]] = memref.alloca() {{.*}}: memref<4xf32>
// CHECK:         scf.for
// CHECK:           memref.store %{{.*}}, %[[S]]
// CHECK:         scf.for
// CHECK:           memref.load %[[S]]
#i = affine_map<(i) -> (i)>
#points = affine_set<(i) : (i >= 0, 3 - i >= 0)>
poly.kernel @registers_need_unrolled_loops(%A: memref<4xf32>) {
  %s = poly.array register : memref<4xf32>
  poly.compute @a domain [#points] reads() writes(%s[#i] : memref<4xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @b domain [#points] reads(%s[#i] : memref<4xf32>) writes(%A[#i] : memref<4xf32>) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
}

// One lane is written by itself: it is not the whole vector, nor apart from it.
// CHECK-LABEL: func.func @first_lane(
// CHECK:         memref.store %{{.*}}, %{{.*}}[%c0
// CHECK:         vector.load
// CHECK-LABEL: func.func @other_lane(
// CHECK:         memref.store %{{.*}}, %{{.*}}[%c3
// CHECK:         vector.load
#lanes = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#first = affine_set<(i) : (i == 0)>
#other = affine_set<(i) : (i - 3 == 0)>
poly.kernel @first_lane(%a: memref<8xf32>, %o: memref<8xf32>) {
  %t = poly.array register : memref<8xf32>
  poly.compute @init domain [#lanes] reads() writes(%t[#i] : memref<8xf32>) {
    %c = arith.constant 1.0 : f32
    poly.yield %c : f32
  }
  poly.compute @first domain [#first] reads(%a[#i] : memref<8xf32>) writes(%t[#i] : memref<8xf32>) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.compute @out domain [#lanes] reads(%t[#i] : memref<8xf32>) writes(%o[#i] : memref<8xf32>) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.schedule {
    poly.sequence {
      poly.filter [@init] { poly.band [@init] maps [#i] loops [vector(8)] {} }
      poly.filter [@first] { poly.band [@first] maps [#i] loops [vector(8)] {} }
      poly.filter [@out] { poly.band [@out] maps [#i] loops [vector(8)] {} }
    }
  }
}
poly.kernel @other_lane(%a: memref<8xf32>, %o: memref<8xf32>) {
  %t = poly.array register : memref<8xf32>
  poly.compute @init domain [#lanes] reads() writes(%t[#i] : memref<8xf32>) {
    %c = arith.constant 1.0 : f32
    poly.yield %c : f32
  }
  poly.compute @other domain [#other] reads(%a[#i] : memref<8xf32>) writes(%t[#i] : memref<8xf32>) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.compute @out domain [#lanes] reads(%t[#i] : memref<8xf32>) writes(%o[#i] : memref<8xf32>) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.schedule {
    poly.sequence {
      poly.filter [@init] { poly.band [@init] maps [#i] loops [vector(8)] {} }
      poly.filter [@other] { poly.band [@other] maps [#i] loops [vector(8)] {} }
      poly.filter [@out] { poly.band [@out] maps [#i] loops [vector(8)] {} }
    }
  }
}

// Lanes write every other element, which registers of vectors cannot hold.
// CHECK-LABEL: func.func @every_other_lane(
// CHECK:         %[[T:.*]] = memref.alloca() {{.*}}: memref<16xf32>
// CHECK-COUNT-16: memref.store %{{.*}}, %[[T]]
// CHECK:         vector.scatter %[[T]]
// CHECK:         memref.load %[[T]]
#two = affine_map<(i) -> (i * 2)>
#twice = affine_set<(i) : (i >= 0, 15 - i >= 0)>
poly.kernel @every_other_lane(%a: memref<8xf32>, %o: memref<16xf32>) {
  %t = poly.array register : memref<16xf32>
  poly.compute @init domain [#twice] reads() writes(%t[#i] : memref<16xf32>) {
    %c = arith.constant 1.0 : f32
    poly.yield %c : f32
  }
  poly.compute @even domain [#lanes] reads(%a[#i] : memref<8xf32>) writes(%t[#two] : memref<16xf32>) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.compute @out domain [#twice] reads(%t[#i] : memref<16xf32>) writes(%o[#i] : memref<16xf32>) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.schedule {
    poly.sequence {
      poly.filter [@init] { poly.band [@init] maps [#i] loops [unroll] {} }
      poly.filter [@even] { poly.band [@even] maps [#i] loops [vector(8)] {} }
      poly.filter [@out] { poly.band [@out] maps [#i] loops [unroll] {} }
    }
  }
}
