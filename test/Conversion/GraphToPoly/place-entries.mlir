// RUN: espalier-opt %s -split-input-file -convert-graph-to-poly -poly-assign-layouts -poly-fuse-kernels -poly-separate-accumulators -poly-group-entries -remarks-filter=poly-group-entries 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t
// RUN: espalier-opt %s -split-input-file -espalier-compile='to=scheduled entries=true' | FileCheck %s --check-prefix=SCHEDULE

// An entry has one place, and those of two channels each are a block: what a tile
// reads of a channel, 6 x 6 numbers, is 144 bytes, and two fit three quarters of the
// first-level cache. The greatest place is 3 * 36 + 2 * 6 + 2.
// CHECK: affine_map<(d0, d1, d2, d3, d4, d5) -> (d1 + d4 * 2)>
// CHECK: poly.kernel private @{{.*}}: memref<1x144xf32>, %{{.*}}: memref<72xi32> {poly.bounded_by = affine_map<() -> (123)>}, %{{.*}}: memref<72xf32>, %{{.*}}: memref<5xi32> {poly.bounded_by = affine_map<() -> (73)>, poly.monotonic}
// REMARK: remark: [Passed] Blocks | Category:poly-group-entries | Blocks=2, Channels=2

// All filters pass a block before the next, at each tile of the image.
// SCHEDULE: #[[TILES:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d3 floordiv 8, d2 floordiv 4)>
// SCHEDULE: #[[SUM:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d1, 0, d5, d2 mod 4, d3 mod 8)>
// SCHEDULE: poly.compute @s0 dims ["n", "o", "p0", "p1", "b", "e"]
// SCHEDULE: poly.schedule {
// SCHEDULE-NEXT: poly.band [@s0_init, @s0, @s1] maps [{{.*}}#[[TILES]]{{.*}}] loops [sequential, sequential, sequential]
// SCHEDULE: poly.band [@s0] maps [#[[SUM]]] loops [sequential, sequential, sequential, sequential, unroll, vector(8)]
#filters = #sparse_tensor.encoding<{ map = (o, k, i, j) -> (o : dense, k : compressed(nonunique), i : singleton(nonunique), j : singleton) }>
#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 512, l2 = 524288, l3 = 33554432, cores = 1>
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<1x4x6x6xf32>) -> tensor<1x2x4x4xf32> {
    %w = graph.constant {poly.entries = "each:1"} dense<[[[[1., 2., 3.], [4., 5., 6.], [7., 1., 2.]],
                               [[3., 4., 5.], [6., 7., 1.], [2., 3., 4.]],
                               [[5., 6., 7.], [1., 2., 3.], [4., 5., 6.]],
                               [[7., 1., 2.], [3., 4., 5.], [6., 7., 1.]]],
                               [[[2., 3., 4.], [5., 6., 7.], [1., 2., 3.]],
                               [[4., 5., 6.], [7., 1., 2.], [3., 4., 5.]],
                               [[6., 7., 1.], [2., 3., 4.], [5., 6., 7.]],
                               [[1., 2., 3.], [4., 5., 6.], [7., 1., 2.]]]]> : tensor<2x4x3x3xf32, #filters>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x6x6xf32>, tensor<2x4x3x3xf32, #filters>) -> tensor<1x2x4x4xf32>
    return %0 : tensor<1x2x4x4xf32>
  }
}

// -----

// A single block: its sums never wait in memory, and are registers of a tile.
// REMARK: remark: [Passed] Blocks | Category:poly-group-entries | Blocks=1, Channels=4
// SCHEDULE: poly.array register
// SCHEDULE: poly.schedule {
// SCHEDULE-NEXT: poly.band [@s0_init, @s0, @s1] maps {{.*}} loops [sequential, sequential, sequential, sequential]
#filters = #sparse_tensor.encoding<{ map = (o, k, i, j) -> (o : dense, k : compressed(nonunique), i : singleton(nonunique), j : singleton) }>
#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 1>
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<1x4x6x6xf32>) -> tensor<1x2x4x4xf32> {
    %w = graph.constant {poly.entries = "each:1"} dense<[[[[1., 2., 3.], [4., 5., 6.], [7., 1., 2.]],
                               [[3., 4., 5.], [6., 7., 1.], [2., 3., 4.]],
                               [[5., 6., 7.], [1., 2., 3.], [4., 5., 6.]],
                               [[7., 1., 2.], [3., 4., 5.], [6., 7., 1.]]],
                               [[[2., 3., 4.], [5., 6., 7.], [1., 2., 3.]],
                               [[4., 5., 6.], [7., 1., 2.], [3., 4., 5.]],
                               [[6., 7., 1.], [2., 3., 4.], [5., 6., 7.]],
                               [[1., 2., 3.], [4., 5., 6.], [7., 1., 2.]]]]> : tensor<2x4x3x3xf32, #filters>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x6x6xf32>, tensor<2x4x3x3xf32, #filters>) -> tensor<1x2x4x4xf32>
    return %0 : tensor<1x2x4x4xf32>
  }
}

// -----

// Rows that might be groups pass the blocks one by one, as these read less.
// REMARK: remark: [Passed] Blocks | Category:poly-group-entries | Blocks=2, Channels=2
// REMARK: remark: [Missed] RowsStayAlone | {{.*}}Reason="an image that leaves the first-level cache, which each row passes in blocks of channels"
#filters = #sparse_tensor.encoding<{ map = (o, k, i, j) -> (o : dense, k : compressed(nonunique), i : singleton(nonunique), j : singleton) }>
#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 32, l1 = 512, l2 = 524288, l3 = 33554432, cores = 1>
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<1x4x6x6xf32>) -> tensor<1x2x4x4xf32> {
    %w = graph.constant dense<[[[[1., 2., 3.], [4., 5., 6.], [7., 1., 2.]],
                               [[3., 4., 5.], [6., 7., 1.], [2., 3., 4.]],
                               [[5., 6., 7.], [1., 2., 3.], [4., 5., 6.]],
                               [[7., 1., 2.], [3., 4., 5.], [6., 7., 1.]]],
                               [[[2., 3., 4.], [5., 6., 7.], [1., 2., 3.]],
                               [[4., 5., 6.], [7., 1., 2.], [3., 4., 5.]],
                               [[6., 7., 1.], [2., 3., 4.], [5., 6., 7.]],
                               [[1., 2., 3.], [4., 5., 6.], [7., 1., 2.]]]]> : tensor<2x4x3x3xf32, #filters>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x6x6xf32>, tensor<2x4x3x3xf32, #filters>) -> tensor<1x2x4x4xf32>
    return %0 : tensor<1x2x4x4xf32>
  }
}

// -----

// Planes whose size only the run knows have places of their own in each dimension.
// Tiles have few vectors of a line and several lines, as lines are seldom long.
// SCHEDULE: affine_map<(d0, d1, d2, d3)[{{.*}}] -> (d0, d1, d3 floordiv 8, d2 floordiv 7)>
// CHECK: poly.kernel private @{{.*}}memref<1x4x?x?xf32>, %{{.*}}: memref<72xi32> {poly.bounded_by = {{.*}}(4)>}, %{{.*}}: memref<72xi32> {poly.bounded_by = {{.*}}(3)>}, %{{.*}}: memref<72xi32> {poly.bounded_by = {{.*}}(3)>}
#filters = #sparse_tensor.encoding<{ map = (o, k, i, j) -> (o : dense, k : compressed(nonunique), i : singleton(nonunique), j : singleton) }>
#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 1>
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<1x4x?x?xf32>) -> tensor<1x2x?x?xf32> {
    %w = graph.constant {poly.entries = "each:1"} dense<1.0> : tensor<2x4x3x3xf32, #filters>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x?x?xf32>, tensor<2x4x3x3xf32, #filters>) -> tensor<1x2x?x?xf32>
    return %0 : tensor<1x2x?x?xf32>
  }
}
