// RUN: espalier-opt %s -split-input-file -convert-graph-to-poly -poly-form-kernels -poly-extract-script | FileCheck %s
// RUN: espalier-opt %s -split-input-file --compile-to=loops | FileCheck %s --check-prefix=LOOPS

// Rows of vectors that slide over the taps of a sum share what they load: taps
// along the rows are written out innermost, and the tile leaves registers for the
// loaded vectors beside the results.
// CHECK:      plan
// CHECK-SAME: tile ["p0", "p1"] by [4, 32] lanes "p1"
// CHECK-SAME: own_unrolled ["", "k0", ""]
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @depthwise(%x: tensor<1x32x32x32xf32>) -> tensor<1x32x28x28xf32> {
    %w = graph.constant dense<0.5> : tensor<32x1x5x5xf32>
    %0 = graph.conv %x, %w {groups = 32 : i64, strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x32x32xf32>, tensor<32x1x5x5xf32>) -> tensor<1x32x28x28xf32>
    return %0 : tensor<1x32x28x28xf32>
  }
}

// -----

// So do those of a stride that is less than the window. Lanes two apart are
// shuffled out of vectors, those left over as well.
// CHECK:      plan
// CHECK-SAME: lanes "p1"
// CHECK-SAME: own_unrolled ["", "k0", ""]
// LOOPS-LABEL: func.func private @conv
// LOOPS-NOT:   vector.gather
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @stride(%x: tensor<1x32x43x81xf32>) -> tensor<1x32x19x38xf32> {
    %w = graph.constant dense<0.5> : tensor<32x1x7x7xf32>
    %0 = graph.conv %x, %w {groups = 32 : i64, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x43x81xf32>, tensor<32x1x7x7xf32>) -> tensor<1x32x19x38xf32>
    return %0 : tensor<1x32x19x38xf32>
  }
}

// -----

// Windows beside each other share nothing.
// CHECK:     plan
// CHECK-NOT: own_unrolled
// CHECK:     yield
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @no_overlap(%x: tensor<1x32x32x32xf32>) -> tensor<1x32x16x16xf32> {
    %w = graph.constant dense<0.5> : tensor<32x1x2x2xf32>
    %0 = graph.conv %x, %w {groups = 32 : i64, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x32x32xf32>, tensor<32x1x2x2xf32>) -> tensor<1x32x16x16xf32>
    return %0 : tensor<1x32x16x16xf32>
  }
}

// -----

// Nor do rows of scalars.
// CHECK:     plan{{.*}} lanes "o"
// CHECK-NOT: own_unrolled
// CHECK:     yield
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @channels_are_lanes(%x: tensor<1x32x32x32xf32>, %w: tensor<32x32x5x5xf32>) -> tensor<1x32x28x28xf32> {
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x32x32xf32>, tensor<32x32x5x5xf32>) -> tensor<1x32x28x28xf32>
    return %0 : tensor<1x32x28x28xf32>
  }
}

// -----

// CHECK:      plan
// CHECK-SAME: own_unrolled ["", "k0", ""]
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @pooling(%x: tensor<1x32x33x33xf32>) -> tensor<1x32x31x31xf32> {
    %0 = graph.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x33x33xf32>) -> tensor<1x32x31x31xf32>
    return %0 : tensor<1x32x31x31xf32>
  }
}

// -----

// Of few registers many taps would leave none for rows: vectors are loaded again
// for each tap, and several results hide how long an addition takes.
// CHECK:      plan
// CHECK-SAME: tile ["p0"{{.*}} by [{{[3-9]}}
// CHECK-NOT:  own_unrolled
// CHECK:      yield
module attributes {poly.target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>} {
  func.func @many_taps(%x: tensor<1x32x38x38xf32>) -> tensor<1x32x32x32xf32> {
    %w = graph.constant dense<0.5> : tensor<32x1x7x7xf32>
    %0 = graph.conv %x, %w {groups = 32 : i64, strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x38x38xf32>, tensor<32x1x7x7xf32>) -> tensor<1x32x32x32xf32>
    return %0 : tensor<1x32x32x32xf32>
  }
}
