// RUN: espalier-opt %s -transform-interpreter -split-input-file -verify-diagnostics | FileCheck %s

#points = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#i = affine_map<(i) -> (i)>

// The array that @last writes is the second one.
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: poly.kernel @arrays
poly.kernel @arrays(%A: memref<8xf32>) {
  // CHECK: poly.array : memref<8xf32>
  // CHECK: poly.array stack : memref<8xf32>
  %a = poly.array : memref<8xf32>
  %b = poly.array : memref<8xf32>
  poly.compute @first dims ["i"] domain [#points] reads() writes(%a[#i] : memref<8xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @last dims ["i"] domain [#points] reads() writes(%A[#i], %b[#i] : memref<8xf32>, memref<8xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z, %z : f32, f32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %last = transform.poly.computation @arrays::@last of %module : (!transform.any_op) -> !transform.any_op
  %b = transform.poly.written_array write 1 of %last : (!transform.any_op) -> !transform.any_op
  transform.poly.place %b stack : !transform.any_op
  transform.yield
}
}

// -----

#points = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#i = affine_map<(i) -> (i)>

module attributes {transform.with_named_sequence} {
poly.kernel @argument(%A: memref<8xf32>) {
  poly.compute @s dims ["i"] domain [#points] reads() writes(%A[#i] : memref<8xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @argument::@s of %module : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{expects @s to write an array of the kernel, but got an argument}}
  %a = transform.poly.written_array of %s : (!transform.any_op) -> !transform.any_op
  transform.yield
}
}

// -----

#points = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#i = affine_map<(i) -> (i)>

module attributes {transform.with_named_sequence} {
poly.kernel @one_write(%A: memref<8xf32>) {
  poly.compute @s dims ["i"] domain [#points] reads() writes(%A[#i] : memref<8xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @one_write::@s of %module : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{expects one of the 1 writes of @s, but got 1}}
  %a = transform.poly.written_array write 1 of %s : (!transform.any_op) -> !transform.any_op
  transform.yield
}
}

// -----

module attributes {transform.with_named_sequence} {
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  // expected-error @below {{expects one poly.compute, but got 1 ops, the first of them a builtin.module}}
  %a = transform.poly.written_array of %module : (!transform.any_op) -> !transform.any_op
  transform.yield
}
}
