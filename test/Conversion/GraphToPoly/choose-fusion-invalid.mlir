// RUN: not espalier-opt %s -espalier-statements -transform-interpreter -espalier-poly 2>&1 | FileCheck %s

// Windows that overlap share no loop with the sum that they read.
// CHECK: choose-fusion-invalid.mlir:[[@LINE+3]]:10: error: expects a result that is read in the kernel that computes it (fused), at the indices of loops that both share and whose iterations fit in the cache, but another kernel reads it
module attributes {transform.with_named_sequence, poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<1x3x10x12xf32>, %w: tensor<16x3x3x3xf32>) -> tensor<1x16x3x4xf32> {
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x10x12xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x8x10xf32>
    %1 = graph.max_pool %0 {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x16x8x10xf32>) -> tensor<1x16x3x4xf32>
    return %1 : tensor<1x16x3x4xf32>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %0 = transform.poly.computation @conv_38cef4c2::@s0 of %module : (!transform.any_op) -> !transform.any_op
    transform.poly.fusion %0 fused : !transform.any_op
    transform.yield
  }
}
