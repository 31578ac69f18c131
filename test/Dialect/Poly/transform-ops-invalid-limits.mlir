// RUN: not espalier-opt %s -transform-interpreter=entry-point=points 2>&1 | FileCheck %s --check-prefix=POINTS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=versions 2>&1 | FileCheck %s --check-prefix=VERSIONS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=unfolded 2>&1 | FileCheck %s --check-prefix=UNFOLDED
// RUN: not espalier-opt %s -transform-interpreter=entry-point=copies 2>&1 | FileCheck %s --check-prefix=COPIES

// What is too large, or has no bounds. Each case is an entry point.

#n = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#nn = affine_set<(i, j)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, N - 1 - j >= 0)>
#open = affine_set<(i, j)[N] : (i >= 0, N - 1 - i >= 0, j >= 0)>
#j = affine_map<(i, j)[N] -> (j)>
#w = affine_map<(i)[N] -> (i * 2147483629)>
#r = affine_map<(i, j)[N] -> (i * 2147483587 + j * 1073741789)>
!v = memref<?xf32>

module attributes {transform.with_named_sequence} {
poly.kernel @large(%A: !v, %B: !v, %N: index) {
  %t = poly.array(%N) : !v
  poly.compute @a dims ["i"] domain [#n] reads() writes(%t[#w] : !v) {
    %x = arith.constant 1.0 : f32
    poly.yield %x : f32
  }
  poly.compute @b dims ["i", "j"] domain [#nn] reads(%t[#r] : !v) writes(%B[affine_map<(i, j)[N]->(i)>] : !v) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.schedule {
    poly.sequence {
      poly.filter [@a] {
        poly.band [@a] maps [affine_map<(i)[N] -> (i)>] loops [sequential] names ["i"]
      }
      poly.filter [@b] {
        poly.band [@b] maps [affine_map<(i, j)[N] -> (i * 2147483579 + j * 1073741783, i * 1073741741 + j * 2147483563)>] loops [sequential, sequential] names ["s", "t"]
      }
    }
  }
}
poly.kernel @unbounded(%A: !v, %N: index) {
  %t = poly.array(%N) : !v storage affine_map<(i) -> (i mod 4)> as memref<4xf32>
  poly.compute @row dims ["i", "j"] domain [#open] reads(%A[#j] : !v) writes(%t[#j] : !v) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
poly.kernel @deep(%A: memref<64x64x64x64xf32>) {
  poly.compute @fill dims ["i", "j", "k", "l"] domain [affine_set<(i, j, k, l) : (i >= 0, 63 - i >= 0, j >= 0, 63 - j >= 0, k >= 0, 63 - k >= 0, l >= 0, 63 - l >= 0)>] reads() writes(%A[affine_map<(i, j, k, l) -> (i, j, k, l)>] : memref<64x64x64x64xf32>) {
    %x = arith.constant 1.0 : f32
    poly.yield %x : f32
  }
}
poly.kernel @distant(%A: !v, %N: index) {
  poly.compute @c dims ["i", "j", "k"] domain [affine_set<(i, j, k)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, N - 1 - j >= 0, k * 2147483629 - j * 1073741789 - i * 2147483579 >= 0, N + i * 2147483587 + j * 2147483579 - k * 1073741827 >= 0)>] reads() writes(%A[affine_map<(i, j, k)[N] -> (i)>] : !v) {
    %x = arith.constant 1.0 : f32
    poly.yield %x : f32
  }
  poly.schedule {
    poly.band [@c] maps [affine_map<(i, j, k)[N] -> (i * 2147483563 + j * 2147483549, i * 1073741783 + j * 2147483543, k)>] loops [sequential, sequential, sequential] names ["i", "j", "k"]
  }
}

// ComputeAtOp, products of large numbers
// POINTS: error: 'transform.poly.compute_at' op cannot compute which points of @a a tile needs: numbers beyond 64 bits
transform.named_sequence @points(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @large::@a of %module : (!transform.any_op) -> !transform.any_op
  %b = transform.poly.computation @large::@b of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.compute_at %a in %b loop "t" : !transform.any_op, !transform.any_op
  transform.yield
}

// SpecializeOp, products of large numbers
// VERSIONS: error: 'transform.poly.specialize' op cannot be written as versions: numbers beyond 64 bits
transform.named_sequence @versions(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @distant::@c of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.specialize %p loop "k" extents [3] : !transform.any_op
  transform.yield
}

// UnfoldOp, no bounds
// UNFOLDED: error: 'transform.poly.unfold' op expects array #0 to have bounds that are affine in the parameters
transform.named_sequence @unfolded(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @unbounded::@row of %module : (!transform.any_op) -> !transform.any_op
  %a = transform.poly.written_array of %p : (!transform.any_op) -> !transform.any_op
  transform.poly.unfold %a : !transform.any_op
  transform.yield
}

// UnrollOp, copies of copies
// COPIES: error: 'transform.poly.unroll' op expects at most 8192 copies of a point of @fill in all unrolled loops around it, but "k" makes 262144
transform.named_sequence @copies(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @deep::@fill of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.unroll %p loop "i" : !transform.any_op
  transform.poly.unroll %p loop "j" : !transform.any_op
  transform.poly.unroll %p loop "k" : !transform.any_op
  transform.poly.unroll %p loop "l" : !transform.any_op
  transform.yield
}
}
