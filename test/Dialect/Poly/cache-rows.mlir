// RUN: espalier-opt %s -transform-interpreter=entry-point=read | FileCheck %s --check-prefix=READ
// RUN: espalier-opt %s -transform-interpreter=entry-point=write | FileCheck %s --check-prefix=WRITE
// RUN: sed 's/b + 7 - e/e - b/' %s | espalier-opt -transform-interpreter=entry-point=read | FileCheck %s --check-prefix=UNBOUNDED
// RUN: sed '/[@]again/,/interleaved/s/v] -> (n, j - b)/v] -> (n, j - b + 1)/' %s | not espalier-opt -transform-interpreter=entry-point=read 2>&1 | FileCheck %s --check-prefix=CHANGED

// Elements at their position in a row, t[n, j - starts[n]], where a row has at
// most 7: copies of what an iteration may touch.
#all = affine_set<(n, j)[N, E] : (n >= 0, N - 1 - n >= 0, j >= 0, E - 1 - j >= 0)>
#rows = affine_set<(n)[N, E] : (n >= 0, N - 1 - n >= 0)>
#row = affine_set<(n, j)[N, E, b, e] : (j - b >= 0, e - 1 - j >= 0)>
#n = affine_map<(n, j)[N, E] -> (n)>
#next = affine_map<(n, j)[N, E] -> (n + 1)>
#j = affine_map<(n, j)[N, E] -> (j)>
!s = memref<?xi32>
!v = memref<?xf32>
!t = memref<?x7xf32>
module attributes {transform.with_named_sequence} {
poly.kernel @rows(
    %starts: !s {poly.shape = affine_map<()[N, E] -> (N + 1)>, poly.monotonic, poly.bounded_by = affine_map<()[N, E] -> (E + 1)>},
    %x: !v {poly.shape = affine_map<()[N, E] -> (E)>}, %y: !v {poly.shape = affine_map<()[N, E] -> (E)>}, %N: index, %E: index) {
  %t = poly.array (%N) : !t
  poly.given @width dims ["n"] domain [#rows]
      reads(%starts[affine_map<(n)[N, E] -> (n)>], %starts[affine_map<(n)[N, E] -> (n + 1)>] : !s, !s)
      holds affine_set<(n)[N, E, b, e] : (b + 7 - e >= 0)>
  poly.compute @make dims ["n", "j"] domain [#all] where #row
      reads(%starts[#n], %starts[#next], %x[#j] : !s, !s, !v)
      writes(%t[affine_map<(n, j)[N, E, b, e, v] -> (n, j - b)>] : !t) {
  ^bb0(%b: i32, %e: i32, %v: f32):
    %r = arith.addf %v, %v : f32
    poly.yield %r : f32
  }
  poly.compute @use dims ["n", "j"] domain [#all] where #row
      reads(%starts[#n], %starts[#next], %t[affine_map<(n, j)[N, E, b, e] -> (n, j - b)>] : !s, !s, !t)
      writes(%y[#j] : !v) {
  ^bb0(%b: i32, %e: i32, %v: f32):
    poly.yield %v : f32
  }
  // It changes an element after its use.
  poly.compute @again dims ["n", "j"] domain [#all] where #row
      reads(%starts[#n], %starts[#next], %t[affine_map<(n, j)[N, E, b, e] -> (n, j - b)>] : !s, !s, !t)
      writes(%t[affine_map<(n, j)[N, E, b, e, v] -> (n, j - b)>] : !t) interleaved 2 {
  ^bb0(%b: i32, %e: i32, %v: f32):
    %r = arith.mulf %v, %v : f32
    poly.yield %r : f32
  }
}

// Without a bound, a row has as many elements as all have.
// UNBOUNDED: poly.array {{.*}} as memref<1x?xf32> extents
// CHANGED: error: 'transform.poly.cache_read' op expects array #0 to stay as it is from the copy to its uses, but @again writes what @use reads, as for @again({{[0-9]+, [0-9]+}}) and @use(
// READ:      %[[COPY:.*]] = poly.array stack {{.*}} as memref<1x7xf32>
// READ:      poly.compute @use_in2 dims ["n", "e0", "e1"]
// READ-SAME:   writes(%[[COPY]][
// READ:      poly.compute @use
// READ-SAME:   %[[COPY]][
transform.named_sequence @read(%module: !transform.any_op {transform.readonly}) {
  %use = transform.poly.computation @rows::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.cache_read %use read 2 at "n" : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}

// Which elements are written is data's, so all are copied in and out.
// WRITE:     %[[COPY:.*]] = poly.array stack {{.*}} as memref<1x7xf32>
// WRITE:     poly.compute @make_in dims ["n", "e0", "e1"]
// WRITE:     poly.compute @make dims
// WRITE-SAME:  writes(%[[COPY]][
// WRITE:     poly.compute @make_out dims ["n", "e0", "e1"]
transform.named_sequence @write(%module: !transform.any_op {transform.readonly}) {
  %make = transform.poly.computation @rows::@make of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.cache_write %make write 0 at "n" : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.yield
}
}
