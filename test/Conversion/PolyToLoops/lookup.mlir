// RUN: espalier-opt %s -convert-poly-to-loops -split-input-file | FileCheck %s

// All of the row is in two vectors: a lane takes its element from there.
// CHECK-LABEL: func.func @few
// CHECK:         %[[FIRST:.*]] = vector.load %[[ROW:.*]][%{{.*}}] : memref<20xf32>, vector<16xf32>
// CHECK-COUNT-16: vector.extract %[[FIRST]]
// CHECK:         %[[MASK:.*]] = arith.constant dense<[true, true, true, true, false, {{.*}}]> : vector<16xi1>
// CHECK:         %[[SECOND:.*]] = vector.maskedload %[[ROW]][%{{.*}}], %[[MASK]]
// CHECK-COUNT-16: vector.extract %[[SECOND]]
// CHECK:         arith.cmpi sge
// CHECK:         arith.select
// CHECK-NOT:     scf.if
// CHECK-NOT:     vector.gather
// CHECK:         return
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  poly.kernel @few(%at: memref<16xindex>, %x: memref<20xf32>, %y: memref<16xf32>) {
    %row = poly.array stack : memref<20xf32>
    poly.compute @fill domain [affine_set<(i) : (i >= 0, 19 - i >= 0)>]
        reads(%x[affine_map<(i) -> (i)>] : memref<20xf32>)
        writes(%row[affine_map<(i) -> (i)>] : memref<20xf32>) {
    ^bb0(%a: f32):
      poly.yield %a : f32
    }
    poly.compute @copy domain [affine_set<(j) : (j >= 0, 15 - j >= 0)>]
        reads(%at[affine_map<(j) -> (j)>], %row[affine_map<(j)[at] -> (at)>] : memref<16xindex>, memref<20xf32>)
        writes(%y[affine_map<(j) -> (j)>] : memref<16xf32>) {
    ^bb0(%i: index, %a: f32):
      poly.yield %a : f32
    }
    poly.schedule {
      poly.sequence {
        poly.filter [@fill] {
          poly.band [@fill] maps [affine_map<(i) -> (i)>] loops [sequential]
        }
        poly.filter [@copy] {
          poly.band [@copy] maps [affine_map<(j) -> (j)>] loops [vector(16)]
        }
      }
    }
  }
}

// -----

// 48 lanes are spread over 100 elements, so 16 of them over three vectors: from
// the first lane's element on, but not beyond the end. Others load each lane.
// CHECK-LABEL: func.func @near
// CHECK:         %[[FIRST:.*]] = vector.extract %{{.*}}[0] : index from vector<16xindex>
// CHECK:         %[[LEAST:.*]] = arith.maxsi %[[FIRST]], %{{.*}}
// CHECK:         %[[BEGIN:.*]] = arith.minsi %[[LEAST]], %{{.*}}
// CHECK:         arith.cmpi ult, {{.*}} : vector<16xindex>
// CHECK:         %[[NEAR:.*]] = vector.reduction <and>
// CHECK:         scf.if %[[NEAR]] -> (vector<16xf32>) {
// CHECK-COUNT-3:   vector.load {{.*}} : memref<100xf32>, vector<16xf32>
// CHECK:         } else {
// CHECK:           vector.gather
// CHECK:         }
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  poly.kernel @near(%at: memref<48xindex>, %x: memref<100xf32>, %y: memref<48xf32>) {
    %row = poly.array stack : memref<100xf32>
    poly.compute @fill domain [affine_set<(i) : (i >= 0, 99 - i >= 0)>]
        reads(%x[affine_map<(i) -> (i)>] : memref<100xf32>)
        writes(%row[affine_map<(i) -> (i)>] : memref<100xf32>) {
    ^bb0(%a: f32):
      poly.yield %a : f32
    }
    poly.compute @copy domain [affine_set<(j) : (j >= 0, 47 - j >= 0)>]
        reads(%at[affine_map<(j) -> (j)>], %row[affine_map<(j)[at] -> (at)>] : memref<48xindex>, memref<100xf32>)
        writes(%y[affine_map<(j) -> (j)>] : memref<48xf32>) {
    ^bb0(%i: index, %a: f32):
      poly.yield %a : f32
    }
    poly.schedule {
      poly.sequence {
        poly.filter [@fill] {
          poly.band [@fill] maps [affine_map<(i) -> (i)>] loops [sequential]
        }
        poly.filter [@copy] {
          poly.band [@copy] maps [affine_map<(j) -> (j floordiv 16, j)>] loops [sequential, vector(16)]
        }
      }
    }
  }
}

// -----

// 16 lanes that may be anywhere in five vectors are not near each other.
// CHECK-LABEL: func.func @far
// CHECK-NOT:     scf.if
// CHECK-NOT:     vector.reduction
// CHECK:         return
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  poly.kernel @far(%at: memref<16xindex>, %x: memref<80xf32>, %y: memref<16xf32>) {
    %row = poly.array stack : memref<80xf32>
    poly.compute @fill domain [affine_set<(i) : (i >= 0, 79 - i >= 0)>]
        reads(%x[affine_map<(i) -> (i)>] : memref<80xf32>)
        writes(%row[affine_map<(i) -> (i)>] : memref<80xf32>) {
    ^bb0(%a: f32):
      poly.yield %a : f32
    }
    poly.compute @copy domain [affine_set<(j) : (j >= 0, 15 - j >= 0)>]
        reads(%at[affine_map<(j) -> (j)>], %row[affine_map<(j)[at] -> (at)>] : memref<16xindex>, memref<80xf32>)
        writes(%y[affine_map<(j) -> (j)>] : memref<16xf32>) {
    ^bb0(%i: index, %a: f32):
      poly.yield %a : f32
    }
    poly.schedule {
      poly.sequence {
        poly.filter [@fill] {
          poly.band [@fill] maps [affine_map<(i) -> (i)>] loops [sequential]
        }
        poly.filter [@copy] {
          poly.band [@copy] maps [affine_map<(j) -> (j)>] loops [vector(16)]
        }
      }
    }
  }
}
