// RUN: not espalier-opt %s -transform-interpreter=entry-point=untiled 2>&1 | FileCheck %s --check-prefix=UNTILED
// RUN: not espalier-opt %s -transform-interpreter=entry-point=sizes 2>&1 | FileCheck %s --check-prefix=SIZES
// RUN: not espalier-opt %s -transform-interpreter=entry-point=cases 2>&1 | FileCheck %s --check-prefix=CASES
// RUN: not espalier-opt %s -transform-interpreter=entry-point=whole 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=missing 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not espalier-opt %s -transform-interpreter=entry-point=zero 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not espalier-opt %s -transform-interpreter=entry-point=large 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not espalier-opt %s -transform-interpreter=entry-point=part 2>&1 | FileCheck %s --check-prefix=PART
// RUN: not espalier-opt %s -transform-interpreter=entry-point=order 2>&1 | FileCheck %s --check-prefix=ORDER

// Rests that cannot be tiled, and parts that cannot be arranged.
#all = affine_set<(i)[M, N] : (i >= 0, N - 1 - i >= 0)>
#both = affine_set<(i)[M, N] : (i >= 0, N - 1 - i >= 0, M - 1 - i >= 0)>
#small = affine_set<(i)[M, N] : (i >= 0, 31 - i >= 0)>
#i = affine_map<(i)[M, N] -> (i)>
#west = affine_map<(i)[M, N] -> (i - 1)>

module attributes {transform.with_named_sequence} {
poly.kernel @k(%x: memref<?xf32>, %y: memref<?xf32>, %M: index, %N: index) {
  poly.compute @copy dims ["i"] domain [#all] reads(%x[#i] : memref<?xf32>) writes(%y[#i] : memref<?xf32>) {
  ^bb0(%v: f32):
    poly.yield %v : f32
  }
}
poly.kernel @least(%x: memref<?xf32>, %y: memref<?xf32>, %M: index, %N: index) {
  poly.compute @copy dims ["i"] domain [#both] reads(%x[#i] : memref<?xf32>) writes(%y[#i] : memref<?xf32>) {
  ^bb0(%v: f32):
    poly.yield %v : f32
  }
}
poly.kernel @number(%x: memref<?xf32>, %y: memref<?xf32>, %M: index, %N: index) {
  poly.compute @copy dims ["i"] domain [#small] reads(%x[#i] : memref<?xf32>) writes(%y[#i] : memref<?xf32>) {
  ^bb0(%v: f32):
    poly.yield %v : f32
  }
}
poly.kernel @two(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>, %M: index, %N: index) {
  poly.compute @a dims ["i"] domain [#all] reads(%x[#i] : memref<?xf32>) writes(%y[#i] : memref<?xf32>) {
  ^bb0(%v: f32):
    poly.yield %v : f32
  }
  poly.compute @b dims ["i"] domain [#all] reads(%x[#i] : memref<?xf32>) writes(%z[#i] : memref<?xf32>) {
  ^bb0(%v: f32):
    poly.yield %v : f32
  }
}
poly.kernel @chain(%x: memref<?xf32>, %M: index, %N: index) {
  poly.compute @step dims ["i"] domain [#all] reads(%x[#west] : memref<?xf32>) writes(%x[#i] : memref<?xf32>) {
  ^bb0(%v: f32):
    poly.yield %v : f32
  }
}

// UNTILED: error: 'transform.poly.retile' op expects a loop over tiles, of one size for all of its computations, but got "i" of @copy
transform.named_sequence @untiled(%module: !transform.any_op {transform.readonly}) {
  %copy = transform.poly.computation @k::@copy of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.retile %copy loop "i" by 2 : !transform.any_op
  transform.yield
}

// SIZES: error: 'transform.poly.retile' op expects a loop over tiles, of one size for all of its computations, but got "t" of @b
transform.named_sequence @sizes(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @two::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.arrange %a with ["b"] by [affine_map<(i) -> (i floordiv 4, i)>, affine_map<(i) -> (i floordiv 8, i)>] into ["t"] : !transform.any_op
  transform.poly.retile %a loop "t" by 2 : !transform.any_op
  transform.yield
}

// CASES: error: 'transform.poly.retile' op expects a loop whose last iteration is one expression of the loops around it, but "i.0" has cases
transform.named_sequence @cases(%module: !transform.any_op {transform.readonly}) {
  %copy = transform.poly.computation @least::@copy of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.split %copy loop "i" factors [8] : !transform.any_op
  transform.poly.retile %copy loop "i.0" by 2 : !transform.any_op
  transform.yield
}

// WHOLE: error: 'transform.poly.retile' op expects a rest of "i.0", but there are whole tiles of 8 only
transform.named_sequence @whole(%module: !transform.any_op {transform.readonly}) {
  %copy = transform.poly.computation @number::@copy of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.split %copy loop "i" factors [8] : !transform.any_op
  transform.poly.retile %copy loop "i.0" by 2 : !transform.any_op
  transform.yield
}

// MISSING: error: 'transform.poly.retile' op expects a size for the tiles of the rest of "i.0", whose extent is not a number
transform.named_sequence @missing(%module: !transform.any_op {transform.readonly}) {
  %copy = transform.poly.computation @k::@copy of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.split %copy loop "i" factors [8] : !transform.any_op
  transform.poly.retile %copy loop "i.0" : !transform.any_op
  transform.yield
}

// ZERO: error: 'transform.poly.retile' op expects tiles of the rest of between 1 and 7 iterations, but got 0
transform.named_sequence @zero(%module: !transform.any_op {transform.readonly}) {
  %copy = transform.poly.computation @k::@copy of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.split %copy loop "i" factors [8] : !transform.any_op
  transform.poly.retile %copy loop "i.0" by 0 : !transform.any_op
  transform.yield
}

// LARGE: error: 'transform.poly.retile' op expects tiles of the rest of between 1 and 7 iterations, but got 8
transform.named_sequence @large(%module: !transform.any_op {transform.readonly}) {
  %copy = transform.poly.computation @k::@copy of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.split %copy loop "i" factors [8] : !transform.any_op
  transform.poly.retile %copy loop "i.0" by 8 : !transform.any_op
  transform.yield
}

// UNKNOWN: error: 'transform.poly.arrange' op expects a loop of @copy, one of ["i.peel", "i"], but got "i.rest"
transform.named_sequence @unknown(%module: !transform.any_op {transform.readonly}) {
  %copy = transform.poly.computation @k::@copy of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.peel %copy loop "i" first 1 : !transform.any_op
  transform.poly.arrange %copy with [] by [affine_map<(i) -> (i)>] into ["i"] at "i.rest" : !transform.any_op
  transform.yield
}

// PART: error: 'transform.poly.arrange' op expects all computations of a part of a sequence, but @b, which runs with @a, is missing
transform.named_sequence @part(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @two::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.arrange %a with ["b"] by [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] into ["i"] : !transform.any_op
  transform.poly.peel %a loop "i" first 1 : !transform.any_op
  transform.poly.arrange %a with [] by [affine_map<(i) -> (-i)>] into ["r"] at "i.peel" : !transform.any_op
  transform.yield
}

// ORDER: error: 'transform.poly.arrange' op expects to keep the flow dependence from @step
transform.named_sequence @order(%module: !transform.any_op {transform.readonly}) {
  %step = transform.poly.computation @chain::@step of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.peel %step loop "i" at affine_map<()[M, N] -> (N - 4)> : !transform.any_op
  transform.poly.arrange %step with [] by [affine_map<(i) -> (-i)>] into ["r"] at "i.peel" : !transform.any_op
  transform.yield
}
}
