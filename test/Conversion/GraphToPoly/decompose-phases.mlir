// RUN: espalier-opt %s -convert-graph-to-poly -poly-form-kernels -poly-store-in-place -poly-name-kernels -split-input-file | FileCheck %s

// Of four taps at stride 2, each of the two phases adds two; the activation is
// computed for each. No sum has a condition.
// CHECK-DAG:   #[[EVEN:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2 * 2)>
// CHECK-DAG:   #[[ODD:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2 * 2 + 1)>
// CHECK-DAG:   #[[SUM:.*]] = affine_set<(d0, d1, d2, d3, d4) : (d0 >= 0, -d0 >= 0, d1 >= 0, -d1 + 15 >= 0, d2 >= 0, -d2 + 4 >= 0, d3 >= 0, -d3 + 7 >= 0, d4 >= 0, -d4 + 1 >= 0)>
// CHECK-LABEL: poly.kernel private @conv_transpose_relu_{{[0-9a-f]+}}(
// CHECK:         domain [#[[SUM]]] {{.*}} reduction add
// CHECK:         writes(%[[R:.*]][#[[EVEN]]]
// CHECK:         arith.maximumf
// CHECK:         domain [#[[SUM]]] {{.*}} reduction add
// CHECK:         writes(%[[R]][#[[ODD]]]
// CHECK:         arith.maximumf
func.func @main(%x: tensor<1x8x5xf32>, %w: tensor<8x16x4xf32>) -> tensor<1x16x10xf32> {
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 2>, pads_low = array<i64: 1>, pads_high = array<i64: 1>, dilations = array<i64: 1>, output_padding = array<i64: 0>} : (tensor<1x8x5xf32>, tensor<8x16x4xf32>) -> tensor<1x16x10xf32>
  %1 = graph.relu %0 : (tensor<1x16x10xf32>) -> tensor<1x16x10xf32>
  return %1 : tensor<1x16x10xf32>
}

// -----

// A phase for each tap.
// CHECK-LABEL: poly.kernel private @conv_transpose_{{[0-9a-f]+}}(%{{[^:]*}}: memref<1x8x
// CHECK-COUNT-3: reduction add
func.func @main(%x: tensor<1x8x5xf32>, %w: tensor<8x16x3xf32>) -> tensor<1x16x15xf32> {
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 3>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>, output_padding = array<i64: 0>} : (tensor<1x8x5xf32>, tensor<8x16x3xf32>) -> tensor<1x16x15xf32>
  return %0 : tensor<1x16x15xf32>
}

// -----

// Some phase has no tap, so the condition stays.
// CHECK:       affine_set<(d0, d1, d2, d3, d4) : ({{.*}}, (d2 - d4) mod 3 == 0
// CHECK-LABEL: poly.kernel private @conv_transpose_{{[0-9a-f]+}}(%{{[^:]*}}: memref<1x8x
// CHECK:         reduction add
// CHECK-NOT:     reduction add
func.func @main(%x: tensor<1x8x5xf32>, %w: tensor<8x16x2xf32>) -> tensor<1x16x14xf32> {
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 3>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>, output_padding = array<i64: 0>} : (tensor<1x8x5xf32>, tensor<8x16x2xf32>) -> tensor<1x16x14xf32>
  return %0 : tensor<1x16x14xf32>
}

// -----

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>

// Phases along rows of a large result would each store half of every line: they
// store vectors of channels, and a kernel of its own writes the lines.
// CHECK-LABEL: poly.kernel private @conv_transpose_{{[0-9a-f]+}}(%arg0: memref<1x8x65x65xf32>, %arg1: memref<{{.*}}>, %arg2: memref<1x128x128x32xf32>)
// CHECK-COUNT-4: reduction add
// CHECK-LABEL: poly.kernel private @conv_transpose_{{[0-9a-f]+}}(%arg0: memref<1x128x128x32xf32>, %arg1: memref<1x32x128x128xf32>)
// CHECK-NOT:     reduction
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<1x8x64x64xf32>, %w: tensor<8x32x2x2xf32>) -> tensor<1x32x128x128xf32> {
    %0 = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x8x64x64xf32>, tensor<8x32x2x2xf32>) -> tensor<1x32x128x128xf32>
    return %0 : tensor<1x32x128x128xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>

// Lines of a small result stay in cache until they are whole.
// CHECK-LABEL: poly.kernel private @conv_transpose_{{[0-9a-f]+}}(%arg0: memref<1x8x9x9xf32>, %arg1: memref<{{.*}}>, %arg2: memref<1x32x16x16xf32>)
// CHECK-NOT:   poly.kernel
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<1x8x8x8xf32>, %w: tensor<8x32x2x2xf32>) -> tensor<1x32x16x16xf32> {
    %0 = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x8x8x8xf32>, tensor<8x32x2x2xf32>) -> tensor<1x32x16x16xf32>
    return %0 : tensor<1x32x16x16xf32>
  }
}

// -----

// Planes of the caller's get their border beside the phases, whose sums have no
// condition.
// CHECK-DAG:   #[[SUM:.*]] = affine_set<(d0, d1, d2, d3, d4, d5, d6) : ({{.*}}, d2 >= 0, -d2 + 6 >= 0, d3 >= 0, -d3 + 6 >= 0, d4 >= 0, -d4 >= 0, d5 >= 0, -d5 + 1 >= 0, d6 >= 0, -d6 + 1 >= 0)>
// CHECK-LABEL: poly.kernel private @conv_transpose_{{[0-9a-f]+}}(%{{[^:]*}}: memref<1x8x7x7xf32>
// CHECK:         poly.array : memref<1x8x9x9xf32>
// CHECK-COUNT-4: domain [#[[SUM]]] {{.*}} reduction add
// CHECK-NOT:   poly.kernel
// CHECK:       func.func @main
func.func @main(%x: tensor<1x8x7x7xf32>) -> tensor<1x8x14x14xf32> {
  %w = graph.constant dense<0.5> : tensor<8x1x4x4xf32>
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 8 : i64} : (tensor<1x8x7x7xf32>, tensor<8x1x4x4xf32>) -> tensor<1x8x14x14xf32>
  return %0 : tensor<1x8x14x14xf32>
}

// -----

// Beside a border, results of one term each are left in one piece: whole lines
// are stored.
// CHECK:       affine_set<(d0, d1, d2, d3, d4, d5, d6) : ({{.*}}, (d2 - d5) mod 2 == 0
// CHECK-LABEL: poly.kernel private @conv_transpose_{{[0-9a-f]+}}(%{{[^:]*}}: memref<1x8x7x7xf32>
// CHECK:         reduction add
// CHECK-NOT:     reduction add
func.func @main(%x: tensor<1x8x7x7xf32>) -> tensor<1x8x14x14xf32> {
  %w = graph.constant dense<0.5> : tensor<8x1x2x2xf32>
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 8 : i64} : (tensor<1x8x7x7xf32>, tensor<8x1x2x2xf32>) -> tensor<1x8x14x14xf32>
  return %0 : tensor<1x8x14x14xf32>
}

// -----

// A border that is a multiple of the stride moves the places that are read by a
// whole number; they are padded, too.
// CHECK-LABEL: poly.kernel private @conv_transpose_{{[0-9a-f]+}}(%{{[^:]*}}: memref<1x8x7xf32>
// CHECK-COUNT-2: reduction add
func.func @main(%x: tensor<1x8x5xf32>, %w: tensor<8x16x5xf32>) -> tensor<1x16x10xf32> {
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 2>, pads_low = array<i64: 2>, pads_high = array<i64: 2>, dilations = array<i64: 1>, output_padding = array<i64: 1>} : (tensor<1x8x5xf32>, tensor<8x16x5xf32>) -> tensor<1x16x10xf32>
  return %0 : tensor<1x16x10xf32>
}

// -----

// Groups of features are a dimension of the sums and not of the result, which
// is stored as it lies, however large it may be.
// CHECK-LABEL: poly.kernel private @conv_transpose_relu_{{[0-9a-f]+}}(
// CHECK-COUNT-4: reduction add
// CHECK-NOT:   poly.kernel
// CHECK:       func.func @main
func.func @main(%x: tensor<?x6x?x?xf32>) -> tensor<?x6x?x?xf32> {
  %w = graph.constant dense_resource<w> : tensor<6x3x4x4xf32>
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, groups = 2 : i64} : (tensor<?x6x?x?xf32>, tensor<6x3x4x4xf32>) -> tensor<?x6x?x?xf32>
  %1 = graph.relu %0 : (tensor<?x6x?x?xf32>) -> tensor<?x6x?x?xf32>
  return %1 : tensor<?x6x?x?xf32>
}

// -----

// There is code for up to 64 phases.
// CHECK-LABEL: poly.kernel private @conv_transpose_{{[0-9a-f]+}}(%{{[^:]*}}: memref<1x2x
// CHECK-COUNT-64: reduction add
// CHECK-NOT:     reduction add
func.func @main(%x: tensor<1x2x3x3xf32>, %w: tensor<2x16x8x8xf32>) -> tensor<1x16x24x24xf32> {
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 8, 8>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x2x3x3xf32>, tensor<2x16x8x8xf32>) -> tensor<1x16x24x24xf32>
  return %0 : tensor<1x16x24x24xf32>
}

// -----

// The 72 of these steps stay one sum.
// CHECK:       affine_set<({{.*}}) : ({{.*}}, (d2 - d5) mod 8 == 0, (d3 - d6) mod 9 == 0
// CHECK-LABEL: poly.kernel private @conv_transpose_{{[0-9a-f]+}}(%{{[^:]*}}: memref<1x2x
// CHECK:         reduction add
// CHECK-NOT:     reduction add
func.func @main(%x: tensor<1x2x3x3xf32>, %w: tensor<2x16x8x9xf32>) -> tensor<1x16x24x27xf32> {
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 8, 9>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x2x3x3xf32>, tensor<2x16x8x9xf32>) -> tensor<1x16x24x27xf32>
  return %0 : tensor<1x16x24x27xf32>
}
