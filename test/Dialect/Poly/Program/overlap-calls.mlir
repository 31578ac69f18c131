// RUN: espalier-opt %s -poly-overlap-calls | FileCheck %s

#row = affine_set<(t, j)[T] : (t >= 0, T - 1 - t >= 0, j >= 0, 63 - j >= 0)>
#start = affine_set<(t, j)[T] : (t >= 0, T - 1 - t >= 0, j >= 0, 63 - j >= 0, t == 0)>
#later = affine_set<(t, j)[T] : (t >= 0, T - 1 - t >= 0, j >= 0, 63 - j >= 0, t - 1 >= 0)>
#id = affine_map<(t, j)[T] -> (t, j)>
#before = affine_map<(t, j)[T] -> (t - 1, j)>

#target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768,
                      l2 = 1048576, l3 = 33554432, cores = 2>

module attributes {poly.target = #target} {

// The block has rows from %first on: all that stands in the domain but the
// bounds is over these. Memory of its own has as many rows, and begins at 0.
// CHECK-DAG:   #[[SHIFTED:.*]] = affine_map<(d0, d1)[s0, s1, s2] -> (d0 + s1, d1)>
// CHECK-DAG:   #[[BEFORE:.*]] = affine_map<(d0, d1)[s0, s1, s2] -> (d0 + s1 - 1, d1)>
// CHECK-DAG:   #[[OWN:.*]] = affine_map<(d0, d1)[s0, s1, s2] -> (d0, d1)>
// CHECK-DAG:   #[[ROWS:.*]] = affine_set<(d0, d1)[s0, s1, s2] : (d0 >= 0, -d0 + s2 - 1 >= 0, d1 >= 0, -d1 + 63 >= 0)>
// CHECK-DAG:   #[[START:.*]] = affine_set<(d0, d1)[s0, s1, s2] : (d0 >= 0, -d0 + s2 - 1 >= 0, d1 >= 0, -d1 + 63 >= 0, d0 + s1 == 0)>
// CHECK-DAG:   #[[LATER:.*]] = affine_set<(d0, d1)[s0, s1, s2] : (d0 >= 0, -d0 + s2 - 1 >= 0, d1 >= 0, -d1 + 63 >= 0, d0 + s1 - 1 >= 0)>
// CHECK-DAG:   #[[KNOWN:.*]] = affine_set<()[s0, s1, s2] : (s0 - s1 - s2 >= 0)>
// CHECK:       poly.kernel private @sum(%{{[^:]*}}: memref<?x64xf32>, %{{[^:]*}}: memref<?x64xf32>, %{{[^:]*}}: index) {
// CHECK:       poly.kernel private @sum_block(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?x64xf32>, %[[Y:[^:]*]]: memref<?x64xf32>, %{{[^:]*}}: index, %{{[^:]*}}: index, %[[COUNT:[^:]*]]: index)
// CHECK-SAME:    poly.assumptions = #[[KNOWN]]
// CHECK-SAME:    cores = 1
// CHECK:         %[[S:.*]] = poly.array(%[[COUNT]])
// CHECK:         @double domain [#[[ROWS]]] reads(%[[X]][#[[SHIFTED]]] : memref<?x64xf32>) writes(%[[S]][#[[OWN]]]
// CHECK:         @first domain [#[[START]]] reads(%[[S]][#[[OWN]]] : memref<?x64xf32>) writes(%[[Y]][#[[SHIFTED]]]
// CHECK:         @next domain [#[[LATER]]] reads(%[[Y]][#[[BEFORE]]], %[[S]][#[[OWN]]]
poly.kernel private @sum(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %T: index) {
  %s = poly.array(%T) : memref<?x64xf32>
  poly.compute @double domain [#row] reads(%x[#id] : memref<?x64xf32>) writes(%s[#id] : memref<?x64xf32>) {
  ^bb0(%a: f32):
    %r = arith.addf %a, %a : f32
    poly.yield %r : f32
  }
  poly.compute @first domain [#start] reads(%s[#id] : memref<?x64xf32>) writes(%y[#id] : memref<?x64xf32>) interleaved 1 {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @next domain [#later] reads(%y[#before], %s[#id] : memref<?x64xf32>, memref<?x64xf32>) writes(%y[#id] : memref<?x64xf32>) interleaved 1 {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    poly.yield %r : f32
  }
}

poly.kernel private @last(%x: memref<?x64xf32>, %y: memref<64xf32>, %T: index) {
  poly.compute @s domain [affine_set<(j)[T] : (j >= 0, 63 - j >= 0, T - 1 >= 0)>] reads(%x[affine_map<(j)[T] -> (T - 1, j)>] : memref<?x64xf32>) writes(%y[affine_map<(j)[T] -> (j)>] : memref<64xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}

// What needs all of the first one's results waits; a view is what it is of.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%[[IN:.*]]: memref<?x64xf32>, %[[OUT:.*]]: memref<?x64xf32>, %[[END:.*]]: memref<64xf32>)
// CHECK-DAG:     %[[T:.*]] = memref.dim %[[IN]]
// CHECK-DAG:     %[[H:.*]] = memref.alloc
// CHECK:         %[[WIDE:.*]] = memref.expand_shape %[[H]]
// CHECK:         %[[VIEW:.*]] = memref.collapse_shape %[[WIDE]]
// CHECK:         scf.for %[[D:.*]] =
// CHECK:           scf.parallel (%[[STAGE:.*]]) =
// CHECK:             %[[BLOCK:.*]] = arith.subi %[[D]], %[[STAGE]]
// CHECK:             %[[INSIDE:.*]] = arith.cmpi ult, %[[BLOCK]],
// CHECK:             %[[FIRST:.*]] = arith.muli %[[BLOCK]], %[[SIZE:.*]] :
// CHECK:             %[[LEFT:.*]] = arith.subi %[[T]], %[[FIRST]]
// CHECK:             %[[ROWS:.*]] = arith.minsi %[[SIZE]], %[[LEFT]]
// CHECK:             scf.if
// CHECK-NEXT:          poly.call @sum_block(%[[IN]], %[[H]], %[[T]], %[[FIRST]], %[[ROWS]])
// CHECK:             scf.if
// CHECK-NEXT:          poly.call @sum_block(%[[VIEW]], %[[OUT]], %[[T]], %[[FIRST]], %[[ROWS]])
// CHECK:         poly.call @last(%[[H]], %[[END]], %[[T]])
func.func @main(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %z: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %T = memref.dim %x, %c0 : memref<?x64xf32>
  %h = memref.alloc(%T) : memref<?x64xf32>
  poly.call @sum(%x, %h, %T) : memref<?x64xf32>, memref<?x64xf32>, index
  poly.call @last(%h, %z, %T) : memref<?x64xf32>, memref<64xf32>, index
  %wide = memref.expand_shape %h [[0], [1, 2]] output_shape [%T, 4, 16] : memref<?x64xf32> into memref<?x4x16xf32>
  %view = memref.collapse_shape %wide [[0], [1, 2]] : memref<?x4x16xf32> into memref<?x64xf32>
  poly.call @sum(%view, %y, %T) : memref<?x64xf32>, memref<?x64xf32>, index
  return
}
}
