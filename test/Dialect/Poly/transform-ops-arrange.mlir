// RUN: espalier-opt %s -transform-interpreter | FileCheck %s
// RUN: not espalier-opt %s -transform-interpreter=entry-point=missing 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not espalier-opt %s -transform-interpreter=entry-point=unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not espalier-opt %s -transform-interpreter=entry-point=twice 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=maps 2>&1 | FileCheck %s --check-prefix=MAPS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=dims 2>&1 | FileCheck %s --check-prefix=DIMS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=few 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: not espalier-opt %s -transform-interpreter=entry-point=affine 2>&1 | FileCheck %s --check-prefix=AFFINE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=illegal 2>&1 | FileCheck %s --check-prefix=ILLEGAL

#ijk = affine_set<(i, j, k)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, i - 1 - j >= 0, k >= 0, j - 1 - k >= 0)>
#lower = affine_set<(i, j)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, i - 1 - j >= 0)>
#to_ij = affine_map<(i, j, k)[N] -> (i, j)>
#to_ik = affine_map<(i, j, k)[N] -> (i, k)>
#to_kj = affine_map<(i, j, k)[N] -> (k, j)>
#ij = affine_map<(i, j)[N] -> (i, j)>
#jj = affine_map<(i, j)[N] -> (j, j)>

// Elimination of a row, column by column: the division comes first, and an
// update's own loop is that over the columns behind.
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: poly.kernel @factor
poly.kernel @factor(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %N: index) {
  poly.compute @update dims ["i", "j", "k"] domain [#ijk] reads(%A[#to_ij], %A[#to_ik], %A[#to_kj] : memref<?x?xf32>, memref<?x?xf32>, memref<?x?xf32>) writes(%A[#to_ij] : memref<?x?xf32>) {
  ^bb0(%c: f32, %a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.subf %c, %m : f32
    poly.yield %s : f32
  }
  poly.compute @divide dims ["i", "j"] domain [#lower] reads(%A[#ij], %A[#jj] : memref<?x?xf32>, memref<?x?xf32>) writes(%A[#ij] : memref<?x?xf32>) interleaved 2 {
  ^bb0(%a: f32, %d: f32):
    %q = arith.divf %a, %d : f32
    poly.yield %q : f32
  }
  poly.compute @finish dims ["i", "j"] domain [#lower] reads(%A[#ij] : memref<?x?xf32>) writes(%B[#ij] : memref<?x?xf32>) interleaved 2 {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  // CHECK:      poly.schedule {
  // CHECK-NEXT:   poly.band [@divide, @update, @finish] {{.*}} loops [sequential, sequential] names ["i", "k"] {
  // CHECK-NEXT:     poly.sequence {
  // CHECK-NEXT:       poly.filter [@divide] {
  // CHECK:            poly.filter [@update] {
  // CHECK-NEXT:         poly.band [@update] {{.*}} loops [sequential] names ["j"]
  // CHECK:            poly.filter [@finish] {
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %divide = transform.poly.computation @factor::@divide of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.arrange %divide with ["update", "finish"]
      by [affine_map<(i, j) -> (i, j)>, affine_map<(i, j, k) -> (i, k, j)>, affine_map<(i, j) -> (i, j)>]
      into ["i", "k"] : !transform.any_op
  transform.yield
}

// MISSING: error: 'transform.poly.arrange' op expects all computations of a part of a sequence, but @finish, which runs with @update, is missing
transform.named_sequence @missing(%module: !transform.any_op {transform.readonly}) {
  %update = transform.poly.computation @factor::@update of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.arrange %update with ["divide"] by [affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j) -> (i, j)>] into ["i"]
      : !transform.any_op
  transform.yield
}

// UNKNOWN: error: 'transform.poly.arrange' op expects computations of the kernel, out of [@update, @divide, @finish], but got @nothing
transform.named_sequence @unknown(%module: !transform.any_op {transform.readonly}) {
  %update = transform.poly.computation @factor::@update of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.arrange %update with ["divide", "nothing"] by [] into ["i"]
      : !transform.any_op
  transform.yield
}

// TWICE: error: 'transform.poly.arrange' op expects each computation once, but got @update twice
transform.named_sequence @twice(%module: !transform.any_op {transform.readonly}) {
  %update = transform.poly.computation @factor::@update of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.arrange %update with ["divide", "update"] by [] into ["i"]
      : !transform.any_op
  transform.yield
}

// MAPS: error: 'transform.poly.arrange' op expects a map for each of 3 computations, but got 1
transform.named_sequence @maps(%module: !transform.any_op {transform.readonly}) {
  %update = transform.poly.computation @factor::@update of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.arrange %update with ["divide", "finish"] by [affine_map<(i, j, k) -> (i)>] into ["i"]
      : !transform.any_op
  transform.yield
}

// DIMS: error: 'transform.poly.arrange' op expects a map from the 3 dimensions of @update, but got one from 2
transform.named_sequence @dims(%module: !transform.any_op {transform.readonly}) {
  %update = transform.poly.computation @factor::@update of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.arrange %update with ["divide", "finish"] by [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>] into ["i"]
      : !transform.any_op
  transform.yield
}

// FEW: error: 'transform.poly.arrange' op expects at least 2 loops for @divide, but got 1
transform.named_sequence @few(%module: !transform.any_op {transform.readonly}) {
  %update = transform.poly.computation @factor::@update of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.arrange %update with ["divide", "finish"] by [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>] into ["i", "k"]
      : !transform.any_op
  transform.yield
}

// AFFINE: error: 'transform.poly.arrange' op expects an affine expression of 3 loops and 1 parameters
transform.named_sequence @affine(%module: !transform.any_op {transform.readonly}) {
  %update = transform.poly.computation @factor::@update of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.arrange %update with ["divide", "finish"] by [affine_map<(i, j, k)[N] -> (i * N)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>] into ["i"]
      : !transform.any_op
  transform.yield
}

// ILLEGAL: error: 'transform.poly.arrange' op expects to keep the flow dependence from @divide(2, 0) to @update(2, 1, 0)
transform.named_sequence @illegal(%module: !transform.any_op {transform.readonly}) {
  %update = transform.poly.computation @factor::@update of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.arrange %update with ["divide", "finish"] by [affine_map<(i, j, k) -> (i, k, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] into ["i", "k"]
      : !transform.any_op
  transform.yield
}
}
