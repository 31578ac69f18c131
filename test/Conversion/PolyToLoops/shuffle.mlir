// RUN: espalier-opt %s -convert-poly-to-loops | FileCheck %s

#points = affine_set<(j, k) : (j >= 0, 31 - j >= 0, k >= 0, 3 - k >= 0)>

// Four lanes share an element of the input: one load has all that are read, and
// leaves out what may lie beyond the end.
// CHECK-LABEL: func.func @groups
// CHECK-DAG:     %[[READ:.*]] = arith.constant dense<[true, false, false, false, true, false, false, false, true, false, false, false, true, false, false, false]> : vector<16xi1>
// CHECK:         %[[ALL:.*]] = vector.maskedload %{{.*}}[%{{.*}}], %[[READ]], %{{.*}} : memref<32xf32>
// CHECK:         vector.shuffle %[[ALL]], %[[ALL]] [0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12]
// CHECK-NOT:     vector.gather
poly.kernel @groups(%x: memref<32xf32>, %w: memref<4x32xf32>, %y: memref<32xf32>) {
  poly.compute @acc domain [#points]
      reads(%x[affine_map<(j, k) -> ((j floordiv 4) * 4 + k)>], %w[affine_map<(j, k) -> (k, j)>], %y[affine_map<(j, k) -> (j)>] : memref<32xf32>, memref<4x32xf32>, memref<32xf32>)
      writes(%y[affine_map<(j, k) -> (j)>] : memref<32xf32>) reduction add {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    poly.yield %s : f32
  }
  poly.schedule {
    poly.band [@acc] maps [affine_map<(j, k) -> (j floordiv 16, k, j mod 16)>] loops [sequential, sequential, vector(16)]
  }
}

// Lanes in four neighbouring vectors, the last of which ends with the last lane.
// CHECK-LABEL: func.func @near
// CHECK:         %[[A:.*]] = vector.load %{{.*}}[%c0{{.*}}] : memref<52xf32>
// CHECK:         %[[B:.*]] = vector.load %{{.*}}[%c16{{.*}}] : memref<52xf32>
// CHECK:         %[[AB:.*]] = vector.shuffle %[[A]], %[[B]] [0, 1, 2, 3, 16, 17, 18, 19, {{.*}}]
// CHECK:         %[[C:.*]] = vector.load %{{.*}}[%c32{{.*}}] : memref<52xf32>
// CHECK:         %[[ABC:.*]] = vector.shuffle %[[AB]], %[[C]] [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, {{.*}}]
// CHECK:         %[[D:.*]] = vector.load %{{.*}}[%c36{{.*}}] : memref<52xf32>
// CHECK:         vector.shuffle %[[ABC]], %[[D]] [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 28, 29, 30, 31]
// CHECK-NOT:     vector.gather
poly.kernel @near(%x: memref<52xf32>, %y: memref<16xf32>) {
  poly.compute @copy domain [affine_set<(j) : (j >= 0, 15 - j >= 0)>]
      reads(%x[affine_map<(j) -> ((j floordiv 4) * 16 + j mod 4)>] : memref<52xf32>)
      writes(%y[affine_map<(j) -> (j)>] : memref<16xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.schedule {
    poly.band [@copy] maps [affine_map<(j) -> (j)>] loops [vector(16)]
  }
}

// Lanes too far apart for that.
// CHECK-LABEL: func.func @distant
// CHECK:         vector.gather
poly.kernel @distant(%x: memref<100xf32>, %y: memref<16xf32>) {
  poly.compute @copy domain [affine_set<(j) : (j >= 0, 15 - j >= 0)>]
      reads(%x[affine_map<(j) -> ((j floordiv 4) * 32 + j mod 4)>] : memref<100xf32>)
      writes(%y[affine_map<(j) -> (j)>] : memref<16xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.schedule {
    poly.band [@copy] maps [affine_map<(j) -> (j)>] loops [vector(16)]
  }
}

// The lanes' own maxima of index values start from the least one.
// CHECK-LABEL: func.func @index_maximum
// CHECK:         arith.constant dense<-9223372036854775808> : vector<16xindex>
// CHECK:         vector.reduction <maxsi>
poly.kernel @index_maximum(%x: memref<32xindex>, %y: memref<1xindex>) {
  %m = poly.array register : memref<1xindex>
  poly.compute @start domain [affine_set<(i) : (i == 0)>] reads() writes(%m[affine_map<(i) -> (i)>] : memref<1xindex>) {
    %c = arith.constant -1 : index
    poly.yield %c : index
  }
  poly.compute @max domain [affine_set<(i, j) : (i == 0, j >= 0, 31 - j >= 0)>]
      reads(%x[affine_map<(i, j) -> (j)>], %m[affine_map<(i, j) -> (i)>] : memref<32xindex>, memref<1xindex>)
      writes(%m[affine_map<(i, j) -> (i)>] : memref<1xindex>) reduction max {
  ^bb0(%a: index, %b: index):
    %c = arith.maxsi %a, %b : index
    poly.yield %c : index
  }
  poly.compute @store domain [affine_set<(i) : (i == 0)>] reads(%m[affine_map<(i) -> (i)>] : memref<1xindex>) writes(%y[affine_map<(i) -> (i)>] : memref<1xindex>) {
  ^bb0(%a: index):
    poly.yield %a : index
  }
  poly.schedule {
    poly.band [@start, @max, @store] maps [affine_map<(i) -> (i)>, affine_map<(i, j) -> (i)>, affine_map<(i) -> (i)>] loops [unroll] {
      poly.sequence {
        poly.filter [@start]
        poly.filter [@max] {
          poly.band [@max] maps [affine_map<(i, j) -> (j floordiv 16, j mod 16)>] loops [sequential, vector(16)]
        }
        poly.filter [@store]
      }
    }
  }
}

// Seven of sixteen lanes, two elements apart: nothing is read beyond the last.
// CHECK-LABEL: func.func @some
// CHECK-DAG:     %[[READ:.*]] = arith.constant dense<[true, false, true, false, true, false, true, false, true, false, true, false, true, false, false, false]> : vector<16xi1>
// CHECK:         %[[ALL:.*]] = vector.maskedload %{{.*}}[%{{.*}}], %[[READ]], %{{.*}} : memref<13xf32>
// CHECK:         vector.shuffle %[[ALL]], %[[ALL]] [0, 2, 4, 6, 8, 10, 12, 0, {{.*}}]
// CHECK-NOT:     vector.gather
poly.kernel @some(%x: memref<13xf32>, %y: memref<7xf32>) {
  poly.compute @copy domain [affine_set<(j) : (j >= 0, 6 - j >= 0)>]
      reads(%x[affine_map<(j) -> (2 * j)>] : memref<13xf32>)
      writes(%y[affine_map<(j) -> (j)>] : memref<7xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.schedule {
    poly.band [@copy] maps [affine_map<(j) -> (j)>] loops [vector(16)]
  }
}
