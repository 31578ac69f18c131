// RUN: not espalier-opt %s -transform-interpreter=entry-point=alone 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=scan 2>&1 | FileCheck %s --check-prefix=SCAN
// RUN: not espalier-opt %s -transform-interpreter=entry-point=placed 2>&1 | FileCheck %s --check-prefix=PLACED
// RUN: not espalier-opt %s -transform-interpreter=entry-point=twice 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=number 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not espalier-opt %s -transform-interpreter=entry-point=table 2>&1 | FileCheck %s --check-prefix=TABLE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=part 2>&1 | FileCheck %s --check-prefix=PART
// RUN: not espalier-opt %s -transform-interpreter=entry-point=pieces 2>&1 | FileCheck %s --check-prefix=PIECES

// Why a producer is not computed where it is used. Each case is an entry point.

#i = affine_map<(i)[N] -> (i)>
#half = affine_map<(i)[N] -> (i floordiv 2)>
#at = affine_map<(i)[N, v] -> (v)>
#all = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#inner = affine_set<(i)[N] : (i - 1 >= 0, N - 1 - i >= 0)>
#first = affine_set<(b, i)[N] : (b == 0, i >= 0, 3 - i >= 0)>
#second = affine_set<(b, i)[N] : (b - 1 == 0, i >= 0, 5 - i >= 0)>
#third = affine_set<(b, i)[N] : (b - 2 == 0, i - 2 >= 0, 20 - i >= 0)>
#few = affine_set<(i)[N] : (i >= 0, 15 - i >= 0)>
!v = memref<?xf32>
!n = memref<?xi32>

module attributes {transform.with_named_sequence} {
poly.kernel @k(%A: !v, %B: !v, %I: !n, %N: index) {
  %both = poly.array(%N) : !v
  %scan = poly.array(%N) : !v
  %placed = poly.array(%N) : !v
  %twice = poly.array(%N) : !v
  %number = poly.array(%N) : !n
  %part = poly.array(%N) : !v
  %pieces = poly.array(%N) : !v
  poly.compute @both dims ["i"] domain [#all] reads(%A[#i] : !v) writes(%both[#i] : !v) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @again dims ["i"] domain [#few] reads(%A[#i] : !v) writes(%both[#i] : !v) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @scan dims ["i"] domain [#inner] reads(%scan[affine_map<(i)[N] -> (i - 1)>] : !v) writes(%scan[#i] : !v) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @placed dims ["i"] domain [#all] reads(%I[#i] : !n) writes(%placed[#at] : !v) {
  ^bb0(%a: i32):
    %x = arith.sitofp %a : i32 to f32
    poly.yield %x : f32
  }
  poly.compute @use_placed dims ["i"] domain [#all] reads(%placed[#i] : !v) writes(%B[#i] : !v) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @twice dims ["i"] domain [#all] reads(%A[#i] : !v) writes(%twice[#half] : !v) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @number dims ["i"] domain [#all] reads(%I[#i] : !n) writes(%number[#i] : !n) {
  ^bb0(%a: i32):
    poly.yield %a : i32
  }
  poly.compute @part dims ["i"] domain [#inner] reads(%A[#i] : !v) writes(%part[#i] : !v) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @whole dims ["i"] domain [#all] reads(%A[#i] : !v) writes(%B[#i] : !v) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @pieces dims ["b", "i"] domain [#first, #second, #third] reads()
      writes(%pieces[affine_map<(b, i)[N] -> (i + 4 * b)>] : !v) {
    %x = arith.constant 1.0 : f32
    poly.yield %x : f32
  }
  poly.compute @by_number dims ["i"] domain [#all] reads(%number[#i], %A[affine_map<(i)[N, v] -> (v)>] : !n, !v) writes(%B[#i] : !v) {
  ^bb0(%n: i32, %a: f32):
    poly.yield %a : f32
  }
  poly.compute @use_part dims ["i"] domain [#all] reads(%part[#i] : !v) writes(%B[#i] : !v) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @use_pieces dims ["i"] domain [#few] reads(%pieces[#i] : !v) writes(%B[#i] : !v) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
poly.kernel @lookup(%B: !v, %I: !n, %N: index) {
  %t = poly.array(%N) : !v
  poly.compute @make dims ["i"] domain [#all] reads() writes(%t[#i] : !v) {
    %x = arith.constant 1.0 : f32
    poly.yield %x : f32
  }
  poly.compute @use dims ["i"] domain [#all] reads(%I[#i], %t[#at] : !n, !v) writes(%B[#i] : !v) {
  ^bb0(%n: i32, %a: f32):
    poly.yield %a : f32
  }
}

// InlineOp, an array that two write
// ALONE: error: 'transform.poly.inline' op expects @both alone to write array #0, but @again does too
transform.named_sequence @alone(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @k::@both of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.inline %p : !transform.any_op
  transform.yield
}

// InlineOp, one that reads its results
// SCAN: error: 'transform.poly.inline' op expects @scan not to read what it writes
transform.named_sequence @scan(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @k::@scan of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.inline %p : !transform.any_op
  transform.yield
}

// InlineOp, elements that data decide
// PLACED: error: 'transform.poly.inline' op expects a point at which @placed reads the same values as @use_placed and writes what read 0 of @use_placed takes from array #2
transform.named_sequence @placed(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @k::@placed of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.inline %p : !transform.any_op
  transform.yield
}

// InlineOp, elements that are written twice
// TWICE: error: 'transform.poly.inline' op expects @twice to write each element once
transform.named_sequence @twice(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @k::@twice of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.inline %p : !transform.any_op
  transform.yield
}

// InlineOp, results that are indices
// NUMBER: error: 'transform.poly.inline' op expects @by_number not to use a value of @number as an index
transform.named_sequence @number(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @k::@number of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.inline %p : !transform.any_op
  transform.yield
}

// InlineOp, reads that data decide
// TABLE: error: 'transform.poly.inline' op expects a point at which @make reads the same values as @use and writes what read 1 of @use takes from array #0
transform.named_sequence @table(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @lookup::@make of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.inline %p : !transform.any_op
  transform.yield
}

// InlineOp, elements that nobody writes
// PART: error: 'transform.poly.inline' op expects @part to write all that read 0 of @use_part takes from array #5
transform.named_sequence @part(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @k::@part of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.inline %p : !transform.any_op
  transform.yield
}

// InlineOp, elements of three pieces
// PIECES: error: 'transform.poly.inline' op expects the point of @pieces that read 0 of @use_pieces needs to be an affine function of its point
transform.named_sequence @pieces(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @k::@pieces of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.inline %p : !transform.any_op
  transform.yield
}
}
