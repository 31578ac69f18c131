// RUN: espalier-opt %s -split-input-file -convert-graph-to-poly -poly-form-kernels -poly-store-in-place -poly-name-kernels | FileCheck %s

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>

// Constant weights are packed into panels as wide as a vector, filled up with
// zeros. The array between two convolutions has the channels innermost; the
// function's own arguments stay as they are.
// CHECK-DAG:   #[[LAST:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
// CHECK-DAG:   #[[PANEL:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1 floordiv 16, d4, d5, d6, d1 mod 16)>
// CHECK-DAG:   memref.global "private" constant @[[W:.*]] : memref<1x2x1x1x16xf32> =
// CHECK:       poly.kernel private @[[K0:conv_[0-9a-f]+]](%arg0: memref<1x2x5x5xf32>, %arg1: memref<1x2x1x1x16xf32>, %arg2: memref<1x5x5x3xf32>)
// CHECK:         %[[SUM:.*]] = poly.array : memref<1x5x5x3xf32>
// CHECK:         poly.compute @s0_init {{.*}} writes(%[[SUM]][#[[LAST]]]
// CHECK:         poly.compute @s0 {{.*}} reads(%arg0[{{.*}}], %arg1[#[[PANEL]]], %[[SUM]][
// CHECK:         poly.compute {{.*}} reads(%[[SUM]][#[[LAST]]]{{.*}} writes(%arg2[#[[LAST]]]
// CHECK:       poly.kernel private @conv_{{[0-9a-f]+}}(%arg0: memref<1x5x5x3xf32>, %arg1: memref<1x1x1x3x16xf32>, %arg2: memref<1x3x5x5xf32>)
// CHECK:       func.func @main(%arg0: memref<1x2x5x5xf32>, %arg1: memref<1x3x5x5xf32>)
// CHECK:         %[[PANELS:.*]] = memref.get_global @[[W]]
// CHECK:         poly.call @[[K0]](%arg0, %[[PANELS]]
// CHECK:       packed: "0x40000000{{0000803F000040400000A040(00000000)*00000040000080400000C040(00000000)*}}"
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<1x2x5x5xf32>) -> tensor<1x3x5x5xf32> {
    %w = graph.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]], [[[5.0]], [[6.0]]]]> : tensor<3x2x1x1xf32>
    %v = graph.constant dense<[[[[1.0]], [[2.0]], [[3.0]]], [[[4.0]], [[5.0]], [[6.0]]], [[[7.0]], [[8.0]], [[9.0]]]]> : tensor<3x3x1x1xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x5x5xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x5x5xf32>
    %1 = graph.conv %0, %v {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x5x5xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x5x5xf32>
    return %1 : tensor<1x3x5x5xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>

// An operand that is used often enough is copied into panels by a kernel.
// CHECK-DAG:   #[[PANEL:.*]] = affine_map<(d0, d1) -> (d1 floordiv 32, d0, d1 mod 32)>
// CHECK:       poly.kernel private @[[K0:matmul_[0-9a-f]+]](%arg0: memref<30x40xf32>, %arg1: memref<2x30x32xf32>)
// CHECK:         poly.compute @s0 {{.*}} writes(%arg1[#[[PANEL]]]
// CHECK:       func.func @main(
// CHECK:         %[[PANELS:.*]] = memref.alloc() {{.*}} : memref<2x30x32xf32>
// CHECK:         poly.call @[[K0]](%arg1, %[[PANELS]])
// CHECK:         poly.call @matmul_{{[0-9a-f]+}}(%arg0, %[[PANELS]], %arg2)
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<126x30xf32>, %w: tensor<30x40xf32>) -> tensor<126x40xf32> {
    %0 = graph.matmul %x, %w : (tensor<126x30xf32>, tensor<30x40xf32>) -> tensor<126x40xf32>
    return %0 : tensor<126x40xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>

// With fewer uses the copy would not pay.
// CHECK:       poly.kernel private @matmul_{{[0-9a-f]+}}(%arg0: memref<125x30xf32>, %arg1: memref<30x40xf32>, %arg2: memref<125x40xf32>)
// CHECK-NOT:   poly.kernel
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<125x30xf32>, %w: tensor<30x40xf32>) -> tensor<125x40xf32> {
    %0 = graph.matmul %x, %w : (tensor<125x30xf32>, tensor<30x40xf32>) -> tensor<125x40xf32>
    return %0 : tensor<125x40xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>

// Rows that stay in cache anyway are read where they are.
// CHECK:       poly.kernel private @matmul_{{[0-9a-f]+}}(%arg0: memref<126x3xf32>, %arg1: memref<3x40xf32>, %arg2: memref<126x40xf32>)
// CHECK-NOT:   poly.kernel
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<126x3xf32>, %w: tensor<3x40xf32>) -> tensor<126x40xf32> {
    %0 = graph.matmul %x, %w : (tensor<126x3xf32>, tensor<3x40xf32>) -> tensor<126x40xf32>
    return %0 : tensor<126x40xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>

// Few products of rows with rows are sums with lanes, and copy nothing.
// CHECK:       poly.kernel private @matmul_{{[0-9a-f]+}}(%arg0: memref<7x64xf32>, %arg1: memref<40x64xf32>, %arg2: memref<7x40xf32>)
// CHECK-NOT:   poly.kernel
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<7x64xf32>, %w: tensor<40x64xf32>) -> tensor<7x40xf32> {
    %0 = graph.transpose %w {permutation = array<i64: 1, 0>} : (tensor<40x64xf32>) -> tensor<64x40xf32>
    %1 = graph.matmul %x, %0 : (tensor<7x64xf32>, tensor<64x40xf32>) -> tensor<7x40xf32>
    return %1 : tensor<7x40xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>

// For more, panels pay.
// CHECK:       poly.kernel private @matmul_{{[0-9a-f]+}}(%arg0: memref<40x64xf32>, %arg1: memref<2x64x32xf32>)
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<8x64xf32>, %w: tensor<40x64xf32>) -> tensor<8x40xf32> {
    %0 = graph.transpose %w {permutation = array<i64: 1, 0>} : (tensor<40x64xf32>) -> tensor<64x40xf32>
    %1 = graph.matmul %x, %0 : (tensor<8x64xf32>, tensor<64x40xf32>) -> tensor<8x40xf32>
    return %1 : tensor<8x40xf32>
  }
}

// -----

// The padding of a convolution is an array of its own, so that its sum leaves
// no points out.
// CHECK-DAG:   #[[INSIDE:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2 - 1)>
// CHECK-DAG:   #[[TAP:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d2 + d4)>
// CHECK:       poly.kernel private @copy_{{[0-9a-f]+}}(%arg0: memref<1x2x5xf32>, %arg1: memref<1x2x7xf32>)
// CHECK:         poly.compute @s0_0 {{.*}} reads() writes(%arg1
// CHECK:         poly.compute @s0_2 {{.*}} reads(%arg0[#[[INSIDE]]]
// CHECK:       poly.kernel private @conv_{{[0-9a-f]+}}(%arg0: memref<1x2x7xf32>
// CHECK:         poly.compute @s0 {{.*}} reads(%arg0[#[[TAP]]]
func.func @main(%x: tensor<1x2x5xf32>, %w: tensor<3x2x3xf32>) -> tensor<1x3x5xf32> {
  %0 = graph.conv %x, %w {strides = array<i64: 1>, pads_low = array<i64: 1>, pads_high = array<i64: 1>, dilations = array<i64: 1>} : (tensor<1x2x5xf32>, tensor<3x2x3xf32>) -> tensor<1x3x5xf32>
  return %0 : tensor<1x3x5xf32>
}

// -----

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>

// Groups of whole vectors: each is an ordinary convolution.
// CHECK: memref.global {{.*}} : memref<2x1x1x1x1x16xf32>
// CHECK: poly.array : memref<1x2x5x5x16xf32>
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<1x2x5x5xf32>) -> tensor<1x32x5x5xf32> {
    %w = graph.constant dense_resource<weights> : tensor<32x1x1x1xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x2x5x5xf32>, tensor<32x1x1x1xf32>) -> tensor<1x32x5x5xf32>
    return %0 : tensor<1x32x5x5xf32>
  }
}
{-# dialect_resources: { builtin: { weights: "0x400000000000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F" } } #-}

// -----

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>

// Several groups within a vector: lanes are the features of one.
// CHECK: memref.global {{.*}} : memref<4x1x1x1x1x16xf32>
// CHECK: poly.array : memref<1x4x5x5x8xf32>
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<1x4x5x5xf32>) -> tensor<1x32x5x5xf32> {
    %w = graph.constant dense_resource<weights> : tensor<32x1x1x1xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 4 : i64} : (tensor<1x4x5x5xf32>, tensor<32x1x1x1xf32>) -> tensor<1x32x5x5xf32>
    return %0 : tensor<1x32x5x5xf32>
  }
}
{-# dialect_resources: { builtin: { weights: "0x400000000000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F" } } #-}

// -----

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>

// Each result of stride 2 adds two of four taps along a row: that is no loop to
// have innermost, so the channels are.
// CHECK-LABEL: poly.kernel private @conv_transpose_{{[0-9a-f]+}}(%arg0: memref<1x8x11x11xf32>, %arg1: memref<1x4x4x8x32xf32>
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<1x8x9x9xf32>, %w: tensor<8x32x4x4xf32>) -> tensor<1x32x18x18xf32> {
    %0 = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x8x9x9xf32>, tensor<8x32x4x4xf32>) -> tensor<1x32x18x18xf32>
    return %0 : tensor<1x32x18x18xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>

// Three taps are one: they are innermost, as along a row of the image.
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(%arg0: memref<1x8x9x9xf32>, %arg1: memref<1x8x3x3x32xf32>
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<1x8x9x9xf32>, %w: tensor<32x8x3x3xf32>) -> tensor<1x32x7x7xf32> {
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x9x9xf32>, tensor<32x8x3x3xf32>) -> tensor<1x32x7x7xf32>
    return %0 : tensor<1x32x7x7xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>

// A part of a constant is packed as the whole is, where its panels are whole
// ones of that; where they are not, lanes are innermost. Other parts are read in
// the same copy.
// CHECK-DAG:   #[[PANEL:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 32 + 1, d2, d1 mod 32)>
// CHECK-DAG:   #[[PART:.*]] = affine_map<(d0, d1, d2) -> (d2, d1 + 20)>
// CHECK:       poly.kernel private @matmul_{{[0-9a-f]+}}(%arg0: memref<6x8xf32>, %arg1: memref<3x8x32xf32>, %arg2: memref<6x32xf32>)
// CHECK:         poly.compute @s0 {{.*}} %arg1[#[[PANEL]]]
// CHECK:       poly.kernel private @matmul_{{[0-9a-f]+}}(%arg0: memref<6x8xf32>, %arg1: memref<8x96xf32>, %arg2: memref<6x32xf32>)
// CHECK:         poly.compute @s0 {{.*}} %arg1[#[[PART]]]
// CHECK:       func.func @main(
// CHECK-COUNT-2: memref.get_global
// CHECK-NOT:     memref.get_global
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<6x8xf32>) -> (tensor<6x32xf32>, tensor<6x32xf32>, tensor<6x32xf32>) {
    %w = graph.constant dense_resource<parts> : tensor<96x8xf32>
    %0 = graph.slice %w [32, 0] [32, 8] {steps = array<i64: 1, 1>} : (tensor<96x8xf32>) -> tensor<32x8xf32>
    %1 = graph.slice %w [20, 0] [32, 8] {steps = array<i64: 1, 1>} : (tensor<96x8xf32>) -> tensor<32x8xf32>
    %2 = graph.slice %w [64, 0] [32, 8] {steps = array<i64: 1, 1>} : (tensor<96x8xf32>) -> tensor<32x8xf32>
    %t0 = graph.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<32x8xf32>) -> tensor<8x32xf32>
    %t1 = graph.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<32x8xf32>) -> tensor<8x32xf32>
    %t2 = graph.transpose %2 {permutation = array<i64: 1, 0>} : (tensor<32x8xf32>) -> tensor<8x32xf32>
    %r0 = graph.matmul %x, %t0 : (tensor<6x8xf32>, tensor<8x32xf32>) -> tensor<6x32xf32>
    %r1 = graph.matmul %x, %t1 : (tensor<6x8xf32>, tensor<8x32xf32>) -> tensor<6x32xf32>
    %r2 = graph.matmul %x, %t2 : (tensor<6x8xf32>, tensor<8x32xf32>) -> tensor<6x32xf32>
    return %r0, %r1, %r2 : tensor<6x32xf32>, tensor<6x32xf32>, tensor<6x32xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>

// A constant of a single column is no panel: its elements lie side by side.
// CHECK:       poly.kernel private @matmul_{{[0-9a-f]+}}(%arg0: memref<64x4xf32>, %arg1: memref<4x1xf32>, %arg2: memref<64x1xf32>)
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<64x4xf32>) -> tensor<64x1xf32> {
    %w = graph.constant dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf32>
    %0 = graph.matmul %x, %w : (tensor<64x4xf32>, tensor<4x1xf32>) -> tensor<64x1xf32>
    return %0 : tensor<64x1xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>

// Channels that are on pages of their own lie side by side in the padded copy, if there
// are many of them.
// CHECK:       poly.kernel private @{{.*}}(%arg0: memref<1x512x35x35xf32>, %arg1: memref<1x39x39x512xf32>)
// CHECK:       poly.kernel private @{{.*}}(%arg0: memref<1x39x39x512xf32>,
module attributes {poly.target = #target} {
  func.func @many(%x: tensor<1x512x35x35xf32>, %w: tensor<8x512x3x3xf32>) -> tensor<1x8x35x35xf32> {
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 2, 2>, pads_high = array<i64: 2, 2>, dilations = array<i64: 2, 2>} : (tensor<1x512x35x35xf32>, tensor<8x512x3x3xf32>) -> tensor<1x8x35x35xf32>
    return %0 : tensor<1x8x35x35xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>

// CHECK:       poly.kernel private @{{.*}}(%arg0: memref<1x64x35x35xf32>, %arg1: memref<1x64x39x39xf32>)
module attributes {poly.target = #target} {
  func.func @few(%x: tensor<1x64x35x35xf32>, %w: tensor<8x64x3x3xf32>) -> tensor<1x8x35x35xf32> {
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 2, 2>, pads_high = array<i64: 2, 2>, dilations = array<i64: 2, 2>} : (tensor<1x64x35x35xf32>, tensor<8x64x3x3xf32>) -> tensor<1x8x35x35xf32>
    return %0 : tensor<1x8x35x35xf32>
  }
}
