// RUN: espalier-opt %s -convert-graph-to-poly -poly-form-kernels=skip=winograd -poly-store-in-place -poly-name-kernels -split-input-file | FileCheck %s
// RUN: espalier-opt %s -convert-graph-to-poly -poly-form-kernels=skip=trim-windows,winograd -poly-name-kernels -split-input-file | FileCheck %s --check-prefix=WHOLE
// RUN: espalier-opt %s -espalier-compile=to=scheduled -split-input-file | FileCheck %s --check-prefix=SCHEDULE

// WHOLE-NOT: >= 0, d2 + d5

#target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>

// A window with holes is in the border for the most part: the caller's image is
// read as it is. Tiles of 7 columns have code of their own, around the taps.
// CHECK-DAG: #[[READ:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 * 6 - 6, d3 + d6 * 6 - 6)>
// CHECK-DAG: #[[INSIDE:.*]] = affine_set<(d0, d1, d2, d3, d4, d5, d6) : ({{.*}}, d2 + d5 * 6 - 6 >= 0, -d2 - d5 * 6 + 19 >= 0, d3 + d6 * 6 - 6 >= 0, -d3 - d6 * 6 + 19 >= 0)>
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(%arg0: memref<1x16x14x14xf32>
// CHECK:         poly.compute @s0 {{.*}} domain [#[[INSIDE]]] reads(%arg0[#[[READ]]]
// CHECK-NOT:   poly.kernel
// SCHEDULE-DAG:  #[[FIRST:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d3, (d1 mod 32) floordiv 16, d1 mod 16)>
// SCHEDULE-DAG:  #[[SECOND:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d3 - 7, (d1 mod 32) floordiv 16, d1 mod 16)>
// SCHEDULE-LABEL: poly.kernel private @conv_
// SCHEDULE:         poly.band [@s0] maps [#[[FIRST]]] loops [sequential, sequential, unroll, unroll, unroll, vector(16)]
// SCHEDULE:         poly.band [@s0] maps [#[[SECOND]]] loops [sequential, sequential, unroll, unroll, unroll, vector(16)]
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<1x16x14x14xf32>) -> tensor<1x32x14x14xf32> {
    %w = graph.constant dense_resource<w> : tensor<32x16x3x3xf32>
    %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 6, 6>, pads_high = array<i64: 6, 6>, dilations = array<i64: 6, 6>} : (tensor<1x16x14x14xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x14x14xf32>
    return %y : tensor<1x32x14x14xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>

// Columns of a long line may be in the border; rows are not read there. What
// computes the image stores it between columns of zeros.
// CHECK:       #[[INSIDE:.*]] = affine_set<(d0, d1, d2, d3, d4, d5, d6) : ({{.*}}, d2 + d5 - 1 >= 0, -d2 - d5 + 4 >= 0)>
// CHECK:       poly.kernel private @
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(%arg0: memref<1x16x6x92xf32>
// CHECK:         poly.compute @s0 {{.*}} domain [#[[INSIDE]]] reads(%arg0
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<1x16x4x90xf32>) -> tensor<1x32x4x90xf32> {
    %w = graph.constant dense_resource<w> : tensor<32x16x3x3xf32>
    %e = graph.exp %x : (tensor<1x16x4x90xf32>) -> tensor<1x16x4x90xf32>
    %y = graph.conv %e, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x16x4x90xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x4x90xf32>
    return %y : tensor<1x32x4x90xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>

// Little of it is in the border.
// CHECK-NOT:   >= 0, d2 + d5
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(%arg0: memref<1x16x102x102xf32>
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<1x16x100x100xf32>) -> tensor<1x32x100x100xf32> {
    %w = graph.constant dense_resource<w> : tensor<32x16x3x3xf32>
    %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x16x100x100xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x100x100xf32>
    return %y : tensor<1x32x100x100xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>

// An infinite weight makes a border of zeros count, if somebody has asked for
// one: all terms stay.
// CHECK-NOT:   >= 0, d2 + d5
// CHECK-LABEL: poly.kernel private @conv_
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<1x1x3x3xf32>) -> tensor<1x16x3x3xf32> {
    %w = graph.constant dense<0x7F800000> : tensor<16x1x3x3xf32>
    %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x1x3x3xf32>, tensor<16x1x3x3xf32>) -> tensor<1x16x3x3xf32>
    return %y : tensor<1x16x3x3xf32>
  }
}
