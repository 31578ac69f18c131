// RUN: espalier-opt %s -transform-interpreter -convert-poly-to-loops -canonicalize -cse -split-input-file | FileCheck %s

#points = affine_set<(t, i)[T, N] : (t >= 0, T - 1 - t >= 0, i - 1 >= 0, N - 2 - i >= 0)>
#west = affine_map<(t, i)[T, N] -> (t, i - 1)>
#east = affine_map<(t, i)[T, N] -> (t, i + 1)>
#next = affine_map<(t, i)[T, N] -> (t + 1, i)>
module attributes {transform.with_named_sequence} {
// A stencil in skewed tiles: the tiles of a diagonal run in parallel, and no
// condition is left inside.
// CHECK-LABEL: func.func @jacobi(
// CHECK-NOT:     scf.if
// CHECK:         scf.for %[[WAVE:.*]] = %c0 to
// CHECK:           scf.parallel (%[[TILE:.*]]) =
// CHECK:             scf.for %[[T:.*]] =
// CHECK:               scf.for %[[I:.*]] =
// CHECK:                 memref.load
// CHECK:                 memref.load
// CHECK:                 memref.store
// CHECK-NOT:     scf.if
poly.kernel @jacobi(%A: memref<?x?xf32>, %T: index, %N: index) {
  poly.compute @step dims ["t", "i"] domain [#points] reads(%A[#west], %A[#east] : memref<?x?xf32>, memref<?x?xf32>) writes(%A[#next] : memref<?x?xf32>) {
  ^bb0(%w: f32, %e: f32):
    %s = arith.addf %w, %e : f32
    poly.yield %s : f32
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %step = transform.poly.computation @jacobi::@step of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.skew %step loop "i" by [1] of ["t"] : !transform.any_op
  transform.poly.tile %step loops ["t", "i"] sizes [[4, 8]] : !transform.any_op
  transform.poly.wavefront %step loops ["t.0", "i.0"] : !transform.any_op
  transform.yield
}
}

// -----

#ij = affine_set<(i, j)[K] : (i >= 0, 7 - i >= 0, j >= 0, 31 - j >= 0)>
#ijk = affine_set<(i, j, k)[K] : (i >= 0, 7 - i >= 0, j >= 0, 31 - j >= 0, k >= 0, K - 1 - k >= 0)>
#c = affine_map<(i, j)[K] -> (i, j)>
#C = affine_map<(i, j, k)[K] -> (i, j)>
#A = affine_map<(i, j, k)[K] -> (i, k)>
#B = affine_map<(i, j, k)[K] -> (k, j)>
module attributes {transform.with_named_sequence} {
// Accumulators of a register tile are values that the loop over k carries; the
// loops of the tile are unrolled and lanes. One vector of B is fetched ahead.
// CHECK-LABEL: func.func @matmul(
// CHECK-NOT:     memref.alloc
// CHECK:         scf.parallel
// CHECK:           scf.for
// CHECK-NEXT:        %[[SUMS:.*]]:4 = scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK:               memref.prefetch %{{.*}}[%{{.*}}], read
// CHECK-NOT:           memref.prefetch
// CHECK-COUNT-4:       arith.mulf {{.*}} : vector<16xf32>
// CHECK:               scf.yield
// CHECK:             vector.store %[[SUMS]]#0
// CHECK:             vector.store %[[SUMS]]#3
poly.kernel @matmul(%A: memref<8x?xf32>, %B: memref<?x32xf32>, %C: memref<8x32xf32>, %K: index) {
  %r = poly.array register : memref<8x32xf32>
  poly.compute @init dims ["i", "j"] domain [#ij] reads() writes(%r[#c] : memref<8x32xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @acc dims ["i", "j", "k"] domain [#ijk] reads(%A[#A], %B[#B], %r[#C] : memref<8x?xf32>, memref<?x32xf32>, memref<8x32xf32>) writes(%r[#C] : memref<8x32xf32>) reduction add {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    poly.yield %s : f32
  }
  poly.compute @out dims ["i", "j"] domain [#ij] reads(%r[#c] : memref<8x32xf32>) writes(%C[#c] : memref<8x32xf32>) {
  ^bb0(%c: f32):
    poly.yield %c : f32
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @matmul::@init of %module : (!transform.any_op) -> !transform.any_op
  %acc = transform.poly.computation @matmul::@acc of %module : (!transform.any_op) -> !transform.any_op
  %out = transform.poly.computation @matmul::@out of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fuse %init with %acc loops 2 : !transform.any_op, !transform.any_op
  transform.poly.fuse %acc with %out loops 2 : !transform.any_op, !transform.any_op
  transform.poly.tile %acc loops ["i", "j"] sizes [[4, 16]] : !transform.any_op
  transform.poly.fission %acc loop "i.1" : !transform.any_op
  transform.poly.interchange %acc loops ["k", "i.1", "j.1"] : !transform.any_op
  transform.poly.vectorize %init loop "j.1" width 16 : !transform.any_op
  transform.poly.vectorize %acc loop "j.1" width 16 : !transform.any_op
  transform.poly.vectorize %out loop "j.1" width 16 : !transform.any_op
  transform.poly.unroll %init loop "i.1" : !transform.any_op
  transform.poly.unroll %acc loop "i.1" : !transform.any_op
  transform.poly.unroll %out loop "i.1" : !transform.any_op
  transform.poly.parallelize %out loop "i.0" : !transform.any_op
  transform.poly.prefetch %acc read 1 loop "k" distance 8 : !transform.any_op
  transform.yield
}
}

// -----

#tri = affine_set<(i, j)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, i - j >= 0)>
#m = affine_map<(i, j)[N] -> (i, j)>
module attributes {transform.with_named_sequence} {
// Full tiles have vectors without masks, and copies of their rows; tiles that
// the diagonal cuts have code of their own.
// CHECK-LABEL: func.func @triangle(
// CHECK:         scf.parallel
// CHECK:           vector.create_mask
// CHECK:         scf.parallel (%[[ROW:.*]]) =
// CHECK:           scf.for %{{.*}} = %c0 to
// CHECK-NOT:         create_mask
// CHECK-NOT:         scf.for
// CHECK-COUNT-4:     vector.store
// CHECK-NOT:         vector.store
// CHECK:           vector.create_mask
poly.kernel @triangle(%A: memref<?x?xf32>, %N: index) {
  poly.compute @s dims ["i", "j"] domain [#tri] reads(%A[#m] : memref<?x?xf32>) writes(%A[#m] : memref<?x?xf32>) {
  ^bb0(%x: f32):
    %y = math.exp %x : f32
    poly.yield %y : f32
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @triangle::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tile %s loops ["i", "j"] sizes [[4, 8]] : !transform.any_op
  transform.poly.parallelize %s loop "i.0" : !transform.any_op
  transform.poly.vectorize %s loop "j.1" width 8 : !transform.any_op
  transform.poly.separate_full_tiles %s loops ["i.0", "j.0"] : !transform.any_op
  transform.poly.unroll %s loop "i.1" : !transform.any_op
  transform.yield
}
}

// -----

#p = affine_set<(t, u)[T, N] : (t >= 0, T - 1 - t >= 0, u >= 0, N - 1 - u >= 0)>
#k = affine_set<(t, u, k)[T, N] : (t >= 0, T - 1 - t >= 0, u >= 0, N - 1 - u >= 0, k >= 0, N - 1 - k >= 0)>
#g = affine_map<(t, u)[T, N] -> (t, u)>
#G = affine_map<(t, u, k)[T, N] -> (t, u)>
#H = affine_map<(t, u, k)[T, N] -> (t, k)>
#W = affine_map<(t, u, k)[T, N] -> (u, k)>
#n = affine_map<(t, u)[T, N] -> (t + 1, u)>
module attributes {transform.with_named_sequence} {
// A recurrence: each time step runs a matrix times a vector, in parallel over
// the units, whose loops all computations share.
// CHECK-LABEL: func.func @recurrence(
// CHECK:         scf.for
// CHECK:           scf.parallel
// CHECK:             scf.for
// CHECK:               memref.store
// CHECK:                 scf.for
// CHECK:                   vector.create_mask
// CHECK:                 }
// CHECK-NEXT:            vector.reduction <add>
// CHECK-NEXT:            memref.store
// CHECK-NEXT:          }
// CHECK:               math.tanh
// CHECK:               memref.store
poly.kernel @recurrence(%W: memref<?x?xf32>, %H: memref<?x?xf32>, %T: index, %N: index) {
  %G = poly.array(%T, %N) : memref<?x?xf32>
  poly.compute @zero dims ["t", "u"] domain [#p] reads() writes(%G[#g] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @acc dims ["t", "u", "k"] domain [#k] reads(%G[#G], %W[#W], %H[#H] : memref<?x?xf32>, memref<?x?xf32>, memref<?x?xf32>) writes(%G[#G] : memref<?x?xf32>) reduction add interleaved 1 {
  ^bb0(%g: f32, %w: f32, %h: f32):
    %p = arith.mulf %w, %h : f32
    %s = arith.addf %g, %p : f32
    poly.yield %s : f32
  }
  poly.compute @step dims ["t", "u"] domain [#p] reads(%G[#g] : memref<?x?xf32>) writes(%H[#n] : memref<?x?xf32>) interleaved 1 {
  ^bb0(%g: f32):
    %h = math.tanh %g : f32
    poly.yield %h : f32
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %zero = transform.poly.computation @recurrence::@zero of %module : (!transform.any_op) -> !transform.any_op
  %acc = transform.poly.computation @recurrence::@acc of %module : (!transform.any_op) -> !transform.any_op
  %step = transform.poly.computation @recurrence::@step of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fuse %zero with %acc loops 1 : !transform.any_op, !transform.any_op
  transform.poly.fuse %acc with %step loops 1 : !transform.any_op, !transform.any_op
  transform.poly.split %acc loop "u" factors [4] : !transform.any_op
  transform.poly.parallelize %acc loop "u.0" : !transform.any_op
  transform.poly.vectorize %acc loop "k" width 8 : !transform.any_op
  transform.yield
}
}

// -----

#points = affine_set<(i, k)[N] : (i >= 0, N - 1 - i >= 0, k >= 0, N - 1 - k >= 0)>
#sum = affine_map<(i, k)[N] -> (i)>
module attributes {transform.with_named_sequence} {
// The rest of a block: `N mod 6` sums, of which there are at most 5, and each
// in a register.
// CHECK-LABEL: func.func @rest(
// CHECK-NOT:     memref.alloc
// CHECK:         scf.for
// CHECK:           scf.for {{.*}} -> (f32, f32, f32, f32, f32, f32)
// CHECK-NOT:     memref.alloc
// CHECK:         scf.for {{.*}} -> (f32, f32, f32, f32, f32)
poly.kernel @rest(%A: memref<?x?xf32>, %s: memref<?xf32>, %N: index) {
  poly.compute @acc dims ["i", "k"] domain [#points]
      reads(%A[affine_map<(i, k)[N] -> (k, i)>], %s[#sum] : memref<?x?xf32>, memref<?xf32>)
      writes(%s[#sum] : memref<?xf32>) reduction add {
  ^bb0(%a: f32, %c: f32):
    %r = arith.addf %c, %a : f32
    poly.yield %r : f32
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @rest::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.register_block %acc loops ["i"] sizes [6] width 1 : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.yield
}
}
