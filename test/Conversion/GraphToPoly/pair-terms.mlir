// RUN: espalier-opt %s -split-input-file -convert-graph-to-poly -poly-assign-layouts -poly-widen-operands -poly-apply-layouts | FileCheck %s

#znver4 = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>

// Terms that the instruction for pairs takes lie side by side, and stay bf16.
// CHECK-DAG:   #[[PANEL:.*]] = affine_map<(d0, d1, d2, d3) -> (d1 floordiv 32, d2 + d3 floordiv 2, d1 mod 32, d3 mod 2)>
// CHECK-DAG:   #[[ROWS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2 * 2 + d3)>
// CHECK:       memref.global {{.*}} : memref<2x4x32x2xbf16>
// CHECK:       poly.compute {{.*}}"pair"]
// CHECK-SAME:  (%{{.*}}[#[[ROWS]]], %{{.*}}[#[[PANEL]]]{{.*}} : memref<8x8xbf16>, memref<2x4x32x2xbf16>,
// CHECK:       arith.extf
module attributes {poly.target = #znver4} {
func.func @main(%x: tensor<8x8xbf16>) -> tensor<8x64xbf16> {
  %w = graph.constant dense<1.0> : tensor<8x64xbf16>
  %0 = graph.matmul %x, %w : (tensor<8x8xbf16>, tensor<8x64xbf16>) -> tensor<8x64xbf16>
  return %0 : tensor<8x64xbf16>
}
}

// -----

#znver4 = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>

// One term of an odd number has none beside it.
// CHECK-NOT: "pair"
// CHECK:     memref<2x9x32xf32>
module attributes {poly.target = #znver4} {
func.func @main(%x: tensor<8x9xbf16>) -> tensor<8x64xbf16> {
  %w = graph.constant dense<1.0> : tensor<9x64xbf16>
  %0 = graph.matmul %x, %w : (tensor<8x9xbf16>, tensor<9x64xbf16>) -> tensor<8x64xbf16>
  return %0 : tensor<8x64xbf16>
}
}

// -----

#wide = #poly.target<cpu = "znver4", features = "-avx512bf16", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>

// No instruction, no pairs.
// CHECK-NOT: "pair"
// CHECK:     memref<2x8x32xf32>
module attributes {poly.target = #wide} {
func.func @main(%x: tensor<8x8xbf16>) -> tensor<8x64xbf16> {
  %w = graph.constant dense<1.0> : tensor<8x64xbf16>
  %0 = graph.matmul %x, %w : (tensor<8x8xbf16>, tensor<8x64xbf16>) -> tensor<8x64xbf16>
  return %0 : tensor<8x64xbf16>
}
}

// -----

#znver4 = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>

// Nor are there any of f16.
// CHECK-NOT: "pair"
// CHECK:     memref<2x8x32xf32>
module attributes {poly.target = #znver4} {
func.func @main(%x: tensor<8x8xf16>) -> tensor<8x64xf16> {
  %w = graph.constant dense<1.0> : tensor<8x64xf16>
  %0 = graph.matmul %x, %w : (tensor<8x8xf16>, tensor<8x64xf16>) -> tensor<8x64xf16>
  return %0 : tensor<8x64xf16>
}
}
