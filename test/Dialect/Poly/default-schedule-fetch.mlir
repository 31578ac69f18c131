// RUN: espalier-opt %s -split-input-file -convert-graph-to-poly -poly-form-kernels -poly-extract-script | FileCheck %s
// RUN: espalier-opt %s -split-input-file -pass-pipeline='builtin.module(convert-graph-to-poly,poly-form-kernels,poly.kernel(poly-default-schedule,poly-verify-schedule))' | FileCheck %s --check-prefix=TREE

// The numbers of rows are read, so the hardware does not see which are next:
// each vector of both rows fetches that of two iterations later.
// CHECK:      plan
// CHECK-SAME: own_lanes ["d3", "d3"
// CHECK-SAME: fetch rows ahead 2
// TREE-DAG:   #[[LATER:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2 + 2, d3)>
// TREE:       poly.prefetch @[[ROW:.*]] read 1 at #[[LATER]] bytes 64
// TREE-NEXT:    poly.prefetch @[[ROW]] read 4 at #[[LATER]] bytes 64
// TREE-NEXT:      poly.band [@[[ROW]]] {{.*}} loops [vector(16)]
module attributes {poly.target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @resize(%x: tensor<4x3x400x600xf32>) -> tensor<4x3x224x224xf32> {
    %0 = graph.resize %x to [4, 3, 224, 224] {mode = #graph.resize_mode<linear>} : (tensor<4x3x400x600xf32>) -> tensor<4x3x224x224xf32>
    return %0 : tensor<4x3x224x224xf32>
  }
}

// -----

// Rows of 8192 numbers are fetched one iteration ahead: two of each would fill
// the first-level cache.
// CHECK:     plan
// CHECK:     fetch rows :
module attributes {poly.target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @long(%x: tensor<1x1x400x8192xf32>) -> tensor<1x1x224x4000xf32> {
    %0 = graph.resize %x to [1, 1, 224, 4000] {mode = #graph.resize_mode<linear>} : (tensor<1x1x400x8192xf32>) -> tensor<1x1x224x4000xf32>
    return %0 : tensor<1x1x224x4000xf32>
  }
}

// -----

// What a cache holds is near.
// CHECK:     plan
// CHECK-NOT: fetch
// CHECK:     yield
module attributes {poly.target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @small(%x: tensor<1x3x100x150xf32>) -> tensor<1x3x56x56xf32> {
    %0 = graph.resize %x to [1, 3, 56, 56] {mode = #graph.resize_mode<linear>} : (tensor<1x3x100x150xf32>) -> tensor<1x3x56x56xf32>
    return %0 : tensor<1x3x56x56xf32>
  }
}

// -----

// Copies take rows of three planes apart, for a sum whose steps are written
// out. Its 56 tiles fetch what the copies will read of two rows of each plane:
// nine tiles a row, of which each fetches 32 of 224 numbers.
// CHECK:          plan
// CHECK:          inside 2 window 1
// CHECK-SAME:     fetch copies ahead 2
// TREE-DAG:       #[[NEXT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + 2, ((((d3 floordiv 16) * 8 + d2 floordiv 4) floordiv 9) floordiv 2) mod 3, (((d3 floordiv 16) * 8 + d2 floordiv 4) floordiv 9) mod 2 + 2, (((d3 floordiv 16) * 8 + d2 floordiv 4) mod 9) * 16)>
// TREE:           poly.prefetch @[[SUM:.*]] read 0 of @{{.*}} at #[[NEXT]] bytes 128
// TREE-NEXT:        poly.band [@[[SUM]]]
module attributes {poly.target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @pooled(%x: tensor<32x3x224x224xf32>) -> tensor<32x32x112x112xf32> {
    %w = graph.constant dense_resource<w> : tensor<32x3x3x3xf32>
    %0 = graph.conv %x, %w {groups = 1 : i64, strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<32x3x224x224xf32>, tensor<32x3x3x3xf32>) -> tensor<32x32x224x224xf32>
    %1 = graph.relu %0 : (tensor<32x32x224x224xf32>) -> tensor<32x32x224x224xf32>
    %2 = graph.max_pool %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<32x32x224x224xf32>) -> tensor<32x32x112x112xf32>
    return %2 : tensor<32x32x112x112xf32>
  }
}

// -----

// One such image stays in the second-level cache.
// CHECK:     plan
// CHECK-NOT: fetch
// CHECK:     yield
module attributes {poly.target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @one_image(%x: tensor<1x3x224x224xf32>) -> tensor<1x32x112x112xf32> {
    %w = graph.constant dense_resource<w> : tensor<32x3x3x3xf32>
    %0 = graph.conv %x, %w {groups = 1 : i64, strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x3x224x224xf32>, tensor<32x3x3x3xf32>) -> tensor<1x32x224x224xf32>
    %1 = graph.relu %0 : (tensor<1x32x224x224xf32>) -> tensor<1x32x224x224xf32>
    %2 = graph.max_pool %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x224x224xf32>) -> tensor<1x32x112x112xf32>
    return %2 : tensor<1x32x112x112xf32>
  }
}

// -----

// Results that leave the cache are fetched to be written, by each row of a tile
// when its sums start.
// CHECK:          plan
// CHECK:          lanes "p1" {{.*}} fetch_results :
// TREE:           poly.band [@[[START:.*_init]]] maps {{.*}} loops [unroll]
// TREE-NEXT:        poly.prefetch @[[START]] write 0 of @s2 at #{{.*}} bytes 64 {
// TREE-NEXT:          poly.band [@[[START]]] {{.*}} loops [vector(16)]
module attributes {poly.target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @far_results(%x: tensor<16x384x14x14xf32>) -> tensor<16x384x14x14xf32> {
    %w = graph.constant dense_resource<w> : tensor<384x1x3x3xf32>
    %0 = graph.conv %x, %w {groups = 384 : i64, strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<16x384x14x14xf32>, tensor<384x1x3x3xf32>) -> tensor<16x384x14x14xf32>
    return %0 : tensor<16x384x14x14xf32>
  }
}

// -----

// Rows that are 2052 bytes apart are too far for the processor to foresee. All
// of them pass again for each panel, so they are fetched, though each row of a
// tile reads every other number; the panel is not.
// CHECK:          loops ["o", "n", "p0"] {{.*}} fetch rows ahead 2 :
// TREE-DAG:       #[[LINES:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2 + 17, d3, d4)>
// TREE:           poly.prefetch @s0 read 0 at #[[LINES]] bytes 64
module attributes {poly.target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>} {
  func.func @far_rows(%x: tensor<8x320x513xf32>) -> tensor<8x160x256xf32> {
    %w = graph.constant dense_resource<w> : tensor<160x320x3xf32>
    %0 = graph.conv %x, %w {groups = 1 : i64, strides = array<i64: 2>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<8x320x513xf32>, tensor<160x320x3xf32>) -> tensor<8x160x256xf32>
    return %0 : tensor<8x160x256xf32>
  }
}

// -----

// Rows of which the second-level cache holds an image are near for all panels
// but the first.
// CHECK:          plan
// CHECK-NOT:      fetch rows
// CHECK:          yield
module attributes {poly.target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>} {
  func.func @near_rows(%x: tensor<8x64x56x56xf32>) -> tensor<8x128x28x28xf32> {
    %w = graph.constant dense_resource<w> : tensor<128x64x1x1xf32>
    %0 = graph.conv %x, %w {groups = 1 : i64, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<8x64x56x56xf32>, tensor<128x64x1x1xf32>) -> tensor<8x128x28x28xf32>
    return %0 : tensor<8x128x28x28xf32>
  }
}
