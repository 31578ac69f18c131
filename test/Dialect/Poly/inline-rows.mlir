// RUN: espalier-opt %s -transform-interpreter | FileCheck %s
// RUN: not espalier-opt %s -transform-interpreter=entry-point=later 2>&1 | FileCheck %s --check-prefix=LATER
// RUN: not espalier-opt %s -transform-interpreter=entry-point=next_row 2>&1 | FileCheck %s --check-prefix=NEXT
// RUN: not espalier-opt %s -transform-interpreter=entry-point=wider 2>&1 | FileCheck %s --check-prefix=WIDER

// Values that are computed where they are used, at their position in a row.
#all = affine_set<(n, j)[N, E] : (n >= 0, N - 1 - n >= 0, j >= 0, E - 1 - j >= 0)>
#row = affine_set<(n, j)[N, E, b, e] : (j - b >= 0, e - 1 - j >= 0)>
#n = affine_map<(n, j)[N, E] -> (n)>
#next = affine_map<(n, j)[N, E] -> (n + 1)>
#j = affine_map<(n, j)[N, E] -> (j)>
#place = affine_map<(n, j)[N, E, b, e] -> (j - b)>
#put = affine_map<(n, j)[N, E, b, e, v] -> (j - b)>

module attributes {transform.with_named_sequence} {
// CHECK-LABEL: poly.kernel @rows(
// CHECK-NOT:     poly.array
// CHECK:         poly.compute @use dims ["n", "j"] domain [#{{.*}}] where #{{.*}} reads(%arg0[#{{.*}}], %arg0[#{{.*}}], %arg1[#[[J:.*]]] : memref<?xi32>, memref<?xi32>, memref<?xf32>) writes(%arg2[#[[J]]]
// CHECK:           %[[R:.*]] = arith.addf
// CHECK:           arith.mulf %[[R]], %[[R]]
poly.kernel @rows(%starts: memref<?xi32> {poly.monotonic}, %x: memref<?xf32>, %y: memref<?xf32>, %N: index, %E: index) {
  %t = poly.array (%E) : memref<?xf32>
  poly.compute @make dims ["n", "j"] domain [#all] where #row
      reads(%starts[#n], %starts[#next], %x[#j] : memref<?xi32>, memref<?xi32>, memref<?xf32>)
      writes(%t[#put] : memref<?xf32>) {
  ^bb0(%b: i32, %e: i32, %v: f32):
    %r = arith.addf %v, %v : f32
    poly.yield %r : f32
  }
  poly.compute @use dims ["n", "j"] domain [#all] where #row
      reads(%starts[#n], %starts[#next], %t[#place] : memref<?xi32>, memref<?xi32>, memref<?xf32>)
      writes(%y[#j] : memref<?xf32>) interleaved 1 {
  ^bb0(%b: i32, %e: i32, %v: f32):
    %r = arith.mulf %v, %v : f32
    poly.yield %r : f32
  }
}

// Here each row has been overwritten by later ones before it is used.
poly.kernel @later_rows(%starts: memref<?xi32> {poly.monotonic}, %x: memref<?xf32>, %y: memref<?xf32>, %N: index, %E: index) {
  %t = poly.array (%E) : memref<?xf32>
  poly.compute @make dims ["n", "j"] domain [#all] where #row
      reads(%starts[#n], %starts[#next], %x[#j] : memref<?xi32>, memref<?xi32>, memref<?xf32>)
      writes(%t[#put] : memref<?xf32>) {
  ^bb0(%b: i32, %e: i32, %v: f32):
    poly.yield %v : f32
  }
  poly.compute @use dims ["n", "j"] domain [#all] where #row
      reads(%starts[#n], %starts[#next], %t[#place] : memref<?xi32>, memref<?xi32>, memref<?xf32>)
      writes(%y[#j] : memref<?xf32>) {
  ^bb0(%b: i32, %e: i32, %v: f32):
    poly.yield %v : f32
  }
}

// The other row has been counted from its own start.
poly.kernel @next_row_rows(%starts: memref<?xi32> {poly.monotonic}, %x: memref<?xf32>, %y: memref<?xf32>, %N: index, %E: index) {
  %t = poly.array (%E) : memref<?xf32>
  poly.compute @make dims ["n", "j"] domain [#all] where #row
      reads(%starts[#n], %starts[#next], %x[#j] : memref<?xi32>, memref<?xi32>, memref<?xf32>)
      writes(%t[#put] : memref<?xf32>) {
  ^bb0(%b: i32, %e: i32, %v: f32):
    poly.yield %v : f32
  }
  poly.compute @use dims ["n", "j"] domain [#all] where #row
      reads(%starts[#n], %starts[#next], %t[affine_map<(n, j)[N, E, b, e] -> (j - e)>] : memref<?xi32>, memref<?xi32>, memref<?xf32>)
      writes(%y[#j] : memref<?xf32>) interleaved 1 {
  ^bb0(%b: i32, %e: i32, %v: f32):
    poly.yield %v : f32
  }
}

// Not all that is used has been written in this row.
poly.kernel @wider_rows(%starts: memref<?xi32> {poly.monotonic}, %x: memref<?xf32>, %y: memref<?xf32>, %N: index, %E: index) {
  %t = poly.array (%E) : memref<?xf32>
  poly.compute @make dims ["n", "j"] domain [#all] where affine_set<(n, j)[N, E, b, e] : (j - b - 1 >= 0, e - 1 - j >= 0)>
      reads(%starts[#n], %starts[#next], %x[#j] : memref<?xi32>, memref<?xi32>, memref<?xf32>)
      writes(%t[#put] : memref<?xf32>) {
  ^bb0(%b: i32, %e: i32, %v: f32):
    poly.yield %v : f32
  }
  poly.compute @use dims ["n", "j"] domain [#all] where #row
      reads(%starts[#n], %starts[#next], %t[#place] : memref<?xi32>, memref<?xi32>, memref<?xf32>)
      writes(%y[#j] : memref<?xf32>) interleaved 1 {
  ^bb0(%b: i32, %e: i32, %v: f32):
    poly.yield %v : f32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @rows::@make of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.inline %p : !transform.any_op
  transform.yield
}

// LATER: error: 'transform.poly.inline' op expects @make not to write what read 2 of @use takes from array #0 again before it is used
transform.named_sequence @later(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @later_rows::@make of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.inline %p : !transform.any_op
  transform.yield
}

// NEXT: error: 'transform.poly.inline' op expects a point at which @make reads the same values as @use and writes what read 2 of @use takes from array #0
transform.named_sequence @next_row(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @next_row_rows::@make of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.inline %p : !transform.any_op
  transform.yield
}

// WIDER: error: 'transform.poly.inline' op expects a point at which @make reads the same values as @use
transform.named_sequence @wider(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @wider_rows::@make of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.inline %p : !transform.any_op
  transform.yield
}
}
