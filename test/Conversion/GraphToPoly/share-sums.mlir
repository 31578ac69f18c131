// RUN: espalier-opt %s -convert-graph-to-poly -poly-form-kernels=stop-after=share-sums -split-input-file | FileCheck %s
// RUN: espalier-opt %s -convert-graph-to-poly -poly-form-kernels=skip=share-sums -split-input-file | FileCheck %s --check-prefix=WHOLE

#target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>

// A whole tensor: eight parts of rows, four for each of two threads, and then
// the sum of these.
// CHECK-DAG:   #[[ROWS:.*]] = affine_map<(d0, d1, d2) -> (d0 * 64 + d1, d2)>
// CHECK-LABEL: module @whole
// CHECK:       poly.compute @s0 {{.*}} reads(%arg0[#[[ROWS]]], {{.*}} : memref<512x1024xf32>, memref<8xf32>) {{.*}} reduction add
// CHECK:       reads({{.*}} : memref<8xf32>, memref<f32>) {{.*}} reduction add
// WHOLE-LABEL: module @whole
// WHOLE:       reads({{.*}} : memref<512x1024xf32>, memref<f32>) {{.*}} reduction add
module @whole attributes {poly.target = #target} {
  func.func @main(%x: tensor<512x1024xf32>) -> tensor<f32> {
    %0 = graph.reduce_sum %x {axes = array<i64: 0, 1>} : (tensor<512x1024xf32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}

// -----

#target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>

// The outermost dimension has no such parts, but the next has.
// CHECK-DAG:   #[[PLANES:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d0 * 64 + d2, d3)>
// CHECK-LABEL: module @planes
// CHECK:       poly.compute @s0 {{.*}} reads(%arg0[#[[PLANES]]], {{.*}} : memref<3x512x1024xf32>, memref<8xf32>) {{.*}} reduction max
// CHECK:       reduction max
module @planes attributes {poly.target = #target} {
  func.func @main(%x: tensor<3x512x1024xf32>) -> tensor<f32> {
    %0 = graph.reduce_max %x {axes = array<i64: 0, 1, 2>} : (tensor<3x512x1024xf32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}

// -----

#target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>

// The last dimension is too short for parts.
// CHECK-DAG:   #[[NARROW:.*]] = affine_map<(d0, d1, d2, d3) -> (d0 * 64 + d1, d2, d3)>
// CHECK-LABEL: module @narrow
// CHECK:       poly.compute @s0 {{.*}} reads(%arg0[#[[NARROW]]], {{.*}} : memref<512x32x26xf32>, memref<8xf32>) {{.*}} reduction max
// CHECK:       reduction max
module @narrow attributes {poly.target = #target} {
  func.func @main(%x: tensor<512x32x26xf32>) -> tensor<f32> {
    %0 = graph.reduce_max %x {axes = array<i64: 0, 1, 2>} : (tensor<512x32x26xf32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}

// -----

#target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 24>

// No dimension has four parts for each thread: the one that has the most.
// CHECK-DAG:   #[[FEW:.*]] = affine_map<(d0, d1, d2) -> (d1, d0 * 256 + d2)>
// CHECK-LABEL: module @few
// CHECK:       poly.compute @s0 {{.*}} reads(%arg0[#[[FEW]]], {{.*}} : memref<47x16384xf32>, memref<64xf32>) {{.*}} reduction add
module @few attributes {poly.target = #target} {
  func.func @main(%x: tensor<47x16384xf32>) -> tensor<f32> {
    %0 = graph.reduce_sum %x {axes = array<i64: 0, 1>} : (tensor<47x16384xf32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}

// -----

#target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>

// A softmax passes the row again with its sum and its maximum.
// CHECK-LABEL: module @softmax
// CHECK-NOT:   memref<8x
// CHECK-NOT:   x8xf32
module @softmax attributes {poly.target = #target} {
  func.func @main(%x: tensor<1x524288xf32>) -> tensor<1x524288xf32> {
    %0 = graph.softmax %x {axis = 1 : i64} : (tensor<1x524288xf32>) -> tensor<1x524288xf32>
    return %0 : tensor<1x524288xf32>
  }
}

// -----

#target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>

// Each thread has a result; a sum is short.
// CHECK-LABEL: module @not_shared
// CHECK:       reduction
// CHECK:       reduction
// CHECK-NOT:   reduction
module @not_shared attributes {poly.target = #target} {
  func.func @main(%x: tensor<2x262144xf32>, %y: tensor<1024xf32>) -> (tensor<2xf32>, tensor<f32>) {
    %0 = graph.reduce_sum %x {axes = array<i64: 1>} : (tensor<2x262144xf32>) -> tensor<2xf32>
    %1 = graph.reduce_sum %y {axes = array<i64: 0>} : (tensor<1024xf32>) -> tensor<f32>
    return %0, %1 : tensor<2xf32>, tensor<f32>
  }
}
