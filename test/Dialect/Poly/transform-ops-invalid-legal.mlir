// RUN: not espalier-opt %s -transform-interpreter=entry-point=tile_skew 2>&1 | FileCheck %s --check-prefix=TILE-SKEW
// RUN: not espalier-opt %s -transform-interpreter=entry-point=tile_skews 2>&1 | FileCheck %s --check-prefix=TILE-SKEWS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=interchange_skew 2>&1 | FileCheck %s --check-prefix=INTERCHANGE-SKEW
// RUN: not espalier-opt %s -transform-interpreter=entry-point=interchange_sum 2>&1 | FileCheck %s --check-prefix=INTERCHANGE-SUM
// RUN: not espalier-opt %s -transform-interpreter=entry-point=jam_skew 2>&1 | FileCheck %s --check-prefix=JAM-SKEW
// RUN: not espalier-opt %s -transform-interpreter=entry-point=reverse 2>&1 | FileCheck %s --check-prefix=REVERSE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=skew 2>&1 | FileCheck %s --check-prefix=SKEW
// RUN: not espalier-opt %s -transform-interpreter=entry-point=remap 2>&1 | FileCheck %s --check-prefix=REMAP
// RUN: not espalier-opt %s -transform-interpreter=entry-point=wavefront_factors 2>&1 | FileCheck %s --check-prefix=WAVEFRONT-FACTORS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=shift 2>&1 | FileCheck %s --check-prefix=SHIFT
// RUN: not espalier-opt %s -transform-interpreter=entry-point=parallelize_other 2>&1 | FileCheck %s --check-prefix=PARALLELIZE-OTHER
// RUN: not espalier-opt %s -transform-interpreter=entry-point=parallelize_none 2>&1 | FileCheck %s --check-prefix=PARALLELIZE-NONE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=vectorize_other 2>&1 | FileCheck %s --check-prefix=VECTORIZE-OTHER
// RUN: not espalier-opt %s -transform-interpreter=entry-point=vectorize_reduction 2>&1 | FileCheck %s --check-prefix=VECTORIZE-REDUCTION
// RUN: not espalier-opt %s -transform-interpreter=entry-point=fuse_fewer 2>&1 | FileCheck %s --check-prefix=FUSE-FEWER
// RUN: not espalier-opt %s -transform-interpreter=entry-point=fission_none 2>&1 | FileCheck %s --check-prefix=FISSION-NONE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=fission_other 2>&1 | FileCheck %s --check-prefix=FISSION-OTHER
// RUN: not espalier-opt %s -transform-interpreter=entry-point=move 2>&1 | FileCheck %s --check-prefix=MOVE

// What would break a dependence, and what would be legal instead. Each case is
// an entry point.

#points = affine_set<(t, i)[T, N] : (t >= 0, T - 1 - t >= 0, i - 1 >= 0, N - 2 - i >= 0)>
#space = affine_set<(t, i, j)[T, N] : (t >= 0, T - 1 - t >= 0, i - 1 >= 0, N - 2 - i >= 0, j - 1 >= 0, N - 2 - j >= 0)>
#west = affine_map<(t, i)[T, N] -> (t, i - 1)>
#east = affine_map<(t, i)[T, N] -> (t, i + 1)>
#next = affine_map<(t, i)[T, N] -> (t + 1, i)>
#same = affine_map<(t, i)[T, N] -> (t, i)>
#row = affine_map<(t, i)[T, N] -> (t, 0)>
#mirror = affine_map<(t, i)[T, N] -> (t + 1, N - i)>
#one = affine_map<(t, i)[T, N] -> (0, 0)>
#before = affine_map<(t, i)[T, N] -> (t - 1, 0)>
#NW = affine_map<(t, i, j)[T, N] -> (i - 1, j - 1)>
#NE = affine_map<(t, i, j)[T, N] -> (i - 1, j + 1)>
#SE = affine_map<(t, i, j)[T, N] -> (i + 1, j + 1)>
#P = affine_map<(t, i, j)[T, N] -> (i, j)>

module attributes {transform.with_named_sequence} {
poly.kernel @k(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>, %D: memref<?x?xf32>, %T: index, %N: index) {
  poly.compute @jacobi dims ["t", "i"] domain [#points] reads(%A[#west], %A[#east] : memref<?x?xf32>, memref<?x?xf32>) writes(%A[#next] : memref<?x?xf32>) {
  ^bb0(%w: f32, %e: f32):
    %s = arith.addf %w, %e : f32
    poly.yield %s : f32
  }
  poly.compute @seidel dims ["t", "i", "j"] domain [#space] reads(%B[#NW], %B[#NE], %B[#SE] : memref<?x?xf32>, memref<?x?xf32>, memref<?x?xf32>) writes(%B[#P] : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %b : f32
    %r = arith.addf %s, %c : f32
    poly.yield %r : f32
  }
  poly.compute @make dims ["t", "i"] domain [#points] reads(%D[#before] : memref<?x?xf32>) writes(%C[#same] : memref<?x?xf32>) {
  ^bb0(%d: f32):
    poly.yield %d : f32
  }
  poly.compute @use dims ["t", "i"] domain [#points] reads(%C[#east], %D[#row] : memref<?x?xf32>, memref<?x?xf32>) writes(%D[#row] : memref<?x?xf32>) interleaved 1 {
  ^bb0(%c: f32, %d: f32):
    %s = arith.addf %c, %d : f32
    poly.yield %s : f32
  }
  poly.compute @flip dims ["t", "i"] domain [#points] reads(%A[#mirror] : memref<?x?xf32>) writes(%A[#same] : memref<?x?xf32>) {
  ^bb0(%c: f32):
    poly.yield %c : f32
  }
  poly.compute @chain dims ["t", "i"] domain [#points] reads(%C[#one], %A[#same] : memref<?x?xf32>, memref<?x?xf32>) writes(%C[#one] : memref<?x?xf32>) {
  ^bb0(%c: f32, %a: f32):
    %s = arith.addf %c, %a : f32
    poly.yield %s : f32
  }
}

// TileOp, a skew is legal
// TILE-SKEW: error: 'transform.poly.tile' op expects to keep the flow dependence from @jacobi(0, 4) to @jacobi(1, 3), distance (1, -1), on argument #0 (write 0 at [t + 1, i], read 1 at [t, i + 1]), with parameters (2, 6); legal after skew loop "i" by [1] of ["t"]{{$}}
transform.named_sequence @tile_skew(%module: !transform.any_op {transform.readonly}) {
  %jacobi = transform.poly.computation @k::@jacobi of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tile %jacobi loops ["t", "i"] sizes [[4, 4]] : !transform.any_op
  transform.yield
}

// TileOp, two skews are
// TILE-SKEWS: error: {{.*}}; legal after skew loop "i" by [1] of ["t"], then skew loop "j" by [1, 1] of ["t", "i"]{{$}}
transform.named_sequence @tile_skews(%module: !transform.any_op {transform.readonly}) {
  %seidel = transform.poly.computation @k::@seidel of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tile %seidel loops ["t", "i", "j"] sizes [[4, 4, 4]] : !transform.any_op
  transform.yield
}

// InterchangeOp, a skew is legal
// INTERCHANGE-SKEW: error: {{.*}}; legal after skew loop "i" by [1] of ["t"]{{$}}
transform.named_sequence @interchange_skew(%module: !transform.any_op {transform.readonly}) {
  %jacobi = transform.poly.computation @k::@jacobi of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.interchange %jacobi loops ["i", "t"] : !transform.any_op
  transform.yield
}

// InterchangeOp, legal for a reduction
// INTERCHANGE-SUM: error: {{.*}}; legal if @chain is marked as a 'reduction', whose updates may run in any order{{$}}
transform.named_sequence @interchange_sum(%module: !transform.any_op {transform.readonly}) {
  %chain = transform.poly.computation @k::@chain of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.interchange %chain loops ["i", "t"] : !transform.any_op
  transform.yield
}

// UnrollAndJamOp, a skew is legal
// JAM-SKEW: error: {{.*}}; legal after skew loop "j" by [1] of ["i"]{{$}}
transform.named_sequence @jam_skew(%module: !transform.any_op {transform.readonly}) {
  %seidel = transform.poly.computation @k::@seidel of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.unroll_and_jam %seidel loop "i" factor 2 : !transform.any_op
  transform.yield
}

// ReverseOp
// REVERSE: error: 'transform.poly.reverse' op expects to keep the flow dependence from @jacobi(0, 1) to @jacobi(1, 2), distance (1, 1), on argument #0 (write 0 at [t + 1, i], read 0 at [t, i - 1]), with parameters (2, 4); the loops of @jacobi that may be reversed are ["i"]{{$}}
transform.named_sequence @reverse(%module: !transform.any_op {transform.readonly}) {
  %jacobi = transform.poly.computation @k::@jacobi of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.reverse %jacobi loop "t" : !transform.any_op
  transform.yield
}

// SkewOp
// SKEW: error: 'transform.poly.skew' op expects to keep the flow dependence from @jacobi(0, 1) to @jacobi(1, 2), distance (1, 1), on argument #0 (write 0 at [t + 1, i], read 0 at [t, i - 1]), with parameters (2, 4); no factors with a sum from 1 to 6 are legal{{$}}
transform.named_sequence @skew(%module: !transform.any_op {transform.readonly}) {
  %jacobi = transform.poly.computation @k::@jacobi of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.skew %jacobi loop "t" by [-2] of ["i"] : !transform.any_op
  transform.yield
}

// RemapOp, a map that loses the time
// REMAP: error: 'transform.poly.remap' op expects to keep the flow dependence from @jacobi(0, 2) to @jacobi(1, 1), distance (1, -1), on argument #0 (write 0 at [t + 1, i], read 1 at [t, i + 1]), with parameters (2, 4); legal after skew loop "i" by [1] of ["t"]{{$}}
transform.named_sequence @remap(%module: !transform.any_op {transform.readonly}) {
  %jacobi = transform.poly.computation @k::@jacobi of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.remap %jacobi loops ["t", "i"] by affine_map<(t, i) -> (i)> into ["x"] : !transform.any_op
  transform.yield
}

// WavefrontOp, other factors are legal
// WAVEFRONT-FACTORS: error: 'transform.poly.wavefront' op expects the parallel loop "i" to carry no dependence, {{.*}}; legal with factors [2, 1]{{$}}
transform.named_sequence @wavefront_factors(%module: !transform.any_op {transform.readonly}) {
  %jacobi = transform.poly.computation @k::@jacobi of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.wavefront %jacobi loops ["t", "i"] : !transform.any_op
  transform.yield
}

// ShiftOp, another amount is legal
// SHIFT: error: {{.*}}; legal by at least 0{{$}}
transform.named_sequence @shift(%module: !transform.any_op {transform.readonly}) {
  %make = transform.poly.computation @k::@make of %module : (!transform.any_op) -> !transform.any_op
  %use = transform.poly.computation @k::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fuse %make with %use loops 1 : !transform.any_op, !transform.any_op
  transform.poly.shift %use loop "i" by -1 : !transform.any_op
  transform.yield
}

// ParallelizeOp, another loop is legal
// PARALLELIZE-OTHER: error: {{.*}}; the loops of @jacobi that may be parallel are ["i"]{{$}}
transform.named_sequence @parallelize_other(%module: !transform.any_op {transform.readonly}) {
  %jacobi = transform.poly.computation @k::@jacobi of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.parallelize %jacobi loop "t" : !transform.any_op
  transform.yield
}

// ParallelizeOp, none is
// PARALLELIZE-NONE: error: {{.*}}; no loop of @chain may be parallel{{$}}
transform.named_sequence @parallelize_none(%module: !transform.any_op {transform.readonly}) {
  %chain = transform.poly.computation @k::@chain of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.parallelize %chain loop "i" : !transform.any_op
  transform.yield
}

// VectorizeOp, another loop is legal
// VECTORIZE-OTHER: error: {{.*}}; the loops of @jacobi that may be lanes are ["i"]{{$}}
transform.named_sequence @vectorize_other(%module: !transform.any_op {transform.readonly}) {
  %jacobi = transform.poly.computation @k::@jacobi of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.vectorize %jacobi loop "t" width 4 : !transform.any_op
  transform.yield
}

// VectorizeOp, legal for a reduction
// VECTORIZE-REDUCTION: error: {{.*}}; legal if @use is marked as a 'reduction', whose updates may run in any order{{$}}
transform.named_sequence @vectorize_reduction(%module: !transform.any_op {transform.readonly}) {
  %use = transform.poly.computation @k::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.vectorize %use loop "i" width 4 : !transform.any_op
  transform.yield
}

// FuseOp, fewer loops are legal
// FUSE-FEWER: error: {{.*}}; legal with loops 1{{$}}
transform.named_sequence @fuse_fewer(%module: !transform.any_op {transform.readonly}) {
  %jacobi = transform.poly.computation @k::@jacobi of %module : (!transform.any_op) -> !transform.any_op
  %make = transform.poly.computation @k::@make of %module : (!transform.any_op) -> !transform.any_op
  %flip = transform.poly.computation @k::@flip of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.move %flip before %make : !transform.any_op, !transform.any_op
  transform.poly.move %jacobi before %flip : !transform.any_op, !transform.any_op
  transform.poly.fuse %jacobi with %flip loops 2 : !transform.any_op, !transform.any_op
  transform.yield
}

// FissionOp, the parts feed one another
// FISSION-NONE: error: 'transform.poly.fission' op expects to keep the flow dependence from @use(0, 1) to @make(1, 1), on argument #3 (write 0 at [t, 0], read 0 at [t - 1, 0]), with parameters (2, 3); no loop of @use may be distributed{{$}}
transform.named_sequence @fission_none(%module: !transform.any_op {transform.readonly}) {
  %use = transform.poly.computation @k::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fission %use loop "t" : !transform.any_op
  transform.yield
}

// FissionOp, an inner loop is legal
// FISSION-OTHER: error: {{.*}}; the loops of @use that may be distributed are ["i"]{{$}}
transform.named_sequence @fission_other(%module: !transform.any_op {transform.readonly}) {
  %make = transform.poly.computation @k::@make of %module : (!transform.any_op) -> !transform.any_op
  %use = transform.poly.computation @k::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fuse %make with %use loops 1 : !transform.any_op, !transform.any_op
  transform.poly.interchange %make loops ["t", "i"] : !transform.any_op
  transform.poly.fission %use loop "t" : !transform.any_op
  transform.yield
}

// MoveOp
// MOVE: error: 'transform.poly.move' op expects to keep the flow dependence from @make(0, 2) to @use(0, 1), on argument #2 (write 0 at [t, i], read 0 at [t, i + 1]), with parameters (1, 4); legal before one of [@jacobi, @seidel, @flip, @chain]{{$}}
transform.named_sequence @move(%module: !transform.any_op {transform.readonly}) {
  %make = transform.poly.computation @k::@make of %module : (!transform.any_op) -> !transform.any_op
  %use = transform.poly.computation @k::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.move %use before %make : !transform.any_op, !transform.any_op
  transform.yield
}
}
