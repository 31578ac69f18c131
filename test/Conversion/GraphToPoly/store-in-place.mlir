// RUN: espalier-opt %s -convert-graph-to-poly -poly-form-kernels -poly-store-in-place -poly-name-kernels -split-input-file | FileCheck %s

// The activation is the convolution's epilogue, and writes into the padded
// operand of the next one, whose border is all that is left to fill.
// CHECK-DAG:  #[[INSIDE:.*]] = affine_map<(d0, d1, d2) -> (d0, d2 + 1, d1)>
// CHECK:      poly.kernel private @[[K0:conv_relu_[0-9a-f]+]]({{.*}}, %[[P:[^:]*]]: memref<1x8x16xf32>)
// CHECK:        reduction add
// CHECK:        writes(%[[P]][#[[INSIDE]]]
// CHECK:        arith.maximumf
// CHECK-NOT:    poly.kernel
// CHECK:      poly.kernel private @[[K1:copy_[0-9a-f]+]](%{{[^:]*}}: memref<1x8x16xf32>) {
// CHECK-COUNT-2: poly.compute @{{.*}} reads() writes(
// CHECK-NOT:    poly.compute
// CHECK:      poly.kernel private @{{conv_[0-9a-f]+}}(%{{[^:]*}}: memref<16x16x3xf32>
// CHECK:      poly.kernel private @[[K2:conv_[0-9a-f]+]](%{{[^:]*}}: memref<1x8x16xf32>
// CHECK:      func.func @main
// CHECK:        %[[PADDED:.*]] = memref.alloc() {{.*}} : memref<1x8x16xf32>
// CHECK-NEXT:   poly.call @[[K0]]({{.*}}, %[[PADDED]])
// CHECK:        poly.call @[[K1]](%[[PADDED]])
// CHECK:        poly.call @[[K2]](%[[PADDED]],
func.func @main(%x: tensor<1x8x6xf32>, %w: tensor<16x8x1xf32>, %v: tensor<16x16x3xf32>) -> tensor<1x16x6xf32> {
  %0 = graph.conv %x, %w {strides = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x8x6xf32>, tensor<16x8x1xf32>) -> tensor<1x16x6xf32>
  %1 = graph.relu %0 : (tensor<1x16x6xf32>) -> tensor<1x16x6xf32>
  %2 = graph.conv %1, %v {strides = array<i64: 1>, pads_low = array<i64: 1>, pads_high = array<i64: 1>, dilations = array<i64: 1>} : (tensor<1x16x6xf32>, tensor<16x16x3xf32>) -> tensor<1x16x6xf32>
  return %2 : tensor<1x16x6xf32>
}

// -----

// Both operands of the concatenation are computed in its result, and a third
// reader finds the first one there.
// CHECK-LABEL: poly.kernel private @exp_{{[0-9a-f]+}}(%{{[^:]*}}: memref<3x4xf32>, %{{[^:]*}}: memref<3x9xf32>)
// CHECK:       poly.kernel private @tanh_{{[0-9a-f]+}}(%{{[^:]*}}: memref<3x5xf32>, %{{[^:]*}}: memref<3x9xf32>)
// CHECK:       poly.kernel private @reduce_sum_{{[0-9a-f]+}}(%{{[^:]*}}: memref<3x9xf32>, %{{[^:]*}}: memref<4xf32>)
// CHECK-NOT:   poly.kernel
func.func @main(%x: tensor<3x4xf32>, %y: tensor<3x5xf32>) -> (tensor<3x9xf32>, tensor<4xf32>) {
  %0 = graph.exp %x : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %1 = graph.tanh %y : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %2 = graph.concat %0, %1 {axis = 1 : i64} : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<3x9xf32>
  %3 = graph.reduce_sum %0 {axes = array<i64: 0>, keepdims = false} : (tensor<3x4xf32>) -> tensor<4xf32>
  return %2, %3 : tensor<3x9xf32>, tensor<4xf32>
}

// -----

// A result of the function stays where the caller wants it.
// CHECK-LABEL: poly.kernel private @exp_{{[0-9a-f]+}}(%{{[^:]*}}: memref<4xf32>, %{{[^:]*}}: memref<4xf32>)
// CHECK:       poly.kernel private @concat_{{[0-9a-f]+}}(%{{[^:]*}}: memref<4xf32>, %{{[^:]*}}: memref<8xf32>)
func.func @main(%x: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.concat %0, %0 {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return %1, %0 : tensor<8xf32>, tensor<4xf32>
}

// -----

// Once in the first half, and copied to the second.
// CHECK-LABEL: poly.kernel private @exp_{{[0-9a-f]+}}(%{{[^:]*}}: memref<4xf32>, %{{[^:]*}}: memref<8xf32>)
// CHECK:       poly.kernel private @concat_{{[0-9a-f]+}}(%[[P:[^:]*]]: memref<8xf32>)
// CHECK:         reads(%[[P]]{{.*}} writes(%[[P]]
func.func @main(%x: tensor<4xf32>) -> tensor<8xf32> {
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.concat %0, %0 {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// The concatenation lies inside of what the window needs around it. Who reads
// it by data does not wait for the borders.
// CHECK-LABEL: poly.kernel private @concat_{{.*}}(%{{[^:]*}}: memref<3x1x2xf32>, %{{[^:]*}}: memref<3x4x2xf32>)
// CHECK:       poly.kernel private @gather_elements_{{[^(]*}}(%{{[^:]*}}: memref<3x1x2xi32>, %{{[^:]*}}: memref<3x4x2xf32>, %{{[^:]*}}: memref<3x1x2xf32>)
// CHECK:       poly.kernel private @copy_{{[^(]*}}(%{{[^:]*}}: memref<3x4x2xf32>)
func.func @main(%x: tensor<3x1x2xf32>, %i: tensor<3x1x2xi32>) -> (tensor<3x2x2xf32>, tensor<3x1x2xf32>) {
  %0 = graph.concat %x, %x {axis = 1 : i64} : (tensor<3x1x2xf32>, tensor<3x1x2xf32>) -> tensor<3x2x2xf32>
  %1 = graph.gather_elements %0, %i {axis = 1 : i64} : (tensor<3x2x2xf32>, tensor<3x1x2xi32>) -> tensor<3x1x2xf32>
  %2 = graph.lrn %0 {alpha = 5.000000e-01 : f64, beta = 7.500000e-01 : f64, bias = 1.500000e+00 : f64, window = 3 : i64} : (tensor<3x2x2xf32>) -> tensor<3x2x2xf32>
  return %2, %1 : tensor<3x2x2xf32>, tensor<3x1x2xf32>
}
