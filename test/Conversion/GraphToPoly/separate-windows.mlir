// RUN: espalier-opt %s -convert-graph-to-poly -poly-form-kernels=stop-after=separate-interpolation -split-input-file | FileCheck %s

// Windows of 5 by 5 that overlap: the maxima of five rows, and of five columns of
// these. What is combined is an array of its own.
// CHECK-DAG:   #[[ROWS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2 + d4, d3)>
// CHECK-DAG:   #[[COLUMNS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3 + d4)>
// CHECK-LABEL: module @overlapping
// CHECK:       poly.compute @s0 {{.*}} reads(%arg0[#[[ROWS]]], {{.*}} : memref<2x3x17x24xf32>, memref<2x3x13x24xf32>) {{.*}} reduction max
// CHECK:       poly.kernel private @kernel_2(%arg0: memref<2x3x13x24xf32>, %arg1: memref<2x3x13x24xf32>)
// CHECK:       poly.compute @s0 {{.*}} reads(%arg0[#[[COLUMNS]]], {{.*}} : memref<2x3x13x24xf32>, memref<2x3x13x20xf32>) {{.*}} reduction max
// CHECK-NOT:   reduction
module @overlapping {
  func.func @main(%x: tensor<2x3x13x20xf32>) -> tensor<2x3x13x20xf32> {
    %0 = graph.max_pool %x {kernel = array<i64: 5, 5>, strides = array<i64: 1, 1>, pads_low = array<i64: 2, 2>, pads_high = array<i64: 2, 2>, dilations = array<i64: 1, 1>} : (tensor<2x3x13x20xf32>) -> tensor<2x3x13x20xf32>
    return %0 : tensor<2x3x13x20xf32>
  }
}

// -----

// Windows of 3 by 3 share what they read in registers.
// CHECK-LABEL: module @three
// CHECK:       reduction max
// CHECK-NOT:   reduction
module @three {
  func.func @main(%x: tensor<2x3x13x20xf32>) -> tensor<2x3x13x20xf32> {
    %0 = graph.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<2x3x13x20xf32>) -> tensor<2x3x13x20xf32>
    return %0 : tensor<2x3x13x20xf32>
  }
}

// -----

// Nor are windows separated that do not overlap.
// CHECK-LABEL: module @apart
// CHECK:       reduction max
// CHECK-NOT:   reduction
module @apart {
  func.func @main(%x: tensor<2x3x13x20xf32>) -> tensor<2x3x3x4xf32> {
    %0 = graph.max_pool %x {kernel = array<i64: 5, 5>, strides = array<i64: 5, 5>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<2x3x13x20xf32>) -> tensor<2x3x3x4xf32>
    return %0 : tensor<2x3x3x4xf32>
  }
}

// -----

// Or that have one direction.
// CHECK-LABEL: module @line
// CHECK:       reduction max
// CHECK-NOT:   reduction
module @line {
  func.func @main(%x: tensor<2x3x13x20xf32>) -> tensor<2x3x13x20xf32> {
    %0 = graph.max_pool %x {kernel = array<i64: 1, 9>, strides = array<i64: 1, 1>, pads_low = array<i64: 0, 4>, pads_high = array<i64: 0, 4>, dilations = array<i64: 1, 1>} : (tensor<2x3x13x20xf32>) -> tensor<2x3x13x20xf32>
    return %0 : tensor<2x3x13x20xf32>
  }
}

// -----

// Without a border, there is no copy plane by plane: rows would share all loops
// but one, and no tile of them be in registers.
// CHECK-LABEL: module @bare
// CHECK:       reduction max
// CHECK-NOT:   reduction
module @bare {
  func.func @main(%x: tensor<2x3x13x20xf32>) -> tensor<2x3x9x16xf32> {
    %0 = graph.max_pool %x {kernel = array<i64: 5, 5>, strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x3x13x20xf32>) -> tensor<2x3x9x16xf32>
    return %0 : tensor<2x3x9x16xf32>
  }
}
