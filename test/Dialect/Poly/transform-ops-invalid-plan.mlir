// RUN: not espalier-opt %s -transform-interpreter=entry-point=unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not espalier-opt %s -transform-interpreter=entry-point=twice 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=dimension 2>&1 | FileCheck %s --check-prefix=DIMENSION
// RUN: not espalier-opt %s -transform-interpreter=entry-point=shared 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: not espalier-opt %s -transform-interpreter=entry-point=sizes 2>&1 | FileCheck %s --check-prefix=SIZES
// RUN: not espalier-opt %s -transform-interpreter=entry-point=zero 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not espalier-opt %s -transform-interpreter=entry-point=large 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=vectors 2>&1 | FileCheck %s --check-prefix=VECTORS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=lanes 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: not espalier-opt %s -transform-interpreter=entry-point=loops 2>&1 | FileCheck %s --check-prefix=LOOPS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=parallel 2>&1 | FileCheck %s --check-prefix=PARALLEL
// RUN: not espalier-opt %s -transform-interpreter=entry-point=rest 2>&1 | FileCheck %s --check-prefix=REST
// RUN: not espalier-opt %s -transform-interpreter=entry-point=block 2>&1 | FileCheck %s --check-prefix=BLOCK
// RUN: not espalier-opt %s -transform-interpreter=entry-point=terms 2>&1 | FileCheck %s --check-prefix=TERMS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=entries 2>&1 | FileCheck %s --check-prefix=ENTRIES
// RUN: not espalier-opt %s -transform-interpreter=entry-point=order 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not espalier-opt %s -transform-interpreter=entry-point=both 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not espalier-opt %s -transform-interpreter=entry-point=side 2>&1 | FileCheck %s --check-prefix=SIDE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=unrolled 2>&1 | FileCheck %s --check-prefix=UNROLLED
// RUN: not espalier-opt %s -transform-interpreter=entry-point=keep 2>&1 | FileCheck %s --check-prefix=KEEP
// RUN: not espalier-opt %s -transform-interpreter=entry-point=fetch 2>&1 | FileCheck %s --check-prefix=FETCH
// RUN: not espalier-opt %s -transform-interpreter=entry-point=fetch_rows 2>&1 | FileCheck %s --check-prefix=FETCH-ROWS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=fetch_results 2>&1 | FileCheck %s --check-prefix=FETCH-RESULTS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=part 2>&1 | FileCheck %s --check-prefix=PART
// RUN: not espalier-opt %s -transform-interpreter=entry-point=dependence 2>&1 | FileCheck %s --check-prefix=DEPENDENCE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=kept 2>&1 | FileCheck %s --check-prefix=KEPT
// RUN: not espalier-opt %s -transform-interpreter=entry-point=ahead 2>&1 | FileCheck %s --check-prefix=AHEAD
// RUN: not espalier-opt %s -transform-interpreter=entry-point=sums 2>&1 | FileCheck %s --check-prefix=SUMS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=window 2>&1 | FileCheck %s --check-prefix=WINDOW
// RUN: not espalier-opt %s -transform-interpreter=entry-point=least 2>&1 | FileCheck %s --check-prefix=LEAST
// RUN: not espalier-opt %s -transform-interpreter=entry-point=around 2>&1 | FileCheck %s --check-prefix=AROUND
// RUN: not espalier-opt %s -transform-interpreter=entry-point=inside 2>&1 | FileCheck %s --check-prefix=INSIDE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=written_out 2>&1 | FileCheck %s --check-prefix=WRITTEN-OUT

#ij = affine_set<(i, j) : (i >= 0, 30 - i >= 0, j >= 0, 63 - j >= 0)>
#ijk = affine_set<(i, j, k) : (i >= 0, 30 - i >= 0, j >= 0, 63 - j >= 0, k >= 0, 255 - k >= 0)>
#c = affine_map<(i, j) -> (i, j)>
#C = affine_map<(i, j, k) -> (i, j)>
#sym = affine_set<(i, j)[N] : (i >= 0, 30 - i >= 0, j >= 0, N - 1 - j >= 0)>
#wide = affine_set<(i, j)[N] : (i >= 0, 30 - i >= 0, j >= 0, 4095 - j >= 0)>
#C2 = affine_map<(i, j)[N] -> (i, j)>
module attributes {transform.with_named_sequence} {
poly.kernel @k(%A: memref<31x256xf32>, %B: memref<256x64xf32>, %R: memref<31x64xf32>) {
  %t = poly.array : memref<31x64xf32>
  poly.compute @init dims ["i", "j"] domain [#ij] reads() writes(%t[#c] : memref<31x64xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @acc dims ["i", "j", "k"] domain [#ijk]
      reads(%A[affine_map<(i, j, k) -> (i, k)>], %B[affine_map<(i, j, k) -> (k, j)>], %t[#C]
            : memref<31x256xf32>, memref<256x64xf32>, memref<31x64xf32>)
      writes(%t[#C] : memref<31x64xf32>) reduction add {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %r = arith.addf %s, %p : f32
    poly.yield %r : f32
  }
  poly.compute @store dims ["i", "j"] domain [#ij] reads(%t[#c] : memref<31x64xf32>) writes(%R[#c] : memref<31x64xf32>) {
  ^bb0(%s: f32):
    poly.yield %s : f32
  }
}
poly.kernel @symbolic(%R: memref<31x?xf32>, %S: memref<31x4096xf32>, %N: index) {
  poly.compute @init dims ["i", "j"] domain [#sym] reads() writes(%R[#C2] : memref<31x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @other dims ["i", "j"] domain [#wide] reads() writes(%S[#C2] : memref<31x4096xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// PlanOp, unknown
// UNKNOWN: error: 'transform.poly.plan' op expects computations of the kernel, out of [@init, @acc, @store], but got @stop
transform.named_sequence @unknown(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @k::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init with ["acc", "stop"] shared 2 loops ["i", "j"] : !transform.any_op
  transform.yield
}

// PlanOp, twice
// TWICE: error: 'transform.poly.plan' op expects each computation once, but got @acc twice
transform.named_sequence @twice(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @k::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init with ["acc", "acc"] shared 2 loops ["i", "j"] : !transform.any_op
  transform.yield
}

// PlanOp, dimension
// DIMENSION: error: 'transform.poly.plan' op expects dimensions of @init, out of ["i", "j"], but got "k"
transform.named_sequence @dimension(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @k::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init with ["acc", "store"] shared 2 loops ["i", "k"] : !transform.any_op
  transform.yield
}

// PlanOp, shared
// SHARED: error: 'transform.poly.plan' op expects at most 2 shared dimensions, but got 3
transform.named_sequence @shared(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @k::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init with ["acc", "store"] shared 3 : !transform.any_op
  transform.yield
}

// PlanOp, sizes
// SIZES: error: 'transform.poly.plan' op expects a size for each of 1 dimensions of a tile, but got 2
transform.named_sequence @sizes(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @k::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init with ["acc", "store"] shared 2 loops ["i", "j"] tile ["i"] by [4, 4] : !transform.any_op
  transform.yield
}

// PlanOp, zero
// ZERO: error: 'transform.poly.plan' op expects a tile of at least one point along "i", and of one along loops around, but got 0
transform.named_sequence @zero(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @k::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init with ["acc", "store"] shared 2 loops ["i", "j"] tile ["i"] by [0] : !transform.any_op
  transform.yield
}

// PlanOp, large
// LARGE: error: 'transform.poly.plan' op expects a tile of at most 8192 points or vectors, but got more
transform.named_sequence @large(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @k::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init with ["acc", "store"] shared 2 loops ["i", "j"] tile ["i", "j"] by [4096, 4096] : !transform.any_op
  transform.yield
}

// PlanOp, vectors
// VECTORS: error: 'transform.poly.plan' op expects a tile of whole vectors of 16 along "j", but got 24
transform.named_sequence @vectors(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @k::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init with ["acc", "store"] shared 2 loops ["i", "j"] tile ["j"] by [24] lanes "j" width 16 : !transform.any_op
  transform.yield
}

// PlanOp, lanes
// LANES: error: 'transform.poly.plan' op expects between 1 and 1024 lanes, but got 4096
transform.named_sequence @lanes(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @k::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init with ["acc", "store"] shared 2 loops ["i", "j"] lanes "j" width 4096 : !transform.any_op
  transform.yield
}

// PlanOp, loops
// LOOPS: error: 'transform.poly.plan' op expects each loop once, but got "i" again
transform.named_sequence @loops(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @k::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init with ["acc", "store"] shared 2 loops ["i", "j", "i"] : !transform.any_op
  transform.yield
}

// PlanOp, parallel
// PARALLEL: error: 'transform.poly.plan' op expects at most 2 parallel loops, but got 3
transform.named_sequence @parallel(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @k::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init with ["acc", "store"] shared 2 loops ["i", "j"] parallel 3 : !transform.any_op
  transform.yield
}

// PlanOp, rest
// REST: error: 'transform.poly.plan' op expects loops around the rest that have none, but got "i"
transform.named_sequence @rest(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @k::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init with ["acc", "store"] shared 2 loops ["i", "j"] around_rest 1 tile ["i"] by [4] : !transform.any_op
  transform.yield
}

// PlanOp, block
// BLOCK: error: 'transform.poly.plan' op expects blocks of whole tiles of 4 along one of the loops, but got 6 along "i"
transform.named_sequence @block(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @k::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init with ["acc", "store"] shared 2 loops ["i", "j"] tile ["i"] by [4] block "i" block_size 6 : !transform.any_op
  transform.yield
}

// PlanOp, terms
// TERMS: error: 'transform.poly.plan' op expects parts of at least one term, but got 0
transform.named_sequence @terms(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @k::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init with ["acc", "store"] shared 2 loops ["j"] inside_sum ["i"] terms 0 : !transform.any_op
  transform.yield
}

// PlanOp, entries
// ENTRIES: error: 'transform.poly.plan' op expects one entry of `own` for each of 3 computations, but got 1
transform.named_sequence @entries(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @k::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init with ["acc", "store"] shared 2 loops ["i", "j"] own [["k"]] : !transform.any_op
  transform.yield
}

// PlanOp, order
// ORDER: error: 'transform.poly.plan' op expects an order of the other dimensions of @acc, each once
transform.named_sequence @order(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @k::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init with ["acc", "store"] shared 2 loops ["i", "j"] own [[], [], []] : !transform.any_op
  transform.yield
}

// PlanOp, both
// BOTH: error: 'transform.poly.plan' op expects lanes along a shared dimension or others, but got both
transform.named_sequence @both(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @k::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init with ["acc", "store"] shared 2 loops ["i", "j"] lanes "j" width 16 own_lanes ["", "k", ""] : !transform.any_op
  transform.yield
}

// PlanOp, side
// SIDE: error: 'transform.poly.plan' op expects between 1 and 1024 vectors side by side, but got 0
transform.named_sequence @side(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @k::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init with ["acc", "store"] shared 2 loops ["i", "j"] width 16 own_lanes ["", "k", ""] own_vectors [1, 0, 1] : !transform.any_op
  transform.yield
}

// PlanOp, unrolled
// UNROLLED: error: 'transform.poly.plan' op expects dimensions of @acc, out of ["k"], but got "i"
transform.named_sequence @unrolled(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @k::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init with ["acc", "store"] shared 2 loops ["i", "j"] own_unrolled ["", "i", ""] : !transform.any_op
  transform.yield
}

// PlanOp, keep
// KEEP: error: 'transform.poly.plan' op expects @store to be the first to write a local array, one without storage of its own that the plan's computations alone use, at the shared dimensions
transform.named_sequence @keep(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @k::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init with ["acc", "store"] shared 2 loops ["i", "j"] keep ["store"] : !transform.any_op
  transform.yield
}

// PlanOp, fetch
// FETCH: error: 'transform.poly.plan' op expects a sum for which "fetch panel" knows what is needed next, but got none
transform.named_sequence @fetch(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @k::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init with ["acc", "store"] shared 2 loops ["i", "j"] fetch panel : !transform.any_op
  transform.yield
}

// PlanOp, fetch rows
// FETCH-ROWS: error: 'transform.poly.plan' op expects a sum for which "fetch rows" knows what is needed next, or a map that reads rows by their numbers, but got none
transform.named_sequence @fetch_rows(%module: !transform.any_op {transform.readonly}) {
  %store = transform.poly.computation @k::@store of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %store shared 1 fetch rows : !transform.any_op
  transform.yield
}

// PlanOp, results
// FETCH-RESULTS: error: 'transform.poly.plan' op expects a tile of sums that is written to an argument in rows along its lanes, to fetch these results, but got none
transform.named_sequence @fetch_results(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @k::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init with ["acc", "store"] shared 2 loops ["i", "j"] fetch_results : !transform.any_op
  transform.yield
}

// PlanOp, part
// PART: error: 'transform.poly.plan' op expects the computations of the plan inside 1 loops, but @init is inside 0
transform.named_sequence @part(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @k::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init with ["acc"] shared 2 inside 1 loops ["j"] : !transform.any_op
  transform.yield
}

// PlanOp, dependence
// DEPENDENCE: error: 'transform.poly.plan' op expects to keep the flow dependence
transform.named_sequence @dependence(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @k::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init with ["store", "acc"] shared 2 loops ["i", "j"] : !transform.any_op
  transform.yield
}
// PlanOp, kept
// KEPT: error: 'transform.poly.plan' op expects results of the plan's computations to be kept, but got @stop
transform.named_sequence @kept(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @k::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init with ["acc", "store"] shared 2 loops ["i", "j"] keep ["stop"] : !transform.any_op
  transform.yield
}

// PlanOp, ahead
// AHEAD: error: 'transform.poly.plan' op expects to fetch at least one ahead, but got 0
transform.named_sequence @ahead(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @k::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init with ["acc", "store"] shared 2 loops ["i", "j"] fetch panel ahead 0 : !transform.any_op
  transform.yield
}

// PlanOp, sums
// SUMS: error: 'transform.poly.plan' op expects one computation with loops of its own, whose sum is cut, but got 0
transform.named_sequence @sums(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @k::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init with ["store"] shared 2 loops ["j"] inside_sum ["i"] terms 8 : !transform.any_op
  transform.yield
}

// PlanOp, window
// WINDOW: error: 'transform.poly.plan' op expects a window of constant size, but got "j" of @init
transform.named_sequence @window(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @symbolic::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init shared 1 window 1 loops ["i"] : !transform.any_op
  transform.yield
}

// PlanOp, least
// LEAST: error: 'transform.poly.plan' op expects at least 3 dimensions of each computation, but @init has 2
transform.named_sequence @least(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @symbolic::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init shared 1 window 2 loops ["i"] : !transform.any_op
  transform.yield
}

// PlanOp, around
// AROUND: error: 'transform.poly.plan' op expects at most 2 loops around, but got 3
transform.named_sequence @around(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @k::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init with ["acc", "store"] shared 2 inside 3 loops ["i", "j"] tile ["i"] by [4] : !transform.any_op
  transform.yield
}

// PlanOp, inside
// INSIDE: error: 'transform.poly.plan' op expects loops inside the 1 that are there, but got "i"
transform.named_sequence @inside(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @symbolic::@init of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init shared 2 inside 1 loops ["i", "j"] : !transform.any_op
  transform.yield
}

// PlanOp, written_out
// WRITTEN-OUT: error: 'transform.poly.plan' op expects at most 1024 points of "j" to be written out
transform.named_sequence @written_out(%module: !transform.any_op {transform.readonly}) {
  %init = transform.poly.computation @symbolic::@other of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %init shared 1 loops ["i"] own_unrolled ["j"] : !transform.any_op
  transform.yield
}
}
