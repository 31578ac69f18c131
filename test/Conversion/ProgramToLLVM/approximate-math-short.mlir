// RUN: espalier-opt %s -program-approximate-math | FileCheck %s

// CHECK-LABEL: func.func @signs_change_in_single
//       CHECK:   %[[WIDE:.*]] = arith.extf %arg0
//       CHECK:   %[[RESULT:.*]] = arith.negf %[[WIDE]] : vector<16xf32>
//       CHECK:   return %[[RESULT]]
func.func @signs_change_in_single(%v: vector<16xf16>) -> vector<16xf32> {
  %0 = arith.negf %v : vector<16xf16>
  %1 = arith.extf %0 : vector<16xf16> to vector<16xf32>
  // A function, or the pass has nothing to do.
  %2 = math.exp %1 : vector<16xf32>
  return %1 : vector<16xf32>
}

// Rounding keeps the order, and numbers that are f16 already.
// CHECK-LABEL: func.func @maxima_before_rounding
//       CHECK:   %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<16xf32>
//       CHECK:   %[[GREATER:.*]] = arith.cmpf ogt, %[[ZERO]], %arg0 : vector<16xf32>
//       CHECK:   %[[MAX:.*]] = arith.select %[[GREATER]], %[[ZERO]], %arg0
//       CHECK:   %[[SHORT:.*]] = arith.truncf %[[MAX]] : vector<16xf32> to vector<16xf16>
//       CHECK:   return %[[SHORT]]
func.func @maxima_before_rounding(%v: vector<16xf32>) -> vector<16xf16> {
  %zero = arith.constant dense<0.0> : vector<16xf16>
  %0 = arith.truncf %v : vector<16xf32> to vector<16xf16>
  %1 = arith.maximumf %0, %zero : vector<16xf16>
  return %1 : vector<16xf16>
}

// What others read is rounded anyway, and what was f64 is none of f32.
// CHECK-LABEL: func.func @maxima_of_what_is_rounded
//       CHECK:   arith.truncf %arg0
//       CHECK:   arith.cmpf ogt, %{{.*}} : f16
//       CHECK:   arith.truncf %arg1
//       CHECK:   arith.cmpf olt, %{{.*}} : f16
func.func @maxima_of_what_is_rounded(%s: f32, %d: f64) -> (f16, f16, f16) {
  %one = arith.constant 1.0 : f16
  %0 = arith.truncf %s : f32 to f16
  %1 = arith.maximumf %0, %one : f16
  %2 = arith.truncf %d : f64 to f16
  %3 = arith.minimumf %2, %one : f16
  return %0, %1, %3 : f16, f16, f16
}

// CHECK-LABEL: func.func @quotient_by_a_number
//       CHECK:   %[[FACTOR:.*]] = arith.constant dense<0.707182347> : vector<16xf32>
//       CHECK:   %[[WIDE:.*]] = arith.extf %arg0
//       CHECK:   %[[PRODUCT:.*]] = arith.mulf %[[WIDE]], %[[FACTOR]]
//       CHECK:   arith.truncf %[[PRODUCT]]
func.func @quotient_by_a_number(%v: vector<16xf16>) -> vector<16xf16> {
  %root = arith.constant dense<1.4140625> : vector<16xf32>
  %0 = arith.extf %v : vector<16xf16> to vector<16xf32>
  %1 = arith.divf %0, %root : vector<16xf32>
  %2 = arith.truncf %1 : vector<16xf32> to vector<16xf16>
  return %2 : vector<16xf16>
}

// By 26, some subnormal quotients are rounded otherwise. 0.1 is not f16, and a
// sum has more digits; a quotient that is f32 has all of its own.
// CHECK-LABEL: func.func @quotients_stay
// CHECK-COUNT-5: arith.divf
//     CHECK-NOT: arith.mulf
func.func @quotients_stay(%h: f16, %s: f32) -> (f16, f16, f16, f16, f32) {
  %c26 = arith.constant 26.0 : f32
  %tenth = arith.constant 0.1 : f32
  %three = arith.constant 3.0 : f32
  %zero = arith.constant 0.0 : f32
  %0 = arith.extf %h : f16 to f32
  %1 = arith.divf %0, %c26 : f32
  %2 = arith.truncf %1 : f32 to f16
  %3 = arith.divf %0, %tenth : f32
  %4 = arith.truncf %3 : f32 to f16
  %5 = arith.divf %s, %three : f32
  %6 = arith.truncf %5 : f32 to f16
  %7 = arith.divf %0, %zero : f32
  %8 = arith.truncf %7 : f32 to f16
  %9 = arith.divf %0, %three : f32
  return %2, %4, %6, %8, %9 : f16, f16, f16, f16, f32
}
