// RUN: espalier-opt %s -transform-interpreter | FileCheck %s
// RUN: not espalier-opt %s -transform-interpreter=entry-point=none 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=shared 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: not espalier-opt %s -transform-interpreter=entry-point=begin 2>&1 | FileCheck %s --check-prefix=BEGIN
// RUN: not espalier-opt %s -transform-interpreter=entry-point=read 2>&1 | FileCheck %s --check-prefix=READ

#box = affine_set<(i, j)[N] : (i >= 0, N - 1 - i >= 0, j - 2 >= 0, 9 - j >= 0)>
#each = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#down = affine_set<(i)[N] : (i + N - 1 >= 0, -i >= 0)>
#ij = affine_map<(i, j)[N] -> (i, j)>
#i = affine_map<(i)[N] -> (i)>
#up = affine_map<(i)[N] -> (-i)>

module attributes {transform.with_named_sequence} {
// One place for all iterations becomes one for each; then they may run in any
// order.
// CHECK: #[[PLACE:.*]] = affine_map<(d0, d1) -> (d0, d1 - 2)>
// CHECK: #[[EXTENT:.*]] = affine_map<()[s0] -> (s0)>
// CHECK-LABEL: poly.kernel @first
poly.kernel @first(%A: memref<?x?xf32>, %N: index) {
  // CHECK: poly.array : memref<?x?xf32> storage #[[PLACE]] as memref<?x8xf32> extents #[[EXTENT]]
  %t = poly.array stack : memref<?x?xf32> storage affine_map<(i, j) -> ()> as memref<f32>
  %own = poly.array(%N) : memref<?xf32>
  poly.compute @set dims ["i", "j"] domain [#box] reads(%A[#ij] : memref<?x?xf32>) writes(%t[#ij] : memref<?x?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @use dims ["i", "j"] domain [#box] reads(%t[#ij] : memref<?x?xf32>) writes(%A[#ij] : memref<?x?xf32>) interleaved 2 {
  ^bb0(%t0: f32):
    %s = arith.addf %t0, %t0 : f32
    poly.yield %s : f32
  }
  poly.compute @other dims ["i", "j"] domain [#box] reads() writes(%own[affine_map<(i, j)[N] -> (i)>] : memref<?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %set = transform.poly.computation @first::@set of %module : (!transform.any_op) -> !transform.any_op
  %array = transform.poly.written_array of %set : (!transform.any_op) -> !transform.any_op
  transform.poly.unfold %array : !transform.any_op
  transform.poly.fission %set loop "i" : !transform.any_op
  transform.yield
}

// SHARED: error: 'transform.poly.fission' op expects the storage of array #0 to suit the schedule, but elements (0, 2) and (1, 2) are in one place
transform.named_sequence @shared(%module: !transform.any_op {transform.readonly}) {
  %set = transform.poly.computation @first::@set of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fission %set loop "i" : !transform.any_op
  transform.yield
}

// NONE: error: 'transform.poly.unfold' op expects several elements in one place, but array #1 has no storage map
transform.named_sequence @none(%module: !transform.any_op {transform.readonly}) {
  %other = transform.poly.computation @first::@other of %module : (!transform.any_op) -> !transform.any_op
  %array = transform.poly.written_array of %other : (!transform.any_op) -> !transform.any_op
  transform.poly.unfold %array : !transform.any_op
  transform.yield
}

poly.kernel @backwards(%A: memref<?xf32>, %N: index) {
  %t = poly.array stack : memref<?xf32> storage affine_map<(i) -> ()> as memref<f32>
  poly.compute @set dims ["i"] domain [#down] reads(%A[#up] : memref<?xf32>) writes(%t[#i] : memref<?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}

// BEGIN: error: 'transform.poly.unfold' op expects {{.*}} to have first indices that are numbers
transform.named_sequence @begin(%module: !transform.any_op {transform.readonly}) {
  %set = transform.poly.computation @backwards::@set of %module : (!transform.any_op) -> !transform.any_op
  %array = transform.poly.written_array of %set : (!transform.any_op) -> !transform.any_op
  transform.poly.unfold %array : !transform.any_op
  transform.yield
}

poly.kernel @at_a_value(%P: memref<?xi32> {poly.bounded_by = affine_map<()[N] -> (N)>}, %A: memref<?xf32>, %N: index) {
  %t = poly.array stack : memref<?xf32> storage affine_map<(i) -> ()> as memref<f32>
  poly.compute @set dims ["i"] domain [#each] reads(%P[#i], %A[#i] : memref<?xi32>, memref<?xf32>)
      writes(%t[affine_map<(i)[N, p, a] -> (p)>] : memref<?xf32>) {
  ^bb0(%p: i32, %a: f32):
    poly.yield %a : f32
  }
}

// READ: error: 'transform.poly.unfold' op expects affine accesses to array #0, but @set uses it at (d0)[s0, s1, s2] -> (s1)
transform.named_sequence @read(%module: !transform.any_op {transform.readonly}) {
  %set = transform.poly.computation @at_a_value::@set of %module : (!transform.any_op) -> !transform.any_op
  %array = transform.poly.written_array of %set : (!transform.any_op) -> !transform.any_op
  transform.poly.unfold %array : !transform.any_op
  transform.yield
}
}
