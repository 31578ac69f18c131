// RUN: not espalier-opt %s -transform-interpreter=entry-point=fuse_order 2>&1 | FileCheck %s --check-prefix=FUSE-ORDER
// RUN: not espalier-opt %s -transform-interpreter=entry-point=fuse_parts 2>&1 | FileCheck %s --check-prefix=FUSE-PARTS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=fuse_number 2>&1 | FileCheck %s --check-prefix=FUSE-NUMBER
// RUN: not espalier-opt %s -transform-interpreter=entry-point=fuse_zero 2>&1 | FileCheck %s --check-prefix=FUSE-ZERO
// RUN: not espalier-opt %s -transform-interpreter=entry-point=fuse_kinds 2>&1 | FileCheck %s --check-prefix=FUSE-KINDS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=fuse_full 2>&1 | FileCheck %s --check-prefix=FUSE-FULL
// RUN: not espalier-opt %s -transform-interpreter=entry-point=fission_leaf 2>&1 | FileCheck %s --check-prefix=FISSION-LEAF
// RUN: not espalier-opt %s -transform-interpreter=entry-point=fission_mark 2>&1 | FileCheck %s --check-prefix=FISSION-MARK
// RUN: not espalier-opt %s -transform-interpreter=entry-point=fission_at 2>&1 | FileCheck %s --check-prefix=FISSION-AT
// RUN: not espalier-opt %s -transform-interpreter=entry-point=fission_sides 2>&1 | FileCheck %s --check-prefix=FISSION-SIDES
// RUN: not espalier-opt %s -transform-interpreter=entry-point=move_self 2>&1 | FileCheck %s --check-prefix=MOVE-SELF
// RUN: not espalier-opt %s -transform-interpreter=entry-point=tiles_unknown 2>&1 | FileCheck %s --check-prefix=TILES-UNKNOWN
// RUN: not espalier-opt %s -transform-interpreter=entry-point=peel_zero 2>&1 | FileCheck %s --check-prefix=PEEL-ZERO
// RUN: not espalier-opt %s -transform-interpreter=entry-point=peel_huge 2>&1 | FileCheck %s --check-prefix=PEEL-HUGE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=peel_at 2>&1 | FileCheck %s --check-prefix=PEEL-AT
// RUN: not espalier-opt %s -transform-interpreter=entry-point=peel_cases 2>&1 | FileCheck %s --check-prefix=PEEL-CASES
// RUN: not espalier-opt %s -transform-interpreter=entry-point=mark_unknown 2>&1 | FileCheck %s --check-prefix=MARK-UNKNOWN
// RUN: not espalier-opt %s -transform-interpreter=entry-point=parallelize_unknown 2>&1 | FileCheck %s --check-prefix=PARALLELIZE-UNKNOWN
// RUN: not espalier-opt %s -transform-interpreter=entry-point=serialize_unknown 2>&1 | FileCheck %s --check-prefix=SERIALIZE-UNKNOWN
// RUN: not espalier-opt %s -transform-interpreter=entry-point=vectorize_one 2>&1 | FileCheck %s --check-prefix=VECTORIZE-ONE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=vectorize_many 2>&1 | FileCheck %s --check-prefix=VECTORIZE-MANY
// RUN: not espalier-opt %s -transform-interpreter=entry-point=vectorize_sequence 2>&1 | FileCheck %s --check-prefix=VECTORIZE-SEQUENCE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=vectorize_inside 2>&1 | FileCheck %s --check-prefix=VECTORIZE-INSIDE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=vectorize_shift 2>&1 | FileCheck %s --check-prefix=VECTORIZE-SHIFT
// RUN: not espalier-opt %s -transform-interpreter=entry-point=unroll_symbolic 2>&1 | FileCheck %s --check-prefix=UNROLL-SYMBOLIC
// RUN: not espalier-opt %s -transform-interpreter=entry-point=unroll_zero 2>&1 | FileCheck %s --check-prefix=UNROLL-ZERO
// RUN: not espalier-opt %s -transform-interpreter=entry-point=unroll_many 2>&1 | FileCheck %s --check-prefix=UNROLL-MANY
// RUN: not espalier-opt %s -transform-interpreter=entry-point=jam_sequence 2>&1 | FileCheck %s --check-prefix=JAM-SEQUENCE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=prefetch_read 2>&1 | FileCheck %s --check-prefix=PREFETCH-READ
// RUN: not espalier-opt %s -transform-interpreter=entry-point=prefetch_distance 2>&1 | FileCheck %s --check-prefix=PREFETCH-DISTANCE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=prefetch_deep 2>&1 | FileCheck %s --check-prefix=PREFETCH-DEEP
// RUN: not espalier-opt %s -transform-interpreter=entry-point=prefetch_written 2>&1 | FileCheck %s --check-prefix=PREFETCH-WRITTEN
// RUN: not espalier-opt %s -transform-interpreter=entry-point=prefetch_lanes 2>&1 | FileCheck %s --check-prefix=PREFETCH-LANES
// RUN: not espalier-opt %s -transform-interpreter=entry-point=prefetch_skewed 2>&1 | FileCheck %s --check-prefix=PREFETCH-SKEWED
// RUN: not espalier-opt %s -transform-interpreter=entry-point=prefetch_bytes 2>&1 | FileCheck %s --check-prefix=PREFETCH-BYTES
// RUN: not espalier-opt %s -transform-interpreter=entry-point=mark_prefetch 2>&1 | FileCheck %s --check-prefix=MARK-PREFETCH
// RUN: not espalier-opt %s -transform-interpreter=entry-point=vectorize_prefetch 2>&1 | FileCheck %s --check-prefix=VECTORIZE-PREFETCH

// What is wrong with a command itself. Each case is an entry point.

#points = affine_set<(t, i)[T, N] : (t >= 0, T - 1 - t >= 0, i - 1 >= 0, N - 2 - i >= 0)>
#small = affine_set<(i, j)[T, N] : (i >= 0, 9 - i >= 0, j >= 0, 63 - j >= 0)>
#west = affine_map<(t, i)[T, N] -> (t, i - 1)>
#same = affine_map<(t, i)[T, N] -> (t, i)>
#next = affine_map<(t, i)[T, N] -> (t + 1, i)>
#none = affine_set<(i)[T, N] : (i - 3 >= 0, 2 - i >= 0)>
#endless = affine_set<(i)[T, N] : (i >= 0)>
#i = affine_map<(i)[T, N] -> (0, i)>
#ten = affine_set<(i)[T, N] : (i >= 0, 9 - i >= 0)>
#place = affine_map<(i)[T, N] -> (i)>
#there = affine_map<(i)[T, N, place] -> (1, place)>

module attributes {transform.with_named_sequence} {
poly.kernel @k(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<10x64xf32>, %I: memref<10xindex>, %J: memref<10xindex>, %T: index, %N: index) {
  poly.compute @a dims ["t", "i"] domain [#points] reads(%A[#west] : memref<?x?xf32>) writes(%A[#next] : memref<?x?xf32>) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.compute @b dims ["i", "j"] domain [#small] reads() writes(%C[#same] : memref<10x64xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @c dims ["i", "j"] domain [#small] reads() writes(%C[#same] : memref<10x64xf32>) interleaved 1 {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @far dims ["i"] domain [#ten] reads(%I[#place], %B[#there] : memref<10xindex>, memref<?x?xf32>) writes(%B[#i] : memref<?x?xf32>) {
  ^bb0(%x: index, %b: f32):
    poly.yield %b : f32
  }
  poly.compute @farther dims ["i"] domain [#ten] reads(%J[#place], %I[affine_map<(i)[T, N, s] -> (s)>], %J[#place], %B[affine_map<(i)[T, N, s, t, u] -> (t, i)>], %B[affine_map<(i)[T, N, s, t, u, v] -> (u, i)>] : memref<10xindex>, memref<10xindex>, memref<10xindex>, memref<?x?xf32>, memref<?x?xf32>) writes(%J[#place] : memref<10xindex>) {
  ^bb0(%x: index, %y: index, %z: index, %b: f32, %c: f32):
    poly.yield %x : index
  }
  poly.compute @none dims ["i"] domain [#none] reads() writes(%B[#i] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @endless dims ["i"] domain [#endless] reads() writes(%B[#i] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// FuseOp, order
// FUSE-ORDER: error: 'transform.poly.fuse' op expects @b before @a in a sequence
transform.named_sequence @fuse_order(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  %b = transform.poly.computation @k::@b of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fuse %b with %a loops 1 : !transform.any_op, !transform.any_op
  transform.yield
}

// FuseOp, parts
// FUSE-PARTS: error: 'transform.poly.fuse' op expects @a and @a in different parts of a sequence
transform.named_sequence @fuse_parts(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fuse %a with %a loops 1 : !transform.any_op, !transform.any_op
  transform.yield
}

// FuseOp, number of loops
// FUSE-NUMBER: error: 'transform.poly.fuse' op expects between 1 and 1 loops, those of the nest of @b, but got 2
transform.named_sequence @fuse_number(%module: !transform.any_op {transform.readonly}) {
  %b = transform.poly.computation @k::@b of %module : (!transform.any_op) -> !transform.any_op
  %c = transform.poly.computation @k::@c of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fuse %b with %c loops 2 : !transform.any_op, !transform.any_op
  transform.yield
}

// FuseOp, number of loops
// FUSE-ZERO: error: 'transform.poly.fuse' op expects between 1 and 2 loops, those of the nest of @a, but got 0
transform.named_sequence @fuse_zero(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  %b = transform.poly.computation @k::@b of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fuse %a with %b loops 0 : !transform.any_op, !transform.any_op
  transform.yield
}

// FuseOp, loops
// FUSE-KINDS: error: 'transform.poly.fuse' op expects loops that run alike, but "i" of @b and "i" of @c do not
transform.named_sequence @fuse_kinds(%module: !transform.any_op {transform.readonly}) {
  %b = transform.poly.computation @k::@b of %module : (!transform.any_op) -> !transform.any_op
  %c = transform.poly.computation @k::@c of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fission %b loop "i" : !transform.any_op
  transform.poly.parallelize %b loop "i" : !transform.any_op
  transform.poly.fuse %b with %c loops 1 : !transform.any_op, !transform.any_op
  transform.yield
}

// FuseOp, full tiles
// FUSE-FULL: error: 'transform.poly.fuse' op expects @b to be fused before its full tiles are separated
transform.named_sequence @fuse_full(%module: !transform.any_op {transform.readonly}) {
  %b = transform.poly.computation @k::@b of %module : (!transform.any_op) -> !transform.any_op
  %c = transform.poly.computation @k::@c of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.separate_full_tiles %b loops ["j"] : !transform.any_op
  transform.poly.fuse %b with %c loops 1 : !transform.any_op, !transform.any_op
  transform.yield
}

// FissionOp, sequence
// FISSION-LEAF: error: 'transform.poly.fission' op expects a sequence below the nest of "t", but got no node
transform.named_sequence @fission_leaf(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fission %a loop "t" : !transform.any_op
  transform.yield
}

// FissionOp, sequence
// FISSION-MARK: error: 'transform.poly.fission' op expects a sequence below the nest of "t", but got the mark "m"
transform.named_sequence @fission_mark(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  %b = transform.poly.computation @k::@b of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.mark %b loop "j" as "m" : !transform.any_op
  transform.poly.mark %a loop "i" as "m" : !transform.any_op
  transform.poly.fission %a loop "t" : !transform.any_op
  transform.yield
}
// FissionOp, at
// FISSION-AT: error: 'transform.poly.fission' op expects between 1 and 1 parts before the cut, out of 2 below the nest of "i", but got 2
transform.named_sequence @fission_at(%module: !transform.any_op {transform.readonly}) {
  %b = transform.poly.computation @k::@b of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fission %b loop "i" at 2 : !transform.any_op
  transform.yield
}

// FissionOp, sides
// FISSION-SIDES: error: 'transform.poly.fission' op expects each computation on one side of the cut, but got parts of @a on both
transform.named_sequence @fission_sides(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.peel %a loop "i" first 1 : !transform.any_op
  transform.poly.fission %a loop "t" at 1 : !transform.any_op
  transform.yield
}

// MoveOp, parts
// MOVE-SELF: error: 'transform.poly.move' op expects @b and @b in different parts of a sequence
transform.named_sequence @move_self(%module: !transform.any_op {transform.readonly}) {
  %b = transform.poly.computation @k::@b of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.move %b before %b : !transform.any_op, !transform.any_op
  transform.yield
}

// SeparateFullTilesOp, loops
// TILES-UNKNOWN: error: 'transform.poly.separate_full_tiles' op expects a loop of @a, one of ["t", "i"], but got "x"
transform.named_sequence @tiles_unknown(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.separate_full_tiles %a loops ["x"] : !transform.any_op
  transform.yield
}

// PeelOp, number
// PEEL-ZERO: error: 'transform.poly.peel' op expects at least one iteration, but got 0
transform.named_sequence @peel_zero(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.peel %a loop "t" first 0 : !transform.any_op
  transform.yield
}

// PeelOp, number
// PEEL-HUGE: error: 'transform.poly.peel' op expects a number of iterations of at most 2^30, but got 4611686018427387904
transform.named_sequence @peel_huge(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.peel %a loop "t" last 4611686018427387904 : !transform.any_op
  transform.yield
}

// PeelOp, at
// PEEL-AT: error: 'transform.poly.peel' op expects an affine expression of 0 loops and 2 parameters, with numbers of at most 2^30, but got s2
transform.named_sequence @peel_at(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.peel %a loop "t" at affine_map<()[T, N, M] -> (M)> : !transform.any_op
  transform.yield
}

// PeelOp, bounds
// PEEL-CASES: error: 'transform.poly.peel' op expects a loop whose first iteration is one expression of the loops around it, but "t" has cases
transform.named_sequence @peel_cases(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.skew %a loop "i" by [1] of ["t"] : !transform.any_op
  transform.poly.interchange %a loops ["i", "t"] : !transform.any_op
  transform.poly.peel %a loop "t" first 1 : !transform.any_op
  transform.yield
}

// MarkCommandOp, loop
// MARK-UNKNOWN: error: 'transform.poly.mark' op expects a loop of @a, one of ["t", "i"], but got "x"
transform.named_sequence @mark_unknown(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.mark %a loop "x" as "m" : !transform.any_op
  transform.yield
}

// ParallelizeOp, loop
// PARALLELIZE-UNKNOWN: error: 'transform.poly.parallelize' op expects a loop of @a, one of ["t", "i"], but got "x"
transform.named_sequence @parallelize_unknown(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.parallelize %a loop "x" : !transform.any_op
  transform.yield
}

// SerializeOp, loop
// SERIALIZE-UNKNOWN: error: 'transform.poly.serialize' op expects a loop of @a, one of ["t", "i"], but got "x"
transform.named_sequence @serialize_unknown(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.serialize %a loop "x" : !transform.any_op
  transform.yield
}

// VectorizeOp, width
// VECTORIZE-ONE: error: 'transform.poly.vectorize' op expects between 2 and 1024 lanes, but got 1
transform.named_sequence @vectorize_one(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.vectorize %a loop "i" width 1 : !transform.any_op
  transform.yield
}

// VectorizeOp, width
// VECTORIZE-MANY: error: 'transform.poly.vectorize' op expects between 2 and 1024 lanes, but got 2048
transform.named_sequence @vectorize_many(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.vectorize %a loop "i" width 2048 : !transform.any_op
  transform.yield
}

// VectorizeOp, nest
// VECTORIZE-SEQUENCE: error: 'transform.poly.vectorize' op expects "i" in a nest without loops below a sequence; fission first
transform.named_sequence @vectorize_sequence(%module: !transform.any_op {transform.readonly}) {
  %b = transform.poly.computation @k::@b of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.vectorize %b loop "i" width 4 : !transform.any_op
  transform.yield
}

// InterchangeOp, lanes
// VECTORIZE-INSIDE: error: 'transform.poly.interchange' op expects no loops inside the lanes "i.1"
transform.named_sequence @vectorize_inside(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.vectorize %a loop "i" width 4 : !transform.any_op
  transform.poly.interchange %a loops ["i.1", "t"] : !transform.any_op
  transform.yield
}

// ShiftOp, lanes that are shared
// VECTORIZE-SHIFT: error: 'transform.poly.shift' op expects at most 4 iterations of the loop #poly.loop<vector(4)> of [@b, @c], but it has 5
transform.named_sequence @vectorize_shift(%module: !transform.any_op {transform.readonly}) {
  %b = transform.poly.computation @k::@b of %module : (!transform.any_op) -> !transform.any_op
  %c = transform.poly.computation @k::@c of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fuse %b with %c loops 1 : !transform.any_op, !transform.any_op
  transform.poly.vectorize %b loop "j" width 4 : !transform.any_op
  transform.poly.shift %b loop "j.1" by 1 : !transform.any_op
  transform.yield
}

// UnrollOp, factor
// UNROLL-SYMBOLIC: error: 'transform.poly.unroll' op expects a factor, because no constant bounds "i"
transform.named_sequence @unroll_symbolic(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.unroll %a loop "i" : !transform.any_op
  transform.yield
}

// UnrollOp, factor
// UNROLL-ZERO: error: 'transform.poly.unroll' op expects between 1 and 1024 copies, but got 0
transform.named_sequence @unroll_zero(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.unroll %a loop "i" factor 0 : !transform.any_op
  transform.yield
}

// UnrollOp, factor
// UNROLL-MANY: error: 'transform.poly.unroll' op expects between 1 and 1024 copies, but got 4096
transform.named_sequence @unroll_many(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.unroll %a loop "i" factor 4096 : !transform.any_op
  transform.yield
}

// UnrollAndJamOp, nest
// JAM-SEQUENCE: error: 'transform.poly.unroll_and_jam' op expects "i" in a nest without loops below a sequence; fission first
transform.named_sequence @jam_sequence(%module: !transform.any_op {transform.readonly}) {
  %b = transform.poly.computation @k::@b of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.unroll_and_jam %b loop "i" factor 2 : !transform.any_op
  transform.yield
}

// PrefetchOp, read
// PREFETCH-READ: error: 'transform.poly.prefetch' op expects one of the 1 reads of @a, but got #1
transform.named_sequence @prefetch_read(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.prefetch %a read 1 loop "i" distance 4 : !transform.any_op
  transform.yield
}

// PrefetchOp, distance
// PREFETCH-DISTANCE: error: 'transform.poly.prefetch' op expects a distance between 1 and 2^30, but got 0
transform.named_sequence @prefetch_distance(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.prefetch %a read 0 loop "i" distance 0 : !transform.any_op
  transform.yield
}

// PrefetchOp, index of an index
// PREFETCH-DEEP: error: 'transform.poly.prefetch' op expects an index that is known before, but read #0 of @farther, on which the place of #1 depends, is of argument #4, which the kernel writes
transform.named_sequence @prefetch_deep(%module: !transform.any_op {transform.readonly}) {
  %far = transform.poly.computation @k::@farther of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.prefetch %far read 3 loop "i" distance 4 : !transform.any_op
  transform.yield
}

// PrefetchOp, index
// PREFETCH-WRITTEN: error: 'transform.poly.prefetch' op expects an index that is known before, but read #2 of @farther, on which the place of #4 depends, is of argument #4, which the kernel writes
transform.named_sequence @prefetch_written(%module: !transform.any_op {transform.readonly}) {
  %far = transform.poly.computation @k::@farther of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.prefetch %far read 4 loop "i" distance 4 : !transform.any_op
  transform.yield
}

// PrefetchOp, loop
// PREFETCH-LANES: error: 'transform.poly.prefetch' op expects a loop over one dimension that is no vector, but "i.1" is not
transform.named_sequence @prefetch_lanes(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.vectorize %a loop "i" width 4 : !transform.any_op
  transform.poly.prefetch %a read 0 loop "i.1" distance 4 : !transform.any_op
  transform.yield
}

// PrefetchOp, loop
// PREFETCH-SKEWED: error: 'transform.poly.prefetch' op expects a loop over one dimension that is no vector, but "i" is not
transform.named_sequence @prefetch_skewed(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.skew %a loop "i" by [1] of ["t"] : !transform.any_op
  transform.poly.prefetch %a read 0 loop "i" distance 4 : !transform.any_op
  transform.yield
}

// PrefetchOp, bytes
// PREFETCH-BYTES: error: 'transform.poly.prefetch' op expects between 1 and 4096 bytes, but got 8192
transform.named_sequence @prefetch_bytes(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.prefetch %a read 0 loop "i" distance 4 bytes 8192 : !transform.any_op
  transform.yield
}

// MarkCommandOp, name
// MARK-PREFETCH: error: 'transform.poly.mark' op expects another name than "prefetch", which the command of this name uses
transform.named_sequence @mark_prefetch(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.mark %a loop "i" as "prefetch" : !transform.any_op
  transform.yield
}

// VectorizeOp, a prefetch inside
// VECTORIZE-PREFETCH: error: 'transform.poly.vectorize' op expects no prefetch inside the lanes "i.1"
transform.named_sequence @vectorize_prefetch(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.prefetch %a read 0 loop "i" distance 4 : !transform.any_op
  transform.poly.vectorize %a loop "i" width 4 : !transform.any_op
  transform.yield
}
}
