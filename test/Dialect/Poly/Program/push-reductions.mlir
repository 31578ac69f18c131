// RUN: espalier-opt %s -pass-pipeline='builtin.module(poly.kernel(poly-push-reductions))' -split-input-file --remark-format=emitRemark --remarks-filter='poly-push-reductions' 2>&1 | FileCheck %s

// Rows of sums: the order of what is left is that of the values in memory.
// CHECK: remark: {{.*}}Pushed{{.*}}Dimensions=1
// CHECK-DAG: #[[DOMAIN:.*]] = affine_set<(d0, d1) : (d1 >= 0, -d1 + 7 >= 0, d0 >= 0, -d0 + 4 >= 0)>
// CHECK-DAG: #[[WHERE:.*]] = affine_set<(d0, d1)[s0, s1, s2] : (s0 >= 0, -s0 + 63 >= 0)>
// CHECK-DAG: #[[ELEMENT:.*]] = affine_map<(d0, d1)[s0, s1] -> (s0, d1)>
// CHECK-DAG: #[[WRITTEN:.*]] = affine_map<(d0, d1)[s0, s1, s2] -> (s0, d1)>
// CHECK-LABEL: poly.kernel private @rows
// CHECK:         poly.compute @sum dims ["m", "j"] domain [#[[DOMAIN]]] where #[[WHERE]]
// CHECK-SAME:      %[[SUM:[a-z0-9]*]][#[[ELEMENT]]] :
// CHECK-SAME:      writes(%[[SUM]][#[[WRITTEN]]]
// CHECK-NEXT:    ^bb0(%{{.*}}: i32, %[[V:.*]]: f32, %[[A:.*]]: f32):
// CHECK-NEXT:      %[[R:.*]] = arith.addf %[[A]], %[[V]]
// CHECK-NEXT:      poly.yield %[[R]]
#row = affine_map<(i, j, m) -> (i, j)>
#update = affine_map<(i, j, m) -> (m, j)>
poly.kernel private @rows(%index: memref<5xi32>, %v: memref<5x8xf32>, %y: memref<64x8xf32>) {
  %sum = poly.array : memref<64x8xf32>
  poly.compute @init domain [affine_set<(i, j) : (i >= 0, 63 - i >= 0, j >= 0, 7 - j >= 0)>]
      reads() writes(%sum[affine_map<(i, j) -> (i, j)>] : memref<64x8xf32>) {
    %c = arith.constant 0.0 : f32
    poly.yield %c : f32
  }
  poly.compute @sum dims ["i", "j", "m"]
      domain [affine_set<(i, j, m) : (i >= 0, 63 - i >= 0, j >= 0, 7 - j >= 0, m >= 0, 4 - m >= 0)>]
      reads(%index[affine_map<(i, j, m) -> (m)>], %v[#update], %sum[#row] : memref<5xi32>, memref<5x8xf32>, memref<64x8xf32>)
      writes(%sum[#row] : memref<64x8xf32>) reduction add {
  ^bb0(%at: i32, %b: f32, %a: f32):
    %zero = arith.constant 0.0 : f32
    %i = poly.index 0
    %number = arith.index_cast %at : i32 to index
    %hits = arith.cmpi eq, %number, %i : index
    %c = arith.select %hits, %b, %zero : f32
    %r = arith.addf %a, %c : f32
    poly.yield %r : f32
  }
  poly.compute @store domain [affine_set<(i, j) : (i >= 0, 63 - i >= 0, j >= 0, 7 - j >= 0)>]
      reads(%sum[affine_map<(i, j) -> (i, j)>] : memref<64x8xf32>) writes(%y[affine_map<(i, j) -> (i, j)>] : memref<64x8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}

// -----

// Two dimensions are values, in a triangle that sizes bound; what else is asked
// of a point stays, with the value for the index.
// CHECK-DAG: #[[DOMAIN:.*]] = affine_set<(d0)[s0, s1] : (d0 >= 0, -d0 + s1 - 1 >= 0)>
// CHECK-DAG: #[[WHERE:.*]] = affine_set<(d0)[s0, s1, s2, s3, s4] : (s2 >= 0, -s2 + s0 - 1 >= 0, s3 - s2 >= 0, -s3 + s0 - 1 >= 0)>
// CHECK-DAG: #[[ELEMENT:.*]] = affine_map<(d0)[s0, s1, s2, s3, s4] -> (s2, s3)>
// CHECK-LABEL: poly.kernel private @pairs
// CHECK:         poly.compute @most dims ["m"] domain [#[[DOMAIN]]] where #[[WHERE]]
// CHECK-SAME:      writes(%{{.*}}[#[[ELEMENT]]]
// CHECK-NEXT:    ^bb0(%[[I:.*]]: index, %[[J:.*]]: index, %[[A:.*]]: index):
// CHECK:           %[[M:.*]] = poly.index 0
// CHECK:           %[[OTHER:.*]] = arith.cmpi slt, %[[M]], %[[J]]
// CHECK-NEXT:      %[[C:.*]] = arith.select %[[OTHER]], %[[M]], %{{.*}}
// CHECK-NEXT:      arith.maxsi %[[C]], %[[A]]
#element = affine_map<(i, j, m)[n, k] -> (i, j)>
#m = affine_map<(i, j, m)[n, k] -> (m)>
poly.kernel private @pairs(%is: memref<?xindex>, %js: memref<?xindex>, %y: memref<?x?xindex>, %n: index, %k: index) {
  poly.compute @most dims ["i", "j", "m"]
      domain [affine_set<(i, j, m)[n, k] : (i >= 0, n - 1 - i >= 0, j - i >= 0, n - 1 - j >= 0, m >= 0, k - 1 - m >= 0)>]
      reads(%is[#m], %js[#m], %y[#element] : memref<?xindex>, memref<?xindex>, memref<?x?xindex>)
      writes(%y[#element] : memref<?x?xindex>) reduction max {
  ^bb0(%first: index, %second: index, %a: index):
    %least = arith.constant -9223372036854775808 : index
    %i = poly.index 0
    %j = poly.index 1
    %m = poly.index 2
    %c0 = arith.cmpi eq, %i, %first : index
    %c1 = arith.cmpi eq, %second, %j : index
    %c2 = arith.cmpi slt, %m, %j : index
    %both = arith.andi %c0, %c1 : i1
    %all = arith.andi %both, %c2 : i1
    %c = arith.select %all, %m, %least : index
    %r = arith.maxsi %c, %a : index
    poly.yield %r : index
  }
}

// -----

// A sum that somebody else has begun may be -0.0, which 0.0 changes.
// CHECK-LABEL: poly.kernel private @begun
// CHECK:         poly.compute @sum dims ["i", "m"]
// One that counts does not.
// CHECK:         poly.compute @count dims ["m"]
#i = affine_map<(i, m) -> (i)>
#m = affine_map<(i, m) -> (m)>
#all = affine_set<(i, m) : (i >= 0, 63 - i >= 0, m >= 0, 4 - m >= 0)>
poly.kernel private @begun(%index: memref<5xi64>, %v: memref<5xf32>, %y: memref<64xf32>, %n: memref<64xi8>) {
  poly.compute @sum dims ["i", "m"] domain [#all]
      reads(%index[#m], %v[#m], %y[#i] : memref<5xi64>, memref<5xf32>, memref<64xf32>) writes(%y[#i] : memref<64xf32>) reduction add {
  ^bb0(%at: i64, %b: f32, %a: f32):
    %zero = arith.constant 0.0 : f32
    %i = poly.index 0
    %number = arith.index_cast %i : index to i64
    %hits = arith.cmpi eq, %at, %number : i64
    %c = arith.select %hits, %b, %zero : f32
    %r = arith.addf %a, %c : f32
    poly.yield %r : f32
  }
  poly.compute @count dims ["i", "m"] domain [#all]
      reads(%index[#m], %n[#i] : memref<5xi64>, memref<64xi8>) writes(%n[#i] : memref<64xi8>) reduction add {
  ^bb0(%at: i64, %a: i8):
    %zero = arith.constant 0 : i8
    %one = arith.constant 1 : i8
    %i = poly.index 0
    %number = arith.index_cast %i : index to i64
    %hits = arith.cmpi eq, %at, %number : i64
    %c = arith.select %hits, %one, %zero : i8
    %r = arith.addi %a, %c : i8
    poly.yield %r : i8
  }
}

// -----

// What is no number with a sign, what is cut off, and what is written itself
// names no element.
// CHECK-LABEL: poly.kernel private @other_values
// CHECK:         poly.compute @unsigned dims ["i", "m"]
// CHECK:         poly.compute @cut dims ["i", "m"]
// CHECK:         poly.compute @own dims ["i", "m"]
// CHECK:         poly.compute @moving dims ["i", "m"]
#i = affine_map<(i, m) -> (i)>
#m = affine_map<(i, m) -> (m)>
#all = affine_set<(i, m) : (i >= 0, 63 - i >= 0, m >= 0, 4 - m >= 0)>
poly.kernel private @other_values(%u: memref<5xi8> {espalier.dtype = "u8"}, %index: memref<5xi64>, %n: memref<64xi64>, %each: memref<64xi64>) {
  poly.compute @unsigned dims ["i", "m"] domain [#all]
      reads(%u[#m], %n[#i] : memref<5xi8>, memref<64xi64>) writes(%n[#i] : memref<64xi64>) reduction add {
  ^bb0(%at: i8, %a: i64):
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %i = poly.index 0
    %number = arith.index_cast %at : i8 to index
    %hits = arith.cmpi eq, %number, %i : index
    %c = arith.select %hits, %one, %zero : i64
    %r = arith.addi %a, %c : i64
    poly.yield %r : i64
  }
  poly.compute @cut dims ["i", "m"] domain [#all]
      reads(%index[#m], %n[#i] : memref<5xi64>, memref<64xi64>) writes(%n[#i] : memref<64xi64>) reduction add {
  ^bb0(%at: i64, %a: i64):
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %i = poly.index 0
    %short = arith.trunci %at : i64 to i32
    %number = arith.index_cast %i : index to i32
    %hits = arith.cmpi eq, %short, %number : i32
    %c = arith.select %hits, %one, %zero : i64
    %r = arith.addi %a, %c : i64
    poly.yield %r : i64
  }
  poly.compute @own dims ["i", "m"] domain [#all]
      reads(%n[#m], %n[#i] : memref<64xi64>, memref<64xi64>) writes(%n[#i] : memref<64xi64>) reduction add {
  ^bb0(%at: i64, %a: i64):
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %i = poly.index 0
    %number = arith.index_cast %at : i64 to index
    %hits = arith.cmpi eq, %number, %i : index
    %c = arith.select %hits, %one, %zero : i64
    %r = arith.addi %a, %c : i64
    poly.yield %r : i64
  }
  poly.compute @moving dims ["i", "m"] domain [#all]
      reads(%each[#i], %n[#i] : memref<64xi64>, memref<64xi64>) writes(%n[#i] : memref<64xi64>) reduction add {
  ^bb0(%at: i64, %a: i64):
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %i = poly.index 0
    %number = arith.index_cast %at : i64 to index
    %hits = arith.cmpi eq, %number, %i : index
    %c = arith.select %hits, %one, %zero : i64
    %r = arith.addi %a, %c : i64
    poly.yield %r : i64
  }
}

// -----

// Few elements are updated in a vector or two, and a kernel that others may
// call, or that has a schedule, is somebody's.
// CHECK-LABEL: poly.kernel private @few
// CHECK:         poly.compute @count dims ["i", "m"]
// CHECK-LABEL: poly.kernel @public
// CHECK:         poly.compute @count dims ["i", "m"]
#i = affine_map<(i, m) -> (i)>
#m = affine_map<(i, m) -> (m)>
poly.kernel private @few(%index: memref<500xindex>, %n: memref<31xi8>) {
  poly.compute @count dims ["i", "m"] domain [affine_set<(i, m) : (i >= 0, 30 - i >= 0, m >= 0, 499 - m >= 0)>]
      reads(%index[#m], %n[#i] : memref<500xindex>, memref<31xi8>) writes(%n[#i] : memref<31xi8>) reduction add {
  ^bb0(%at: index, %a: i8):
    %zero = arith.constant 0 : i8
    %one = arith.constant 1 : i8
    %i = poly.index 0
    %hits = arith.cmpi eq, %at, %i : index
    %c = arith.select %hits, %one, %zero : i8
    %r = arith.addi %a, %c : i8
    poly.yield %r : i8
  }
}
poly.kernel @public(%index: memref<500xindex>, %n: memref<64xi8>) {
  poly.compute @count dims ["i", "m"] domain [affine_set<(i, m) : (i >= 0, 63 - i >= 0, m >= 0, 499 - m >= 0)>]
      reads(%index[#m], %n[#i] : memref<500xindex>, memref<64xi8>) writes(%n[#i] : memref<64xi8>) reduction add {
  ^bb0(%at: index, %a: i8):
    %zero = arith.constant 0 : i8
    %one = arith.constant 1 : i8
    %i = poly.index 0
    %hits = arith.cmpi eq, %at, %i : index
    %c = arith.select %hits, %one, %zero : i8
    %r = arith.addi %a, %c : i8
    poly.yield %r : i8
  }
}

// -----

// What says where to read is found in registers among a few points.
// CHECK-LABEL: poly.kernel private @few_updates
// CHECK:         poly.compute @last dims ["i", "m"]
#i = affine_map<(i, m) -> (i)>
#m = affine_map<(i, m) -> (m)>
poly.kernel private @few_updates(%index: memref<15xindex>, %n: memref<64xindex>) {
  poly.compute @last dims ["i", "m"] domain [affine_set<(i, m) : (i >= 0, 63 - i >= 0, m >= 0, 14 - m >= 0)>]
      reads(%index[#m], %n[#i] : memref<15xindex>, memref<64xindex>) writes(%n[#i] : memref<64xindex>) reduction max {
  ^bb0(%at: index, %a: index):
    %least = arith.constant -9223372036854775808 : index
    %i = poly.index 0
    %m = poly.index 1
    %hits = arith.cmpi eq, %at, %i : index
    %c = arith.select %hits, %m, %least : index
    %r = arith.maxsi %a, %c : index
    poly.yield %r : index
  }
}
