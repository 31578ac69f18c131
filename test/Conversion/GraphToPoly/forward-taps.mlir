// RUN: espalier-opt %s -convert-graph-to-poly -poly-inline-maps -poly-fold-constants -poly-forward-taps -split-input-file | FileCheck %s
// RUN: espalier-opt %s -convert-graph-to-poly -poly-form-kernels -poly-name-kernels -split-input-file | FileCheck %s --check-prefix=FORMED

// A transposed convolution with stride 1 walks the image and its weights, which are
// turned around, forwards.
// CHECK-DAG:  #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d2 + d4)>
// CHECK-DAG:  #[[WEIGHTS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d3, d1, d4)>
// CHECK:      memref.global {{.*}} = dense_resource<[[TURNED:.*]]>
// CHECK:      reads(%{{.*}}[#[[IMAGE]]], %{{.*}}[#[[WEIGHTS]]]
// CHECK:      [[TURNED]]: "0x{{[0-9A-F]+}}000040400000004000000080
// FORMED:     reduction add
func.func @main(%x: tensor<1x1x6xf32>) -> tensor<1x1x6xf32> {
  %w = graph.constant dense<[[[-0.0, 2.0, 3.0]]]> : tensor<1x1x3xf32>
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 1>, pads_low = array<i64: 1>, pads_high = array<i64: 1>, dilations = array<i64: 1>, output_padding = array<i64: 0>}
      : (tensor<1x1x6xf32>, tensor<1x1x3xf32>) -> tensor<1x1x6xf32>
  return %0 : tensor<1x1x6xf32>
}

// -----

// Weights that are not known are read from the last on.
// CHECK-DAG:  #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d2 + d4)>
// CHECK-DAG:  #[[WEIGHTS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d3, d1, -d4 + 2)>
// CHECK:      reads(%{{.*}}[#[[IMAGE]]], %{{.*}}[#[[WEIGHTS]]]
// FORMED:     reduction add
func.func @main(%x: tensor<1x1x6xf32>, %w: tensor<1x1x3xf32>) -> tensor<1x1x6xf32> {
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 1>, pads_low = array<i64: 1>, pads_high = array<i64: 1>, dilations = array<i64: 1>, output_padding = array<i64: 0>}
      : (tensor<1x1x6xf32>, tensor<1x1x3xf32>) -> tensor<1x1x6xf32>
  return %0 : tensor<1x1x6xf32>
}

// -----

// Those of stride 2 are for `poly-decompose-phases`.
// CHECK-DAG:  #[[WEIGHTS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d3, d1, d4)>
// CHECK:      reads({{.*}}, %{{.*}}[#[[WEIGHTS]]], {{.*}} reduction add
// FORMED:     reduction add
func.func @main(%x: tensor<1x1x6xf32>, %w: tensor<1x1x3xf32>) -> tensor<1x1x11xf32> {
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 2>, pads_low = array<i64: 1>, pads_high = array<i64: 1>, dilations = array<i64: 1>, output_padding = array<i64: 0>}
      : (tensor<1x1x6xf32>, tensor<1x1x3xf32>) -> tensor<1x1x11xf32>
  return %0 : tensor<1x1x11xf32>
}

// -----

// Winograd's algorithm is for these as for other convolutions.
// FORMED:     poly.kernel private @conv_transpose_{{[0-9a-f]+}}({{.*}}memref<4x6x{{.*}}xf32>
#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<1x64x28x28xf32>) -> tensor<1x64x28x28xf32> {
    %w = graph.constant dense_resource<w> : tensor<64x64x3x3xf32>
    %0 = graph.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>}
        : (tensor<1x64x28x28xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x28x28xf32>
    return %0 : tensor<1x64x28x28xf32>
  }
}
