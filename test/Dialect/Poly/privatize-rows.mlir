// RUN: espalier-opt %s -transform-interpreter | FileCheck %s
// RUN: not espalier-opt %s -transform-interpreter=entry-point=other 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not espalier-opt %s -transform-interpreter=entry-point=unbounded 2>&1 | FileCheck %s --check-prefix=UNBOUNDED
// RUN: not espalier-opt %s -transform-interpreter=entry-point=made 2>&1 | FileCheck %s --check-prefix=MADE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=shared 2>&1 | FileCheck %s --check-prefix=SHARED

// Arrays of one row each, whose elements are counted from the row's start.
#all = affine_set<(n, j)[N, E] : (n >= 0, N - 1 - n >= 0, j >= 0, E - 1 - j >= 0)>
#rows = affine_set<(n)[N, E] : (n >= 0, N - 1 - n >= 0)>
#row = affine_set<(n, j)[N, E, b, e] : (j - b >= 0, e - 1 - j >= 0)>
#n = affine_map<(n, j)[N, E] -> (n)>
#next = affine_map<(n, j)[N, E] -> (n + 1)>
#j = affine_map<(n, j)[N, E] -> (j)>
#place = affine_map<(n, j)[N, E, b, e] -> (j - b)>
#put = affine_map<(n, j)[N, E, b, e, v] -> (j - b)>
#bound = affine_map<()[N, E] -> (E + 1)>
!s = memref<?xi32>
!v = memref<?xf32>

module attributes {transform.with_named_sequence} {
// A row has at most 16 elements, so that is what an iteration has.
// CHECK-LABEL: poly.kernel @short(
// CHECK:         poly.array stack : memref<?x16xf32> storage #[[DROP:.*]] as memref<16xf32>
// CHECK:         poly.compute @make {{.*}} writes(%{{.*}}[#[[PUT:.*]]] : memref<?x16xf32>)
// CHECK:         poly.band {{.*}} loops [parallel
poly.kernel @short(%starts: !s {poly.monotonic, poly.bounded_by = #bound}, %x: !v, %y: !v, %N: index, %E: index) {
  %t = poly.array (%E) : !v
  poly.given @width dims ["n"] domain [#rows]
      reads(%starts[affine_map<(n)[N, E] -> (n)>], %starts[affine_map<(n)[N, E] -> (n + 1)>] : !s, !s)
      holds affine_set<(n)[N, E, b, e] : (b + 16 - e >= 0)>
  poly.compute @make dims ["n", "j"] domain [#all] where #row
      reads(%starts[#n], %starts[#next], %x[#j] : !s, !s, !v) writes(%t[#put] : !v) {
  ^bb0(%b: i32, %e: i32, %v: f32):
    poly.yield %v : f32
  }
  poly.compute @use dims ["n", "j"] domain [#all] where #row
      reads(%starts[#n], %starts[#next], %t[#place] : !s, !s, !v) writes(%y[#j] : !v) interleaved 1 {
  ^bb0(%b: i32, %e: i32, %v: f32):
    poly.yield %v : f32
  }
}

// Nothing says how long rows are, but where they end.
// CHECK-LABEL: poly.kernel @long(
// CHECK:         poly.array : memref<?x?xf32> storage #{{.*}} as memref<?xf32> extents
poly.kernel @long(%starts: !s {poly.monotonic, poly.bounded_by = #bound}, %x: !v, %y: !v, %N: index, %E: index) {
  %t = poly.array (%E) : !v
  poly.compute @make dims ["n", "j"] domain [#all] where #row
      reads(%starts[#n], %starts[#next], %x[#j] : !s, !s, !v) writes(%t[#put] : !v) {
  ^bb0(%b: i32, %e: i32, %v: f32):
    poly.yield %v : f32
  }
  poly.compute @use dims ["n", "j"] domain [#all] where #row
      reads(%starts[#n], %starts[#next], %t[#place] : !s, !s, !v) writes(%y[#j] : !v) interleaved 1 {
  ^bb0(%b: i32, %e: i32, %v: f32):
    poly.yield %v : f32
  }
}

// One element more than the row has is read.
poly.kernel @other_rows(%starts: !s {poly.monotonic, poly.bounded_by = #bound}, %x: !v, %y: !v, %N: index, %E: index) {
  %t = poly.array (%E) : !v
  poly.compute @make dims ["n", "j"] domain [#all] where #row
      reads(%starts[#n], %starts[#next], %x[#j] : !s, !s, !v) writes(%t[#put] : !v) {
  ^bb0(%b: i32, %e: i32, %v: f32):
    poly.yield %v : f32
  }
  poly.compute @use dims ["n", "j"] domain [#all] where #row
      reads(%starts[#n], %starts[#next], %t[affine_map<(n, j)[N, E, b, e] -> (j - b + 1)>] : !s, !s, !v)
      writes(%y[#j] : !v) interleaved 1 {
  ^bb0(%b: i32, %e: i32, %v: f32):
    poly.yield %v : f32
  }
}

poly.kernel @unbounded_rows(%starts: !s {poly.monotonic}, %x: !v, %y: !v, %N: index, %E: index) {
  %t = poly.array (%E) : !v
  poly.compute @make dims ["n", "j"] domain [#all] where #row
      reads(%starts[#n], %starts[#next], %x[#j] : !s, !s, !v) writes(%t[#put] : !v) {
  ^bb0(%b: i32, %e: i32, %v: f32):
    poly.yield %v : f32
  }
  poly.compute @use dims ["n", "j"] domain [#all] where #row
      reads(%starts[#n], %starts[#next], %t[#place] : !s, !s, !v) writes(%y[#j] : !v) interleaved 1 {
  ^bb0(%b: i32, %e: i32, %v: f32):
    poly.yield %v : f32
  }
}

// Nothing is known of starts that the kernel computes.
poly.kernel @made_rows(%first: !s, %x: !v, %y: !v, %N: index, %E: index) {
  %starts = poly.array (%N) : !s
  %t = poly.array (%E) : !v
  poly.compute @starts dims ["n"] domain [#rows] reads(%first[affine_map<(n)[N, E] -> (n)>] : !s)
      writes(%starts[affine_map<(n)[N, E] -> (n)>] : !s) {
  ^bb0(%b: i32):
    poly.yield %b : i32
  }
  poly.compute @make dims ["n", "j"] domain [#all]
      reads(%starts[#n], %x[#j] : !s, !v) writes(%t[affine_map<(n, j)[N, E, b, v] -> (j - b)>] : !v) {
  ^bb0(%b: i32, %v: f32):
    poly.yield %v : f32
  }
  poly.compute @use dims ["n", "j"] domain [#all]
      reads(%starts[#n], %t[affine_map<(n, j)[N, E, b] -> (j - b)>] : !s, !v) writes(%y[#j] : !v) interleaved 1 {
  ^bb0(%b: i32, %v: f32):
    poly.yield %v : f32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %short = transform.poly.computation @short::@make of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.privatize %short loop "n" : !transform.any_op
  transform.poly.parallelize %short loop "n" : !transform.any_op
  %long = transform.poly.computation @long::@make of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.privatize %long loop "n" : !transform.any_op
  transform.poly.parallelize %long loop "n" : !transform.any_op
  transform.yield
}

// OTHER: error: 'transform.poly.privatize' op expects each iteration of "n" to write what it reads of array #0 before, but read 2 of @use takes what others wrote
transform.named_sequence @other(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @other_rows::@make of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.privatize %p loop "n" : !transform.any_op
  transform.yield
}

// UNBOUNDED: error: 'transform.poly.privatize' op expects what a tile touches of array #0 to have bounds that are affine in the parameters
transform.named_sequence @unbounded(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @unbounded_rows::@make of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.privatize %p loop "n" : !transform.any_op
  transform.yield
}

// MADE: error: 'transform.poly.privatize' op expects accesses to array #1 that are affine in what is read in arrays that nobody writes, but those of @make are not
transform.named_sequence @made(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @made_rows::@make of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.privatize %p loop "n" : !transform.any_op
  transform.yield
}

// With one array for all, rows run one after the other.
// SHARED: error: 'transform.poly.parallelize' op expects
transform.named_sequence @shared(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @short::@make of %module : (!transform.any_op) -> !transform.any_op
  %u = transform.poly.computation @short::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fuse %p with %u loops 1 : !transform.any_op, !transform.any_op
  transform.poly.parallelize %p loop "n" : !transform.any_op
  transform.yield
}
}
