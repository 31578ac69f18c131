// RUN: espalier-opt %s -split-input-file -convert-graph-to-poly -poly-form-kernels -poly-store-in-place -poly-name-kernels | FileCheck %s

// Maps over the indices of a contraction are its epilogue, one computation.
// CHECK:       poly.kernel private @[[K0:matmul_relu_[0-9a-f]+]]
// CHECK:         %[[SUM:.*]] = poly.array : memref<6x35xf32>
// CHECK:         poly.compute @s0_init dims ["i", "j"]
// CHECK:         poly.compute @s0 dims ["i", "j", "k"] {{.*}} reduction add
// CHECK:         poly.compute @s1 {{.*}} reads(%[[SUM]][{{.*}}], %arg2
// CHECK:           arith.addf
// CHECK:           arith.maximumf
// CHECK-NOT:   poly.kernel
// CHECK-LABEL: func.func @main(
// CHECK-NEXT:    poly.call @[[K0]]
// CHECK-NEXT:    return
func.func @main(%x: tensor<6x19xf32>, %w: tensor<19x35xf32>, %b: tensor<35xf32>) -> tensor<6x35xf32> {
  %0 = graph.matmul %x, %w : (tensor<6x19xf32>, tensor<19x35xf32>) -> tensor<6x35xf32>
  %1 = graph.add %0, %b : (tensor<6x35xf32>, tensor<35xf32>) -> tensor<6x35xf32>
  %2 = graph.relu %1 : (tensor<6x35xf32>) -> tensor<6x35xf32>
  return %2 : tensor<6x35xf32>
}

// -----

// Two contractions do not share a tile: the second needs whole rows of the first.
// CHECK-LABEL: func.func @main(
// CHECK:         %[[HIDDEN:.*]] = memref.alloc() {{.*}} : memref<4x3xf32>
// CHECK:         poly.call @matmul_{{[0-9a-f]+}}(%{{.*}}, %{{.*}}, %[[HIDDEN]])
// CHECK:         poly.call @matmul_{{[0-9a-f]+}}(%[[HIDDEN]]
func.func @main(%x: tensor<4x5xf32>, %v: tensor<5x3xf32>, %w: tensor<3x2xf32>) -> tensor<4x2xf32> {
  %0 = graph.matmul %x, %v : (tensor<4x5xf32>, tensor<5x3xf32>) -> tensor<4x3xf32>
  %1 = graph.matmul %0, %w : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}

// -----

// The mean of each channel and the convolution before it run over the same
// image, which here has the channels innermost. Loops over channels around both
// would leave neither anything to run in lanes, so they are two kernels.
// CHECK-LABEL: func.func @main(
// CHECK:         poly.call @conv_
// CHECK:         poly.call @conv_relu_{{[0-9a-f]+}}(
// CHECK:         poly.call @reduce_mean_{{[0-9a-f]+}}(
func.func @main(%x: tensor<1x8x6x6xf32>, %p: tensor<32x8x1x1xf32>, %w: tensor<32x1x3x3xf32>, %q: tensor<8x32x1x1xf32>) -> (tensor<1x8x4x4xf32>, tensor<1x32x1x1xf32>) {
  %0 = graph.conv %x, %p {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x6x6xf32>, tensor<32x8x1x1xf32>) -> tensor<1x32x6x6xf32>
  %1 = graph.conv %0, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 32 : i64} : (tensor<1x32x6x6xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x4x4xf32>
  %2 = graph.relu %1 : (tensor<1x32x4x4xf32>) -> tensor<1x32x4x4xf32>
  %3 = graph.reduce_mean %2 {axes = array<i64: 2, 3>, keepdims = true} : (tensor<1x32x4x4xf32>) -> tensor<1x32x1x1xf32>
  %4 = graph.conv %2, %q {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x4x4xf32>, tensor<8x32x1x1xf32>) -> tensor<1x8x4x4xf32>
  return %4, %3 : tensor<1x8x4x4xf32>, tensor<1x32x1x1xf32>
}

// -----

// A softmax is one kernel: its steps share the loop over rows. The unknown
// extent is the kernel's parameter.
// CHECK-DAG:   #[[ROWS:.*]] = affine_set<(d0)[s0] : (d0 >= 0, -d0 + s0 - 1 >= 0)>
// CHECK:       poly.kernel private @[[K0:softmax_[0-9a-f]+]]
// CHECK-SAME:      %{{.*}}: memref<?x17xf32>, %[[OUT:.*]]: memref<?x17xf32>, %[[N:.*]]: index)
// CHECK:         %[[MAX:.*]] = poly.array(%[[N]]) : memref<?xf32>
// CHECK:         poly.compute @{{.*}} domain [#[[ROWS]]] reads() writes(%[[MAX]]
// CHECK:         reduction max
// CHECK:         math.exp
// CHECK:         reduction add
// CHECK:         arith.divf
// CHECK:         writes(%[[OUT]]
// CHECK:           arith.mulf
// CHECK-NOT:   poly.kernel
// CHECK-LABEL: func.func @main(%arg0: memref<?x17xf32>
// CHECK:         %[[DIM:.*]] = memref.dim %arg0
// CHECK:         poly.call @[[K0]](%arg0, %arg1, %[[DIM]])
// CHECK-LABEL: func.func @main_plan(%arg0: index, %arg1: index) -> (index, index)
// CHECK:         return %arg0, %c17
func.func @main(%x: tensor<?x17xf32>) -> tensor<?x17xf32> {
  %0 = graph.softmax %x {axis = 1 : i64} : (tensor<?x17xf32>) -> tensor<?x17xf32>
  return %0 : tensor<?x17xf32>
}

// -----

// Extents of one name are one parameter.
// CHECK-LABEL: poly.kernel private @add_{{[0-9a-f]+}}
// CHECK-SAME:      (%{{[^:]*}}: memref<?xf32>, %{{[^:]*}}: memref<?xf32>, %{{[^:]*}}: memref<?xf32>, %{{[^:]*}}: index)
func.func @main(%x: tensor<?xf32> {espalier.dims = ["n"]}, %y: tensor<?xf32> {espalier.dims = ["n"]}) -> tensor<?xf32> {
  %0 = graph.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// An index read from memory is computed into an array of its own, wrapped and
// clamped; a symbol of the access map, after the parameters, stands for it.
// CHECK-DAG:   #[[ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG:   #[[INDIRECT:.*]] = affine_map<(d0, d1)[s0] -> (s0, d1)>
// CHECK-LABEL: poly.kernel private @gather_{{[0-9a-f]+}}
// CHECK:         %[[INDEX:.*]] = poly.array : memref<3xindex>
// CHECK:         poly.compute @s0
// CHECK:           arith.minsi
// CHECK:           arith.maxsi
// CHECK:         poly.compute @s1 {{.*}} reads(%[[INDEX]][#[[ROW]]], %{{.*}}[#[[INDIRECT]]]
func.func @main(%x: tensor<7x5xf32>, %i: tensor<3xi64>) -> tensor<3x5xf32> {
  %0 = graph.gather %x, %i {axis = 0 : i64} : (tensor<7x5xf32>, tensor<3xi64>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

// The operands of a concatenation are pieces of one array.
// CHECK-DAG:   #[[SHIFT:.*]] = affine_map<(d0, d1) -> (d0, d1 - 3)>
// CHECK-DAG:   #[[LEFT:.*]] = affine_set<(d0, d1) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 7 >= 0, -d1 + 2 >= 0)>
// CHECK-DAG:   #[[RIGHT:.*]] = affine_set<(d0, d1) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 7 >= 0, d1 - 3 >= 0)>
// CHECK-LABEL: poly.kernel private @concat_{{[0-9a-f]+}}
// CHECK:         poly.compute @s0_0{{.*}} domain [#[[LEFT]]] reads(%arg0
// CHECK:         poly.compute @s0_1{{.*}} domain [#[[RIGHT]]] reads(%arg1[#[[SHIFT]]]
func.func @main(%a: tensor<2x3xf32>, %b: tensor<2x5xf32>) -> tensor<2x8xf32> {
  %0 = graph.concat %a, %b {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// -----

// The steps of a recurrence are one kernel, in which the state of one time is
// read at the next.
// CHECK-DAG:   #[[BEFORE:.*]] = affine_map<(d0, d1) -> (d0 - 1, d1)>
// CHECK-DAG:   #[[LATER:.*]] = affine_set<(d0, d1) : (d0 >= 0, -d0 + 3 >= 0, d1 >= 0, -d1 + 2 >= 0, d0 - 1 >= 0)>
// CHECK-LABEL: poly.kernel private @cumsum_{{[0-9a-f]+}}
// CHECK:         poly.compute @{{.*}} domain [#[[LATER]]] reads(%[[STATE:.*]][#[[BEFORE]]], {{.*}} writes(%[[STATE]][
func.func @main(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = graph.cumsum %x {axis = 0 : i64} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// A reshape is a view of the same memory, not a kernel.
// CHECK-LABEL: func.func @main(%arg0: memref<2x3xf32>, %arg1: memref<6xf32>)
// CHECK:         %[[VIEW:.*]] = memref.cast %{{.*}} : {{.*}} to memref<2x3xf32>
// CHECK:         poly.call @exp_{{[0-9a-f]+}}(%arg0, %[[VIEW]])
// CHECK-NOT:     poly.call
// CHECK-LABEL: func.func @main_plan(
func.func @main(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %0 = graph.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = graph.reshape %0 to [6] : (tensor<2x3xf32>) -> tensor<6xf32>
  return %1 : tensor<6xf32>
}

// -----

// The size of a reshape may be known from its attribute, and not from its type.
// CHECK-LABEL: poly.kernel private @exp_{{[0-9a-f]+}}
// CHECK-SAME:      memref<6xf32>, %{{[^:]*}}: memref<6xf32>)
func.func @main(%x: tensor<2x3xf32>) -> tensor<?xf32> {
  %0 = graph.reshape %x to [6] : (tensor<2x3xf32>) -> tensor<?xf32>
  %1 = graph.exp %0 : (tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// Without operands that are read elsewhere, a map is written into its reader.
// CHECK-LABEL: poly.kernel private @exp_{{[0-9a-f]+}}
// CHECK-NOT:     poly.array
// CHECK:         poly.compute @s0
// CHECK:           arith.negf
// CHECK:           math.exp
// CHECK-NOT:     poly.compute
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> {
  %0 = graph.neg %x : (tensor<5xf32>) -> tensor<5xf32>
  %1 = graph.exp %0 : (tensor<5xf32>) -> tensor<5xf32>
  return %1 : tensor<5xf32>
}

// -----

// Memory does not tell signs, and so constants do not.
// CHECK-DAG:   memref.global "private" constant @constant_{{[01]}} : memref<3xi8> = dense<[1, 2, -1]>
// CHECK-DAG:   memref.global "private" constant @constant_{{[01]}} : memref<2x3xi8> = dense_resource<bytes>
func.func @main(%x: tensor<3xui8>) -> (tensor<3xui8>, tensor<2x3xui8>) {
  %c = graph.constant dense<[1, 2, 255]> : tensor<3xui8>
  %d = graph.constant dense_resource<bytes> : tensor<2x3xui8>
  %0 = graph.add %x, %c : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xui8>
  %1 = graph.add %x, %d : (tensor<3xui8>, tensor<2x3xui8>) -> tensor<2x3xui8>
  return %0, %1 : tensor<3xui8>, tensor<2x3xui8>
}
{-#
  dialect_resources: {
    builtin: {
      bytes: "0x01000000010203040506"
    }
  }
#-}

// -----

// The extent of the result folds to that of the operand, which stays what it is.
// CHECK:       func.func @main_plan(%[[N:[^:]*]]: index, %{{[^:]*}}: index, %[[L:[^:]*]]: index, %[[O:[^:]*]]: index, %{{[^:]*}}: index, %{{[^:]*}}: index)
// CHECK:         return %[[N]], %[[O]], %[[L]]
func.func @main(%x: tensor<?x?x?xf32>, %w: tensor<?x?x1xf32>) -> tensor<?x?x?xf32> {
  %0 = graph.conv %x, %w {strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<?x?x?xf32>, tensor<?x?x1xf32>) -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}

// -----

// Layers that do the same are one kernel.
// CHECK:     poly.kernel private @[[K0:matmul_relu_[0-9a-f]+]](%arg0: memref<4x4xf32>, %arg1: memref<4x4xf32>, %arg2: memref<4x4xf32>)
// CHECK-NOT: poly.kernel
// CHECK:     poly.call @[[K0]](%arg0, %arg1, %[[FIRST:.*]]) :
// CHECK:     poly.call @[[K0]](%[[FIRST]], %arg1, %arg2)
func.func @main(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = graph.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.relu %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = graph.matmul %1, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = graph.relu %2 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// The elements of a row lie far from each other, so sums have lanes along the
// other dimension, and so many rows do not share a loop.
// CHECK:       func.func @main(%{{.*}}: memref<64x1024xf32>
// CHECK:         poly.call @layer_norm_
// CHECK:         poly.call @layer_norm_
// CHECK:         poly.call @layer_norm_
// CHECK:         return
func.func @main(%x: tensor<64x1024xf32>, %s: tensor<64xf32>) -> tensor<1024x64xf32> {
  %0 = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<64x1024xf32>) -> tensor<1024x64xf32>
  %1 = graph.layer_norm %0, %s, %s {axis = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<1024x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<1024x64xf32>
  return %1 : tensor<1024x64xf32>
}
