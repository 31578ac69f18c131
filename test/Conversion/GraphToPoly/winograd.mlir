// RUN: espalier-opt %s -convert-graph-to-poly -poly-form-kernels -poly-store-in-place -poly-name-kernels -split-input-file | FileCheck %s
// RUN: espalier-opt %s -convert-graph-to-poly -poly-form-kernels=skip=winograd -poly-store-in-place -poly-name-kernels -split-input-file | FileCheck %s --check-prefix=PLAIN
// RUN: espalier-opt %s -split-input-file -pass-pipeline='builtin.module(convert-graph-to-poly,poly-form-kernels,poly-store-in-place,poly-name-kernels,poly.kernel(poly-default-schedule,poly-verify-schedule))' | FileCheck %s --check-prefix=SCHEDULE

// Sixteen combinations of each 4x4 tile, sixteen products, four sums; the
// activation is computed for each of the four. Rows of tiles share a loop. A
// tile has two of the elements of a line: vectors of filters are stored, and a
// kernel of its own writes whole lines.
// CHECK-LABEL: poly.kernel private @conv_relu_{{[0-9a-f]+}}(
// CHECK-SAME:    memref<4x4x2x32x32xf32>
// CHECK:         %[[V:.*]] = poly.array : memref<1x6x4x4x16x32xf32>
// CHECK-COUNT-16: writes(%[[V]][
// CHECK:         reads(%[[V]][{{.*}} reduction add
// CHECK-NOT:     reduction add
// CHECK-COUNT-4: arith.maximumf
// CHECK-LABEL: poly.kernel private @relu_{{[0-9a-f]+}}(%{{.*}}: memref<1x12x32x48xf32>, %{{.*}}: memref<1x48x12x32xf32>
// CHECK-COUNT-1: poly.compute
// CHECK-NOT:     poly.compute
// CHECK-LABEL: func.func @main
// SCHEDULE-LABEL: poly.kernel private @conv_relu_{{[0-9a-f]+}}(
// SCHEDULE:         poly.array : memref<1x6x4x4x16x32xf32> storage {{.*}} as memref<4x4x16x32xf32>
// SCHEDULE:         poly.filter [@s16_init, @s16, @s17]
// SCHEDULE:         loops [sequential, unroll, unroll, vector(16)]
// PLAIN-LABEL: poly.kernel private @conv_relu_{{[0-9a-f]+}}(
// PLAIN:         reads({{.*}} : memref<1x32x14x34xf32>, memref<2x32x3x3x32xf32>, {{.*}} reduction add
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<1x32x14x34xf32>) -> tensor<1x48x12x32xf32> {
    %a = graph.constant dense<0.5> : tensor<48x32x3x1xf32>
    %b = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    %w = graph.add %a, %b : (tensor<48x32x3x1xf32>, tensor<3xf32>) -> tensor<48x32x3x3xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x14x34xf32>, tensor<48x32x3x3xf32>) -> tensor<1x48x12x32xf32>
    %1 = graph.relu %0 : (tensor<1x48x12x32xf32>) -> tensor<1x48x12x32xf32>
    return %1 : tensor<1x48x12x32xf32>
  }
}

// -----

// With a smaller cache, blocks of columns do.
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(
// CHECK:         poly.array : memref<1x6x2x4x4x16x32xf32>
// CHECK-LABEL: func.func @main
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 262144, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<1x32x14x66xf32>) -> tensor<1x48x12x64xf32> {
    %a = graph.constant dense<0.5> : tensor<48x32x3x1xf32>
    %b = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    %w = graph.add %a, %b : (tensor<48x32x3x1xf32>, tensor<3xf32>) -> tensor<48x32x3x3xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x14x66xf32>, tensor<48x32x3x3xf32>) -> tensor<1x48x12x64xf32>
    return %0 : tensor<1x48x12x64xf32>
  }
}

// -----

// An odd number of columns: the last tile overlaps the one before, which has the
// result that both could compute.
// CHECK:       (d0, d1, d2, d3) -> (d0, d1 * 2 + 3, d2 * 2 - d2 floordiv 5 + 2, d3)
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}({{.*}}memref<4x4x2x32x32xf32>
// CHECK:         poly.array : memref<1x4x4x6x6x32xf32>
// CHECK-LABEL: func.func @main
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<1x32x14x13xf32>) -> tensor<1x48x12x11xf32> {
    %a = graph.constant dense<0.5> : tensor<48x32x3x1xf32>
    %b = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    %w = graph.add %a, %b : (tensor<48x32x3x1xf32>, tensor<3xf32>) -> tensor<48x32x3x3xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x14x13xf32>, tensor<48x32x3x3xf32>) -> tensor<1x48x12x11xf32>
    return %0 : tensor<1x48x12x11xf32>
  }
}

// -----

// Results of a dilated window that are its distance apart make a tile. Each of the
// three remainders of 15 rows has five, so there are overlapping tiles.
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(
// CHECK:         poly.array : memref<1x4x4x9x4x32xf32>
// CHECK-LABEL: func.func @main
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<1x32x21x12xf32>) -> tensor<1x48x15x8xf32> {
    %a = graph.constant dense<0.5> : tensor<48x32x3x1xf32>
    %b = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    %w = graph.add %a, %b : (tensor<48x32x3x1xf32>, tensor<3xf32>) -> tensor<48x32x3x3xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 3, 2>} : (tensor<1x32x21x12xf32>, tensor<48x32x3x3xf32>) -> tensor<1x48x15x8xf32>
    return %0 : tensor<1x48x15x8xf32>
  }
}

// -----

// A remainder of 5 rows has three, the other one two: one tile would have to lie
// outside.
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(
// CHECK-NOT:     x4x4x
// CHECK-LABEL: func.func @main
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<1x32x9x42xf32>) -> tensor<1x48x5x40xf32> {
    %a = graph.constant dense<0.5> : tensor<48x32x3x1xf32>
    %b = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    %w = graph.add %a, %b : (tensor<48x32x3x1xf32>, tensor<3xf32>) -> tensor<48x32x3x3xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 2, 1>} : (tensor<1x32x9x42xf32>, tensor<48x32x3x3xf32>) -> tensor<1x48x5x40xf32>
    return %0 : tensor<1x48x5x40xf32>
  }
}

// -----

// Windows along a third dimension stay in the sum, and four images of few tiles
// share the weights.
// CHECK:       (d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d0, d1, d2, d3, d4 + d7, d5, d8)
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(
// CHECK:         poly.array : memref<4x4x4x2x4x2x32xf32>
// CHECK:         poly.array : memref<4x4x4x2x3x2x48xf32>
// CHECK-LABEL: func.func @main
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<4x32x4x5x6xf32>) -> tensor<4x48x3x3x4xf32> {
    %a = graph.constant dense<0.5> : tensor<48x32x2x3x1xf32>
    %b = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    %w = graph.add %a, %b : (tensor<48x32x2x3x1xf32>, tensor<3xf32>) -> tensor<48x32x2x3x3xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1, 1>, pads_low = array<i64: 0, 0, 0>, pads_high = array<i64: 0, 0, 0>, dilations = array<i64: 1, 1, 1>} : (tensor<4x32x4x5x6xf32>, tensor<48x32x2x3x3xf32>) -> tensor<4x48x3x3x4xf32>
    return %0 : tensor<4x48x3x3x4xf32>
  }
}

// -----

// A batch of unknown size.
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(
// CHECK:         poly.array(%{{.*}}) : memref<?x4x4x6x6x32xf32>
// CHECK-LABEL: func.func @main
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<?x32x14x14xf32>) -> tensor<?x48x12x12xf32> {
    %a = graph.constant dense<0.5> : tensor<48x32x3x1xf32>
    %b = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    %w = graph.add %a, %b : (tensor<48x32x3x1xf32>, tensor<3xf32>) -> tensor<48x32x3x3xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x32x14x14xf32>, tensor<48x32x3x3xf32>) -> tensor<?x48x12x12xf32>
    return %0 : tensor<?x48x12x12xf32>
  }
}

// -----

// Weights that are not known.
// CHECK:       poly.compute
// CHECK-COUNT-1: reduction add
// CHECK-NOT:     reduction add
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<1x32x14x14xf32>, %w: tensor<48x32x3x3xf32>) -> tensor<1x48x12x12xf32> {
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x14x14xf32>, tensor<48x32x3x3xf32>) -> tensor<1x48x12x12xf32>
    return %0 : tensor<1x48x12x12xf32>
  }
}

// -----

// Between rows of the caller, tiles are the windows of the pooling: the four
// results of one are vectors side by side, and their maximum is that of four
// numbers.
// CHECK-LABEL: poly.kernel private @conv_max_pool_relu_{{[0-9a-f]+}}(%arg0: memref<1x16x4x64xf32>
// CHECK:         %[[V:.*]] = poly.array : memref<1x2x4x4x16x32xf32>
// CHECK-COUNT-16: writes(%[[V]][
// CHECK:         reads(%[[V]][{{.*}} reduction add
// CHECK-NOT:     reduction
// CHECK-COUNT-4: arith.maximumf
// CHECK-NOT:     poly.kernel private
// SCHEDULE-LABEL: poly.kernel private @conv_max_pool_relu_{{[0-9a-f]+}}(%arg0: memref<1x16x4x64xf32>
// SCHEDULE:         poly.array : memref<1x2x4x4x16x32xf32> storage {{.*}} as memref<4x4x16x32xf32>
// SCHEDULE:         poly.filter [@[[INIT:s[0-9]+_init]], @[[SUM:s[0-9]+]], @{{s[0-9]+}}]
// SCHEDULE:         poly.band [@[[SUM]]] {{.*}} loops [sequential, unroll, unroll, vector(16)]
// PLAIN-LABEL: poly.kernel private @conv_max_pool_relu_{{[0-9a-f]+}}(%arg0: memref<1x16x4x64xf32>
// PLAIN:         reduction add
// PLAIN:         reduction max
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<1x16x4x64xf32>) -> tensor<1x20x2x32xf32> {
    %a = graph.constant dense<0.5> : tensor<20x16x3x1xf32>
    %b = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    %w = graph.add %a, %b : (tensor<20x16x3x1xf32>, tensor<3xf32>) -> tensor<20x16x3x3xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x16x4x64xf32>, tensor<20x16x3x3xf32>) -> tensor<1x20x4x64xf32>
    %1 = graph.relu %0 : (tensor<1x20x4x64xf32>) -> tensor<1x20x4x64xf32>
    %2 = graph.max_pool %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x20x4x64xf32>) -> tensor<1x20x2x32xf32>
    return %2 : tensor<1x20x2x32xf32>
  }
}

// -----

// With 16 registers, the scalars of more rows than 8 would not fit beside a tile
// of one vector: two vectors of few rows.
// CHECK-LABEL: poly.kernel private @conv_max_pool_relu_{{[0-9a-f]+}}(%arg0: memref<1x16x4x64xf32>
// PLAIN-LABEL: poly.kernel private @conv_max_pool_relu_{{[0-9a-f]+}}(%arg0: memref<1x16x4x64xf32>
// SCHEDULE-LABEL: poly.kernel private @conv_max_pool_relu_{{[0-9a-f]+}}(%arg0: memref<1x16x4x64xf32>
// SCHEDULE:         poly.array register : memref<1x2x4x4x20x32xf32> storage {{.*}} as memref<5x16xf32>
module attributes {poly.target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<1x16x4x64xf32>) -> tensor<1x20x2x32xf32> {
    %a = graph.constant dense<0.5> : tensor<20x16x3x1xf32>
    %b = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    %w = graph.add %a, %b : (tensor<20x16x3x1xf32>, tensor<3xf32>) -> tensor<20x16x3x3xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x16x4x64xf32>, tensor<20x16x3x3xf32>) -> tensor<1x20x4x64xf32>
    %1 = graph.relu %0 : (tensor<1x20x4x64xf32>) -> tensor<1x20x4x64xf32>
    %2 = graph.max_pool %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x20x4x64xf32>) -> tensor<1x20x2x32xf32>
    return %2 : tensor<1x20x2x32xf32>
  }
}

// -----

// Of few channels, the sums of one row of points after the other have a window of
// four, and are added to the window's results before the next: a tile of all is in
// registers, and filters pass the vectors of some columns.
// CHECK-LABEL: poly.kernel private @conv_max_pool_relu_{{[0-9a-f]+}}(%arg0: memref<1x3x4x64xf32>
// CHECK:         %[[V:.*]] = poly.array : memref<1x2x4x4x3x32xf32>
// CHECK:         %[[M:.*]] = poly.array : memref<1x2x20x4x32xf32>
// CHECK-COUNT-16: writes(%[[V]][
// CHECK:         reads(%[[V]][{{.*}} writes(%[[M]][{{.*}} reduction add
// CHECK:         reduction add
// CHECK:         reduction add
// CHECK:         reduction add
// CHECK-NOT:     reduction
// CHECK-LABEL: func.func @main
// SCHEDULE-LABEL: poly.kernel private @conv_max_pool_relu_{{[0-9a-f]+}}(%arg0: memref<1x3x4x64xf32>
// SCHEDULE-COUNT-4: poly.array register : memref<1x2x20x4x32xf32> storage {{.*}} as memref<4x4x16xf32>
// SCHEDULE-LABEL: func.func @main
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<1x3x4x64xf32>) -> tensor<1x20x2x32xf32> {
    %a = graph.constant dense<0.5> : tensor<20x3x3x1xf32>
    %b = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    %w = graph.add %a, %b : (tensor<20x3x3x1xf32>, tensor<3xf32>) -> tensor<20x3x3x3xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x3x4x64xf32>, tensor<20x3x3x3xf32>) -> tensor<1x20x4x64xf32>
    %1 = graph.relu %0 : (tensor<1x20x4x64xf32>) -> tensor<1x20x4x64xf32>
    %2 = graph.max_pool %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x20x4x64xf32>) -> tensor<1x20x2x32xf32>
    return %2 : tensor<1x20x2x32xf32>
  }
}

// -----

// Registers for a plain sum, but not for such tiles.
// CHECK-LABEL: poly.kernel private @conv_max_pool_relu_{{[0-9a-f]+}}(%arg0: memref<1x3x4x64xf32>
// CHECK-NOT:     poly.array : memref<1x2x4x4x
// CHECK:         reduction add
// CHECK:         reduction max
module attributes {poly.target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<1x3x4x64xf32>) -> tensor<1x20x2x32xf32> {
    %a = graph.constant dense<0.5> : tensor<20x3x3x1xf32>
    %b = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    %w = graph.add %a, %b : (tensor<20x3x3x1xf32>, tensor<3xf32>) -> tensor<20x3x3x3xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x3x4x64xf32>, tensor<20x3x3x3xf32>) -> tensor<1x20x4x64xf32>
    %1 = graph.relu %0 : (tensor<1x20x4x64xf32>) -> tensor<1x20x4x64xf32>
    %2 = graph.max_pool %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x20x4x64xf32>) -> tensor<1x20x2x32xf32>
    return %2 : tensor<1x20x2x32xf32>
  }
}

// -----

// Too few channels to pay for the transforms.
// CHECK-LABEL: poly.kernel private @conv_max_pool_relu_{{[0-9a-f]+}}(%arg0: memref<1x1x4x64xf32>
// CHECK-NOT:     poly.array : memref<1x2x4x4x
// CHECK:         reduction add
// CHECK:         reduction max
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<1x1x4x64xf32>) -> tensor<1x20x2x32xf32> {
    %a = graph.constant dense<0.5> : tensor<20x1x3x1xf32>
    %b = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    %w = graph.add %a, %b : (tensor<20x1x3x1xf32>, tensor<3xf32>) -> tensor<20x1x3x3xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x1x4x64xf32>, tensor<20x1x3x3xf32>) -> tensor<1x20x4x64xf32>
    %1 = graph.relu %0 : (tensor<1x20x4x64xf32>) -> tensor<1x20x4x64xf32>
    %2 = graph.max_pool %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x20x4x64xf32>) -> tensor<1x20x2x32xf32>
    return %2 : tensor<1x20x2x32xf32>
  }
}

// -----

// Values that are missing, which kernels do not depend on; they miss from what
// is computed of them, too.
// CHECK-LABEL: memref.global "private" constant @constant_0 : memref<4x4x{{.*}}xf32> = dense_resource<missing>
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(
// CHECK-COUNT-16: writes(
// PLAIN: memref.global "private" constant @constant_0 : memref<{{[0-9]+}}x32x3x3x{{.*}}xf32> = dense_resource<missing>
func.func @main(%x: tensor<1x32x14x14xf32>) -> tensor<1x48x12x12xf32> {
  %a = graph.constant dense_resource<missing> : tensor<48x32x3x1xf32>
  %b = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %w = graph.add %a, %b : (tensor<48x32x3x1xf32>, tensor<3xf32>) -> tensor<48x32x3x3xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x32x14x14xf32>, tensor<48x32x3x3xf32>) -> tensor<1x48x12x12xf32>
  return %0 : tensor<1x48x12x12xf32>
}

// -----

// The copy that adds the border stores channels innermost for its only reader.
// CHECK-LABEL: poly.kernel private @copy_{{[0-9a-f]+}}(%{{.*}}: memref<1x32x14x14xf32>, %{{.*}}: memref<1x16x16x32xf32>
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(
// CHECK-COUNT-16: writes(
// CHECK:          reduction add
func.func @main(%x: tensor<1x32x14x14xf32>) -> tensor<1x32x14x14xf32> {
  %a = graph.constant dense<0.5> : tensor<32x32x3x1xf32>
  %b = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %w = graph.add %a, %b : (tensor<32x32x3x1xf32>, tensor<3xf32>) -> tensor<32x32x3x3xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x32x14x14xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x14x14xf32>
  return %0 : tensor<1x32x14x14xf32>
}

// -----

// What the caller gives is copied with channels innermost, which are the lanes.
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(%{{.*}}: memref<1x16x16x16xf32>, %{{.*}}: memref<1x16x16x16xf32>
// CHECK-COUNT-1: poly.compute
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(
// CHECK-COUNT-16: writes(
// CHECK:          reduction add
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x16x16x16xf32>) -> tensor<1x16x14x14xf32> {
  %a = graph.constant dense<0.5> : tensor<16x16x3x1xf32>
  %b = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %w = graph.add %a, %b : (tensor<16x16x3x1xf32>, tensor<3xf32>) -> tensor<16x16x3x3xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x16x16x16xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x14x14xf32>
  return %0 : tensor<1x16x14x14xf32>
}

// -----

// Fewer channels do not pay for the transforms,
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(
// CHECK-NOT:     x4x4x
// CHECK:         reduction add
// CHECK-NOT:     x4x4x
// CHECK:         func.func @main
func.func @main(%x: tensor<1x12x16x16xf32>) -> tensor<1x32x14x14xf32> {
  %a = graph.constant dense<0.5> : tensor<32x12x3x1xf32>
  %b = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %w = graph.add %a, %b : (tensor<32x12x3x1xf32>, tensor<3xf32>) -> tensor<32x12x3x3xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x12x16x16xf32>, tensor<32x12x3x3xf32>) -> tensor<1x32x14x14xf32>
  return %0 : tensor<1x32x14x14xf32>
}

// -----

// nor do few where tiles overlap: 16 of them have 256 products for each channel,
// and 7 x 7 windows 441,
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(
// CHECK-NOT:     x4x4x
// CHECK:         reduction add
// CHECK-NOT:     x4x4x
// CHECK:         func.func @main
func.func @main(%x: tensor<1x16x9x9xf32>) -> tensor<1x16x7x7xf32> {
  %a = graph.constant dense<0.5> : tensor<16x16x3x1xf32>
  %b = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %w = graph.add %a, %b : (tensor<16x16x3x1xf32>, tensor<3xf32>) -> tensor<16x16x3x3xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x16x9x9xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x7x7xf32>
  return %0 : tensor<1x16x7x7xf32>
}

// -----

// nor do those that leave lanes empty where there are few registers,
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}(
// CHECK-NOT:     x4x4x
// CHECK:         reduction add
// CHECK-NOT:     x4x4x
// CHECK:         func.func @main
module attributes {poly.target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<1x20x22x22xf32>) -> tensor<1x20x20x20xf32> {
    %a = graph.constant dense<0.5> : tensor<20x20x3x1xf32>
    %b = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    %w = graph.add %a, %b : (tensor<20x20x3x1xf32>, tensor<3xf32>) -> tensor<20x20x3x3xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x20x22x22xf32>, tensor<20x20x3x3xf32>) -> tensor<1x20x20x20xf32>
    return %0 : tensor<1x20x20x20xf32>
  }
}

// -----

// which others have enough of.
// CHECK-LABEL: poly.kernel private @conv_{{[0-9a-f]+}}({{.*}}memref<4x4x
module attributes {poly.target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<1x20x22x22xf32>) -> tensor<1x20x20x20xf32> {
    %a = graph.constant dense<0.5> : tensor<20x20x3x1xf32>
    %b = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    %w = graph.add %a, %b : (tensor<20x20x3x1xf32>, tensor<3xf32>) -> tensor<20x20x3x3xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x20x22x22xf32>, tensor<20x20x3x3xf32>) -> tensor<1x20x20x20xf32>
    return %0 : tensor<1x20x20x20xf32>
  }
}
