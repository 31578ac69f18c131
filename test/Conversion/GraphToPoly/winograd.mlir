// RUN: espalier-opt %s -convert-graph-to-poly -split-input-file | FileCheck %s
// RUN: espalier-opt %s -convert-graph-to-poly=winograd=false -split-input-file | FileCheck %s --check-prefix=PLAIN
// RUN: espalier-opt %s -split-input-file -pass-pipeline='builtin.module(convert-graph-to-poly,poly.kernel(poly-default-schedule,poly-verify-schedule))' | FileCheck %s --check-prefix=SCHEDULE

// Sixteen combinations of each 4x4 tile, sixteen products, four sums; the
// activation is computed for each of the four. Rows of tiles share a loop.
// CHECK-LABEL: poly.kernel private @kernel_0
// CHECK-SAME:    memref<4x4x2x32x32xf32>
// CHECK:         %[[V:.*]] = poly.array : memref<1x6x4x4x6x32xf32>
// CHECK-COUNT-16: writes(%[[V]][
// CHECK:         reads(%[[V]][{{.*}} reduction add
// CHECK-NOT:     reduction add
// CHECK-COUNT-4: arith.maximumf
// CHECK-NOT:     poly.kernel private
// SCHEDULE-LABEL: poly.kernel private @kernel_0
// SCHEDULE:         poly.array stack : memref<1x6x4x4x6x32xf32> storage {{.*}} as memref<4x4x6x32xf32>
// SCHEDULE:         poly.filter [@s16_init, @s16, @s17]
// SCHEDULE:         loops [sequential, unroll, unroll, vector(16)]
// PLAIN-LABEL: poly.kernel private @kernel_0
// PLAIN:         reads({{.*}} : memref<1x32x14x14xf32>, memref<2x32x3x3x32xf32>, {{.*}} reduction add
func.func @main(%x: tensor<1x32x14x14xf32>) -> tensor<1x48x12x12xf32> {
  %a = graph.constant dense<0.5> : tensor<48x32x3x1xf32>
  %b = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %w = graph.add %a, %b : (tensor<48x32x3x1xf32>, tensor<3xf32>) -> tensor<48x32x3x3xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x14x14xf32>, tensor<48x32x3x3xf32>) -> tensor<1x48x12x12xf32>
  %1 = graph.relu %0 : (tensor<1x48x12x12xf32>) -> tensor<1x48x12x12xf32>
  return %1 : tensor<1x48x12x12xf32>
}

// -----

// An odd number of columns.
// CHECK-LABEL: poly.kernel private @kernel_0
// CHECK:         reads({{.*}} : memref<1x32x14x13xf32>, {{.*}} reduction add
func.func @main(%x: tensor<1x32x14x13xf32>) -> tensor<1x48x12x11xf32> {
  %a = graph.constant dense<0.5> : tensor<48x32x3x1xf32>
  %b = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %w = graph.add %a, %b : (tensor<48x32x3x1xf32>, tensor<3xf32>) -> tensor<48x32x3x3xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x14x13xf32>, tensor<48x32x3x3xf32>) -> tensor<1x48x12x11xf32>
  return %0 : tensor<1x48x12x11xf32>
}

// -----

// Weights that are not known.
// CHECK:       poly.compute
// CHECK-COUNT-1: reduction add
// CHECK-NOT:     reduction add
func.func @main(%x: tensor<1x32x14x14xf32>, %w: tensor<48x32x3x3xf32>) -> tensor<1x48x12x12xf32> {
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x14x14xf32>, tensor<48x32x3x3xf32>) -> tensor<1x48x12x12xf32>
  return %0 : tensor<1x48x12x12xf32>
}

// -----

// Values that are missing, which kernels do not depend on; they miss from what
// is computed of them, too.
// CHECK-LABEL: memref.global "private" constant @constant_0 : memref<4x4x{{.*}}xf32> = dense_resource<missing>
// CHECK-LABEL: poly.kernel private @kernel_0
// CHECK-COUNT-16: writes(
// PLAIN: memref.global "private" constant @constant_0 : memref<{{[0-9]+}}x32x3x3x{{.*}}xf32> = dense_resource<missing>
func.func @main(%x: tensor<1x32x14x14xf32>) -> tensor<1x48x12x12xf32> {
  %a = graph.constant dense_resource<missing> : tensor<48x32x3x1xf32>
  %b = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %w = graph.add %a, %b : (tensor<48x32x3x1xf32>, tensor<3xf32>) -> tensor<48x32x3x3xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x14x14xf32>, tensor<48x32x3x3xf32>) -> tensor<1x48x12x12xf32>
  return %0 : tensor<1x48x12x12xf32>
}
