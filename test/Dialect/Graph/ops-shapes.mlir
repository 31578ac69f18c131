// RUN: espalier-opt %s | espalier-opt | FileCheck %s
// RUN: espalier-opt %s -mlir-print-op-generic | espalier-opt | FileCheck %s

// CHECK-LABEL: @transpose(
func.func @transpose(%x: tensor<2x?xf32>) {
  // CHECK: graph.transpose %{{.*}} {permutation = array<i64: 1, 0>} : (tensor<2x?xf32>) -> tensor<?x2xf32>
  %r = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x?xf32>) -> tensor<?x2xf32>
  return
}

// CHECK-LABEL: @reshape(
func.func @reshape(%x: tensor<?x3x4xf32>, %n: index) {
  // CHECK: graph.reshape %{{.*}} to [%{{.*}}, 12] : (tensor<?x3x4xf32>) -> tensor<?x12xf32>
  %r = graph.reshape %x to [%n, 12] : (tensor<?x3x4xf32>) -> tensor<?x12xf32>
  return
}

// CHECK-LABEL: @expand(
func.func @expand(%x: tensor<1x3xf32>, %n: index) {
  // CHECK: graph.expand %{{.*}} to [%{{.*}}, 3] : (tensor<1x3xf32>) -> tensor<?x3xf32>
  %r = graph.expand %x to [%n, 3] : (tensor<1x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @slice(
func.func @slice(%x: tensor<4x?xf32>, %o: index, %n: index) {
  // CHECK: graph.slice %{{.*}} [3, %{{.*}}] [2, %{{.*}}] {steps = array<i64: -1, 2>} : (tensor<4x?xf32>) -> tensor<2x?xf32>
  %r = graph.slice %x [3, %o] [2, %n] {steps = array<i64: -1, 2>} : (tensor<4x?xf32>) -> tensor<2x?xf32>
  return
}

// CHECK-LABEL: @concat(
func.func @concat(%a: tensor<2x3xf32>, %b: tensor<2x?xf32>) {
  // CHECK: graph.concat %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>
  %r = graph.concat %a, %b {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>
  return
}

// CHECK-LABEL: @pad(
func.func @pad(%x: tensor<2x3xf32>, %v: tensor<f32>) {
  // CHECK: graph.pad %{{.*}}, %{{.*}} {high = array<i64: 0, 2>, low = array<i64: 0, 1>, mode = #graph.pad_mode<reflect>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x6xf32>
  %r = graph.pad %x, %v {high = array<i64: 0, 2>, low = array<i64: 0, 1>, mode = #graph.pad_mode<reflect>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x6xf32>
  return
}

// CHECK-LABEL: @tile(
func.func @tile(%x: tensor<2x3xf32>) {
  // CHECK: graph.tile %{{.*}} {repeats = array<i64: 2, 1>} : (tensor<2x3xf32>) -> tensor<4x3xf32>
  %r = graph.tile %x {repeats = array<i64: 2, 1>} : (tensor<2x3xf32>) -> tensor<4x3xf32>
  return
}

// CHECK-LABEL: @gather(
func.func @gather(%x: tensor<100x8xf32>, %i: tensor<2x?xi64>) {
  // CHECK: graph.gather %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<100x8xf32>, tensor<2x?xi64>) -> tensor<2x?x8xf32>
  %r = graph.gather %x, %i {axis = 0 : i64} : (tensor<100x8xf32>, tensor<2x?xi64>) -> tensor<2x?x8xf32>
  return
}

// CHECK-LABEL: @gather_elements(
func.func @gather_elements(%x: tensor<2x8xf32>, %i: tensor<2x3xi32>) {
  // CHECK: graph.gather_elements %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<2x8xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>
  %r = graph.gather_elements %x, %i {axis = 1 : i64} : (tensor<2x8xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: @gather_nd(
func.func @gather_nd(%x: tensor<4x5x6xf32>, %i: tensor<4x7x1xi64>) {
  // CHECK: graph.gather_nd %{{.*}}, %{{.*}} {batch_dims = 1 : i64} : (tensor<4x5x6xf32>, tensor<4x7x1xi64>) -> tensor<4x7x6xf32>
  %r = graph.gather_nd %x, %i {batch_dims = 1 : i64} : (tensor<4x5x6xf32>, tensor<4x7x1xi64>) -> tensor<4x7x6xf32>
  return
}

// CHECK-LABEL: @scatter_elements(
func.func @scatter_elements(%x: tensor<2x8xf32>, %i: tensor<2x3xi64>, %u: tensor<2x3xf32>) {
  // CHECK: graph.scatter_elements %{{.*}}, %{{.*}}, %{{.*}} {axis = 1 : i64, reduction = #graph.scatter_reduction<add>} : (tensor<2x8xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<2x8xf32>
  %r = graph.scatter_elements %x, %i, %u {axis = 1 : i64, reduction = #graph.scatter_reduction<add>} : (tensor<2x8xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<2x8xf32>
  return
}

// CHECK-LABEL: @scatter_nd(
func.func @scatter_nd(%x: tensor<4x5xf32>, %i: tensor<2x1xi64>, %u: tensor<2x5xf32>) {
  // CHECK: graph.scatter_nd %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4x5xf32>, tensor<2x1xi64>, tensor<2x5xf32>) -> tensor<4x5xf32>
  %r = graph.scatter_nd %x, %i, %u : (tensor<4x5xf32>, tensor<2x1xi64>, tensor<2x5xf32>) -> tensor<4x5xf32>
  return
}

// CHECK-LABEL: @constant(
func.func @constant() {
  // CHECK: graph.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  %r = graph.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  return
}

// CHECK-LABEL: @constant_resource(
func.func @constant_resource() {
  // CHECK: graph.constant dense_resource<weights> : tensor<2xf32>
  %r = graph.constant dense_resource<weights> : tensor<2xf32>
  return
}

// CHECK-LABEL: @fill(
func.func @fill(%v: tensor<f32>, %n: index) {
  // CHECK: graph.fill %{{.*}} to [%{{.*}}, 4] : (tensor<f32>) -> tensor<?x4xf32>
  %r = graph.fill %v to [%n, 4] : (tensor<f32>) -> tensor<?x4xf32>
  return
}

// CHECK-LABEL: @iota(
func.func @iota(%n: index) {
  // CHECK: graph.iota [4, %{{.*}}] {axis = 1 : i64, element_type = i64} : tensor<4x?xi64>
  %r = graph.iota [4, %n] {axis = 1 : i64, element_type = i64} : tensor<4x?xi64>
  return
}

// CHECK-LABEL: @const_one(
func.func @const_one(%n: index) {
  // CHECK: graph.const_one [%{{.*}}] {element_type = f32} : tensor<?xf32>
  %r = graph.const_one [%n] {element_type = f32} : tensor<?xf32>
  return
}

// CHECK-LABEL: @const_imm(
func.func @const_imm() {
  // CHECK: graph.const_imm [4, 4] {element_type = f32} : tensor<4x4xf32>
  %r = graph.const_imm [4, 4] {element_type = f32} : tensor<4x4xf32>
  return
}

// CHECK-LABEL: @const_iconv(
func.func @const_iconv() {
  // CHECK: graph.const_iconv [8, 8, 3, 3] {element_type = f32} : tensor<8x8x3x3xf32>
  %r = graph.const_iconv [8, 8, 3, 3] {element_type = f32} : tensor<8x8x3x3xf32>
  return
}

// CHECK-LABEL: @const_pool(
func.func @const_pool() {
  // CHECK: graph.const_pool [8, 1, 3, 3] {element_type = f32} : tensor<8x1x3x3xf32>
  %r = graph.const_pool [8, 1, 3, 3] {element_type = f32} : tensor<8x1x3x3xf32>
  return
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F00000040"
    }
  }
#-}
