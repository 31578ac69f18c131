// RUN: espalier-opt %s -split-input-file -convert-graph-to-poly -poly-widen-operands | FileCheck %s

// The caller's matrix is copied, the rounded product is stored as f32, and so
// are the weights.
// CHECK-DAG: memref.global {{.*}} : memref<8x8xf32> = dense
// CHECK:     poly.kernel
// CHECK:       reads(%{{.*}} : memref<8x8xf16>) writes(%{{.*}} : memref<8x8xf32>)
// CHECK:       arith.extf
// CHECK:     poly.kernel
// CHECK:       memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>) writes
// CHECK-NOT:   arith.extf
// CHECK:       arith.mulf
// CHECK:     poly.kernel
// CHECK:       arith.truncf %{{.*}} : f32 to f16
// CHECK-NEXT:  arith.extf %{{.*}} : f16 to f32
// CHECK:     poly.kernel
// CHECK-NOT:   arith.extf
// CHECK:       arith.mulf
// The result is the caller's, and f16.
// CHECK:       arith.truncf %{{.*}} : f32 to f16
// CHECK-NEXT:  poly.yield %{{.*}} : f16
// CHECK:     return
func.func @main(%x: tensor<8x8xf16>) -> tensor<8x8xf16> {
  %w = graph.constant dense<1.0009765625> : tensor<8x8xf16>
  %0 = graph.matmul %x, %w : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16>
  %1 = graph.matmul %0, %w : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16>
  return %1 : tensor<8x8xf16>
}

// -----

// What is read once stays half as large: a row times a matrix reads the matrix.
// CHECK-NOT: memref<8x8xf32>
// CHECK:     memref<1x8xf32>
// CHECK-NOT: memref<8x8xf32>
// CHECK:     return
func.func @main(%x: tensor<1x8xbf16>, %w: tensor<8x8xbf16>) -> tensor<1x8xbf16> {
  %0 = graph.relu %x : (tensor<1x8xbf16>) -> tensor<1x8xbf16>
  %1 = graph.matmul %0, %w : (tensor<1x8xbf16>, tensor<8x8xbf16>) -> tensor<1x8xbf16>
  return %1 : tensor<1x8xbf16>
}

// -----

// With the padded image, the image that it is a copy of.
// CHECK: memref<1x1x6x6xf32>) writes(%{{.*}} : memref<1x1x8x8xf32>)
// CHECK-NOT: memref<1x1x8x8xf16>
func.func @main(%x: tensor<1x1x6x6xf16>, %w: tensor<5x1x3x3xf16>) -> tensor<1x5x6x6xf16> {
  %0 = graph.relu %x : (tensor<1x1x6x6xf16>) -> tensor<1x1x6x6xf16>
  %1 = graph.conv %0, %w {dilations = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x1x6x6xf16>, tensor<5x1x3x3xf16>) -> tensor<1x5x6x6xf16>
  return %1 : tensor<1x5x6x6xf16>
}

// -----

// What the caller has stays as it is, also where it is seen as another shape,
// of which there is a copy.
// CHECK: poly.kernel {{.*}}(%{{.*}}: memref<1x16xf16>, %{{.*}}: memref<1x16xf32>)
// CHECK: memref.reinterpret_cast %{{.*}} : memref<16xf16> to memref<1x16xf16
// CHECK: return
func.func @main(%x: tensor<64x16xf16>, %b: tensor<16xf16>) -> tensor<64x16xf16> {
  %0 = graph.reshape %b to [1, 16] : (tensor<16xf16>) -> tensor<1x16xf16>
  %1 = graph.add %x, %0 : (tensor<64x16xf16>, tensor<1x16xf16>) -> tensor<64x16xf16>
  return %1 : tensor<64x16xf16>
}

// -----

// Maxima of a row are those of f32.
// CHECK: reduction max
// CHECK: arith.maximumf %{{.*}}, %{{.*}} : f32
// CHECK-NOT: arith.maximumf {{.*}} : f16
// CHECK: return
func.func @main(%x: tensor<64x16xf16>) -> tensor<64x16xf16> {
  %0 = graph.softmax %x {axis = 1 : i64} : (tensor<64x16xf16>) -> tensor<64x16xf16>
  return %0 : tensor<64x16xf16>
}

// -----

// A padded image of f32 is a copy of the image, too: that is rounded, and f32.
// CHECK:      math.exp
// CHECK-NEXT: arith.truncf
// CHECK-NEXT: arith.extf
// CHECK-NOT:  arith.extf
// CHECK:      memref<1x1x6x6xf32>) writes(%{{.*}} : memref<1x1x8x8xf32>)
// CHECK-NOT:  arith.extf
// CHECK:      return
func.func @main(%x: tensor<1x1x6x6xf16>, %w: tensor<5x1x3x3xf32>) -> (tensor<1x5x6x6xf32>, tensor<1x1x6x6xf16>) {
  %0 = graph.exp %x : (tensor<1x1x6x6xf16>) -> tensor<1x1x6x6xf16>
  %1 = graph.cast %0 {to = f32} : (tensor<1x1x6x6xf16>) -> tensor<1x1x6x6xf32>
  %2 = graph.conv %1, %w {dilations = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x1x6x6xf32>, tensor<5x1x3x3xf32>) -> tensor<1x5x6x6xf32>
  %3 = graph.neg %0 : (tensor<1x1x6x6xf16>) -> tensor<1x1x6x6xf16>
  return %2, %3 : tensor<1x5x6x6xf32>, tensor<1x1x6x6xf16>
}
