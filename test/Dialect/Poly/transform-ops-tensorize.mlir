// RUN: espalier-opt %s -transform-interpreter | FileCheck %s
// RUN: espalier-opt %s -transform-interpreter -convert-poly-to-loops -canonicalize | FileCheck %s --check-prefix=LOOPS

#small = affine_set<(i, j, k) : (i >= 0, 3 - i >= 0, j >= 0, 15 - j >= 0, k >= 0, 7 - k >= 0)>
#large = affine_set<(b, i, j, k)[B] : (b >= 0, B - 1 - b >= 0, i >= 0, 15 - i >= 0, j >= 0, 31 - j >= 0, k >= 0, 63 - k >= 0)>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
#A = affine_map<(b, i, j, k)[B] -> (b, i, k)>
#W = affine_map<(b, i, j, k)[B] -> (k, j)>
#C = affine_map<(b, i, j, k)[B] -> (b, i, j)>

module attributes {transform.with_named_sequence} {
poly.kernel @product_4x16(%a: memref<4x8xf32>, %b: memref<8x16xf32>, %c: memref<4x16xf32>) {
  poly.compute @m dims ["i", "j", "k"] domain [#small] reads(%c[#c], %a[#a], %b[#b] : memref<4x16xf32>, memref<4x8xf32>, memref<8x16xf32>)
      writes(%c[#c] : memref<4x16xf32>) reduction add {
  ^bb0(%s: f32, %x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %s, %p : f32
    poly.yield %r : f32
  }
  poly.schedule {
    poly.band [@m] maps [affine_map<(i, j, k) -> (k, i, j)>] loops [sequential, unroll, vector(16)] names ["k", "i", "j"]
  }
}

// The tiles of a batch of products are the micro-kernel; its arrays have no
// batch. Its loops take the places of theirs.
// CHECK-DAG: #[[TILES:.*]] = affine_map<(d0, d1, d2, d3)[s0] -> (d0, d1 floordiv 4, d2 floordiv 16, d3 floordiv 8)>
// CHECK-DAG: #[[INNER:.*]] = affine_map<(d0, d1, d2, d3)[s0] -> (d3 mod 8, d1 mod 4, d2 mod 16)>
// CHECK-LABEL: poly.kernel @large
// CHECK:       poly.band [@acc] maps [#[[TILES]]] {{.*}} names ["b", "i.0", "j.0", "k.0"] {
// CHECK-NEXT:    poly.mark "product_4x16" {
// CHECK-NEXT:      poly.band [@acc] maps [#[[INNER]]] loops [sequential, unroll, vector(16)] names ["k", "i", "j"]
// LOOPS-LABEL: func.func @large(
// LOOPS-COUNT-5: scf.for
// LOOPS-COUNT-4: vector.store
// LOOPS-NOT:     vector.store
poly.kernel @large(%A: memref<?x16x64xf32>, %W: memref<64x32xf32>, %C: memref<?x16x32xf32>, %B: index) {
  poly.compute @acc dims ["b", "i", "j", "k"] domain [#large] reads(%C[#C], %A[#A], %W[#W] : memref<?x16x32xf32>, memref<?x16x64xf32>, memref<64x32xf32>)
      writes(%C[#C] : memref<?x16x32xf32>) reduction add {
  ^bb0(%s: f32, %x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %s, %p : f32
    poly.yield %r : f32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @large::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tile %acc loops ["i", "j", "k"] sizes [[4, 16, 8]] : !transform.any_op
  transform.poly.tensorize %acc loop "i.1" to @product_4x16 : !transform.any_op
  transform.yield
}
}
