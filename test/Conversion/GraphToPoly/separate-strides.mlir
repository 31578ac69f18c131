// RUN: espalier-opt %s -split-input-file -convert-graph-to-poly | FileCheck %s

#filters = #sparse_tensor.encoding<{ map = (o, c, k) -> (o : dense, c : compressed(nonunique), k : singleton) }>

// Two phases of each line, side by side, and 1 in front of it: the copy with a
// border is none of its own. Entries of a filter at 0, 1 and 2 are at 0 in both
// phases, and at 1 in the first one, in which order they are stored.
// CHECK-DAG: #[[PHASES:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2 + d3 * 2 - 1)>
// CHECK-DAG: dense<[0, 0, 1]>
// CHECK-DAG: dense<[0, 1, 0]>
// CHECK-DAG: dense<[5.000000e+00, 7.000000e+00, 6.000000e+00]>
// CHECK-LABEL: poly.kernel {{.*}} memref<1x1x2x5xf32>
// CHECK: reads(%{{.*}}[#[[PHASES]]] :
// CHECK: poly.compute {{.*}} where
// CHECK-COUNT-3: poly.call
// CHECK: return
func.func @main(%x: tensor<1x1x8xf32>) -> tensor<1x1x4xf32> {
  %w = graph.constant dense<[[[5.0, 6.0, 7.0]]]> : tensor<1x1x3xf32, #filters>
  %r = graph.conv %x, %w {dilations = array<i64: 1>, groups = 1 : i64, pads_high = array<i64: 1>, pads_low = array<i64: 1>, strides = array<i64: 2>} : (tensor<1x1x8xf32>, tensor<1x1x3xf32, #filters>) -> tensor<1x1x4xf32>
  return %r : tensor<1x1x4xf32>
}

// -----

#filters = #sparse_tensor.encoding<{ map = (o, c, k) -> (o : dense, c : compressed(nonunique), k : singleton) }>

// One phase is read, so the other one is not copied, and an entry's only place
// is its channel.
// CHECK-DAG: #[[PHASE:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2 * 2)>
// CHECK-LABEL: poly.kernel {{.*}} memref<1x2x8xf32>, {{.*}} memref<1x2x4xf32>
// CHECK: reads(%{{.*}}[#[[PHASE]]] :
// CHECK: poly.kernel
// CHECK: poly.compute {{.*}} where
func.func @main(%x: tensor<1x2x8xf32>) -> tensor<1x1x4xf32> {
  %w = graph.constant dense<[[[0.0], [6.0]]]> : tensor<1x2x1xf32, #filters>
  %r = graph.conv %x, %w {dilations = array<i64: 1>, groups = 1 : i64, pads_high = array<i64: 0>, pads_low = array<i64: 0>, strides = array<i64: 2>} : (tensor<1x2x8xf32>, tensor<1x2x1xf32, #filters>) -> tensor<1x1x4xf32>
  return %r : tensor<1x1x4xf32>
}

// -----

#filters = #sparse_tensor.encoding<{ map = (o, c, k) -> (o : dense, c : compressed(nonunique), k : singleton) }>

// Windows that move by one point read lines as they are.
// CHECK-NOT: * 2
// CHECK: poly.kernel {{.*}} memref<1x1x8xf32>
// CHECK: poly.compute {{.*}} where
func.func @main(%x: tensor<1x1x8xf32>) -> tensor<1x1x6xf32> {
  %w = graph.constant dense<[[[5.0, 0.0, 7.0]]]> : tensor<1x1x3xf32, #filters>
  %r = graph.conv %x, %w {dilations = array<i64: 1>, groups = 1 : i64, pads_high = array<i64: 0>, pads_low = array<i64: 0>, strides = array<i64: 1>} : (tensor<1x1x8xf32>, tensor<1x1x3xf32, #filters>) -> tensor<1x1x6xf32>
  return %r : tensor<1x1x6xf32>
}
