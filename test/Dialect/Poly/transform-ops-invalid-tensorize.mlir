// RUN: not espalier-opt %s -transform-interpreter=entry-point=kernel 2>&1 | FileCheck %s --check-prefix=KERNEL
// RUN: not espalier-opt %s -transform-interpreter=entry-point=form 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not espalier-opt %s -transform-interpreter=entry-point=nodes 2>&1 | FileCheck %s --check-prefix=NODES
// RUN: not espalier-opt %s -transform-interpreter=entry-point=loop 2>&1 | FileCheck %s --check-prefix=LOOP
// RUN: not espalier-opt %s -transform-interpreter=entry-point=loops 2>&1 | FileCheck %s --check-prefix=LOOPS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=sizes 2>&1 | FileCheck %s --check-prefix=SIZES
// RUN: not espalier-opt %s -transform-interpreter=entry-point=body 2>&1 | FileCheck %s --check-prefix=BODY
// RUN: not espalier-opt %s -transform-interpreter=entry-point=access 2>&1 | FileCheck %s --check-prefix=ACCESS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=reduction 2>&1 | FileCheck %s --check-prefix=REDUCTION
// RUN: not espalier-opt %s -transform-interpreter=entry-point=arrays 2>&1 | FileCheck %s --check-prefix=ARRAYS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=count 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not espalier-opt %s -transform-interpreter=entry-point=type 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=indices 2>&1 | FileCheck %s --check-prefix=INDICES
// RUN: not espalier-opt %s -transform-interpreter=entry-point=nest 2>&1 | FileCheck %s --check-prefix=NEST

// Why loops are not a micro-kernel. Each case is an entry point.

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
poly.kernel @two(%a: memref<4xf32>, %N: index) {
}
poly.kernel @sequence(%a: memref<4x8xf32>, %b: memref<8x16xf32>, %c: memref<4x16xf32>) {
  poly.compute @m dims ["i", "j", "k"] domain [#small] reads(%c[#c], %a[#a], %b[#b] : memref<4x16xf32>, memref<4x8xf32>, memref<8x16xf32>)
      writes(%c[#c] : memref<4x16xf32>) reduction add {
  ^bb0(%s: f32, %x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %s, %p : f32
    poly.yield %r : f32
  }
  poly.schedule {
    poly.sequence {
      poly.filter [@m] where [affine_set<(i, j, k) : (i - 1 >= 0)>]
      poly.filter [@m] where [affine_set<(i, j, k) : (-i >= 0)>]
    }
  }
}
poly.kernel @difference(%a: memref<4x8xf32>, %b: memref<8x16xf32>, %c: memref<4x16xf32>) {
  poly.compute @m dims ["i", "j", "k"] domain [#small] reads(%c[#c], %a[#a], %b[#b] : memref<4x16xf32>, memref<4x8xf32>, memref<8x16xf32>)
      writes(%c[#c] : memref<4x16xf32>) reduction add {
  ^bb0(%s: f32, %x: f32, %y: f32):
    %p = arith.subf %x, %y : f32
    %r = arith.addf %s, %p : f32
    poly.yield %r : f32
  }
}
poly.kernel @turned(%a: memref<8x4xf32>, %b: memref<8x16xf32>, %c: memref<4x16xf32>) {
  poly.compute @m dims ["i", "j", "k"] domain [#small] reads(%c[#c], %a[affine_map<(i, j, k) -> (k, i)>], %b[#b] : memref<4x16xf32>, memref<8x4xf32>, memref<8x16xf32>)
      writes(%c[#c] : memref<4x16xf32>) reduction add {
  ^bb0(%s: f32, %x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %s, %p : f32
    poly.yield %r : f32
  }
}
poly.kernel @ordered(%a: memref<4x8xf32>, %b: memref<8x16xf32>, %c: memref<4x16xf32>) {
  poly.compute @m dims ["i", "j", "k"] domain [#small] reads(%c[#c], %a[#a], %b[#b] : memref<4x16xf32>, memref<4x8xf32>, memref<8x16xf32>)
      writes(%c[#c] : memref<4x16xf32>) {
  ^bb0(%s: f32, %x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %s, %p : f32
    poly.yield %r : f32
  }
}
poly.kernel @shared(%a: memref<4x8xf32>, %c: memref<16x16xf32>) {
  poly.compute @m dims ["i", "j", "k"] domain [#small] reads(%c[#c], %a[#a], %c[#b] : memref<16x16xf32>, memref<4x8xf32>, memref<16x16xf32>)
      writes(%c[#c] : memref<16x16xf32>) reduction add {
  ^bb0(%s: f32, %x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %s, %p : f32
    poly.yield %r : f32
  }
}
poly.kernel @large(%A: memref<?x16x64xf32>, %W: memref<64x32xf32>, %C: memref<?x16x32xf32>, %B: index) {
  poly.compute @acc dims ["b", "i", "j", "k"] domain [#large] reads(%C[#C], %A[#A], %W[#W] : memref<?x16x32xf32>, memref<?x16x64xf32>, memref<64x32xf32>)
      writes(%C[#C] : memref<?x16x32xf32>) reduction add {
  ^bb0(%s: f32, %x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %s, %p : f32
    poly.yield %r : f32
  }
}
poly.kernel @wide(%a: memref<4x8xf64>, %b: memref<8x16xf32>, %c: memref<4x16xf32>) {
  poly.compute @m dims ["i", "j", "k"] domain [#small] reads(%c[#c], %a[#a], %b[#b] : memref<4x16xf32>, memref<4x8xf64>, memref<8x16xf32>)
      writes(%c[#c] : memref<4x16xf32>) {
  ^bb0(%s: f32, %x: f64, %y: f32):
    poly.yield %y : f32
  }
}
poly.kernel @more(%a: memref<4x8x3xf32>, %b: memref<8x16xf32>, %c: memref<4x16xf32>) {
  poly.compute @m dims ["i", "j", "k"] domain [#small] reads(%c[#c], %a[affine_map<(i, j, k) -> (i, k, k)>], %b[#b] : memref<4x16xf32>, memref<4x8x3xf32>, memref<8x16xf32>)
      writes(%c[#c] : memref<4x16xf32>) reduction add {
  ^bb0(%s: f32, %x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %s, %p : f32
    poly.yield %r : f32
  }
}
poly.kernel @fill(%c: memref<4x16xf32>) {
  poly.compute @m dims ["i", "j", "k"] domain [#small] reads() writes(%c[#c] : memref<4x16xf32>) {
    %x = arith.constant 1.0 : f32
    poly.yield %x : f32
  }
}
poly.kernel @pair(%A: memref<16xf32>, %B: memref<16xf32>) {
  poly.compute @first dims ["i"] domain [affine_set<(i) : (i >= 0, 15 - i >= 0)>] reads() writes(%A[affine_map<(i) -> (i)>] : memref<16xf32>) {
    %x = arith.constant 1.0 : f32
    poly.yield %x : f32
  }
  poly.compute @second dims ["i"] domain [affine_set<(i) : (i >= 0, 15 - i >= 0)>] reads() writes(%B[affine_map<(i) -> (i)>] : memref<16xf32>) {
    %x = arith.constant 1.0 : f32
    poly.yield %x : f32
  }
}

// KERNEL: error: 'transform.poly.tensorize' op expects a micro-kernel, one of [@product_4x16, @two, @sequence, @difference, @turned, @ordered, @shared, @large, @wide, @more, @fill, @pair], but got @none
transform.named_sequence @kernel(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @large::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tile %acc loops ["i", "j", "k"] sizes [[4, 16, 8]] : !transform.any_op
  transform.poly.tensorize %acc loop "i.1" to @none : !transform.any_op
  transform.yield
}

// FORM: error: 'transform.poly.tensorize' op expects a micro-kernel with one computation, no arrays and no parameters, but @two is none
transform.named_sequence @form(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @large::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tile %acc loops ["i", "j", "k"] sizes [[4, 16, 8]] : !transform.any_op
  transform.poly.tensorize %acc loop "i.1" to @two : !transform.any_op
  transform.yield
}

// NODES: error: 'transform.poly.tensorize' op expects a micro-kernel with a schedule of bands and marks, but got a sequence
transform.named_sequence @nodes(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @large::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tile %acc loops ["i", "j", "k"] sizes [[4, 16, 8]] : !transform.any_op
  transform.poly.tensorize %acc loop "i.1" to @sequence : !transform.any_op
  transform.yield
}

// LOOP: error: 'transform.poly.tensorize' op expects a loop of @acc, one of ["b", "i.0", "j.0", "k.0", "i.1", "j.1", "k.1"], but got "x"
transform.named_sequence @loop(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @large::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tile %acc loops ["i", "j", "k"] sizes [[4, 16, 8]] : !transform.any_op
  transform.poly.tensorize %acc loop "x" to @product_4x16 : !transform.any_op
  transform.yield
}

// LOOPS: error: 'transform.poly.tensorize' op expects 3 inner loops, one for each dimension of @m, but got 2
transform.named_sequence @loops(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @large::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tile %acc loops ["i", "j", "k"] sizes [[4, 16, 8]] : !transform.any_op
  transform.poly.tensorize %acc loop "j.1" to @product_4x16 : !transform.any_op
  transform.yield
}

// SIZES: error: 'transform.poly.tensorize' op expects the inner loops of @acc to take the values of the domain of @m in each iteration of the loops around them, but they take others or fewer
transform.named_sequence @sizes(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @large::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tile %acc loops ["i", "j", "k"] sizes [[4, 16, 4]] : !transform.any_op
  transform.poly.tensorize %acc loop "i.1" to @product_4x16 : !transform.any_op
  transform.yield
}

// BODY: error: 'transform.poly.tensorize' op expects @acc to compute at a point what @m does, but the bodies differ
transform.named_sequence @body(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @large::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tile %acc loops ["i", "j", "k"] sizes [[4, 16, 8]] : !transform.any_op
  transform.poly.tensorize %acc loop "i.1" to @difference : !transform.any_op
  transform.yield
}

// ACCESS: error: 'transform.poly.tensorize' op expects read 1 of @acc to vary like that of @m
transform.named_sequence @access(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @large::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tile %acc loops ["i", "j", "k"] sizes [[4, 16, 8]] : !transform.any_op
  transform.poly.tensorize %acc loop "i.1" to @turned : !transform.any_op
  transform.yield
}

// REDUCTION: error: 'transform.poly.tensorize' op expects a reduction where @m is one, and of its kind
transform.named_sequence @reduction(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @large::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tile %acc loops ["i", "j", "k"] sizes [[4, 16, 8]] : !transform.any_op
  transform.poly.tensorize %acc loop "i.1" to @ordered : !transform.any_op
  transform.yield
}

// ARRAYS: error: 'transform.poly.tensorize' op expects accesses of @acc to share arrays as those of @m do
transform.named_sequence @arrays(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @large::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tile %acc loops ["i", "j", "k"] sizes [[4, 16, 8]] : !transform.any_op
  transform.poly.tensorize %acc loop "i.1" to @shared : !transform.any_op
  transform.yield
}

// COUNT: error: 'transform.poly.tensorize' op expects 0 accesses as @m has, but @acc has 3, each a read
transform.named_sequence @count(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @large::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tile %acc loops ["i", "j", "k"] sizes [[4, 16, 8]] : !transform.any_op
  transform.poly.tensorize %acc loop "i.1" to @fill : !transform.any_op
  transform.yield
}

// TYPE: error: 'transform.poly.tensorize' op expects read 1 of @acc to be of the same type as that of @m, but got affine_map<(d0, d1, d2, d3)[s0] -> (d0, d1, d3)> for affine_map<(d0, d1, d2) -> (d0, d2)>
transform.named_sequence @type(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @large::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tile %acc loops ["i", "j", "k"] sizes [[4, 16, 8]] : !transform.any_op
  transform.poly.tensorize %acc loop "i.1" to @wide : !transform.any_op
  transform.yield
}

// INDICES: error: 'transform.poly.tensorize' op expects read 1 of @acc to have the indices of that of @m, but got affine_map<(d0, d1, d2, d3)[s0] -> (d0, d1, d3)> for affine_map<(d0, d1, d2) -> (d0, d2, d2)>
transform.named_sequence @indices(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @large::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tile %acc loops ["i", "j", "k"] sizes [[4, 16, 8]] : !transform.any_op
  transform.poly.tensorize %acc loop "i.1" to @more : !transform.any_op
  transform.yield
}

// NEST: error: 'transform.poly.tensorize' op expects only loops of one computation inside "i", but got a band of 2
transform.named_sequence @nest(%module: !transform.any_op {transform.readonly}) {
  %first = transform.poly.computation @pair::@first of %module : (!transform.any_op) -> !transform.any_op
  %second = transform.poly.computation @pair::@second of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fuse %first with %second loops 1 : !transform.any_op, !transform.any_op
  transform.poly.tensorize %first loop "i" to @fill : !transform.any_op
  transform.yield
}
}
