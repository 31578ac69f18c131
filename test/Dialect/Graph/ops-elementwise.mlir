// RUN: espalier-opt %s | espalier-opt | FileCheck %s
// RUN: espalier-opt %s -mlir-print-op-generic | espalier-opt | FileCheck %s

// CHECK-LABEL: @abs(
func.func @abs(%x: tensor<?x3xf32>) {
  // CHECK: graph.abs %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = graph.abs %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @acos(
func.func @acos(%x: tensor<?x3xf32>) {
  // CHECK: graph.acos %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = graph.acos %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @acosh(
func.func @acosh(%x: tensor<?x3xf32>) {
  // CHECK: graph.acosh %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = graph.acosh %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @asin(
func.func @asin(%x: tensor<?x3xf32>) {
  // CHECK: graph.asin %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = graph.asin %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @asinh(
func.func @asinh(%x: tensor<?x3xf32>) {
  // CHECK: graph.asinh %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = graph.asinh %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @atan(
func.func @atan(%x: tensor<?x3xf32>) {
  // CHECK: graph.atan %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = graph.atan %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @atanh(
func.func @atanh(%x: tensor<?x3xf32>) {
  // CHECK: graph.atanh %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = graph.atanh %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @ceil(
func.func @ceil(%x: tensor<?x3xf32>) {
  // CHECK: graph.ceil %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = graph.ceil %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @cos(
func.func @cos(%x: tensor<?x3xf32>) {
  // CHECK: graph.cos %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = graph.cos %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @cosh(
func.func @cosh(%x: tensor<?x3xf32>) {
  // CHECK: graph.cosh %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = graph.cosh %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @erf(
func.func @erf(%x: tensor<?x3xf32>) {
  // CHECK: graph.erf %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = graph.erf %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @exp(
func.func @exp(%x: tensor<?x3xf32>) {
  // CHECK: graph.exp %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = graph.exp %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @floor(
func.func @floor(%x: tensor<?x3xf32>) {
  // CHECK: graph.floor %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = graph.floor %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @log(
func.func @log(%x: tensor<?x3xf32>) {
  // CHECK: graph.log %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = graph.log %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @neg(
func.func @neg(%x: tensor<?x3xf32>) {
  // CHECK: graph.neg %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = graph.neg %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @reciprocal(
func.func @reciprocal(%x: tensor<?x3xf32>) {
  // CHECK: graph.reciprocal %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = graph.reciprocal %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @relu(
func.func @relu(%x: tensor<?x3xf32>) {
  // CHECK: graph.relu %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = graph.relu %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @round(
func.func @round(%x: tensor<?x3xf32>) {
  // CHECK: graph.round %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = graph.round %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @sigmoid(
func.func @sigmoid(%x: tensor<?x3xf32>) {
  // CHECK: graph.sigmoid %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = graph.sigmoid %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @sign(
func.func @sign(%x: tensor<?x3xf32>) {
  // CHECK: graph.sign %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = graph.sign %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @sin(
func.func @sin(%x: tensor<?x3xf32>) {
  // CHECK: graph.sin %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = graph.sin %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @silu(
func.func @silu(%x: tensor<?x3xf32>) {
  // CHECK: graph.silu %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = graph.silu %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @sinh(
func.func @sinh(%x: tensor<?x3xf32>) {
  // CHECK: graph.sinh %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = graph.sinh %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @softplus(
func.func @softplus(%x: tensor<?x3xf32>) {
  // CHECK: graph.softplus %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = graph.softplus %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @hard_swish(
func.func @hard_swish(%x: tensor<?x3xf32>) {
  // CHECK: graph.hard_swish %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = graph.hard_swish %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @sqrt(
func.func @sqrt(%x: tensor<?x3xf32>) {
  // CHECK: graph.sqrt %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = graph.sqrt %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @tan(
func.func @tan(%x: tensor<?x3xf32>) {
  // CHECK: graph.tan %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = graph.tan %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @tanh(
func.func @tanh(%x: tensor<?x3xf32>) {
  // CHECK: graph.tanh %{{.*}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = graph.tanh %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @is_nan(
func.func @is_nan(%x: tensor<2xf32>) {
  // CHECK: graph.is_nan %{{.*}} : (tensor<2xf32>) -> tensor<2xi1>
  %r = graph.is_nan %x : (tensor<2xf32>) -> tensor<2xi1>
  return
}

// CHECK-LABEL: @not(
func.func @not(%x: tensor<2xi1>) {
  // CHECK: graph.not %{{.*}} : (tensor<2xi1>) -> tensor<2xi1>
  %r = graph.not %x : (tensor<2xi1>) -> tensor<2xi1>
  return
}

// CHECK-LABEL: @gelu(
func.func @gelu(%x: tensor<f16>) {
  // CHECK: graph.gelu %{{.*}} {approximate = #graph.gelu<tanh>} : (tensor<f16>) -> tensor<f16>
  %r = graph.gelu %x {approximate = #graph.gelu<tanh>} : (tensor<f16>) -> tensor<f16>
  return
}

// CHECK-LABEL: @leaky_relu(
func.func @leaky_relu(%x: tensor<2xbf16>) {
  // CHECK: graph.leaky_relu %{{.*}} {alpha = 1.000000e-01 : f64} : (tensor<2xbf16>) -> tensor<2xbf16>
  %r = graph.leaky_relu %x {alpha = 1.000000e-01 : f64} : (tensor<2xbf16>) -> tensor<2xbf16>
  return
}

// CHECK-LABEL: @elu(
func.func @elu(%x: tensor<2xf64>) {
  // CHECK: graph.elu %{{.*}} {alpha = 1.000000e+00 : f64} : (tensor<2xf64>) -> tensor<2xf64>
  %r = graph.elu %x {alpha = 1.000000e+00 : f64} : (tensor<2xf64>) -> tensor<2xf64>
  return
}

// CHECK-LABEL: @hard_sigmoid(
func.func @hard_sigmoid(%x: tensor<2xf32>) {
  // CHECK: graph.hard_sigmoid %{{.*}} {alpha = 2.000000e-01 : f64, beta = 5.000000e-01 : f64} : (tensor<2xf32>) -> tensor<2xf32>
  %r = graph.hard_sigmoid %x {alpha = 2.000000e-01 : f64, beta = 5.000000e-01 : f64} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// CHECK-LABEL: @cast(
func.func @cast(%x: tensor<2xf32>) {
  // CHECK: graph.cast %{{.*}} {to = ui8} : (tensor<2xf32>) -> tensor<2xui8>
  %r = graph.cast %x {to = ui8} : (tensor<2xf32>) -> tensor<2xui8>
  return
}

// CHECK-LABEL: @add(
func.func @add(%a: tensor<?x3xf32>, %b: tensor<3xf32>) {
  // CHECK: graph.add %{{.*}}, %{{.*}} : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  %r = graph.add %a, %b : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @sub(
func.func @sub(%a: tensor<?x3xf32>, %b: tensor<3xf32>) {
  // CHECK: graph.sub %{{.*}}, %{{.*}} : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  %r = graph.sub %a, %b : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @mul(
func.func @mul(%a: tensor<?x3xf32>, %b: tensor<3xf32>) {
  // CHECK: graph.mul %{{.*}}, %{{.*}} : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  %r = graph.mul %a, %b : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @div(
func.func @div(%a: tensor<?x3xf32>, %b: tensor<3xf32>) {
  // CHECK: graph.div %{{.*}}, %{{.*}} : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  %r = graph.div %a, %b : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @pow(
func.func @pow(%a: tensor<?x3xf32>, %b: tensor<3xf32>) {
  // CHECK: graph.pow %{{.*}}, %{{.*}} : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  %r = graph.pow %a, %b : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @max(
func.func @max(%a: tensor<?x3xf32>, %b: tensor<3xf32>) {
  // CHECK: graph.max %{{.*}}, %{{.*}} : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  %r = graph.max %a, %b : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @min(
func.func @min(%a: tensor<?x3xf32>, %b: tensor<3xf32>) {
  // CHECK: graph.min %{{.*}}, %{{.*}} : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  %r = graph.min %a, %b : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @mod(
func.func @mod(%a: tensor<?x3xf32>, %b: tensor<3xf32>) {
  // CHECK: graph.mod %{{.*}}, %{{.*}} : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  %r = graph.mod %a, %b : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @rem(
func.func @rem(%a: tensor<?x3xf32>, %b: tensor<3xf32>) {
  // CHECK: graph.rem %{{.*}}, %{{.*}} : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  %r = graph.rem %a, %b : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @prelu(
func.func @prelu(%a: tensor<?x3xf32>, %b: tensor<3xf32>) {
  // CHECK: graph.prelu %{{.*}}, %{{.*}} : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  %r = graph.prelu %a, %b : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @and(
func.func @and(%a: tensor<2x1xi8>, %b: tensor<3xi8>) {
  // CHECK: graph.and %{{.*}}, %{{.*}} : (tensor<2x1xi8>, tensor<3xi8>) -> tensor<2x3xi8>
  %r = graph.and %a, %b : (tensor<2x1xi8>, tensor<3xi8>) -> tensor<2x3xi8>
  return
}

// CHECK-LABEL: @or(
func.func @or(%a: tensor<2x1xi8>, %b: tensor<3xi8>) {
  // CHECK: graph.or %{{.*}}, %{{.*}} : (tensor<2x1xi8>, tensor<3xi8>) -> tensor<2x3xi8>
  %r = graph.or %a, %b : (tensor<2x1xi8>, tensor<3xi8>) -> tensor<2x3xi8>
  return
}

// CHECK-LABEL: @xor(
func.func @xor(%a: tensor<2x1xi8>, %b: tensor<3xi8>) {
  // CHECK: graph.xor %{{.*}}, %{{.*}} : (tensor<2x1xi8>, tensor<3xi8>) -> tensor<2x3xi8>
  %r = graph.xor %a, %b : (tensor<2x1xi8>, tensor<3xi8>) -> tensor<2x3xi8>
  return
}

// CHECK-LABEL: @equal(
func.func @equal(%a: tensor<2xi64>, %b: tensor<i64>) {
  // CHECK: graph.equal %{{.*}}, %{{.*}} : (tensor<2xi64>, tensor<i64>) -> tensor<2xi1>
  %r = graph.equal %a, %b : (tensor<2xi64>, tensor<i64>) -> tensor<2xi1>
  return
}

// CHECK-LABEL: @less(
func.func @less(%a: tensor<2xi64>, %b: tensor<i64>) {
  // CHECK: graph.less %{{.*}}, %{{.*}} : (tensor<2xi64>, tensor<i64>) -> tensor<2xi1>
  %r = graph.less %a, %b : (tensor<2xi64>, tensor<i64>) -> tensor<2xi1>
  return
}

// CHECK-LABEL: @less_equal(
func.func @less_equal(%a: tensor<2xi64>, %b: tensor<i64>) {
  // CHECK: graph.less_equal %{{.*}}, %{{.*}} : (tensor<2xi64>, tensor<i64>) -> tensor<2xi1>
  %r = graph.less_equal %a, %b : (tensor<2xi64>, tensor<i64>) -> tensor<2xi1>
  return
}

// CHECK-LABEL: @greater(
func.func @greater(%a: tensor<2xi64>, %b: tensor<i64>) {
  // CHECK: graph.greater %{{.*}}, %{{.*}} : (tensor<2xi64>, tensor<i64>) -> tensor<2xi1>
  %r = graph.greater %a, %b : (tensor<2xi64>, tensor<i64>) -> tensor<2xi1>
  return
}

// CHECK-LABEL: @greater_equal(
func.func @greater_equal(%a: tensor<2xi64>, %b: tensor<i64>) {
  // CHECK: graph.greater_equal %{{.*}}, %{{.*}} : (tensor<2xi64>, tensor<i64>) -> tensor<2xi1>
  %r = graph.greater_equal %a, %b : (tensor<2xi64>, tensor<i64>) -> tensor<2xi1>
  return
}

// CHECK-LABEL: @select(
func.func @select(%c: tensor<2xi1>, %a: tensor<2x2xf32>, %b: tensor<f32>) {
  // CHECK: graph.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2xi1>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %r = graph.select %c, %a, %b : (tensor<2xi1>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return
}
