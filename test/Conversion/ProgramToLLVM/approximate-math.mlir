// RUN: espalier-opt %s -program-approximate-math | FileCheck %s

// CHECK-LABEL: func.func @accurate_polynomials
//   CHECK-NOT:   math.exp
//   CHECK-NOT:   math.tanh
//   CHECK-NOT:   math.erf
//   CHECK-NOT:   math.log
//       CHECK:   return
func.func @accurate_polynomials(%v: vector<16xf32>, %s: f32) -> (vector<16xf32>, f32) {
  %0 = math.exp %v : vector<16xf32>
  %1 = math.tanh %0 : vector<16xf32>
  %2 = math.erf %1 : vector<16xf32>
  %3 = math.log %s : f32
  return %2, %3 : vector<16xf32>, f32
}

// Where the argument is too small or too large, a power of two is zero or
// infinity.
// CHECK-LABEL: func.func @exponential
//       CHECK:   arith.cmpf ogt
//       CHECK:   arith.select
//       CHECK:   arith.cmpf olt
//       CHECK:   arith.select
//   CHECK-NOT:   arith.select
//       CHECK:   arith.shli
//       CHECK:   %[[RESULT:.*]] = arith.mulf
//       CHECK:   return %[[RESULT]]
func.func @exponential(%v: vector<16xf32>) -> vector<16xf32> {
  %0 = math.exp %v : vector<16xf32>
  return %0 : vector<16xf32>
}

// No function of f32 is a call, and none is made of one that is.
// CHECK-LABEL: func.func @hyperbolic_and_inverse
//   CHECK-NOT:   math.{{a?(sin|cos|tan)h?|expm1|log1p|exp|log}}
//       CHECK:   return
func.func @hyperbolic_and_inverse(%v: vector<16xf32>, %s: f32)
    -> (vector<16xf32>, f32) {
  %0 = math.expm1 %v : vector<16xf32>
  %1 = math.log1p %0 : vector<16xf32>
  %2 = math.sinh %1 : vector<16xf32>
  %3 = math.cosh %2 : vector<16xf32>
  %4 = math.asinh %3 : vector<16xf32>
  %5 = math.acosh %4 : vector<16xf32>
  %6 = math.atanh %5 : vector<16xf32>
  %7 = math.asin %6 : vector<16xf32>
  %8 = math.acos %7 : vector<16xf32>
  %9 = math.atan %8 : vector<16xf32>
  %10 = math.tanh %9 : vector<16xf32>
  %11 = math.atan %s : f32
  %12 = math.acosh %11 : f32
  return %10, %12 : vector<16xf32>, f32
}

// A quarter of a turn ahead, the tangent is -1 over what it was; large lanes
// are the library's.
// CHECK-LABEL: func.func @tangent
//       CHECK:   scf.if
//       CHECK:     math.tan %{{.*}} : f64
//       CHECK:   } else {
//       CHECK:     %[[TURNED:.*]] = arith.trunci
//       CHECK:     %[[MINUS:.*]] = arith.negf %[[COSINE:.*]] :
//       CHECK:     %[[OVER:.*]] = arith.select %[[TURNED]], %[[MINUS]], %[[SINE:.*]] :
//       CHECK:     %[[UNDER:.*]] = arith.select %[[TURNED]], %[[SINE]], %[[COSINE]] :
//       CHECK:     arith.divf %[[OVER]], %[[UNDER]]
func.func @tangent(%v: vector<8xf32>) -> vector<8xf32> {
  %0 = math.tan %v : vector<8xf32>
  return %0 : vector<8xf32>
}

// The function of a small argument keeps the sign of a zero, and that of a large
// one has the argument's. f64 is the library's.
// CHECK-LABEL: func.func @error_function
//   CHECK-NOT:   arith.divf
//       CHECK:   %[[NEAR:.*]] = math.fma %arg0, %{{.*}}, %arg0 : vector<16xf32>
//       CHECK:   %[[FAR:.*]] = math.copysign %{{.*}}, %arg0 : vector<16xf32>
//       CHECK:   arith.select %{{.*}}, %[[NEAR]], %[[FAR]]
//       CHECK:   math.erf %arg1 : f64
func.func @error_function(%v: vector<16xf32>, %d: f64) -> (vector<16xf32>, f64) {
  %0 = math.erf %v : vector<16xf32>
  %1 = math.erf %d : f64
  return %0, %1 : vector<16xf32>, f64
}

// f64 needs more digits, and the library is as fast for a scalar.
// CHECK-LABEL: func.func @others_stay
//       CHECK:   math.sin %{{.*}} : f32
//       CHECK:   math.exp %{{.*}} : f64
func.func @others_stay(%s: f32, %d: f64) -> (f32, f64) {
  %0 = math.sin %s : f32
  %1 = math.exp %d : f64
  return %0, %1 : f32, f64
}

// Where one lane is too large for the polynomials, the library computes all.
// CHECK-LABEL: func.func @large_arguments_of_sine
//       CHECK:   %[[ANY:.*]] = vector.reduction <or>
//       CHECK:   scf.if %[[ANY]]
//       CHECK:     scf.for
//       CHECK:       math.cos %{{.*}} : f64
//       CHECK:   } else {
//   CHECK-NOT:     math.cos
//       CHECK:   return
func.func @large_arguments_of_sine(%v: vector<8xf32>) -> vector<8xf32> {
  %0 = math.cos %v : vector<8xf32>
  return %0 : vector<8xf32>
}

// CHECK-LABEL: func.func @half_is_computed_in_single
//       CHECK:   arith.extf %{{.*}} : f16 to f32
//       CHECK:   math.sin %{{.*}} : f32
//       CHECK:   arith.truncf %{{.*}} : f32 to f16
func.func @half_is_computed_in_single(%h: f16) -> f16 {
  %0 = math.sin %h : f16
  return %0 : f16
}

// CHECK-LABEL: func.func @small_powers_are_products
//   CHECK-NOT:   math.powf
//       CHECK:   arith.mulf
func.func @small_powers_are_products(%s: f32) -> f32 {
  %two = arith.constant 2.0 : f32
  %0 = math.powf %s, %two : f32
  return %0 : f32
}

// CHECK-LABEL: func.func @maxima_keep_nan
//       CHECK:   %[[NAN:.*]] = arith.cmpf uno, %arg0, %arg0
//       CHECK:   %[[ANY:.*]] = vector.reduction <or>, %[[NAN]]
//       CHECK:   %[[NUMBERS:.*]] = vector.reduction <maxnumf>, %arg0 fastmath<nnan,nsz>
//       CHECK:   %[[MAX:.*]] = arith.select %[[ANY]], %{{.*}}, %[[NUMBERS]]
//       CHECK:   llvm.intr.maximum(%arg1, %[[MAX]]) {fastmathFlags = #llvm.fastmath<nsz>}
func.func @maxima_keep_nan(%v: vector<16xf32>, %s: f32) -> f32 {
  %0 = vector.reduction <maximumf>, %v, %s : vector<16xf32> into f32
  return %0 : f32
}

// CHECK-LABEL: func.func @maxima_of_integers_and_half_stay
//       CHECK:   vector.reduction <maximumf>
//       CHECK:   vector.reduction <maxsi>
func.func @maxima_of_integers_and_half_stay(%v: vector<16xf16>, %i: vector<16xi32>) -> (f16, i32) {
  %0 = vector.reduction <maximumf>, %v : vector<16xf16> into f16
  %1 = vector.reduction <maxsi>, %i : vector<16xi32> into i32
  return %0, %1 : f16, i32
}

// What becomes f16 at once has fewer digits: five terms, not seven, and one
// part of a multiple.
// CHECK-LABEL: func.func @exponential_that_is_rounded
// CHECK-COUNT-6: math.fma
//     CHECK-NOT: math.fma
//         CHECK: %[[SUM:.*]] = arith.addf
//         CHECK: %[[RESULT:.*]] = arith.divf %{{.*}}, %[[SUM]]
//         CHECK: arith.truncf %[[RESULT]]
func.func @exponential_that_is_rounded(%v: vector<16xf16>) -> vector<16xf16> {
  %one = arith.constant dense<1.0> : vector<16xf32>
  %0 = arith.extf %v : vector<16xf16> to vector<16xf32>
  %1 = math.exp %0 : vector<16xf32>
  %2 = arith.addf %one, %1 : vector<16xf32>
  %3 = arith.divf %one, %2 : vector<16xf32>
  %4 = arith.truncf %3 : vector<16xf32> to vector<16xf16>
  return %4 : vector<16xf16>
}

// A factor that was f16 has no error.
// CHECK-LABEL: func.func @product_that_is_rounded
// CHECK-COUNT-6: math.fma
//     CHECK-NOT: math.fma
//         CHECK: arith.truncf
func.func @product_that_is_rounded(%v: vector<16xf16>) -> vector<16xf16> {
  %0 = arith.extf %v : vector<16xf16> to vector<16xf32>
  %1 = math.exp %0 : vector<16xf32>
  %2 = arith.mulf %0, %1 : vector<16xf32>
  %3 = arith.truncf %2 : vector<16xf32> to vector<16xf16>
  return %3 : vector<16xf16>
}

// The difference has a greater relative error than its operands, and a sum in
// f32 has all digits.
// CHECK-LABEL: func.func @exponential_with_all_digits
// CHECK-COUNT-9: math.fma
// CHECK-COUNT-9: math.fma
//     CHECK-NOT: math.fma
func.func @exponential_with_all_digits(%v: vector<16xf32>, %w: vector<16xf32>)
    -> (vector<16xf16>, vector<16xf32>) {
  %less = arith.constant dense<-1.0> : vector<16xf32>
  %0 = math.exp %v : vector<16xf32>
  %1 = arith.addf %0, %less : vector<16xf32>
  %2 = arith.truncf %1 : vector<16xf32> to vector<16xf16>
  %3 = math.exp %w : vector<16xf32>
  return %2, %3 : vector<16xf16>, vector<16xf32>
}

// CHECK-LABEL: func.func @error_function_that_is_rounded
//   CHECK-NOT:   arith.divf
//   CHECK-NOT:   math.copysign
// CHECK-COUNT-9: math.fma
//   CHECK-NOT:   math.fma
//       CHECK:   arith.truncf
func.func @error_function_that_is_rounded(%v: vector<16xf32>) -> vector<16xbf16> {
  %0 = math.erf %v : vector<16xf32>
  %1 = arith.truncf %0 : vector<16xf32> to vector<16xbf16>
  return %1 : vector<16xbf16>
}

// What is added to 1 near -1 needs its digits.
// CHECK-LABEL: func.func @error_function_with_all_digits
//       CHECK:   math.copysign
func.func @error_function_with_all_digits(%v: vector<16xf32>) -> vector<16xf16> {
  %one = arith.constant dense<1.0> : vector<16xf32>
  %0 = math.erf %v : vector<16xf32>
  %1 = arith.addf %0, %one : vector<16xf32>
  %2 = arith.truncf %1 : vector<16xf32> to vector<16xf16>
  return %2 : vector<16xf16>
}
