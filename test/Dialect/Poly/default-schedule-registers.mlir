// RUN: espalier-opt %s -split-input-file -convert-graph-to-poly -poly-form-kernels -poly-extract-script | FileCheck %s
// RUN: espalier-opt %s -split-input-file -compile-to=loops | FileCheck %s --check-prefix=LOOPS

// With 16 registers, three vectors of four rows. Four steps of the sum are
// written out.
#avx2 = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 1>
module attributes {poly.target = #avx2} {
  // CHECK: plan {{.*}} tile ["i", "j"] by [4, 24] lanes "j" width 8
  // LOOPS: #[[FOUR:.*]] = #llvm.loop_unroll<disable = false, count = 4 : i32>
  // LOOPS: #[[STEPS:.*]] = #llvm.loop_annotation<unroll = #[[FOUR]]>
  // LOOPS-LABEL: func.func private @matmul
  // LOOPS: {loop_annotation = #[[STEPS]]}
  func.func @main(%x: tensor<784x64xf32>, %w: tensor<64x96xf32>) -> tensor<784x96xf32> {
    %y = graph.matmul %x, %w : (tensor<784x64xf32>, tensor<64x96xf32>) -> tensor<784x96xf32>
    return %y : tensor<784x96xf32>
  }
}

// -----

// With 32, two of fourteen.
module attributes {poly.target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 1>} {
  // CHECK: plan {{.*}} tile ["i", "j"] by [14, 32] lanes "j" width 16
  func.func @main(%x: tensor<784x64xf32>, %w: tensor<64x96xf32>) -> tensor<784x96xf32> {
    %y = graph.matmul %x, %w : (tensor<784x64xf32>, tensor<64x96xf32>) -> tensor<784x96xf32>
    return %y : tensor<784x96xf32>
  }
}

// -----

// Neighbours of a window share scalars, which takes registers: two vectors, and
// the loop over the taps stays.
#avx2 = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 1>
module attributes {poly.target = #avx2} {
  // CHECK: plan {{.*}} tile ["o", "p1"] by [16, 6] lanes "o" width 8
  // LOOPS: #[[WHOLE:.*]] = #llvm.loop_unroll<disable = true>
  // LOOPS: #[[TAPS:.*]] = #llvm.loop_annotation<unroll = #[[WHOLE]]>
  // LOOPS-LABEL: func.func private @conv
  // LOOPS: {loop_annotation = #[[TAPS]]}
  func.func @main(%x: tensor<1x20x14x26xf32>, %w: tensor<48x20x3x3xf32>) -> tensor<1x48x12x24xf32> {
    %y = graph.conv %x, %w {groups = 1 : i64, strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x20x14x26xf32>, tensor<48x20x3x3xf32>) -> tensor<1x48x12x24xf32>
    return %y : tensor<1x48x12x24xf32>
  }
}

// -----

// The few features fill a tile first, so that all read a vector of the image,
// also where its copy with a border is the kernel's own, for one image at a time.
module attributes {poly.target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 1>} {
  // CHECK: plan {{.*}} tile ["o", "d2", "d3"] by [3, 4, 32] lanes "d3" width 16
  func.func @main(%x: tensor<16x64x32x32xf32>, %w: tensor<64x3x4x4xf32>) -> tensor<16x3x64x64xf32> {
    %y = graph.conv_transpose %x, %w {groups = 1 : i64, output_padding = array<i64: 0, 0>, strides = array<i64: 2, 2>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<16x64x32x32xf32>, tensor<64x3x4x4xf32>) -> tensor<16x3x64x64xf32>
    return %y : tensor<16x3x64x64xf32>
  }
}

// -----

// Where terms of a border are left out, rows of three taps share enough scalars
// for five of two vectors in a tile: fourteen columns are 5, 5 and 4. Those of
// stride 2 do not: 4, 4, 4 and 2.
#avx2 = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 1>
module attributes {poly.target = #avx2} {
  // CHECK: plan {{.*}} tile ["o", "p1"] by [16, 5] lanes "o" width 8 own_unrolled ["", "k1", ""]
  // CHECK: plan {{.*}} tile ["o", "p1"] by [16, 4] lanes "o" width 8 own_unrolled ["", "k1", ""]
  func.func @main(%x: tensor<1x64x14x14xf32>, %y: tensor<1x64x28x28xf32>) -> (tensor<1x64x14x14xf32>, tensor<1x64x14x14xf32>) {
    %v = graph.constant dense_resource<v> : tensor<64x16x3x3xf32>
    %0 = graph.conv %x, %v {groups = 4 : i64, strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x64x14x14xf32>, tensor<64x16x3x3xf32>) -> tensor<1x64x14x14xf32>
    %w = graph.constant dense_resource<w> : tensor<64x64x3x3xf32>
    %1 = graph.conv %y, %w {groups = 1 : i64, strides = array<i64: 2, 2>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x64x28x28xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x14x14xf32>
    return %0, %1 : tensor<1x64x14x14xf32>, tensor<1x64x14x14xf32>
  }
}
