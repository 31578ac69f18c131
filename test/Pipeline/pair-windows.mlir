// RUN: espalier-opt %s -compile-to=scheduled | FileCheck %s

// The second image has its channels side by side, so that these are taken in
// pairs. Conditions on columns at its border would stand between the two terms
// of a pair, so there are some on rows alone; both terms are written out.
// CHECK: #[[TERMS:.*]] = affine_set<(d0, d1, d2, d3, d4, d5, d6, d7) : ({{.*}}d7 >= 0, -d7 + 1 >= 0, d2 + d5 - 1 >= 0, -d2 - d5 + 8 >= 0)>
// CHECK: poly.compute {{.*}}"pair"] domain [#[[TERMS]]]
// CHECK: poly.band [@s0] maps [#{{.*}}] loops [sequential, sequential, sequential, unroll, unroll, vector(16)]
module attributes {poly.target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 1>} {
  func.func @main(%x: tensor<1x16x8x14xbf16>) -> tensor<1x16x8x14xbf16> {
    %o = graph.constant dense<[[[[1.0]]], [[[2.0]]], [[[3.0]]], [[[4.0]]], [[[5.0]]], [[[6.0]]], [[[7.0]]], [[[8.0]]], [[[9.0]]], [[[10.0]]], [[[11.0]]], [[[12.0]]], [[[13.0]]], [[[14.0]]], [[[15.0]]], [[[16.0]]]]> : tensor<16x1x1x1xbf16>
    %i = graph.constant dense<1.0> : tensor<1x16x3x3xbf16>
    %w = graph.mul %o, %i : (tensor<16x1x1x1xbf16>, tensor<1x16x3x3xbf16>) -> tensor<16x16x3x3xbf16>
    %0 = graph.conv %x, %w {dilations = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x16x8x14xbf16>, tensor<16x16x3x3xbf16>) -> tensor<1x16x8x14xbf16>
    %1 = graph.conv %0, %w {dilations = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x16x8x14xbf16>, tensor<16x16x3x3xbf16>) -> tensor<1x16x8x14xbf16>
    return %1 : tensor<1x16x8x14xbf16>
  }
}
