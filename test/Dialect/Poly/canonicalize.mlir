// RUN: espalier-opt %s -canonicalize | FileCheck %s

// A kernel holds no constants: those of a computation stay in its body, folded
// ones too.
// CHECK-LABEL: poly.kernel @constants_stay_in_the_body
// CHECK-NEXT:    poly.compute
// CHECK-NEXT:    ^bb0(%[[X:.*]]: f32):
// CHECK-NEXT:      %[[THREE:.*]] = arith.constant 3.0
// CHECK-NEXT:      %[[Y:.*]] = arith.addf %[[X]], %[[THREE]]
// CHECK-NEXT:      poly.yield %[[Y]]
poly.kernel @constants_stay_in_the_body(%A: memref<8xf32>, %B: memref<8xf32>) {
  poly.compute @shift domain [affine_set<(i) : (i >= 0, 7 - i >= 0)>]
      reads(%A[affine_map<(i) -> (i)>] : memref<8xf32>)
      writes(%B[affine_map<(i) -> (i)>] : memref<8xf32>) {
  ^bb0(%x: f32):
    %one = arith.constant 1.0 : f32
    %two = arith.constant 2.0 : f32
    %three = arith.addf %one, %two : f32
    %y = arith.addf %x, %three : f32
    poly.yield %y : f32
  }
}
