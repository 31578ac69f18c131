// RUN: espalier-opt %s -graph-fold-constants | FileCheck %s

// Element-wise operators: broadcasting, integers, not-a-number, rounding.

// NumPy's alignment at the right.
// CHECK-LABEL: @broadcast_add()
func.func @broadcast_add() -> tensor<2x3xf32> {
  // CHECK: graph.constant dense<{{\[\[}}1.100000e+01, 2.100000e+01, 3.100000e+01], [1.200000e+01, 2.200000e+01, 3.200000e+01{{\]\]}}> : tensor<2x3xf32>
  %a = graph.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %b = graph.constant dense<[10.0, 20.0, 30.0]> : tensor<3xf32>
  %r = graph.add %a, %b : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// 8-bit addition wraps.
// CHECK-LABEL: @integers_wrap()
func.func @integers_wrap() -> tensor<2xi8> {
  // CHECK: graph.constant dense<[-128, 127]> : tensor<2xi8>
  %a = graph.constant dense<[127, -128]> : tensor<2xi8>
  %b = graph.constant dense<[1, -1]> : tensor<2xi8>
  %r = graph.add %a, %b : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  return %r : tensor<2xi8>
}

// 200 is more than 100.
// CHECK-LABEL: @unsigned_max()
func.func @unsigned_max() -> tensor<2xui8> {
  // CHECK: graph.constant dense<[200, 2]> : tensor<2xui8>
  %a = graph.constant dense<[200, 1]> : tensor<2xui8>
  %b = graph.constant dense<[100, 2]> : tensor<2xui8>
  %r = graph.max %a, %b : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xui8>
  return %r : tensor<2xui8>
}

// Towards zero; x / 0 is 0.
// CHECK-LABEL: @div_truncates()
func.func @div_truncates() -> tensor<3xi32> {
  // CHECK: graph.constant dense<[3, -3, 0]> : tensor<3xi32>
  %a = graph.constant dense<[7, -7, 5]> : tensor<3xi32>
  %b = graph.constant dense<[2, 2, 0]> : tensor<3xi32>
  %r = graph.div %a, %b : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  return %r : tensor<3xi32>
}

// CHECK-LABEL: @mod_has_the_sign_of_the_divisor()
func.func @mod_has_the_sign_of_the_divisor() -> tensor<4xi32> {
  // CHECK: graph.constant dense<[1, 2, -2, -1]> : tensor<4xi32>
  %a = graph.constant dense<[7, -7, 7, -7]> : tensor<4xi32>
  %b = graph.constant dense<[3, 3, -3, -3]> : tensor<4xi32>
  %r = graph.mod %a, %b : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// CHECK-LABEL: @rem_has_the_sign_of_the_dividend()
func.func @rem_has_the_sign_of_the_dividend() -> tensor<4xi32> {
  // CHECK: graph.constant dense<[1, -1, 1, -1]> : tensor<4xi32>
  %a = graph.constant dense<[7, -7, 7, -7]> : tensor<4xi32>
  %b = graph.constant dense<[3, 3, -3, -3]> : tensor<4xi32>
  %r = graph.rem %a, %b : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// CHECK-LABEL: @mod_of_reals()
func.func @mod_of_reals() -> tensor<2xf32> {
  // CHECK: graph.constant dense<[1.500000e+00, 5.000000e-01]> : tensor<2xf32>
  %a = graph.constant dense<[5.5, -5.5]> : tensor<2xf32>
  %b = graph.constant dense<[2.0, 2.0]> : tensor<2xf32>
  %r = graph.mod %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// CHECK-LABEL: @max_propagates_nan()
func.func @max_propagates_nan() -> tensor<2xf32> {
  // CHECK: graph.constant dense<[0x7FC00000, 2.000000e+00]> : tensor<2xf32>
  %a = graph.constant dense<[0x7FC00000, 1.0]> : tensor<2xf32>
  %b = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %r = graph.max %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// CHECK-LABEL: @round_half_to_even()
func.func @round_half_to_even() -> tensor<5xf32> {
  // CHECK: graph.constant dense<[0.000000e+00, 2.000000e+00, 2.000000e+00, -0.000000e+00, -2.000000e+00]> : tensor<5xf32>
  %a = graph.constant dense<[0.5, 1.5, 2.5, -0.5, -1.5]> : tensor<5xf32>
  %r = graph.round %a : (tensor<5xf32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// Negative exponents truncate.
// CHECK-LABEL: @pow_of_integers()
func.func @pow_of_integers() -> tensor<3xi32> {
  // CHECK: graph.constant dense<[1024, 0, -27]> : tensor<3xi32>
  %a = graph.constant dense<[2, 2, -3]> : tensor<3xi32>
  %b = graph.constant dense<[10, -1, 3]> : tensor<3xi32>
  %r = graph.pow %a, %b : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  return %r : tensor<3xi32>
}

// CHECK-LABEL: @comparison()
func.func @comparison() -> tensor<3xi1> {
  // CHECK: graph.constant dense<[true, true, false]> : tensor<3xi1>
  %a = graph.constant dense<[1, 2, 3]> : tensor<3xi64>
  %b = graph.constant dense<2> : tensor<i64>
  %r = graph.less_equal %a, %b : (tensor<3xi64>, tensor<i64>) -> tensor<3xi1>
  return %r : tensor<3xi1>
}

// CHECK-LABEL: @not_of_booleans()
func.func @not_of_booleans() -> tensor<2xi1> {
  // CHECK: graph.constant dense<[false, true]> : tensor<2xi1>
  %a = graph.constant dense<[true, false]> : tensor<2xi1>
  %r = graph.not %a : (tensor<2xi1>) -> tensor<2xi1>
  return %r : tensor<2xi1>
}

// CHECK-LABEL: @is_nan()
func.func @is_nan() -> tensor<2xi1> {
  // CHECK: graph.constant dense<[true, false]> : tensor<2xi1>
  %a = graph.constant dense<[0x7FC00000, 1.0]> : tensor<2xf32>
  %r = graph.is_nan %a : (tensor<2xf32>) -> tensor<2xi1>
  return %r : tensor<2xi1>
}

// CHECK-LABEL: @cast_truncates()
func.func @cast_truncates() -> tensor<2xi32> {
  // CHECK: graph.constant dense<[1, -1]> : tensor<2xi32>
  %a = graph.constant dense<[1.9, -1.9]> : tensor<2xf32>
  %r = graph.cast %a {to = i32} : (tensor<2xf32>) -> tensor<2xi32>
  return %r : tensor<2xi32>
}

// CHECK-LABEL: @cast_to_boolean()
func.func @cast_to_boolean() -> tensor<3xi1> {
  // CHECK: graph.constant dense<[false, true, true]> : tensor<3xi1>
  %a = graph.constant dense<[0.0, 0.5, -3.0]> : tensor<3xf32>
  %r = graph.cast %a {to = i1} : (tensor<3xf32>) -> tensor<3xi1>
  return %r : tensor<3xi1>
}

// 1 + 2^-11 lies in the middle of two f16.
// CHECK-LABEL: @cast_rounds_to_nearest()
func.func @cast_rounds_to_nearest() -> tensor<2xf16> {
  // CHECK: graph.constant dense<[1.000000e+00, 1.000980e+00]> : tensor<2xf16>
  %a = graph.constant dense<[1.00048828125, 1.0009765625]> : tensor<2xf32>
  %r = graph.cast %a {to = f16} : (tensor<2xf32>) -> tensor<2xf16>
  return %r : tensor<2xf16>
}

// CHECK-LABEL: @softplus_does_not_overflow()
func.func @softplus_does_not_overflow() -> tensor<2xf32> {
  // CHECK: graph.constant dense<[1.000000e+03, 0.000000e+00]> : tensor<2xf32>
  %a = graph.constant dense<[1000.0, -1000.0]> : tensor<2xf32>
  %r = graph.softplus %a : (tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// CHECK-LABEL: @select()
func.func @select() -> tensor<2xf32> {
  // CHECK: graph.constant dense<[1.000000e+00, 5.000000e+00]> : tensor<2xf32>
  %a = graph.constant dense<[true, false]> : tensor<2xi1>
  %b = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %c = graph.constant dense<5.0> : tensor<f32>
  %r = graph.select %a, %b, %c : (tensor<2xi1>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// CHECK-LABEL: @no_elements()
func.func @no_elements() -> tensor<0x3xf32> {
  // CHECK: graph.constant dense<> : tensor<0x3xf32>
  %a = graph.constant dense<> : tensor<0x3xf32>
  %r = graph.exp %a : (tensor<0x3xf32>) -> tensor<0x3xf32>
  return %r : tensor<0x3xf32>
}

// Angles and areas, and not-a-number outside of the domain.
// CHECK-LABEL: @angles_and_areas()
func.func @angles_and_areas() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %x = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK: graph.constant dense<[1.57079637, 0x7FC00000]> : tensor<2xf32>
  %0 = graph.asin %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.constant dense<[0.785398185, 1.10714877]> : tensor<2xf32>
  %1 = graph.atan %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.constant dense<[0.000000e+00, 1.31695795]> : tensor<2xf32>
  %2 = graph.acosh %x : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: graph.constant dense<[1.17520118, 3.62686038]> : tensor<2xf32>
  %3 = graph.sinh %x : (tensor<2xf32>) -> tensor<2xf32>
  return %0, %1, %2, %3 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
