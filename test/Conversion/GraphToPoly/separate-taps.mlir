// RUN: espalier-opt %s -convert-graph-to-poly -poly-form-kernels -poly-store-in-place -poly-name-kernels -split-input-file | FileCheck %s

#target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>

// Two rows of the image are weighed as they lie in memory, then elements of
// the result are gathered, once for each of two taps. One kernel, over rows.
// CHECK-DAG:   #[[PLACE:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG:   #[[ROW:.*]] = affine_map<(d0, d1)[s0] -> (s0, d1)>
// CHECK-DAG:   #[[COLUMN:.*]] = affine_map<(d0, d1)[s0] -> (d0, s0)>
// CHECK-DAG:   #[[ROWS:.*]] = affine_set<(d0, d1) : (d0 >= 0, -d0 + 6 >= 0, d1 >= 0, -d1 + 16 >= 0)>
// CHECK-DAG:   #[[RESULT:.*]] = affine_set<(d0, d1) : (d0 >= 0, -d0 + 6 >= 0, d1 >= 0, -d1 + 8 >= 0)>
// CHECK-LABEL: poly.kernel private @resize_{{[0-9a-f]+}}(
// CHECK-SAME:    %[[X:[^ ]*]]: memref<10x17xf32>
// CHECK:         %[[T:.*]] = poly.array : memref<7x17xf32>
// CHECK:         domain [#[[ROWS]]] {{.*}}%[[X]][#[[ROW]]]{{.*}} writes(%[[T]][#[[PLACE]]]
// CHECK-COUNT-2: arith.mulf
// CHECK:         arith.addf
// CHECK:         domain [#[[RESULT]]] {{.*}}%[[T]][#[[COLUMN]]]
// CHECK-COUNT-2: arith.mulf
// CHECK:         arith.addf
// CHECK-NOT:     reduction
// CHECK-NOT:   poly.kernel private @
module attributes {poly.target = #target} {
  func.func @linear(%x: tensor<10x17xf32>) -> tensor<7x9xf32> {
    %0 = graph.resize %x to [7, 9] {mode = #graph.resize_mode<linear>} : (tensor<10x17xf32>) -> tensor<7x9xf32>
    return %0 : tensor<7x9xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>

// Integers are converted before they are weighed.
// CHECK-LABEL: poly.kernel private @resize_{{[0-9a-f]+}}(
// CHECK:         poly.array : memref<7x17xf32>
// CHECK-COUNT-4: arith.sitofp
// CHECK-NOT:     arith.sitofp
// CHECK-COUNT-4: arith.mulf
// CHECK:         arith.fptosi
module attributes {poly.target = #target} {
  func.func @integers(%x: tensor<10x17xi16>) -> tensor<7x9xi16> {
    %0 = graph.resize %x to [7, 9] {mode = #graph.resize_mode<cubic>} : (tensor<10x17xi16>) -> tensor<7x9xi16>
    return %0 : tensor<7x9xi16>
  }
}

// -----

#target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>

// The rows of the image may have any length.
// CHECK-LABEL: poly.kernel private @resize_{{[0-9a-f]+}}(%{{.*}}: memref<?x?xf32>
// CHECK:         poly.array(%{{.*}}) : memref<7x?xf32>
// CHECK-NOT:     reduction
module attributes {poly.target = #target} {
  func.func @sizes(%x: tensor<?x?xf32>) -> tensor<7x9xf32> {
    %0 = graph.resize %x to [7, 9] {mode = #graph.resize_mode<linear>} : (tensor<?x?xf32>) -> tensor<7x9xf32>
    return %0 : tensor<7x9xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>

// So many columns for one of the result that the rows would take longer.
// CHECK-LABEL: poly.kernel private @resize_{{[0-9a-f]+}}(
// CHECK:         reduction add
module attributes {poly.target = #target} {
  func.func @few_columns(%x: tensor<10x170xf32>) -> tensor<7x9xf32> {
    %0 = graph.resize %x to [7, 9] {mode = #graph.resize_mode<linear>} : (tensor<10x170xf32>) -> tensor<7x9xf32>
    return %0 : tensor<7x9xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>

// Along rows alone, vectors lie in memory.
// CHECK-LABEL: poly.kernel private @resize_{{[0-9a-f]+}}(
// CHECK:         reduction add
module attributes {poly.target = #target} {
  func.func @one_axis(%x: tensor<10x17xf32>) -> tensor<7x17xf32> {
    %0 = graph.resize %x to [7, 17] {mode = #graph.resize_mode<linear>} : (tensor<10x17xf32>) -> tensor<7x17xf32>
    return %0 : tensor<7x17xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>

// Behind a convolution, channels are side by side and nothing is gathered.
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(
// CHECK-COUNT-2: reduction add
module attributes {poly.target = #target} {
  func.func @channels_last(%x: tensor<1x3x6x6xf32>, %w: tensor<32x3x1x1xf32>) -> tensor<1x32x9x9xf32> {
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x6x6xf32>, tensor<32x3x1x1xf32>) -> tensor<1x32x6x6xf32>
    %1 = graph.resize %0 to [1, 32, 9, 9] {mode = #graph.resize_mode<linear>} : (tensor<1x32x6x6xf32>) -> tensor<1x32x9x9xf32>
    return %1 : tensor<1x32x9x9xf32>
  }
}
