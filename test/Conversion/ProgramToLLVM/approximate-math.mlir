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

// MLIR's sine is wrong for large arguments, and f64 needs more digits.
// CHECK-LABEL: func.func @others_stay
//       CHECK:   math.sin
//       CHECK:   math.exp %{{.*}} : f64
func.func @others_stay(%v: vector<16xf32>, %d: f64) -> (vector<16xf32>, f64) {
  %0 = math.sin %v : vector<16xf32>
  %1 = math.exp %d : f64
  return %0, %1 : vector<16xf32>, f64
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
