// RUN: not espalier-opt %s -transform-interpreter=entry-point=skewed 2>&1 | FileCheck %s --check-prefix=SKEWED
// RUN: not espalier-opt %s -transform-interpreter=entry-point=none 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=behind 2>&1 | FileCheck %s --check-prefix=BEHIND
// RUN: not espalier-opt %s -transform-interpreter=entry-point=sum 2>&1 | FileCheck %s --check-prefix=SUM
// RUN: not espalier-opt %s -transform-interpreter=entry-point=written 2>&1 | FileCheck %s --check-prefix=WRITTEN
// RUN: not espalier-opt %s -transform-interpreter=entry-point=unbounded 2>&1 | FileCheck %s --check-prefix=UNBOUNDED
// RUN: not espalier-opt %s -transform-interpreter=entry-point=interleaved 2>&1 | FileCheck %s --check-prefix=INTERLEAVED
// RUN: not espalier-opt %s -transform-interpreter=entry-point=late 2>&1 | FileCheck %s --check-prefix=LATE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=decides 2>&1 | FileCheck %s --check-prefix=DECIDES
// RUN: not espalier-opt %s -transform-interpreter=entry-point=reduction 2>&1 | FileCheck %s --check-prefix=REDUCTION
// RUN: not espalier-opt %s -transform-interpreter=entry-point=storage 2>&1 | FileCheck %s --check-prefix=STORAGE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=prefetch 2>&1 | FileCheck %s --check-prefix=PREFETCH
// RUN: not espalier-opt %s -transform-interpreter=entry-point=sets 2>&1 | FileCheck %s --check-prefix=SETS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=overlap 2>&1 | FileCheck %s --check-prefix=OVERLAP
// RUN: not espalier-opt %s -transform-interpreter=entry-point=order 2>&1 | FileCheck %s --check-prefix=ORDER

// Loops that cannot be counted from a bound. Each case is an entry point.
#all = affine_set<(n, j)[N, E] : (n >= 0, N - 1 - n >= 0, j >= 0, E - 1 - j >= 0)>
#low = affine_set<(n, j)[N, E] : (n >= 0, N - 1 - n >= 0, j >= 0, E - 1 - j >= 0, 3 - j >= 0)>
#high = affine_set<(n, j)[N, E] : (n >= 0, N - 1 - n >= 0, j - 4 >= 0, E - 1 - j >= 0)>
#row = affine_set<(n, j)[N, E, b, e] : (j - b >= 0, e - 1 - j >= 0)>
#tail = affine_set<(n, j)[N, E, b, e] : (j - b - 1 >= 0, e - 1 - j >= 0)>
#later = affine_set<(n, j)[N, E, v, b, e] : (j - b >= 0, e - 1 - j >= 0)>
#below = affine_set<(n, j)[N, E, b, e, v] : (j - b >= 0, e - 1 - j >= 0, v >= 0)>
#n = affine_map<(n, j)[N, E] -> (n)>
#next = affine_map<(n, j)[N, E] -> (n + 1)>
#j = affine_map<(n, j)[N, E] -> (j)>
#behind = affine_set<(j, n)[N, E] : (n >= 0, N - 1 - n >= 0, j >= 0, E - 1 - j >= 0)>
#rowBehind = affine_set<(j, n)[N, E, b, e] : (j - b >= 0, e - 1 - j >= 0)>
#sumBehind = affine_set<(j, n)[N, E, b] : (j - n - b >= 0)>

module attributes {transform.with_named_sequence} {
poly.kernel @rows_skewed(%s: memref<?xi32> {poly.monotonic, poly.bounded_by = affine_map<()[N, E] -> (E + 1)>}, %x: memref<?xf32>, %N: index, %E: index) {
  poly.compute @acc dims ["n", "j"] domain [#all] where #row
      reads(%s[#n], %s[#next], %x[#j] : memref<?xi32>, memref<?xi32>, memref<?xf32>) writes(%x[#j] : memref<?xf32>) {
  ^bb0(%v0: i32, %v1: i32, %v2: f32):
    %sum = arith.constant 1.0 : f32
    poly.yield %sum : f32
  }
}
poly.kernel @rows_dense(%x: memref<?xf32>, %N: index, %E: index) {
  poly.compute @acc dims ["n", "j"] domain [#all]
      reads(%x[#j] : memref<?xf32>) writes(%x[#j] : memref<?xf32>) {
  ^bb0(%v0: f32):
    %sum = arith.constant 1.0 : f32
    poly.yield %sum : f32
  }
}
poly.kernel @rows_behind(%s: memref<?xi32> {poly.monotonic, poly.bounded_by = affine_map<()[N, E] -> (E + 1)>}, %x: memref<?xf32>, %N: index, %E: index) {
  poly.compute @acc dims ["j", "n"] domain [#behind] where #rowBehind
      reads(%s[affine_map<(j, n)[N, E] -> (n)>], %s[affine_map<(j, n)[N, E] -> (n + 1)>] : memref<?xi32>, memref<?xi32>) writes(%x[affine_map<(j, n)[N, E] -> (j)>] : memref<?xf32>) {
  ^bb0(%v0: i32, %v1: i32):
    %sum = arith.constant 1.0 : f32
    poly.yield %sum : f32
  }
  poly.compute @sum dims ["j", "n"] domain [#behind] where #sumBehind
      reads(%s[affine_map<(j, n)[N, E] -> (0)>] : memref<?xi32>) writes(%x[affine_map<(j, n)[N, E] -> (j)>] : memref<?xf32>) {
  ^bb0(%v0: i32):
    %sum = arith.constant 1.0 : f32
    poly.yield %sum : f32
  }
}
poly.kernel @rows_written(%s: memref<?xi32>, %x: memref<?xf32>, %N: index, %E: index) {
  poly.compute @acc dims ["n", "j"] domain [#all] where #row
      reads(%s[#n], %s[#next], %x[#j] : memref<?xi32>, memref<?xi32>, memref<?xf32>) writes(%x[#j] : memref<?xf32>) {
  ^bb0(%v0: i32, %v1: i32, %v2: f32):
    %sum = arith.constant 1.0 : f32
    poly.yield %sum : f32
  }
  poly.compute @write dims ["n", "j"] domain [#all] reads() writes(%s[#n] : memref<?xi32>) {
    %z = arith.constant 0 : i32
    poly.yield %z : i32
  }
}
poly.kernel @rows_unbounded(%s: memref<?xi32> {poly.monotonic}, %x: memref<?xf32>, %N: index, %E: index) {
  poly.compute @acc dims ["n", "j"] domain [#all] where #row
      reads(%s[#n], %s[#next], %x[#j] : memref<?xi32>, memref<?xi32>, memref<?xf32>) writes(%x[#j] : memref<?xf32>) {
  ^bb0(%v0: i32, %v1: i32, %v2: f32):
    %sum = arith.constant 1.0 : f32
    poly.yield %sum : f32
  }
}
poly.kernel @rows_overlap(%s: memref<?xi32> {poly.bounded_by = affine_map<()[N, E] -> (E + 1)>}, %x: memref<?xf32>, %N: index, %E: index) {
  poly.compute @acc dims ["n", "j"] domain [#all] where #row
      reads(%s[#n], %s[#next], %x[#j] : memref<?xi32>, memref<?xi32>, memref<?xf32>) writes(%x[#j] : memref<?xf32>) {
  ^bb0(%v0: i32, %v1: i32, %v2: f32):
    %sum = arith.addf %v2, %v2 : f32
    poly.yield %sum : f32
  }
}
poly.kernel @rows_interleaved(%s: memref<?xi32> {poly.monotonic, poly.bounded_by = affine_map<()[N, E] -> (E + 1)>}, %x: memref<?xf32>, %N: index, %E: index) {
  poly.compute @other dims ["n", "j"] domain [#all]
      reads(%x[#j] : memref<?xf32>) writes(%x[#j] : memref<?xf32>) {
  ^bb0(%v0: f32):
    %sum = arith.constant 1.0 : f32
    poly.yield %sum : f32
  }
  poly.compute @acc dims ["n", "j"] domain [#all] where #row
      reads(%s[#n], %s[#next], %x[#j] : memref<?xi32>, memref<?xi32>, memref<?xf32>) writes(%x[#j] : memref<?xf32>) interleaved 2 {
  ^bb0(%v0: i32, %v1: i32, %v2: f32):
    %sum = arith.constant 1.0 : f32
    poly.yield %sum : f32
  }
}
poly.kernel @rows_late(%s: memref<?xi32> {poly.monotonic, poly.bounded_by = affine_map<()[N, E] -> (E + 1)>}, %x: memref<?xf32>, %N: index, %E: index) {
  poly.compute @acc dims ["n", "j"] domain [#all] where #later
      reads(%x[#j], %s[#n], %s[#next] : memref<?xf32>, memref<?xi32>, memref<?xi32>) writes(%x[#j] : memref<?xf32>) {
  ^bb0(%v0: f32, %v1: i32, %v2: i32):
    %sum = arith.constant 1.0 : f32
    poly.yield %sum : f32
  }
}
poly.kernel @rows_decides(%s: memref<?xi32> {poly.monotonic, poly.bounded_by = affine_map<()[N, E] -> (E + 1)>}, %c: memref<?xi32>, %x: memref<?xf32>, %N: index, %E: index) {
  poly.compute @acc dims ["n", "j"] domain [#all] where #below
      reads(%s[#n], %s[#next], %c[#j] : memref<?xi32>, memref<?xi32>, memref<?xi32>) writes(%x[#j] : memref<?xf32>) {
  ^bb0(%v0: i32, %v1: i32, %v2: i32):
    %sum = arith.constant 1.0 : f32
    poly.yield %sum : f32
  }
}
poly.kernel @rows_reduction(%s: memref<?xi32> {poly.monotonic, poly.bounded_by = affine_map<()[N, E] -> (E + 1)>}, %x: memref<?xf32>, %N: index, %E: index) {
  poly.compute @acc dims ["n", "j"] domain [#all] where #row
      reads(%s[#n], %s[#next], %x[#n], %x[#j] : memref<?xi32>, memref<?xi32>, memref<?xf32>, memref<?xf32>) writes(%x[#j] : memref<?xf32>) reduction add {
  ^bb0(%v0: i32, %v1: i32, %v2: f32, %v3: f32):
    %sum = arith.addf %v3, %v2 : f32
    poly.yield %sum : f32
  }
}
poly.kernel @rows_storage(%s: memref<?xi32> {poly.monotonic, poly.bounded_by = affine_map<()[N, E] -> (E + 1)>}, %N: index, %E: index) {
  %t = poly.array : memref<?xf32> storage affine_map<(i) -> (i mod 8)> as memref<8xf32>
  poly.compute @acc dims ["n", "j"] domain [#all] where #row
      reads(%s[#n], %s[#next] : memref<?xi32>, memref<?xi32>) writes(%t[#j] : memref<?xf32>) {
  ^bb0(%v0: i32, %v1: i32):
    %sum = arith.constant 1.0 : f32
    poly.yield %sum : f32
  }
}
poly.kernel @rows_sets(%s: memref<?xi32> {poly.monotonic, poly.bounded_by = affine_map<()[N, E] -> (E + 1)>}, %x: memref<?xf32>, %N: index, %E: index) {
  poly.compute @acc dims ["n", "j"] domain [#low, #high] where #row
      reads(%s[#n], %s[#next], %x[#j] : memref<?xi32>, memref<?xi32>, memref<?xf32>) writes(%x[#j] : memref<?xf32>) {
  ^bb0(%v0: i32, %v1: i32, %v2: f32):
    %sum = arith.constant 1.0 : f32
    poly.yield %sum : f32
  }
}
poly.kernel @rows_order(%s: memref<?xi32> {poly.monotonic, poly.bounded_by = affine_map<()[N, E] -> (E + 1)>}, %x: memref<?xf32>, %y: memref<?xf32>, %N: index, %E: index) {
  poly.compute @make dims ["n", "j"] domain [#all] where #row
      reads(%s[#n], %s[#next] : memref<?xi32>, memref<?xi32>) writes(%x[#j] : memref<?xf32>) {
  ^bb0(%v0: i32, %v1: i32):
    %sum = arith.constant 1.0 : f32
    poly.yield %sum : f32
  }
  poly.compute @use dims ["n", "j"] domain [#all] where #tail
      reads(%s[#n], %s[#next], %x[#j] : memref<?xi32>, memref<?xi32>, memref<?xf32>) writes(%y[#j] : memref<?xf32>) {
  ^bb0(%v0: i32, %v1: i32, %v2: f32):
    %sum = arith.constant 1.0 : f32
    poly.yield %sum : f32
  }
}

// SKEWED: error: 'transform.poly.rebase' op expects "j" to run over one dimension of @acc, but it runs over 2
transform.named_sequence @skewed(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @rows_skewed::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.skew %acc loop "j" by [1] of ["n"] : !transform.any_op
  transform.poly.rebase %acc loop "j" : !transform.any_op
  transform.yield
}

// NONE: error: 'transform.poly.rebase' op expects "j" of @acc to have a lower bound that is read at a place which the dimensions before it decide, but there is none
transform.named_sequence @none(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @rows_dense::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.rebase %acc loop "j" : !transform.any_op
  transform.yield
}

// BEHIND: which the dimensions before it decide, but the place where it is read depends on "j" or on a dimension behind
transform.named_sequence @behind(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @rows_behind::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.rebase %acc loop "j" : !transform.any_op
  transform.yield
}

// SUM: which the dimensions before it decide, but it depends on "j" or on a dimension behind
transform.named_sequence @sum(%module: !transform.any_op {transform.readonly}) {
  %sum = transform.poly.computation @rows_behind::@sum of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.rebase %sum loop "j" : !transform.any_op
  transform.yield
}

// WRITTEN: which the dimensions before it decide, but argument #0, of which it is, is written
transform.named_sequence @written(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @rows_written::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.rebase %acc loop "j" : !transform.any_op
  transform.yield
}

// UNBOUNDED: error: 'transform.poly.rebase' op expects a bound, 'poly.bounded_by', of the values at which "j" of @acc begins
transform.named_sequence @unbounded(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @rows_unbounded::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.rebase %acc loop "j" : !transform.any_op
  transform.yield
}

// INTERLEAVED: error: 'transform.poly.rebase' op expects "j" of @acc to run by itself, but it is interleaved with that of @other
transform.named_sequence @interleaved(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @rows_interleaved::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fission %acc loop "j" : !transform.any_op
  transform.poly.rebase %acc loop "j" : !transform.any_op
  transform.yield
}

// LATE: error: 'transform.poly.rebase' op expects @acc to read the bound before what it reads at "j", but read 1 comes after read 0
transform.named_sequence @late(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @rows_late::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.rebase %acc loop "j" : !transform.any_op
  transform.yield
}

// DECIDES: error: 'transform.poly.rebase' op expects @acc to read what decides where it runs at a place without "j", but read 2 depends on it
transform.named_sequence @decides(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @rows_decides::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.rebase %acc loop "j" : !transform.any_op
  transform.yield
}

// REDUCTION: error: 'transform.poly.rebase' op expects @acc to be no reduction, or one whose element does not depend on "j"
transform.named_sequence @reduction(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @rows_reduction::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.rebase %acc loop "j" : !transform.any_op
  transform.yield
}

// STORAGE: error: 'transform.poly.rebase' op expects @acc to use array #0, whose elements share places or are in registers, at places without "j"
transform.named_sequence @storage(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @rows_storage::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.rebase %acc loop "j" : !transform.any_op
  transform.yield
}

// PREFETCH: error: 'transform.poly.rebase' op expects @acc to have no prefetch yet; rebase first
transform.named_sequence @prefetch(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @rows_skewed::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.prefetch %acc read 2 loop "j" distance 8 : !transform.any_op
  transform.poly.rebase %acc loop "j" : !transform.any_op
  transform.yield
}

// SETS: error: 'transform.poly.rebase' op expects @acc to have a domain of one set, but got 2
transform.named_sequence @sets(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @rows_sets::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.rebase %acc loop "j" : !transform.any_op
  transform.yield
}

// Row by row, @use runs one element ahead of where @make has come to.
// ORDER: error: 'transform.poly.rebase' op expects to keep the flow dependence from @make(0, 1) to @use(0, 0), on argument #1 (write 0 at [<read 0> + j], read 2 at [<read 0> + j + 1])
transform.named_sequence @order(%module: !transform.any_op {transform.readonly}) {
  %make = transform.poly.computation @rows_order::@make of %module : (!transform.any_op) -> !transform.any_op
  %use = transform.poly.computation @rows_order::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fuse %make with %use loops 2 : !transform.any_op, !transform.any_op
  transform.poly.rebase %make loop "j" : !transform.any_op
  transform.yield
}

// Elements of a row are different, but rows may overlap where starts decrease.
// OVERLAP: error: 'transform.poly.parallelize' op expects the parallel loop "n" to carry no dependence, but got the flow dependence from @acc(0, 0) to @acc(2, 0)
transform.named_sequence @overlap(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @rows_overlap::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.rebase %acc loop "j" : !transform.any_op
  transform.poly.parallelize %acc loop "j" : !transform.any_op
  transform.poly.parallelize %acc loop "n" : !transform.any_op
  transform.yield
}
}
