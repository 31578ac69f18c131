// RUN: espalier-opt %s -split-input-file -pass-pipeline='builtin.module(convert-graph-to-poly,poly-form-kernels,poly-store-in-place,poly-collapse-dimensions,poly-name-kernels,poly.kernel(poly-default-schedule,poly-verify-schedule))' | FileCheck %s

#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 1>

// The rows of an image are on a page for each channel, where the hardware does
// not see which are next. While a window is at one row, it fetches what it needs
// at the same place of the next row: its taps pass over the tile together.
// CHECK-DAG:   #[[NEXT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2 + 1, d3, d4, d5, d6 * 6)>
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(%arg0: memref<4x64x57x57xf32>
// CHECK:         poly.prefetch @s0 read 0 at #[[NEXT]] bytes 64
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<4x64x57x57xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<4x64x28x28xf32> {
    %y = graph.conv %x, %w {strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<4x64x57x57xf32>, tensor<64x64x3x3xf32>) -> tensor<4x64x28x28xf32>
    return %y : tensor<4x64x28x28xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 1>

// Nothing, where the image stays in the cache.
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(%arg0: memref<1x16x57x57xf32>
// CHECK-NOT:     poly.prefetch
// CHECK:       func.func @main
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<1x16x57x57xf32>, %w: tensor<64x16x3x3xf32>) -> tensor<1x64x28x28xf32> {
    %y = graph.conv %x, %w {strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x16x57x57xf32>, tensor<64x16x3x3xf32>) -> tensor<1x64x28x28xf32>
    return %y : tensor<1x64x28x28xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 1>

// Panels that pass once are what is far away: each tile fetches its share of the
// next one, at a place that is found once for all taps of a row.
// CHECK-DAG:   #[[SHARE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + 16, d2, d3, 0, 0, {{.*}}(d5 + d4 * 3) floordiv 4
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(%arg0: memref<1x512x9x9xf32>
// CHECK:         poly.prefetch @s0 read 1 at #[[SHARE]] bytes 64
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<1x512x9x9xf32>, %w: tensor<512x512x3x3xf32>) -> tensor<1x512x7x7xf32> {
    %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x512x9x9xf32>, tensor<512x512x3x3xf32>) -> tensor<1x512x7x7xf32>
    return %y : tensor<1x512x7x7xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 1>

// A phase of a transposed convolution has two taps each way: no loop of two
// steps is innermost. Vectors of rows, results and a weight fit the registers.
// CHECK-DAG:   #[[ORDER:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d5, d4, d6, d1 mod 3, (d3 mod 16) floordiv 8, d3 mod 8)>
// CHECK-LABEL: poly.kernel private @conv_transpose_{{[0-9a-f]+}}(%arg0: memref<1x64x34x34xf32>
// CHECK:         poly.band [@s0] maps [#[[ORDER]]] loops [sequential, sequential, unroll, unroll, unroll, vector(8)]
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<1x64x34x34xf32>, %w: tensor<64x3x4x4xf32>) -> tensor<1x3x64x64xf32> {
    %y = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads_low = array<i64: 3, 3>, pads_high = array<i64: 3, 3>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x64x34x34xf32>, tensor<64x3x4x4xf32>) -> tensor<1x3x64x64xf32>
    return %y : tensor<1x3x64x64xf32>
  }
}
