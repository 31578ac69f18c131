// RUN: espalier-opt %s -poly-collapse-dimensions -split-input-file | FileCheck %s
// RUN: espalier-opt %s -poly-collapse-dimensions -split-input-file --remark-policy=all --remarks-filter=poly-collapse-dimensions 2>&1 | FileCheck %s --check-prefix=REMARK

// Rows and columns are walked as they lie; the bias is for channels.
// REMARK: [Passed] Collapsed | Category:poly-collapse-dimensions {{.*}} Dimensions=1
// CHECK-DAG:   #[[MAP:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG:   #[[CHANNEL:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG:   #[[SET:.*]] = affine_set<(d0, d1) : (d1 >= 0, -d1 + 34 >= 0, d0 >= 0, -d0 + 2 >= 0)>
// CHECK-LABEL: poly.kernel private @bias(
// CHECK-SAME:      %[[X:.*]]: memref<3x35xf32>, %[[B:.*]]: memref<3xf32>, %[[Y:.*]]: memref<3x35xf32>)
// CHECK:         poly.compute @s0 dims ["c", "y"] domain [#[[SET]]]
// CHECK-SAME:        reads(%[[X]][#[[MAP]]], %[[B]][#[[CHANNEL]]]
// CHECK-SAME:        writes(%[[Y]][#[[MAP]]]
// CHECK-LABEL: func.func @main(
// CHECK:         %[[VIEW:.*]] = memref.collapse_shape %{{.*}} {{\[}}[0], [1, 2]] : memref<3x5x7xf32> into memref<3x35xf32>
// CHECK:         poly.call @bias(%[[VIEW]], %{{.*}}, %{{.*}})
#box = affine_set<(c, y, x) : (c >= 0, 2 - c >= 0, y >= 0, 4 - y >= 0, x >= 0, 6 - x >= 0)>
#all = affine_map<(c, y, x) -> (c, y, x)>
poly.kernel private @bias(%x: memref<3x5x7xf32>, %b: memref<3xf32>, %y: memref<3x5x7xf32>) {
  poly.compute @s0 dims ["c", "y", "x"] domain [#box] reads(%x[#all], %b[affine_map<(c, y, x) -> (c)>] : memref<3x5x7xf32>, memref<3xf32>) writes(%y[#all] : memref<3x5x7xf32>) {
  ^bb0(%a: f32, %s: f32):
    %r = arith.addf %a, %s : f32
    poly.yield %r : f32
  }
}
func.func @main(%x: memref<3x5x7xf32>, %b: memref<3xf32>, %y: memref<3x5x7xf32>) {
  poly.call @bias(%x, %b, %y) : memref<3x5x7xf32>, memref<3xf32>, memref<3x5x7xf32>
  return
}

// -----

// All dimensions become one, one after the other.
// REMARK: Dimensions=2
// CHECK-DAG:   #[[ALL:.*]] = affine_set<(d0) : (d0 >= 0, -d0 + 104 >= 0)>
// CHECK-LABEL: poly.kernel private @negate(%{{.*}}: memref<105xf32>, %{{.*}}: memref<105xf32>)
// CHECK:         poly.compute @s0 domain [#[[ALL]]]
// CHECK-LABEL: func.func @main(
// CHECK:         memref.collapse_shape %{{.*}} {{\[}}[0, 1, 2]] : memref<3x5x7xf32> into memref<105xf32>
#box = affine_set<(c, y, x) : (c >= 0, 2 - c >= 0, y >= 0, 4 - y >= 0, x >= 0, 6 - x >= 0)>
#all = affine_map<(c, y, x) -> (c, y, x)>
poly.kernel private @negate(%x: memref<3x5x7xf32>, %y: memref<3x5x7xf32>) {
  poly.compute @s0 domain [#box] reads(%x[#all] : memref<3x5x7xf32>) writes(%y[#all] : memref<3x5x7xf32>) {
  ^bb0(%a: f32):
    %r = arith.negf %a : f32
    poly.yield %r : f32
  }
}
func.func @main(%x: memref<3x5x7xf32>, %y: memref<3x5x7xf32>) {
  poly.call @negate(%x, %y) : memref<3x5x7xf32>, memref<3x5x7xf32>
  return
}

// -----

// A reshaped array is read at a linear index, which becomes one dimension; an
// array of the kernel's own follows.
// CHECK-DAG:   #[[MAP:.*]] = affine_map<(d0) -> (d0)>
// CHECK-LABEL: poly.kernel private @linear(%{{.*}}: memref<35xf32>, %{{.*}}: memref<35xf32>)
// CHECK:         %[[T:.*]] = poly.array : memref<35xf32>
// CHECK:         poly.compute @s0 {{.*}} reads(%{{.*}}[#[[MAP]]] : memref<35xf32>) writes(%[[T]][#[[MAP]]] : memref<35xf32>)
// CHECK:         poly.compute @s1 {{.*}} reads(%[[T]][#[[MAP]]] : memref<35xf32>)
#box = affine_set<(y, x) : (y >= 0, 4 - y >= 0, x >= 0, 6 - x >= 0)>
#all = affine_map<(y, x) -> (y, x)>
poly.kernel private @linear(%x: memref<35xf32>, %y: memref<5x7xf32>) {
  %t = poly.array : memref<5x7xf32>
  poly.compute @s0 domain [#box] reads(%x[affine_map<(y, x) -> (7 * y + x)>] : memref<35xf32>) writes(%t[#all] : memref<5x7xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @s1 domain [#box] reads(%t[#all] : memref<5x7xf32>) writes(%y[#all] : memref<5x7xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
func.func @main(%x: memref<35xf32>, %y: memref<5x7xf32>) {
  poly.call @linear(%x, %y) : memref<35xf32>, memref<5x7xf32>
  return
}

// -----

// A 1x1 convolution with its channels inside: the only tap does not matter, and
// rows of the sum's tile are pixels. What a map does with each channel gains
// nothing.
// CHECK-DAG:   #[[PIXELS:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: poly.kernel private @pixels(%{{.*}}: memref<35x4xf32>, %{{.*}}: memref<4xf32>, %{{.*}}: memref<35xf32>)
// CHECK:         reads(%{{.*}}[#[[PIXELS]]]
// CHECK-LABEL: poly.kernel private @channels(%{{.*}}: memref<5x7x4xf32>, %{{.*}}: memref<4xf32>, %{{.*}}: memref<5x7x4xf32>)
#sum = affine_set<(y, x, c, k) : (y >= 0, 4 - y >= 0, x >= 0, 6 - x >= 0, c >= 0, 3 - c >= 0, k >= 0, -k >= 0)>
#box = affine_set<(y, x, c) : (y >= 0, 4 - y >= 0, x >= 0, 6 - x >= 0, c >= 0, 3 - c >= 0)>
#all = affine_map<(y, x, c) -> (y, x, c)>
#own = affine_map<(y, x, c) -> (c)>
#out = affine_map<(y, x, c, k) -> (y, x)>
poly.kernel private @pixels(%x: memref<5x7x4xf32>, %w: memref<4xf32>, %y: memref<5x7xf32>) {
  poly.compute @s0 dims ["y", "x", "c", "k"] domain [#sum] reads(%x[affine_map<(y, x, c, k) -> (y + k, x, c)>], %w[affine_map<(y, x, c, k) -> (c)>], %y[#out] : memref<5x7x4xf32>, memref<4xf32>, memref<5x7xf32>) writes(%y[#out] : memref<5x7xf32>) reduction add {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %r = arith.addf %s, %p : f32
    poly.yield %r : f32
  }
}
poly.kernel private @channels(%x: memref<5x7x4xf32>, %b: memref<4xf32>, %y: memref<5x7x4xf32>) {
  poly.compute @s0 dims ["y", "x", "c"] domain [#box] reads(%x[#all], %b[#own] : memref<5x7x4xf32>, memref<4xf32>) writes(%y[#all] : memref<5x7x4xf32>) {
  ^bb0(%a: f32, %s: f32):
    %r = arith.addf %a, %s : f32
    poly.yield %r : f32
  }
}
func.func @main(%x: memref<5x7x4xf32>, %b: memref<4xf32>, %s: memref<5x7xf32>, %y: memref<5x7x4xf32>) {
  poly.call @pixels(%x, %b, %s) : memref<5x7x4xf32>, memref<4xf32>, memref<5x7xf32>
  poly.call @channels(%x, %b, %y) : memref<5x7x4xf32>, memref<4xf32>, memref<5x7x4xf32>
  return
}

// -----

// Rows that are longer than what is walked of them do not follow one another.
// CHECK-LABEL: poly.kernel private @part(%{{.*}}: memref<5x8xf32>, %{{.*}}: memref<5x7xf32>)
#box = affine_set<(y, x) : (y >= 0, 4 - y >= 0, x >= 0, 6 - x >= 0)>
#all = affine_map<(y, x) -> (y, x)>
poly.kernel private @part(%x: memref<5x8xf32>, %y: memref<5x7xf32>) {
  poly.compute @s0 domain [#box] reads(%x[#all] : memref<5x8xf32>) writes(%y[#all] : memref<5x7xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
func.func @main(%x: memref<5x8xf32>, %y: memref<5x7xf32>) {
  poly.call @part(%x, %y) : memref<5x8xf32>, memref<5x7xf32>
  return
}

// -----

// One operand repeats rows, another is seen with its columns apart by a second
// computation: both need the two dimensions.
// CHECK-LABEL: poly.kernel private @repeated(%{{.*}}: memref<7xf32>, %{{.*}}: memref<5x7xf32>)
// CHECK-LABEL: poly.kernel private @apart(%{{.*}}: memref<7x7xf32>, %{{.*}}: memref<7x7xf32>)
#box = affine_set<(y, x) : (y >= 0, 4 - y >= 0, x >= 0, 6 - x >= 0)>
#square = affine_set<(y, x) : (y >= 0, 6 - y >= 0, x >= 0, 6 - x >= 0)>
#all = affine_map<(y, x) -> (y, x)>
#turned = affine_map<(y, x) -> (x, y)>
poly.kernel private @repeated(%x: memref<7xf32>, %y: memref<5x7xf32>) {
  poly.compute @s0 domain [#box] reads(%x[affine_map<(y, x) -> (x)>] : memref<7xf32>) writes(%y[#all] : memref<5x7xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
poly.kernel private @apart(%x: memref<7x7xf32>, %y: memref<7x7xf32>) {
  %t = poly.array : memref<7x7xf32>
  poly.compute @s0 domain [#square] reads(%x[#all] : memref<7x7xf32>) writes(%t[#all] : memref<7x7xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @s1 domain [#square] reads(%t[#turned] : memref<7x7xf32>) writes(%y[#all] : memref<7x7xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
func.func @main(%x: memref<7xf32>, %y: memref<5x7xf32>, %z: memref<7x7xf32>, %w: memref<7x7xf32>) {
  poly.call @repeated(%x, %y) : memref<7xf32>, memref<5x7xf32>
  poly.call @apart(%z, %w) : memref<7x7xf32>, memref<7x7xf32>
  return
}

// -----

// A domain that is no box of these two, one that begins elsewhere, an index that
// is a value, and a condition on data.
// CHECK-LABEL: poly.kernel private @triangle(%{{.*}}: memref<7x7xf32>)
// CHECK-LABEL: poly.kernel private @inner(%{{.*}}: memref<7x7xf32>)
// CHECK-LABEL: poly.kernel private @count(%{{.*}}: memref<5x7xindex>)
// CHECK-LABEL: poly.kernel private @limited(%{{.*}}: memref<7x7xf32>, %{{.*}}: memref<7xi32>)
#box = affine_set<(y, x) : (y >= 0, 4 - y >= 0, x >= 0, 6 - x >= 0)>
#square = affine_set<(y, x) : (y >= 0, 6 - y >= 0, x >= 0, 6 - x >= 0)>
#all = affine_map<(y, x) -> (y, x)>
poly.kernel private @triangle(%y: memref<7x7xf32>) {
  poly.compute @s0 domain [affine_set<(y, x) : (y >= 0, 6 - y >= 0, x >= 0, y - x >= 0)>] reads() writes(%y[#all] : memref<7x7xf32>) {
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
}
poly.kernel private @inner(%y: memref<7x7xf32>) {
  poly.compute @s0 domain [affine_set<(y, x) : (y >= 0, 6 - y >= 0, x - 1 >= 0, 6 - x >= 0)>] reads() writes(%y[#all] : memref<7x7xf32>) {
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
}
poly.kernel private @count(%y: memref<5x7xindex>) {
  poly.compute @s0 domain [#box] reads() writes(%y[#all] : memref<5x7xindex>) {
    %i = poly.index 1
    poly.yield %i : index
  }
}
poly.kernel private @limited(%y: memref<7x7xf32>, %n: memref<7xi32>) {
  poly.compute @s0 domain [#square] where affine_set<(y, x)[n] : (n - 1 - x >= 0)> reads(%n[affine_map<(y, x) -> (y)>] : memref<7xi32>) writes(%y[#all] : memref<7x7xf32>) {
  ^bb0(%last: i32):
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
}
func.func @main(%y: memref<7x7xf32>, %i: memref<5x7xindex>, %n: memref<7xi32>) {
  poly.call @triangle(%y) : memref<7x7xf32>
  poly.call @inner(%y) : memref<7x7xf32>
  poly.call @count(%i) : memref<5x7xindex>
  poly.call @limited(%y, %n) : memref<7x7xf32>, memref<7xi32>
  return
}

// -----

// A kernel that others may call, one that is called twice, and one with a
// schedule keep their arguments.
// CHECK-LABEL: poly.kernel @public(%{{.*}}: memref<5x7xf32>)
// CHECK-LABEL: poly.kernel private @twice(%{{.*}}: memref<5x7xf32>)
#box = affine_set<(y, x) : (y >= 0, 4 - y >= 0, x >= 0, 6 - x >= 0)>
#all = affine_map<(y, x) -> (y, x)>
poly.kernel @public(%y: memref<5x7xf32>) {
  poly.compute @s0 domain [#box] reads() writes(%y[#all] : memref<5x7xf32>) {
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
}
poly.kernel private @twice(%y: memref<5x7xf32>) {
  poly.compute @s0 domain [#box] reads() writes(%y[#all] : memref<5x7xf32>) {
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
}
func.func @main(%y: memref<5x7xf32>, %z: memref<5x7xf32>) {
  poly.call @public(%y) : memref<5x7xf32>
  poly.call @twice(%y) : memref<5x7xf32>
  poly.call @twice(%z) : memref<5x7xf32>
  return
}

// -----

// A dimension with a single point goes with the one beside it, although another
// array has none for it, as where ONNX keeps the dimension of a sum along rows.
// CHECK-DAG:   #[[SAME:.*]] = affine_map<(d0) -> (d0)>
// CHECK-LABEL: poly.kernel private @kept(%{{.*}}: memref<35xf32>, %{{.*}}: memref<35xf32>)
// CHECK:         poly.compute @s0 domain {{.*}} reads(%{{.*}}[#[[SAME]]] {{.*}} writes(%{{.*}}[#[[SAME]]]
// CHECK-LABEL: poly.kernel private @last(%{{.*}}: memref<7xf32>, %{{.*}}: memref<7xf32>)
#point = affine_set<(c, y, x) : (c >= 0, 4 - c >= 0, y >= 0, -y >= 0, x >= 0, 6 - x >= 0)>
#end = affine_set<(x, y) : (x >= 0, 6 - x >= 0, y >= 0, -y >= 0)>
poly.kernel private @kept(%x: memref<5x7xf32>, %y: memref<5x1x7xf32>) {
  poly.compute @s0 domain [#point] reads(%x[affine_map<(c, y, x) -> (c, x)>] : memref<5x7xf32>) writes(%y[affine_map<(c, y, x) -> (c, y, x)>] : memref<5x1x7xf32>) {
  ^bb0(%a: f32):
    %r = arith.negf %a : f32
    poly.yield %r : f32
  }
}
poly.kernel private @last(%x: memref<7xf32>, %y: memref<7x1xf32>) {
  poly.compute @s0 domain [#end] reads(%x[affine_map<(x, y) -> (x)>] : memref<7xf32>) writes(%y[affine_map<(x, y) -> (x, y)>] : memref<7x1xf32>) {
  ^bb0(%a: f32):
    %r = arith.negf %a : f32
    poly.yield %r : f32
  }
}
func.func @main(%a: memref<5x7xf32>, %b: memref<5x1x7xf32>, %c: memref<7xf32>, %d: memref<7x1xf32>) {
  poly.call @kept(%a, %b) : memref<5x7xf32>, memref<5x1x7xf32>
  poly.call @last(%c, %d) : memref<7xf32>, memref<7x1xf32>
  return
}
