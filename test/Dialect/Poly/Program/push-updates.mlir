// RUN: espalier-opt %s -poly-push-updates -split-input-file | FileCheck %s

// The elements are copied, and then replaced in the order of the points.
// CHECK-DAG: #[[ALL:.*]] = affine_set<(d0, d1) : (d0 >= 0, -d0 + 63 >= 0, d1 >= 0, -d1 + 7 >= 0)>
// CHECK-DAG: #[[POINTS:.*]] = affine_set<(d0, d1) : (d1 >= 0, -d1 + 7 >= 0, d0 >= 0, -d0 + 4 >= 0)>
// CHECK-DAG: #[[WHERE:.*]] = affine_set<(d0, d1)[s0, s1, s2] : (s0 >= 0, -s0 + 63 >= 0)>
// CHECK-DAG: #[[ELEMENT:.*]] = affine_map<(d0, d1)[s0, s1, s2] -> (s0, d1)>
// CHECK-LABEL: poly.kernel private @scatter
// CHECK-SAME:      (%[[I:.*]]: memref<5x8xindex>, %[[V:.*]]: memref<5x8xf32>, %[[X:.*]]: memref<64x8xf32>, %[[R:.*]]: memref<64x8xf32>)
// CHECK-NEXT:    poly.compute @r_init domain [#[[ALL]]] reads(%[[X]]{{.*}} writes(%[[R]]
// CHECK:         poly.compute @r_last domain [#[[POINTS]]] where #[[WHERE]]
// CHECK-SAME:      writes(%[[R]][#[[ELEMENT]]] :
// CHECK-NEXT:    ^bb0(%{{.*}}: index, %{{.*}}: f32, %[[VALUE:.*]]: f32):
// CHECK-NEXT:      poly.yield %[[VALUE]]
// CHECK-NEXT:    }
// CHECK-NEXT:  }
#all = affine_set<(i, j) : (i >= 0, 63 - i >= 0, j >= 0, 7 - j >= 0)>
#id = affine_map<(i, j) -> (i, j)>
#swapped = affine_map<(i, j) -> (j, i)>
#element = affine_map<(i, j, m) -> (j, i)>
#point = affine_map<(i, j, m) -> (m, j)>
poly.kernel private @scatter(%index: memref<5x8xindex>, %v: memref<5x8xf32>, %x: memref<64x8xf32>, %y: memref<64x8xf32>) {
  %last = poly.array : memref<8x64xindex>
  %copy = poly.array : memref<64x8xindex>
  %number = poly.array : memref<64x8xi64>
  poly.compute @init domain [#all] reads() writes(%last[#swapped] : memref<8x64xindex>) {
    %least = arith.constant -9223372036854775808 : index
    poly.yield %least : index
  }
  poly.compute @last
      domain [affine_set<(i, j, m) : (i >= 0, 63 - i >= 0, j >= 0, 7 - j >= 0, m >= 0, 4 - m >= 0)>]
      reads(%index[#point], %last[#element] : memref<5x8xindex>, memref<8x64xindex>)
      writes(%last[#element] : memref<8x64xindex>) reduction max {
  ^bb0(%at: index, %a: index):
    %least = arith.constant -9223372036854775808 : index
    %i = poly.index 0
    %m = poly.index 2
    %hits = arith.cmpi eq, %at, %i : index
    %c = arith.select %hits, %m, %least : index
    %r = arith.maxsi %a, %c : index
    poly.yield %r : index
  }
  poly.compute @copy domain [#all] reads(%last[#swapped] : memref<8x64xindex>) writes(%copy[#id] : memref<64x8xindex>) {
  ^bb0(%a: index):
    poly.yield %a : index
  }
  poly.compute @number domain [#all] reads(%copy[#id] : memref<64x8xindex>) writes(%number[#id] : memref<64x8xi64>) {
  ^bb0(%a: index):
    %zero = arith.constant 0 : index
    %four = arith.constant 4 : index
    %0 = arith.minsi %a, %four : index
    %1 = arith.maxsi %0, %zero : index
    %2 = arith.index_cast %1 : index to i64
    poly.yield %2 : i64
  }
  poly.compute @r domain [#all]
      reads(%copy[#id], %number[#id], %v[affine_map<(i, j)[s, t] -> (t, j)>], %x[#id] : memref<64x8xindex>, memref<64x8xi64>, memref<5x8xf32>, memref<64x8xf32>)
      writes(%y[#id] : memref<64x8xf32>) {
  ^bb0(%a: index, %n: i64, %b: f32, %c: f32):
    %zero = arith.constant 0 : index
    %is = arith.cmpi sge, %a, %zero : index
    %r = arith.select %is, %b, %c : f32
    poly.yield %r : f32
  }
}

// -----

// Another kernel's numbers are gone with it. In the second call, somebody else
// reads them, too.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    poly.call @[[JOINED:.*]](%arg0, %arg1, %arg2, %arg3)
// CHECK-NEXT:    %[[LAST:.*]] = memref.alloc
// CHECK-NEXT:    poly.call @find(%arg0, %[[LAST]])
// CHECK-NEXT:    poly.call @choose(%[[LAST]],
// CHECK-NEXT:    poly.call @find(%arg0, %[[LAST]])
// CHECK:       poly.kernel private @[[JOINED]](
// CHECK:         poly.compute @t_r_init
// CHECK:         poly.compute @t_r_last
#all = affine_set<(i) : (i >= 0, 63 - i >= 0)>
#id = affine_map<(i) -> (i)>
#element = affine_map<(i, m) -> (i)>
#point = affine_map<(i, m) -> (m)>
poly.kernel private @find(%index: memref<5xindex>, %out: memref<64xindex>) {
  %last = poly.array : memref<64xindex>
  poly.compute @init domain [#all] reads() writes(%last[#id] : memref<64xindex>) {
    %least = arith.constant -9223372036854775808 : index
    poly.yield %least : index
  }
  poly.compute @last domain [affine_set<(i, m) : (i >= 0, 63 - i >= 0, m >= 0, 4 - m >= 0)>]
      reads(%index[#point], %last[#element] : memref<5xindex>, memref<64xindex>)
      writes(%last[#element] : memref<64xindex>) reduction max {
  ^bb0(%at: index, %a: index):
    %least = arith.constant -9223372036854775808 : index
    %i = poly.index 0
    %m = poly.index 1
    %hits = arith.cmpi eq, %at, %i : index
    %c = arith.select %hits, %m, %least : index
    %r = arith.maxsi %a, %c : index
    poly.yield %r : index
  }
  poly.compute @copy domain [#all] reads(%last[#id] : memref<64xindex>) writes(%out[#id] : memref<64xindex>) {
  ^bb0(%a: index):
    poly.yield %a : index
  }
}
poly.kernel private @choose(%last: memref<64xindex>, %v: memref<5xf32>, %x: memref<64xf32>, %y: memref<64xf32>) {
  poly.compute @r domain [#all]
      reads(%last[#id], %v[affine_map<(i)[s] -> (s)>], %x[#id] : memref<64xindex>, memref<5xf32>, memref<64xf32>)
      writes(%y[#id] : memref<64xf32>) {
  ^bb0(%a: index, %b: f32, %c: f32):
    %zero = arith.constant 0 : index
    %is = arith.cmpi sge, %a, %zero : index
    %r = arith.select %is, %b, %c : f32
    poly.yield %r : f32
  }
}
func.func @main(%index: memref<5xindex>, %v: memref<5xf32>, %x: memref<64xf32>, %y: memref<64xf32>, %z: memref<64xf32>) {
  %last = memref.alloc() : memref<64xindex>
  poly.call @find(%index, %last) : memref<5xindex>, memref<64xindex>
  poly.call @choose(%last, %v, %x, %y) : memref<64xindex>, memref<5xf32>, memref<64xf32>, memref<64xf32>
  %other = memref.alloc() : memref<64xindex>
  poly.call @find(%index, %other) : memref<5xindex>, memref<64xindex>
  poly.call @choose(%other, %v, %x, %z) : memref<64xindex>, memref<5xf32>, memref<64xf32>, memref<64xf32>
  poly.call @find(%index, %other) : memref<5xindex>, memref<64xindex>
  return
}

// -----

// Numbers that are cut off say where else to read, and an element may be named
// by few.
// CHECK-LABEL: poly.kernel private @cut_off
// CHECK:         poly.compute @last {{.*}}reduction max
// CHECK:         poly.compute @r domain
// CHECK-LABEL: poly.kernel private @few
// CHECK:         poly.compute @last {{.*}}reduction max
// CHECK:         poly.compute @r domain
#id = affine_map<(i) -> (i)>
#element = affine_map<(i, m) -> (i)>
#point = affine_map<(i, m) -> (m)>
#many = affine_set<(i) : (i >= 0, 63 - i >= 0)>
#few = affine_set<(i) : (i >= 0, 30 - i >= 0)>
poly.kernel private @cut_off(%index: memref<5xindex>, %v: memref<5xf32>, %x: memref<64xf32>, %y: memref<64xf32>) {
  %last = poly.array : memref<64xindex>
  %number = poly.array : memref<64xindex>
  poly.compute @init domain [#many] reads() writes(%last[#id] : memref<64xindex>) {
    %least = arith.constant -9223372036854775808 : index
    poly.yield %least : index
  }
  poly.compute @last domain [affine_set<(i, m) : (i >= 0, 63 - i >= 0, m >= 0, 4 - m >= 0)>]
      reads(%index[#point], %last[#element] : memref<5xindex>, memref<64xindex>)
      writes(%last[#element] : memref<64xindex>) reduction max {
  ^bb0(%at: index, %a: index):
    %least = arith.constant -9223372036854775808 : index
    %i = poly.index 0
    %m = poly.index 1
    %hits = arith.cmpi eq, %at, %i : index
    %c = arith.select %hits, %m, %least : index
    %r = arith.maxsi %a, %c : index
    poly.yield %r : index
  }
  poly.compute @number domain [#many] reads(%last[#id] : memref<64xindex>) writes(%number[#id] : memref<64xindex>) {
  ^bb0(%a: index):
    %three = arith.constant 3 : index
    %0 = arith.minsi %a, %three : index
    poly.yield %0 : index
  }
  poly.compute @r domain [#many]
      reads(%last[#id], %number[#id], %v[affine_map<(i)[s, t] -> (t)>], %x[#id] : memref<64xindex>, memref<64xindex>, memref<5xf32>, memref<64xf32>)
      writes(%y[#id] : memref<64xf32>) {
  ^bb0(%a: index, %n: index, %b: f32, %c: f32):
    %zero = arith.constant 0 : index
    %is = arith.cmpi sge, %a, %zero : index
    %r = arith.select %is, %b, %c : f32
    poly.yield %r : f32
  }
}
poly.kernel private @few(%index: memref<5xindex>, %v: memref<5xf32>, %x: memref<31xf32>, %y: memref<31xf32>) {
  %last = poly.array : memref<31xindex>
  poly.compute @init domain [#few] reads() writes(%last[#id] : memref<31xindex>) {
    %least = arith.constant -9223372036854775808 : index
    poly.yield %least : index
  }
  poly.compute @last domain [affine_set<(i, m) : (i >= 0, 30 - i >= 0, m >= 0, 4 - m >= 0)>]
      reads(%index[#point], %last[#element] : memref<5xindex>, memref<31xindex>)
      writes(%last[#element] : memref<31xindex>) reduction max {
  ^bb0(%at: index, %a: index):
    %least = arith.constant -9223372036854775808 : index
    %i = poly.index 0
    %m = poly.index 1
    %hits = arith.cmpi eq, %at, %i : index
    %c = arith.select %hits, %m, %least : index
    %r = arith.maxsi %a, %c : index
    poly.yield %r : index
  }
  poly.compute @r domain [#few]
      reads(%last[#id], %v[affine_map<(i)[s] -> (s)>], %x[#id] : memref<31xindex>, memref<5xf32>, memref<31xf32>)
      writes(%y[#id] : memref<31xf32>) {
  ^bb0(%a: index, %b: f32, %c: f32):
    %zero = arith.constant 0 : index
    %is = arith.cmpi sge, %a, %zero : index
    %r = arith.select %is, %b, %c : f32
    poly.yield %r : f32
  }
}
