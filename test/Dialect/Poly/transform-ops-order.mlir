// RUN: espalier-opt %s -transform-interpreter -split-input-file | FileCheck %s

#points = affine_set<(t, i)[T, N] : (t >= 0, T - 1 - t >= 0, i - 1 >= 0, N - 2 - i >= 0)>
#west = affine_map<(t, i)[T, N] -> (t, i - 1)>
#east = affine_map<(t, i)[T, N] -> (t, i + 1)>
#next = affine_map<(t, i)[T, N] -> (t + 1, i)>

// A stencil, tiled in time: the skew makes it legal.
// CHECK: #[[MAP:.*]] = affine_map<(d0, d1)[s0, s1] -> (d0 floordiv 32, (d0 + d1) floordiv 64, (d0 mod 32) floordiv 4, ((d0 + d1) mod 64) floordiv 8, d0 mod 4, (d0 + d1) mod 8)>
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: poly.kernel @skewed_tiles
poly.kernel @skewed_tiles(%A: memref<?x?xf32>, %T: index, %N: index) {
  poly.compute @step dims ["t", "i"] domain [#points] reads(%A[#west], %A[#east] : memref<?x?xf32>, memref<?x?xf32>) writes(%A[#next] : memref<?x?xf32>) {
  ^bb0(%w: f32, %e: f32):
    %s = arith.addf %w, %e : f32
    poly.yield %s : f32
  }
  // CHECK: poly.band [@step] maps [#[[MAP]]] {{.*}} names ["t.0", "i.0", "t.1", "i.1", "t.2", "i.2"]
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %step = transform.poly.computation @skewed_tiles::@step of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.skew %step loop "i" by [1] of ["t"] : !transform.any_op
  transform.poly.tile %step loops ["t", "i"] sizes [[32, 64], [4, 8]] : !transform.any_op
  transform.yield
}
}

// -----

#box = affine_set<(i, j, k)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, N - 1 - j >= 0, k >= 0, N - 1 - k >= 0)>
#all = affine_map<(i, j, k)[N] -> (i, j, k)>

// Loops in directly nested bands become one nest. Tile loops take the places of
// the loops, in the order that is asked for; what is inside a tile follows.
// CHECK: #[[MAP:.*]] = affine_map<(d0, d1, d2)[s0] -> (d2, -d1, d0 floordiv 8, d0 mod 8)>
// CHECK: #[[TILED:.*]] = affine_map<(d0, d1, d2)[s0] -> (d2 floordiv 8, d1, d0 floordiv 4, d2 mod 8, d0 mod 4)>
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: poly.kernel @order
poly.kernel @order(%A: memref<?x?x?xf32>, %B: memref<?x?x?xf32>, %N: index) {
  poly.compute @copy dims ["i", "j", "k"] domain [#box] reads(%A[#all] : memref<?x?x?xf32>) writes(%B[#all] : memref<?x?x?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @back dims ["i", "j", "k"] domain [#box] reads(%B[#all] : memref<?x?x?xf32>) writes(%A[#all] : memref<?x?x?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  // CHECK: poly.filter [@copy]
  // CHECK-NEXT: poly.band [@copy] maps [#[[MAP]]] loops [sequential, sequential, parallel, sequential] names ["k", "j", "i.0", "i.1"] {
  // CHECK-NEXT: }
  // CHECK: poly.filter [@back]
  // CHECK-NEXT: poly.band [@back] maps [#[[TILED]]] {{.*}} names ["k.0", "j", "i.0", "k.1", "i.1"]
  poly.schedule {
    poly.sequence {
      poly.filter [@copy] {
        poly.band [@copy] maps [affine_map<(i, j, k)[N] -> (i)>] loops [parallel] names ["i"] {
          poly.band [@copy] maps [affine_map<(i, j, k)[N] -> (j)>] loops [sequential] names ["j"] {
            poly.band [@copy] maps [affine_map<(i, j, k)[N] -> (k)>] loops [sequential] names ["k"]
          }
        }
      }
      poly.filter [@back] {
        poly.band [@back] maps [#all] loops [sequential, sequential, sequential] names ["i", "j", "k"]
      }
    }
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %copy = transform.poly.computation @order::@copy of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.interchange %copy loops ["k", "i"] : !transform.any_op
  transform.poly.interchange %copy loops ["j", "i"] : !transform.any_op
  transform.poly.split %copy loop "i" factors [8] : !transform.any_op
  transform.poly.reverse %copy loop "j" : !transform.any_op
  %back = transform.poly.computation @order::@back of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tile %back loops ["k", "i"] sizes [[8, 4]] : !transform.any_op
  transform.yield
}
}

// -----

#points = affine_set<(t, i)[T, N] : (t >= 0, T - 1 - t >= 0, i - 1 >= 0, N - 2 - i >= 0)>
#west = affine_map<(t, i)[T, N] -> (t, i - 1)>
#east = affine_map<(t, i)[T, N] -> (t, i + 1)>
#next = affine_map<(t, i)[T, N] -> (t + 1, i)>

// Points on a diagonal wait for one another only if its slope is too small.
// CHECK: #[[WAVE:.*]] = affine_map<(d0, d1)[s0, s1] -> (d0 * 2 + d1, d1)>
// CHECK: #[[MAP:.*]] = affine_map<(d0, d1)[s0, s1] -> (d0 + s1, d0 + d1 + s1 * 2 - 3, d0)>
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: poly.kernel @diagonals
poly.kernel @diagonals(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %T: index, %N: index) {
  poly.compute @a dims ["t", "i"] domain [#points] reads(%A[#west], %A[#east] : memref<?x?xf32>, memref<?x?xf32>) writes(%A[#next] : memref<?x?xf32>) {
  ^bb0(%w: f32, %e: f32):
    %s = arith.addf %w, %e : f32
    poly.yield %s : f32
  }
  poly.compute @b dims ["t", "i"] domain [#points] reads(%B[#west], %B[#east] : memref<?x?xf32>, memref<?x?xf32>) writes(%B[#next] : memref<?x?xf32>) {
  ^bb0(%w: f32, %e: f32):
    %s = arith.addf %w, %e : f32
    poly.yield %s : f32
  }
  // CHECK: poly.band [@a] maps [#[[WAVE]]] loops [sequential, parallel] names ["t", "i"]
  // CHECK: poly.band [@b] maps [#[[MAP]]] loops [sequential, sequential, parallel] names ["x", "wave", "t"]
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @diagonals::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.wavefront %a loops ["t", "i"] factors [2, 1] : !transform.any_op
  %b = transform.poly.computation @diagonals::@b of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.shift %b loop "t" by affine_map<()[T, N] -> (N)> : !transform.any_op
  transform.poly.shift %b loop "i" by -3 : !transform.any_op
  transform.poly.remap %b loops ["t", "i"] by affine_map<(t, i)[T, N] -> (t, t + i + N, t - N)> into ["x", "wave", "t"] : !transform.any_op
  transform.poly.parallelize %b loop "t" : !transform.any_op
  transform.yield
}
}
