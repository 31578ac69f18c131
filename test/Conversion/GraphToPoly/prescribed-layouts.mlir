// RUN: espalier-opt %s -split-input-file -convert-graph-to-poly -poly-form-kernels -poly-store-in-place -poly-name-kernels | FileCheck %s

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>

// A function stores its result in the order that `graph.layout` asks for. It is
// a kernel of its own then, and not computed again by what reads the result.
// CHECK: #[[T:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK: poly.kernel private @matmul_{{[0-9a-f]+}}(%arg0: memref<64x30xf32>, %arg1: memref<2x30x32xf32>, %arg2: memref<64x40xf32>)
// CHECK-NOT: arith.maximumf
// CHECK: poly.kernel private @relu_{{[0-9a-f]+}}(%arg0: memref<64x40xf32>, %arg1: memref<40x64xf32>)
// CHECK:   poly.compute @s0 {{.*}} reads(%arg0[{{.*}}) writes(%arg1[#[[T]]] : memref<40x64xf32>)
// CHECK:     arith.maximumf
// CHECK: poly.kernel private @matmul_{{[0-9a-f]+}}(%arg0: memref<40x64xf32>
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<64x30xf32>) -> tensor<64x1xf32> {
    %w = graph.constant dense_resource<w> : tensor<30x40xf32>
    %v = graph.constant dense_resource<v> : tensor<40x1xf32>
    %0 = graph.matmul %x, %w : (tensor<64x30xf32>, tensor<30x40xf32>) -> tensor<64x40xf32>
    %1 = graph.relu %0 {graph.layout = array<i64: 1, 0>} : (tensor<64x40xf32>) -> tensor<64x40xf32>
    %2 = graph.matmul %1, %v : (tensor<64x40xf32>, tensor<40x1xf32>) -> tensor<64x1xf32>
    return %2 : tensor<64x1xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>

// A transposition that changes nothing but the order is a copy. The sum of a
// product lies as its result: lanes are rows here, and weights are no panels.
// CHECK: #[[T:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK: memref.global {{.*}} : memref<40x4xf32>
// CHECK: poly.kernel private @matmul_{{[0-9a-f]+}}({{.*}}, %arg2: memref<64x40xf32>)
// CHECK: poly.kernel private @transpose_{{[0-9a-f]+}}(%arg0: memref<64x40xf32>, %arg1: memref<40x64xf32>)
// CHECK:   poly.compute @s0 {{.*}} reads(%arg0[{{.*}}) writes(%arg1[#[[T]]] : memref<40x64xf32>)
// CHECK: poly.kernel private @matmul_relu_{{[0-9a-f]+}}(%arg0: memref<40x64xf32>, %arg1: memref<40x4xf32>, %arg2: memref<64x4xf32>)
// CHECK:   poly.array : memref<4x64xf32>
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<64x30xf32>) -> (tensor<64x4xf32>, tensor<64x40xf32>) {
    %w = graph.constant dense_resource<w> : tensor<30x40xf32>
    %v = graph.constant dense_resource<v> : tensor<40x4xf32>
    %0 = graph.matmul %x, %w : (tensor<64x30xf32>, tensor<30x40xf32>) -> tensor<64x40xf32>
    %1 = graph.transpose %0 {graph.layout = array<i64: 1, 0>, permutation = array<i64: 0, 1>} : (tensor<64x40xf32>) -> tensor<64x40xf32>
    %2 = graph.matmul %1, %v {graph.layout = array<i64: 1, 0>} : (tensor<64x40xf32>, tensor<40x4xf32>) -> tensor<64x4xf32>
    %3 = graph.relu %2 : (tensor<64x4xf32>) -> tensor<64x4xf32>
    return %3, %0 : tensor<64x4xf32>, tensor<64x40xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>

// A convolution in rows packs no weights. What is returned or reshaped lies in
// rows, whatever is asked for.
// CHECK: memref.global {{.*}} : memref<16x8x1x1xf32>
// CHECK: poly.kernel private @conv_relu_{{[0-9a-f]+}}(%arg0: memref<1x8x6x6xf32>, %arg1: memref<16x8x1x1xf32>, %arg2: memref<1x16x6x6xf32>, %arg3: memref<1x16x6x6xf32>)
// CHECK:   poly.array : memref<1x16x6x6xf32>
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<1x8x6x6xf32>) -> (tensor<1x16x6x6xf32>, tensor<36x16xf32>) {
    %w = graph.constant dense_resource<w> : tensor<16x8x1x1xf32>
    %0 = graph.conv %x, %w {graph.layout = array<i64: 0, 1, 2, 3>, strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x6x6xf32>, tensor<16x8x1x1xf32>) -> tensor<1x16x6x6xf32>
    %1 = graph.relu %0 : (tensor<1x16x6x6xf32>) -> tensor<1x16x6x6xf32>
    %2 = graph.sigmoid %0 {graph.layout = array<i64: 0, 2, 3, 1>} : (tensor<1x16x6x6xf32>) -> tensor<1x16x6x6xf32>
    %3 = graph.reshape %2 to [36, 16] : (tensor<1x16x6x6xf32>) -> tensor<36x16xf32>
    return %1, %3 : tensor<1x16x6x6xf32>, tensor<36x16xf32>
  }
}
