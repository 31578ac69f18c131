// RUN: espalier-opt %s -split-input-file -convert-graph-to-poly -poly-form-kernels -poly-store-in-place -poly-name-kernels | FileCheck %s

// The scale is 4 / sqrt(3 + 1) and the shift 1 - 2 * 2; what is left is one
// kernel on the input.
// CHECK-DAG: memref.global "private" constant @[[SCALE:.*]] : memref<3xf32> = dense<[2.000000e+00, 4.000000e+00, 6.000000e+00]>
// CHECK-DAG: memref.global "private" constant @[[SHIFT:.*]] : memref<3xf32> = dense<[-3.000000e+00, -8.000000e+00, -1.700000e+01]>
// CHECK-COUNT-1: poly.kernel
// CHECK-NOT: poly.kernel
func.func @main(%x: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  %s = graph.constant dense<[4.0, 8.0, 12.0]> : tensor<3xf32>
  %b = graph.constant dense<[1.0, 0.0, 1.0]> : tensor<3xf32>
  %m = graph.constant dense<[2.0, 2.0, 3.0]> : tensor<3xf32>
  %v = graph.constant dense<[3.0, 3.0, 3.0]> : tensor<3xf32>
  %r = graph.batch_norm %x, %s, %b, %m, %v {epsilon = 1.0 : f64}
      : (tensor<2x3x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
      -> tensor<2x3x5xf32>
  return %r : tensor<2x3x5xf32>
}

// -----

// Every function rounds to f32, as at run time: 1 + 2^-12, squared, loses its
// last digit, so that 2^-11 is left and not 2^-11 + 2^-24.
// CHECK: memref.global {{.*}} : memref<2xf32> = dense<[4.88281{{.*}}E-4, 0.000000e+00]>
func.func @main(%x: tensor<5x2xf32>) -> tensor<5x2xf32> {
  %a = graph.constant dense<[1.000244140625, 1.0]> : tensor<2xf32>
  %one = graph.constant dense<1.0> : tensor<1xf32>
  %0 = graph.mul %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = graph.sub %0, %one : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
  %r = graph.add %x, %1 : (tensor<5x2xf32>, tensor<2xf32>) -> tensor<5x2xf32>
  return %r : tensor<5x2xf32>
}

// -----

// Joined operands, a view of them, and indices read from them.
// CHECK: memref.global {{.*}} = dense<{{\[}}[1, 2], [3, 7]]>
// CHECK-NOT: memref.global
// CHECK-COUNT-1: poly.kernel
// CHECK-NOT: poly.kernel
func.func @main(%x: tensor<2x2xi32>) -> tensor<2x2xi32> {
  %a = graph.constant dense<[1, 2, 3]> : tensor<3xi32>
  %b = graph.constant dense<[4, 5, 6, 7]> : tensor<4xi32>
  %i = graph.constant dense<[0, 1, 2, -1]> : tensor<4xi64>
  %0 = graph.concat %a, %b {axis = 0 : i64} : (tensor<3xi32>, tensor<4xi32>) -> tensor<7xi32>
  %1 = graph.gather %0, %i {axis = 0 : i64} : (tensor<7xi32>, tensor<4xi64>) -> tensor<4xi32>
  %2 = graph.reshape %1 to [2, 2] : (tensor<4xi32>) -> tensor<2x2xi32>
  %r = graph.mul %x, %2 : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  return %r : tensor<2x2xi32>
}

// -----

// Reductions, with and without a condition on their points.
// CHECK: memref.global {{.*}} = dense<{{\[\[\[}}3.000000e+00, 6.000000e+00, 5.000000e+00]]]>
func.func @main(%x: tensor<1x1x3xf32>) -> tensor<1x1x3xf32> {
  %a = graph.constant dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32>
  %w = graph.constant dense<1.0> : tensor<1x1x3xf32>
  %0 = graph.conv %a, %w {strides = array<i64: 1>, pads_low = array<i64: 1>, pads_high = array<i64: 1>,
      dilations = array<i64: 1>, groups = 1 : i64}
      : (tensor<1x1x3xf32>, tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
  %r = graph.add %x, %0 : (tensor<1x1x3xf32>, tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
  return %r : tensor<1x1x3xf32>
}

// -----

// A table that would be more than 4 MiB larger than its operands stays a kernel.
// CHECK-COUNT-2: poly.kernel
func.func @main(%x: tensor<1100x1100xf32>) -> tensor<1100xf32> {
  %a = graph.constant dense<1.5> : tensor<f32>
  %0 = graph.fill %a to [1100, 1100] : (tensor<f32>) -> tensor<1100x1100xf32>
  %1 = graph.cumsum %0 {axis = 1 : i64} : (tensor<1100x1100xf32>) -> tensor<1100x1100xf32>
  %2 = graph.mul %x, %1 : (tensor<1100x1100xf32>, tensor<1100x1100xf32>) -> tensor<1100x1100xf32>
  %r = graph.reduce_sum %2 {axes = array<i64: 1>} : (tensor<1100x1100xf32>) -> tensor<1100xf32>
  return %r : tensor<1100xf32>
}

// -----

// A sum of many points would take too long; what is moved is not evaluated but
// packed.
// CHECK: memref.global {{.*}} : memref<1x3x16xf32>
// CHECK: poly.kernel
// CHECK: poly.kernel
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<4x3xf32>) -> (tensor<4x5xf32>, tensor<1xf32>) {
    %w = graph.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<5x3xf32>
    %0 = graph.transpose %w {permutation = array<i64: 1, 0>} : (tensor<5x3xf32>) -> tensor<3x5xf32>
    %1 = graph.matmul %x, %0 : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
    %a = graph.constant dense<1.5> : tensor<f32>
    %2 = graph.fill %a to [100000, 1000] : (tensor<f32>) -> tensor<100000x1000xf32>
    %3 = graph.reduce_sum %2 {axes = array<i64: 0>} : (tensor<100000x1000xf32>) -> tensor<1000xf32>
    %4 = graph.reduce_max %3 {axes = array<i64: 0>, keepdims = true} : (tensor<1000xf32>) -> tensor<1xf32>
    return %1, %4 : tensor<4x5xf32>, tensor<1xf32>
  }
}

// -----

// An output is written by a kernel.
// CHECK: poly.kernel
func.func @main() -> tensor<2xf32> {
  %a = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %r = graph.neg %a : (tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
