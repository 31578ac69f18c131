// RUN: espalier-opt %s -split-input-file -convert-linalg-to-poly -poly-form-kernels -symbol-dce -poly-name-kernels | FileCheck %s

// Kernels of linalg get what those of graph get: one kernel, with the constant in
// panels, and the map after the product.
#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>

// CHECK: #[[PANELS:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 32, d2, d1 mod 32)>
// CHECK: memref.global {{.*}} : memref<6x256x32xf32>
// CHECK: poly.kernel private @matmul_generic_
// CHECK: poly.compute @s0 {{.*}}[#[[PANELS]]]{{.*}} reduction add
// CHECK: arith.maximumf
// CHECK-NOT: poly.kernel
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<128x256xf32>, %b: tensor<192xf32>) -> tensor<128x192xf32> {
    %w = arith.constant dense_resource<w> : tensor<256x192xf32>
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<128x192xf32>
    %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x192xf32>) -> tensor<128x192xf32>
    %p = linalg.matmul ins(%x, %w : tensor<128x256xf32>, tensor<256x192xf32>)
        outs(%init : tensor<128x192xf32>) -> tensor<128x192xf32>
    %r = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%p, %b : tensor<128x192xf32>, tensor<192xf32>) outs(%empty : tensor<128x192xf32>) {
    ^bb0(%a: f32, %c: f32, %o: f32):
      %s = arith.addf %a, %c : f32
      %m = arith.maximumf %s, %zero : f32
      linalg.yield %m : f32
    } -> tensor<128x192xf32>
    return %r : tensor<128x192xf32>
  }
}

// -----

// A padded image is one array of five parts. The first value of a sum that is
// none is added to it at the end.

// CHECK: poly.kernel private @pad_
// CHECK-COUNT-5: poly.compute
// CHECK: poly.kernel private @conv_2d_nchw_fchw_
// CHECK: poly.compute @s0_init
// CHECK: arith.constant 0.0
// CHECK: poly.compute @s0 {{.*}} reduction add
// CHECK: poly.compute @s1
// CHECK: arith.addf
// CHECK-NOT: poly.compute
func.func @main(%x: tensor<1x4x6x6xf32>, %w: tensor<8x4x3x3xf32>, %b: tensor<8xf32>) -> tensor<1x8x6x6xf32> {
  %zero = arith.constant 0.0 : f32
  %pad = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%n: index, %c: index, %y: index, %v: index):
    tensor.yield %zero : f32
  } : tensor<1x4x6x6xf32> to tensor<1x4x8x8xf32>
  %empty = tensor.empty() : tensor<1x8x6x6xf32>
  %init = linalg.broadcast ins(%b : tensor<8xf32>) outs(%empty : tensor<1x8x6x6xf32>) dimensions = [0, 2, 3]
  %r = linalg.conv_2d_nchw_fchw ins(%pad, %w : tensor<1x4x8x8xf32>, tensor<8x4x3x3xf32>)
      outs(%init : tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  return %r : tensor<1x8x6x6xf32>
}
