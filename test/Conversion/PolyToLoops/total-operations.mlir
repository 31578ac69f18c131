// RUN: espalier-opt %s -convert-poly-to-loops -canonicalize | FileCheck %s

#i = affine_map<(i) -> (i)>
#points = affine_set<(i) : (i >= 0, 15 - i >= 0)>

// No digit is left of a number that is shifted by its width or more, and its
// sign is everywhere.
// CHECK-LABEL: func.func @shifts(
// CHECK-DAG:     %[[ZEROS:.*]] = arith.constant dense<0> : vector<16xi32>
// CHECK-DAG:     %[[MOST:.*]] = arith.constant dense<31> : vector<16xi32>
// CHECK:         %[[X:.*]] = vector.load
// CHECK:         %[[N:.*]] = vector.load
// CHECK:         %[[WITHIN:.*]] = arith.cmpi ule, %[[N]], %[[MOST]]
// CHECK:         %[[AMOUNT:.*]] = arith.select %[[WITHIN]], %[[N]], %[[MOST]]
// CHECK:         %[[SHIFTED:.*]] = arith.shli %[[X]], %[[AMOUNT]]
// CHECK:         arith.select %[[WITHIN]], %[[SHIFTED]], %[[ZEROS]]
// CHECK:         %[[AGAIN:.*]] = arith.select %{{.*}}, %[[N]], %[[MOST]]
// CHECK-NEXT:    arith.shrsi %{{.*}}, %[[AGAIN]]
// CHECK-NOT:     arith.select
// CHECK:         arith.shrui %{{.*}}, %{{.*}}
// CHECK-NOT:     arith.select
// CHECK:         vector.store
poly.kernel @shifts(%A: memref<16xi32>, %N: memref<16xi32>, %B: memref<16xi32>) {
  poly.compute @s domain [#points] reads(%A[#i], %N[#i] : memref<16xi32>, memref<16xi32>) writes(%B[#i] : memref<16xi32>) {
  ^bb0(%x: i32, %n: i32):
    %c3 = arith.constant 3 : i32
    %0 = arith.shli %x, %n : i32
    %1 = arith.shrsi %0, %n : i32
    %2 = arith.shrui %1, %c3 : i32
    poly.yield %2 : i32
  }
  poly.schedule {
    poly.band [@s] maps [#i] loops [vector(16)] {
    }
  }
}

// An integer is the nearest one that fits, and 0 for NaN. The greatest is no
// f32.
// CHECK-LABEL: func.func @integers_of_floats(
// CHECK-DAG:     %[[ZEROS:.*]] = arith.constant dense<0> : vector<16xi32>
// CHECK-DAG:     %[[MOST:.*]] = arith.constant dense<2147483647> : vector<16xi32>
// CHECK-DAG:     %[[LOW:.*]] = arith.constant dense<-2.14748365E+9> : vector<16xf32>
// CHECK-DAG:     %[[HIGH:.*]] = arith.constant dense<2.14748352E+9> : vector<16xf32>
// CHECK:         %[[X:.*]] = vector.load
// CHECK:         %[[ABOVE:.*]] = arith.cmpf ogt, %[[X]], %[[LOW]]
// CHECK:         %[[MAX:.*]] = arith.select %[[ABOVE]], %[[X]], %[[LOW]]
// CHECK:         %[[BELOW:.*]] = arith.cmpf olt, %[[MAX]], %[[HIGH]]
// CHECK:         %[[MIN:.*]] = arith.select %[[BELOW]], %[[MAX]], %[[HIGH]]
// CHECK:         %[[FITS:.*]] = arith.fptosi %[[MIN]]
// CHECK:         %[[BEYOND:.*]] = arith.cmpf ogt, %[[X]], %[[HIGH]]
// CHECK:         %[[NEAREST:.*]] = arith.select %[[BEYOND]], %[[MOST]], %[[FITS]]
// CHECK:         %[[NUMBER:.*]] = arith.cmpf ord, %[[X]], %[[X]]
// CHECK:         %[[Y:.*]] = arith.select %[[NUMBER]], %[[NEAREST]], %[[ZEROS]]
// CHECK:         vector.store %[[Y]]
poly.kernel @integers_of_floats(%A: memref<16xf32>, %B: memref<16xi32>) {
  poly.compute @s domain [#points] reads(%A[#i] : memref<16xf32>) writes(%B[#i] : memref<16xi32>) {
  ^bb0(%x: f32):
    %y = arith.fptosi %x : f32 to i32
    poly.yield %y : i32
  }
  poly.schedule {
    poly.band [@s] maps [#i] loops [vector(16)] {
    }
  }
}
