// RUN: espalier-opt %s -transform-interpreter | FileCheck %s
// RUN: sed 's/poly[.]contract/poly.privatize/; s/poly[.]fold /poly.fold_storage /' %s | espalier-opt -transform-interpreter > %t.new
// RUN: espalier-opt %s -transform-interpreter > %t.old
// RUN: sed 's/poly[.]contract/poly.privatize/; s/poly[.]fold /poly.fold_storage /' %t.old | diff - %t.new

// Commands under the names that they had, in scripts of that time.

#i = affine_map<(t, i) -> (t, i)>
#all = affine_set<(t, i) : (t >= 0, 7 - t >= 0, i >= 0, 15 - i >= 0)>
!m = memref<8x16xf32>

module attributes {transform.with_named_sequence} {
// CHECK-LABEL: poly.kernel @k
// CHECK-COUNT-2: poly.array {{.*}}storage
poly.kernel @k(%A: !m, %B: !m) {
  %s = poly.array : !m
  %t = poly.array : !m
  poly.compute @first dims ["t", "i"] domain [#all] reads(%A[#i] : !m) writes(%s[#i] : !m) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @second dims ["t", "i"] domain [#all] reads(%s[#i] : !m) writes(%t[#i] : !m) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @last dims ["t", "i"] domain [#all] reads(%t[#i] : !m) writes(%B[#i] : !m) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %first = transform.poly.computation @k::@first of %module : (!transform.any_op) -> !transform.any_op
  %second = transform.poly.computation @k::@second of %module : (!transform.any_op) -> !transform.any_op
  %last = transform.poly.computation @k::@last of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fuse %first with %second loops 2 : !transform.any_op, !transform.any_op
  transform.poly.fuse %second with %last loops 2 : !transform.any_op, !transform.any_op
  transform.poly.contract %first loop "i" : !transform.any_op
  %t = transform.poly.written_array of %second : (!transform.any_op) -> !transform.any_op
  transform.poly.fold %t index 0 places 1 : !transform.any_op
  transform.yield
}
}
