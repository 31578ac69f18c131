// RUN: not espalier-opt %s -transform-interpreter=entry-point=tile_unknown 2>&1 | FileCheck %s --check-prefix=TILE-UNKNOWN
// RUN: not espalier-opt %s -transform-interpreter=entry-point=tile_twice 2>&1 | FileCheck %s --check-prefix=TILE-TWICE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=tile_nothing 2>&1 | FileCheck %s --check-prefix=TILE-NOTHING
// RUN: not espalier-opt %s -transform-interpreter=entry-point=tile_no_level 2>&1 | FileCheck %s --check-prefix=TILE-NO-LEVEL
// RUN: not espalier-opt %s -transform-interpreter=entry-point=tile_sizes 2>&1 | FileCheck %s --check-prefix=TILE-SIZES
// RUN: not espalier-opt %s -transform-interpreter=entry-point=tile_zero 2>&1 | FileCheck %s --check-prefix=TILE-ZERO
// RUN: not espalier-opt %s -transform-interpreter=entry-point=tile_multiple 2>&1 | FileCheck %s --check-prefix=TILE-MULTIPLE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=tile_extent 2>&1 | FileCheck %s --check-prefix=TILE-EXTENT
// RUN: not espalier-opt %s -transform-interpreter=entry-point=tile_huge 2>&1 | FileCheck %s --check-prefix=TILE-HUGE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=tile_sequence 2>&1 | FileCheck %s --check-prefix=TILE-SEQUENCE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=tile_mark 2>&1 | FileCheck %s --check-prefix=TILE-MARK
// RUN: not espalier-opt %s -transform-interpreter=entry-point=interchange_full 2>&1 | FileCheck %s --check-prefix=INTERCHANGE-FULL
// RUN: not espalier-opt %s -transform-interpreter=entry-point=interchange_parts 2>&1 | FileCheck %s --check-prefix=INTERCHANGE-PARTS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=skew_number 2>&1 | FileCheck %s --check-prefix=SKEW-NUMBER
// RUN: not espalier-opt %s -transform-interpreter=entry-point=skew_self 2>&1 | FileCheck %s --check-prefix=SKEW-SELF
// RUN: not espalier-opt %s -transform-interpreter=entry-point=skew_unknown 2>&1 | FileCheck %s --check-prefix=SKEW-UNKNOWN
// RUN: not espalier-opt %s -transform-interpreter=entry-point=skew_huge 2>&1 | FileCheck %s --check-prefix=SKEW-HUGE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=skew_shared 2>&1 | FileCheck %s --check-prefix=SKEW-SHARED
// RUN: not espalier-opt %s -transform-interpreter=entry-point=numbers 2>&1 | FileCheck %s --check-prefix=NUMBERS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=shift_symbols 2>&1 | FileCheck %s --check-prefix=SHIFT-SYMBOLS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=reverse_unknown 2>&1 | FileCheck %s --check-prefix=REVERSE-UNKNOWN
// RUN: not espalier-opt %s -transform-interpreter=entry-point=remap_dims 2>&1 | FileCheck %s --check-prefix=REMAP-DIMS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=remap_affine 2>&1 | FileCheck %s --check-prefix=REMAP-AFFINE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=remap_names 2>&1 | FileCheck %s --check-prefix=REMAP-NAMES
// RUN: not espalier-opt %s -transform-interpreter=entry-point=remap_clash 2>&1 | FileCheck %s --check-prefix=REMAP-CLASH
// RUN: not espalier-opt %s -transform-interpreter=entry-point=wavefront_one 2>&1 | FileCheck %s --check-prefix=WAVEFRONT-ONE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=wavefront_number 2>&1 | FileCheck %s --check-prefix=WAVEFRONT-NUMBER
// RUN: not espalier-opt %s -transform-interpreter=entry-point=wavefront_zero 2>&1 | FileCheck %s --check-prefix=WAVEFRONT-ZERO
// RUN: not espalier-opt %s -transform-interpreter=entry-point=empty_domain 2>&1 | FileCheck %s --check-prefix=EMPTY-DOMAIN
// RUN: not espalier-opt %s -transform-interpreter=entry-point=endless_domain 2>&1 | FileCheck %s --check-prefix=ENDLESS-DOMAIN

// What is wrong with a command itself. Each case is an entry point.

#points = affine_set<(t, i)[T, N] : (t >= 0, T - 1 - t >= 0, i - 1 >= 0, N - 2 - i >= 0)>
#small = affine_set<(i, j)[T, N] : (i >= 0, 9 - i >= 0, j >= 0, 63 - j >= 0)>
#west = affine_map<(t, i)[T, N] -> (t, i - 1)>
#same = affine_map<(t, i)[T, N] -> (t, i)>
#next = affine_map<(t, i)[T, N] -> (t + 1, i)>
#none = affine_set<(i)[T, N] : (i - 3 >= 0, 2 - i >= 0)>
#endless = affine_set<(i)[T, N] : (i >= 0)>
#i = affine_map<(i)[T, N] -> (0, i)>

module attributes {transform.with_named_sequence} {
poly.kernel @k(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<10x64xf32>, %T: index, %N: index) {
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
  poly.compute @none dims ["i"] domain [#none] reads() writes(%B[#i] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @endless dims ["i"] domain [#endless] reads() writes(%B[#i] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// TileOp, unknown loop
// TILE-UNKNOWN: error: 'transform.poly.tile' op expects a loop of @a, one of ["t", "i"], but got "x"
transform.named_sequence @tile_unknown(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tile %a loops ["t", "x"] sizes [[4, 4]] : !transform.any_op
  transform.yield
}

// TileOp, a loop twice
// TILE-TWICE: error: 'transform.poly.tile' op expects different loops, but got "t" twice
transform.named_sequence @tile_twice(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tile %a loops ["t", "t"] sizes [[4, 4]] : !transform.any_op
  transform.yield
}

// TileOp, no loop
// TILE-NOTHING: error: 'transform.poly.tile' op expects at least one loop
transform.named_sequence @tile_nothing(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tile %a loops [] sizes [[]] : !transform.any_op
  transform.yield
}

// TileOp, no level
// TILE-NO-LEVEL: error: 'transform.poly.tile' op expects at least one level of tiles
transform.named_sequence @tile_no_level(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tile %a loops ["t"] sizes [] : !transform.any_op
  transform.yield
}

// TileOp, number of sizes
// TILE-SIZES: error: 'transform.poly.tile' op expects 2 sizes, one for each loop, but got 1
transform.named_sequence @tile_sizes(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tile %a loops ["t", "i"] sizes [[4]] : !transform.any_op
  transform.yield
}

// TileOp, sizes
// TILE-ZERO: error: 'transform.poly.tile' op expects positive sizes, but got 0
transform.named_sequence @tile_zero(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tile %a loops ["t"] sizes [[0]] : !transform.any_op
  transform.yield
}

// TileOp, sizes of levels
// TILE-MULTIPLE: error: 'transform.poly.tile' op expects the size of a tile to be a multiple of that of the tiles in it, but got 6 over 4
transform.named_sequence @tile_multiple(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tile %a loops ["t"] sizes [[6], [4]] : !transform.any_op
  transform.yield
}

// TileOp, extent
// TILE-EXTENT: error: 'transform.poly.tile' op expects sizes of at most 10, the extent of "i", but got 12
transform.named_sequence @tile_extent(%module: !transform.any_op {transform.readonly}) {
  %b = transform.poly.computation @k::@b of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tile %b loops ["i"] sizes [[12]] : !transform.any_op
  transform.yield
}

// TileOp, overflow
// TILE-HUGE: error: 'transform.poly.tile' op expects sizes of at most 2^30, but got 4611686018427387904
transform.named_sequence @tile_huge(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tile %a loops ["t"] sizes [[4611686018427387904]] : !transform.any_op
  transform.yield
}

// TileOp, not a nest
// TILE-SEQUENCE: error: 'transform.poly.tile' op expects ["i", "j"] in one nest, but a sequence is between; fission first
transform.named_sequence @tile_sequence(%module: !transform.any_op {transform.readonly}) {
  %b = transform.poly.computation @k::@b of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tile %b loops ["i", "j"] sizes [[2, 2]] : !transform.any_op
  transform.yield
}

// TileOp, not a nest
// TILE-MARK: error: 'transform.poly.tile' op expects ["t", "i"] in one nest, but the mark "row" is between
transform.named_sequence @tile_mark(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.mark %a loop "i" as "row" : !transform.any_op
  transform.poly.tile %a loops ["t", "i"] sizes [[2, 2]] : !transform.any_op
  transform.yield
}

// InterchangeOp, not a nest
// INTERCHANGE-FULL: error: 'transform.poly.interchange' op expects ["i", "t"] in one nest, but a band with full tiles is between
transform.named_sequence @interchange_full(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.separate_full_tiles %a loops ["t"] : !transform.any_op
  transform.poly.interchange %a loops ["i", "t"] : !transform.any_op
  transform.yield
}

// InterchangeOp, not a nest
// INTERCHANGE-PARTS: error: 'transform.poly.interchange' op expects ["i", "t.peel"] in one nest, but they are in different branches
transform.named_sequence @interchange_parts(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.peel %a loop "t" first 1 : !transform.any_op
  transform.poly.interchange %a loops ["i", "t.peel"] : !transform.any_op
  transform.yield
}

// SkewOp, factors
// SKEW-NUMBER: error: 'transform.poly.skew' op expects one factor for each of at least one loop, but got 2 for 1
transform.named_sequence @skew_number(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.skew %a loop "i" by [1, 2] of ["t"] : !transform.any_op
  transform.yield
}

// SkewOp, loops
// SKEW-SELF: error: 'transform.poly.skew' op expects other loops to skew "i" by
transform.named_sequence @skew_self(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.skew %a loop "i" by [1] of ["i"] : !transform.any_op
  transform.yield
}

// SkewOp, loops
// SKEW-UNKNOWN: error: 'transform.poly.skew' op expects a loop of @a, one of ["t", "i"], but got "x"
transform.named_sequence @skew_unknown(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.skew %a loop "i" by [1] of ["x"] : !transform.any_op
  transform.yield
}

// SkewOp, overflow
// SKEW-HUGE: error: 'transform.poly.skew' op expects factors of at most 2^30, but got 4611686018427387904
transform.named_sequence @skew_huge(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.skew %a loop "i" by [4611686018427387904] of ["t"] : !transform.any_op
  transform.yield
}

// SkewOp, loops of some computations
// SKEW-SHARED: error: 'transform.poly.skew' op expects a loop that all computations of "i" share, but @c does not run "j"
transform.named_sequence @skew_shared(%module: !transform.any_op {transform.readonly}) {
  %b = transform.poly.computation @k::@b of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.skew %b loop "i" by [1] of ["j"] : !transform.any_op
  transform.yield
}

// SkewOp, overflow in the end
// NUMBERS: error: 'transform.poly.skew' op expects numbers of at most 2^30 in the loops, but "i" has 1073741825
transform.named_sequence @numbers(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.skew %a loop "i" by [1073741824] of ["t"] : !transform.any_op
  transform.poly.skew %a loop "i" by [1] of ["t"] : !transform.any_op
  transform.yield
}

// ShiftOp, amount
// SHIFT-SYMBOLS: error: 'transform.poly.shift' op expects an affine expression of 0 loops and 2 parameters, with numbers of at most 2^30, but got s2
transform.named_sequence @shift_symbols(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.shift %a loop "i" by affine_map<()[T, N, M] -> (M)> : !transform.any_op
  transform.yield
}

// ReverseOp, loop
// REVERSE-UNKNOWN: error: 'transform.poly.reverse' op expects a loop of @a, one of ["t", "i"], but got "x"
transform.named_sequence @reverse_unknown(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.reverse %a loop "x" : !transform.any_op
  transform.yield
}

// RemapOp, map
// REMAP-DIMS: error: 'transform.poly.remap' op expects a map from 2 loops, but got one from 1
transform.named_sequence @remap_dims(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.remap %a loops ["t", "i"] by affine_map<(t) -> (t)> : !transform.any_op
  transform.yield
}

// RemapOp, map
// REMAP-AFFINE: error: 'transform.poly.remap' op expects an affine expression of 1 loops and 2 parameters, with numbers of at most 2^30, but got d0 mod s1
transform.named_sequence @remap_affine(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.remap %a loops ["i"] by affine_map<(i)[T, N] -> (i mod N)> : !transform.any_op
  transform.yield
}

// RemapOp, names
// REMAP-NAMES: error: 'transform.poly.remap' op expects a name for each of at least one result, but got 1 for 2
transform.named_sequence @remap_names(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.remap %a loops ["t", "i"] by affine_map<(t, i) -> (t, t + i)> into ["x"] : !transform.any_op
  transform.yield
}

// RemapOp, names
// REMAP-CLASH: error: 'transform.poly.remap' op would make a kernel that is not valid: 'poly.band' op expects the loops of @a to have different names, but two are "t"
transform.named_sequence @remap_clash(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.remap %a loops ["i"] by affine_map<(i) -> (i)> into ["t"] : !transform.any_op
  transform.yield
}

// WavefrontOp, loops
// WAVEFRONT-ONE: error: 'transform.poly.wavefront' op expects at least two loops
transform.named_sequence @wavefront_one(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.wavefront %a loops ["t"] : !transform.any_op
  transform.yield
}

// WavefrontOp, factors
// WAVEFRONT-NUMBER: error: 'transform.poly.wavefront' op expects 2 factors, one for each loop, but got 1
transform.named_sequence @wavefront_number(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.wavefront %a loops ["t", "i"] factors [1] : !transform.any_op
  transform.yield
}

// WavefrontOp, factors
// WAVEFRONT-ZERO: error: 'transform.poly.wavefront' op expects factors between 1 and 2^30, but got 0
transform.named_sequence @wavefront_zero(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.wavefront %a loops ["t", "i"] factors [0, 1] : !transform.any_op
  transform.yield
}

// SplitOp, domain
// EMPTY-DOMAIN: error: 'transform.poly.split' op expects @none to have points, but its domain is empty
transform.named_sequence @empty_domain(%module: !transform.any_op {transform.readonly}) {
  %none = transform.poly.computation @k::@none of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.split %none loop "i" factors [1] : !transform.any_op
  transform.yield
}

// SplitOp, domain
// ENDLESS-DOMAIN: error: 'transform.poly.split' op expects @endless to have a bounded domain, but nothing bounds "i"
transform.named_sequence @endless_domain(%module: !transform.any_op {transform.readonly}) {
  %endless = transform.poly.computation @k::@endless of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.split %endless loop "i" factors [4] : !transform.any_op
  transform.yield
}
}
