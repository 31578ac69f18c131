// RUN: espalier-opt %s -convert-graph-to-poly -poly-form-kernels -poly-store-in-place -poly-collapse-dimensions -poly-name-kernels -split-input-file | FileCheck %s
// RUN: espalier-opt %s -split-input-file -pass-pipeline='builtin.module(convert-graph-to-poly,poly-form-kernels,poly-store-in-place,poly-collapse-dimensions,poly-name-kernels,poly.kernel(poly-default-schedule,poly-verify-schedule))' | FileCheck %s --check-prefix=SCHEDULE

#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>

// The right operand of each product is packed right before it is used, to where
// that of the product before was.
// CHECK:       #[[PANELS:.*]] = affine_map<(d0, d1, d2) -> (d0, d2 floordiv 16, d1, d2 mod 16)>
// CHECK-LABEL: poly.kernel private @matmul_{{[0-9a-f]+}}(%arg0: memref<192x64x100xf32>, %arg1: memref<192x100x64xf32>, %arg2: memref<192x100x100xf32>)
// CHECK:         %[[PACKED:.*]] = poly.array : memref<192x7x64x16xf32>
// CHECK:         poly.compute @s0 {{.*}} reads(%arg0{{.*}} writes(%[[PACKED]][#[[PANELS]]]
// CHECK:         reads(%arg1{{.*}}%[[PACKED]]{{.*}} reduction add interleaved 1
// CHECK:       func.func @main
// CHECK-NEXT:    poly.call @matmul_
// SCHEDULE-LABEL: poly.kernel private @matmul_
// SCHEDULE:         poly.array : memref<192x7x64x16xf32> storage {{.*}} as memref<7x64x16xf32>
// SCHEDULE:         poly.band [@s0, @s1_init, @s1, @s2]
// SCHEDULE-NEXT:      poly.sequence
// SCHEDULE-NEXT:        poly.filter [@s0]
// SCHEDULE:             poly.filter [@s1_init, @s1, @s2]
module attributes {poly.target = #target} {
  func.func @main(%a: tensor<192x100x64xf32>, %b: tensor<192x64x100xf32>) -> tensor<192x100x100xf32> {
    %y = graph.matmul %a, %b : (tensor<192x100x64xf32>, tensor<192x64x100xf32>) -> tensor<192x100x100xf32>
    return %y : tensor<192x100x100xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>

// A border, image by image; the weights stay in the cache.
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(%arg0: memref<32x8x60x60xf32>
// CHECK:         poly.array : memref<32x8x64x64xf32>
// CHECK:         interleaved 1
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<32x8x60x60xf32>, %w: tensor<32x8x5x5xf32>) -> tensor<32x32x60x60xf32> {
    %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 2, 2>, pads_high = array<i64: 2, 2>, dilations = array<i64: 1, 1>} : (tensor<32x8x60x60xf32>, tensor<32x8x5x5xf32>) -> tensor<32x32x60x60xf32>
    return %y : tensor<32x32x60x60xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>
#filters = #sparse_tensor.encoding<{ map = (o, k, i, j) -> (o : dense, k : compressed(nonunique), i : singleton(nonunique), j : singleton) }>

// Entries have one place in an image, which is stored as one line of numbers.
// Sums stay in registers, as what is read at data is another array.
// CHECK:       #[[FLAT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2 * 62 + d3)>
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(%arg0: memref<32x1x60x60xf32>
// CHECK:         %[[IMAGE:.*]] = poly.array : memref<32x1x3844xf32>
// CHECK:         writes(%[[IMAGE]][#[[FLAT]]]
// CHECK:         where {{.*}} reads({{.*}}%[[IMAGE]]{{.*}} interleaved 1
// SCHEDULE:         poly.array stack : memref<32x1x3844xf32> storage {{.*}} as memref<1x3844xf32>
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<32x1x60x60xf32>) -> tensor<32x2x60x60xf32> {
    %w = graph.constant {poly.entries = "each:1"} dense<[[[[0., 2., 0.], [0., 0., 1.], [0., 1., 0.]]], [[[0., 0., 3.], [0., 0., 0.], [5., 0., 2.]]]]> : tensor<2x1x3x3xf32, #filters>
    %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<32x1x60x60xf32>, tensor<2x1x3x3xf32, #filters>) -> tensor<32x2x60x60xf32>
    return %y : tensor<32x2x60x60xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>

// Few products leave threads without work.
// CHECK-LABEL: poly.kernel private @matmul_{{[0-9a-f]+}}(%arg0: memref<8x256x256xf32>, %arg1: memref<8x16x256x16xf32>)
// CHECK-NOT:     interleaved
// CHECK:       func.func @main
module attributes {poly.target = #target} {
  func.func @main(%a: tensor<8x256x256xf32>, %b: tensor<8x256x256xf32>) -> tensor<8x256x256xf32> {
    %y = graph.matmul %a, %b : (tensor<8x256x256xf32>, tensor<8x256x256xf32>) -> tensor<8x256x256xf32>
    return %y : tensor<8x256x256xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>

// All packed operands together stay in the cache.
// CHECK-LABEL: poly.kernel private @matmul_{{[0-9a-f]+}}(%arg0: memref<16x24x64xf32>, %arg1: memref<16x4x24x16xf32>)
// CHECK-NOT:     interleaved
// CHECK:       func.func @main
module attributes {poly.target = #target} {
  func.func @main(%a: tensor<16x100x24xf32>, %b: tensor<16x24x64xf32>) -> tensor<16x100x64xf32> {
    %y = graph.matmul %a, %b : (tensor<16x100x24xf32>, tensor<16x24x64xf32>) -> tensor<16x100x64xf32>
    return %y : tensor<16x100x64xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>

// Weights that leave the cache are read once for all images.
// CHECK-LABEL: poly.kernel private @copy_{{[0-9a-f]+}}(%arg0: memref<32x256x9x9xf32>
// CHECK-NOT:     interleaved
// CHECK:       func.func @main
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<32x256x9x9xf32>, %w: tensor<256x256x5x5xf32>) -> tensor<32x256x9x9xf32> {
    %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 2, 2>, pads_high = array<i64: 2, 2>, dilations = array<i64: 1, 1>} : (tensor<32x256x9x9xf32>, tensor<256x256x5x5xf32>) -> tensor<32x256x9x9xf32>
    return %y : tensor<32x256x9x9xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>

// The rows of one product are no batch: each would read the weights again.
// CHECK-LABEL: poly.kernel private @relu_{{[0-9a-f]+}}(
// CHECK-LABEL: poly.kernel private @matmul_{{[0-9a-f]+}}(
// CHECK-NOT:     interleaved
// CHECK:       func.func @main
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<1x4096x128xf32>, %w: tensor<128x32xf32>) -> tensor<1x4096x32xf32> {
    %0 = graph.relu %x : (tensor<1x4096x128xf32>) -> tensor<1x4096x128xf32>
    %y = graph.matmul %0, %w : (tensor<1x4096x128xf32>, tensor<128x32xf32>) -> tensor<1x4096x32xf32>
    return %y : tensor<1x4096x32xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>

// The panels of a single operand are a batch: each is rearranged right before
// all rows pass it, while the next one is fetched.
// CHECK-DAG:   #[[PANEL:.*]] = affine_map<(d0, d1, d2) -> (d0 * 16 + d2, d1)>
// CHECK-DAG:   #[[RESULT:.*]] = affine_map<(d0, d1, d2) -> (d1, d0 * 16 + d2)>
// CHECK-LABEL: poly.kernel private @matmul_{{[0-9a-f]+}}(%arg0: memref<1024x1024xf32>
// CHECK:         %[[PACKED:.*]] = poly.array : memref<64x1024x16xf32>
// CHECK:         poly.compute @s0 {{.*}} reads(%{{.*}}[#[[PANEL]]] : memref<1024x1024xf32>) writes(%[[PACKED]]
// CHECK:         poly.compute {{.*}} reads(%{{.*}}%[[PACKED]]{{.*}} reduction add interleaved 1
// CHECK:         writes(%{{.*}}[#[[RESULT]]] : memref<40x1024xf32>) interleaved 1
// SCHEDULE-LABEL: poly.kernel private @matmul_{{[0-9a-f]+}}(%arg0: memref<1024x1024xf32>
// SCHEDULE:         poly.array : memref<64x1024x16xf32> storage {{.*}} as memref<1024x16xf32>
// SCHEDULE:         poly.prefetch @s1 read 0 of @s0
module attributes {poly.target = #target} {
  func.func @main(%a: tensor<40x1024xf32>, %b: tensor<1024x1024xf32>) -> tensor<40x1024xf32> {
    %t = graph.transpose %b {permutation = array<i64: 1, 0>} : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    %y = graph.matmul %a, %t : (tensor<40x1024xf32>, tensor<1024x1024xf32>) -> tensor<40x1024xf32>
    return %y : tensor<40x1024xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>

// The last panel would be a part: the operand is rearranged as a whole.
// CHECK-LABEL: poly.kernel private @matmul_{{[0-9a-f]+}}(%arg0: memref<1030x1024xf32>, %arg1: memref<65x1024x16xf32>)
// CHECK-NOT:     interleaved
// CHECK-LABEL: func.func @main
module attributes {poly.target = #target} {
  func.func @main(%a: tensor<40x1024xf32>, %b: tensor<1030x1024xf32>) -> tensor<40x1030xf32> {
    %t = graph.transpose %b {permutation = array<i64: 1, 0>} : (tensor<1030x1024xf32>) -> tensor<1024x1030xf32>
    %y = graph.matmul %a, %t : (tensor<40x1024xf32>, tensor<1024x1030xf32>) -> tensor<40x1030xf32>
    return %y : tensor<40x1030xf32>
  }
}
