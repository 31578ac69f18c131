// RUN: espalier-opt %s -transform-interpreter -convert-poly-to-loops -canonicalize -cse -split-input-file | FileCheck %s

#space = affine_set<(t, i, j)[T, N] : (t >= 0, T - 1 - t >= 0, i - 1 >= 0, N - 2 - i >= 0, j - 1 >= 0, N - 2 - j >= 0)>
#NW = affine_map<(t, i, j)[T, N] -> (i - 1, j - 1)>
#NE = affine_map<(t, i, j)[T, N] -> (i - 1, j + 1)>
#SE = affine_map<(t, i, j)[T, N] -> (i + 1, j + 1)>
#P = affine_map<(t, i, j)[T, N] -> (i, j)>
module attributes {transform.with_named_sequence} {
// Gauss-Seidel in skewed tiles: a wavefront of two parallel dimensions.
// CHECK-LABEL: func.func @seidel(
// CHECK-NOT:     scf.if
// CHECK:         scf.for
// CHECK:           scf.parallel
// CHECK:             scf.parallel
// CHECK:               scf.for
// CHECK:                 scf.for
// CHECK:                   scf.for
// CHECK-COUNT-3:             memref.load
// CHECK:                     memref.store
// CHECK-NOT:     scf.if
poly.kernel @seidel(%A: memref<?x?xf32>, %T: index, %N: index) {
  poly.compute @step dims ["t", "i", "j"] domain [#space] reads(%A[#NW], %A[#NE], %A[#SE] : memref<?x?xf32>, memref<?x?xf32>, memref<?x?xf32>) writes(%A[#P] : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %b : f32
    %r = arith.addf %s, %c : f32
    poly.yield %r : f32
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %step = transform.poly.computation @seidel::@step of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.skew %step loop "i" by [1] of ["t"] : !transform.any_op
  transform.poly.skew %step loop "j" by [1, 1] of ["t", "i"] : !transform.any_op
  transform.poly.tile %step loops ["t", "i", "j"] sizes [[4, 8, 8]] : !transform.any_op
  transform.poly.wavefront %step loops ["t.0", "i.0", "j.0"] : !transform.any_op
  transform.yield
}
}

// -----

#line = affine_set<(t, i)[T, N] : (t >= 0, T - 1 - t >= 0, i - 1 >= 0, N - 2 - i >= 0)>
#w = affine_map<(t, i)[T, N] -> (i - 1)>
#c = affine_map<(t, i)[T, N] -> (i)>
#e = affine_map<(t, i)[T, N] -> (i + 1)>

module attributes {transform.with_named_sequence} {
// Two computations of one time loop: fused with a delay of one point, tiled and
// run as a wavefront together, with a loop for each inside the tile.
// CHECK-LABEL: func.func @heat(
// CHECK-NOT:     scf.if
// CHECK:         scf.for
// CHECK:           scf.parallel
// CHECK:             scf.for
// CHECK:               scf.for
// CHECK:                 vector.maskedload %arg0
// CHECK:                 vector.maskedstore %arg1
// CHECK:               scf.for
// CHECK:                 vector.maskedload %arg1
// CHECK:                 vector.maskedstore %arg0
// CHECK-NOT:     scf.if
poly.kernel @heat(%A: memref<?xf32>, %B: memref<?xf32>, %T: index, %N: index) {
  poly.compute @there dims ["t", "i"] domain [#line] reads(%A[#w], %A[#c], %A[#e] : memref<?xf32>, memref<?xf32>, memref<?xf32>) writes(%B[#c] : memref<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %b : f32
    %r = arith.addf %s, %c : f32
    poly.yield %r : f32
  }
  poly.compute @back dims ["t", "i"] domain [#line] reads(%B[#w], %B[#c], %B[#e] : memref<?xf32>, memref<?xf32>, memref<?xf32>) writes(%A[#c] : memref<?xf32>) interleaved 1 {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %b : f32
    %r = arith.addf %s, %c : f32
    poly.yield %r : f32
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %there = transform.poly.computation @heat::@there of %module : (!transform.any_op) -> !transform.any_op
  %back = transform.poly.computation @heat::@back of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fuse %there with %back loops 1 : !transform.any_op, !transform.any_op
  transform.poly.skew %there loop "i" by [2] of ["t"] : !transform.any_op
  transform.poly.tile %there loops ["t", "i"] sizes [[8, 16]] : !transform.any_op
  transform.poly.wavefront %there loops ["t.0", "i.0"] : !transform.any_op
  transform.poly.fission %there loop "i.1" : !transform.any_op
  transform.poly.vectorize %there loop "i.1" width 8 : !transform.any_op
  transform.poly.vectorize %back loop "i.1" width 8 : !transform.any_op
  transform.yield
}
}

// -----

#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>

// Copies of the body for full groups of four; a loop for what is left over.
// CHECK-LABEL: func.func @copies(
// CHECK:         scf.for
// CHECK-COUNT-4:   memref.store
// CHECK-NOT:       memref.store
// CHECK:         }
// CHECK:         scf.for
// CHECK:           memref.store
// CHECK-NOT:       memref.store
// CHECK:         return
module attributes {transform.with_named_sequence} {
poly.kernel @copies(%A: memref<?xf32>, %N: index) {
  poly.compute @s dims ["i"] domain [#points] reads(%A[#i] : memref<?xf32>) writes(%A[#i] : memref<?xf32>) {
  ^bb0(%x: f32):
    %y = math.exp %x : f32
    poly.yield %y : f32
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @copies::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.unroll %s loop "i" factor 4 : !transform.any_op
  transform.yield
}
}

// -----

#points = affine_set<(i, j)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, N - 1 - j >= 0)>
#inner = affine_set<(i, j)[N] : (i - 1 >= 0, N - 2 - i >= 0, j >= 0, N - 1 - j >= 0)>
#same = affine_map<(i, j)[N] -> (i, j)>
#above = affine_map<(i, j)[N] -> (i - 1, j)>
#below = affine_map<(i, j)[N] -> (i + 1, j)>

// The consumer runs one row behind the producer; its lanes have vectors without
// masks in full tiles.
// CHECK-LABEL: func.func @rows(
// CHECK:         scf.for %[[ROW:.*]] = %c0 to
// CHECK:           scf.for
// CHECK:             memref.store %{{.*}}, %[[B:.*]][
// CHECK:           scf.for
// CHECK:             vector.load
// CHECK:             vector.load
// CHECK:             vector.store
// CHECK:             vector.maskedload
// CHECK:             vector.maskedstore
module attributes {transform.with_named_sequence} {
poly.kernel @rows(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>, %N: index) {
  poly.compute @make dims ["i", "j"] domain [#points] reads(%A[#same] : memref<?x?xf32>) writes(%B[#same] : memref<?x?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @use dims ["i", "j"] domain [#inner] reads(%B[#above], %B[#below] : memref<?x?xf32>, memref<?x?xf32>) writes(%C[#same] : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    poly.yield %s : f32
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %make = transform.poly.computation @rows::@make of %module : (!transform.any_op) -> !transform.any_op
  %use = transform.poly.computation @rows::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fuse %make with %use loops 1 : !transform.any_op, !transform.any_op
  transform.poly.vectorize %use loop "j" width 8 peel_tail : !transform.any_op
  transform.yield
}
}
