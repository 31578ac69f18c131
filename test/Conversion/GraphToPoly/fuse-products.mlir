// RUN: espalier-opt %s -convert-graph-to-poly -poly-form-kernels -poly-store-in-place -poly-collapse-dimensions -poly-name-kernels -split-input-file | FileCheck %s
// RUN: espalier-opt %s -split-input-file -pass-pipeline='builtin.module(convert-graph-to-poly,poly-form-kernels,poly-store-in-place,poly-collapse-dimensions,poly-name-kernels,poly.kernel(poly-default-schedule,poly-verify-schedule))' | FileCheck %s --check-prefix=SCHEDULE

// Attention runs by blocks of queries, whose scores stay in the cache: they are
// scratch memory of one block. Each product has its register tile, and softmax
// runs row by row.
// CHECK-DAG:   #[[QUERY:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 * 32 + d2, d4)>
// CHECK-DAG:   #[[RESULT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1 * 32 + d2, d3)>
// CHECK-LABEL: poly.kernel private @matmul_softmax_{{[0-9a-f]+}}(
// CHECK:         %[[SCORES:.*]] = poly.array : memref<8x32x32x1024xf32>
// CHECK:         poly.compute @s0_init
// CHECK-NOT:     interleaved
// CHECK:         poly.compute @s0 dims ["b0", {{.*}}, "j", "k"] {{.*}} reads(%arg0[#[[QUERY]]]
// CHECK-SAME:    writes(%[[SCORES]]
// CHECK-SAME:    reduction add interleaved 2
// CHECK:         reduction max interleaved 2
// CHECK:         math.exp
// CHECK:         writes(%arg3[#[[RESULT]]] : memref<8x1024x64xf32>) interleaved 2
// SCHEDULE-LABEL: poly.kernel private @matmul_softmax_{{[0-9a-f]+}}(
// SCHEDULE:         poly.array : memref<8x32x32x1024xf32> storage {{.*}} as memref<32x1024xf32>
// SCHEDULE:         poly.array stack : memref<8x32x32x1024xf32> storage {{.*}} as memref<1024xf32>
// SCHEDULE:         poly.band [@s0_init, @s0, @s1, @s2_init, @s2, @s3, @s4_init, @s4, @s5, @s6, @s7_init, @s7, @s8]
// SCHEDULE-NEXT:      poly.sequence
// SCHEDULE-NEXT:        poly.filter [@s0_init, @s0, @s1]
// SCHEDULE:             poly.filter [@s2_init, @s2, @s3, @s4_init, @s4, @s5, @s6]
// SCHEDULE:             poly.filter [@s7_init, @s7, @s8]
module attributes {poly.target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 8>} {
  func.func @main(%q: tensor<8x1024x64xf32>, %k: tensor<8x64x1024xf32>, %v: tensor<8x1024x64xf32>) -> tensor<8x1024x64xf32> {
    %s = graph.matmul %q, %k : (tensor<8x1024x64xf32>, tensor<8x64x1024xf32>) -> tensor<8x1024x1024xf32>
    %p = graph.softmax %s {axis = 2 : i64} : (tensor<8x1024x1024xf32>) -> tensor<8x1024x1024xf32>
    %y = graph.matmul %p, %v : (tensor<8x1024x1024xf32>, tensor<8x1024x64xf32>) -> tensor<8x1024x64xf32>
    return %y : tensor<8x1024x64xf32>
  }
}

// -----

// The scores of one head are a block if they fit.
// CHECK-LABEL: poly.kernel private @matmul_mul_softmax_{{[0-9a-f]+}}(
// CHECK:         poly.array : memref<12x160x160xf32>
// CHECK:         reduction add interleaved 1
// CHECK:         reduction max interleaved 1
// CHECK:         poly.compute @s7 {{.*}} reduction add interleaved 1
module attributes {poly.target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 8>} {
  func.func @main(%q: tensor<12x160x64xf32>, %k: tensor<12x64x160xf32>, %v: tensor<12x160x64xf32>) -> tensor<12x160x64xf32> {
    %s = graph.matmul %q, %k : (tensor<12x160x64xf32>, tensor<12x64x160xf32>) -> tensor<12x160x160xf32>
    %scale = graph.constant dense<0.125> : tensor<f32>
    %t = graph.mul %s, %scale : (tensor<12x160x160xf32>, tensor<f32>) -> tensor<12x160x160xf32>
    %p = graph.softmax %t {axis = 2 : i64} : (tensor<12x160x160xf32>) -> tensor<12x160x160xf32>
    %y = graph.matmul %p, %v : (tensor<12x160x160xf32>, tensor<12x160x64xf32>) -> tensor<12x160x64xf32>
    return %y : tensor<12x160x64xf32>
  }
}

// -----

// Weights that the caller gets exist as a whole.
// CHECK-LABEL: poly.kernel private @matmul_
// CHECK-NOT:     interleaved
// CHECK-LABEL: func.func @main
module attributes {poly.target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 8>} {
  func.func @main(%q: tensor<8x1024x64xf32>, %k: tensor<8x64x1024xf32>, %v: tensor<8x1024x64xf32>) -> (tensor<8x1024x64xf32>, tensor<8x1024x1024xf32>) {
    %s = graph.matmul %q, %k : (tensor<8x1024x64xf32>, tensor<8x64x1024xf32>) -> tensor<8x1024x1024xf32>
    %p = graph.softmax %s {axis = 2 : i64} : (tensor<8x1024x1024xf32>) -> tensor<8x1024x1024xf32>
    %y = graph.matmul %p, %v : (tensor<8x1024x1024xf32>, tensor<8x1024x64xf32>) -> tensor<8x1024x64xf32>
    return %y, %p : tensor<8x1024x64xf32>, tensor<8x1024x1024xf32>
  }
}

// -----

// A maximum over the queries needs all of them; small scores stay in the cache.
// CHECK-LABEL: poly.kernel private @matmul_
// CHECK-NOT:     interleaved
// CHECK-LABEL: func.func @main
module attributes {poly.target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 8>} {
  func.func @main(%q: tensor<2x32x64xf32>, %k: tensor<2x64x32xf32>, %v: tensor<2x32x64xf32>) -> tensor<2x32x64xf32> {
    %s = graph.matmul %q, %k : (tensor<2x32x64xf32>, tensor<2x64x32xf32>) -> tensor<2x32x32xf32>
    %p = graph.softmax %s {axis = 2 : i64} : (tensor<2x32x32xf32>) -> tensor<2x32x32xf32>
    %y = graph.matmul %p, %v : (tensor<2x32x32xf32>, tensor<2x32x64xf32>) -> tensor<2x32x64xf32>
    return %y : tensor<2x32x64xf32>
  }
}

// -----

// CHECK-LABEL: poly.kernel private @matmul_
// CHECK-NOT:     interleaved
// CHECK-LABEL: func.func @main
module attributes {poly.target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 8>} {
  func.func @main(%q: tensor<8x1024x64xf32>, %k: tensor<8x64x1024xf32>, %v: tensor<8x1024x64xf32>) -> tensor<8x1024x64xf32> {
    %s = graph.matmul %q, %k : (tensor<8x1024x64xf32>, tensor<8x64x1024xf32>) -> tensor<8x1024x1024xf32>
    %p = graph.softmax %s {axis = 1 : i64} : (tensor<8x1024x1024xf32>) -> tensor<8x1024x1024xf32>
    %y = graph.matmul %p, %v : (tensor<8x1024x1024xf32>, tensor<8x1024x64xf32>) -> tensor<8x1024x64xf32>
    return %y : tensor<8x1024x64xf32>
  }
}

// -----

// Rows that whole blocks leave are a block after them, in a kernel of its own.
// CHECK-DAG:   #[[WHOLE:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1 * 100 + d2, d3)>
// CHECK-DAG:   #[[REST:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1 * 100 + d2 + 100, d3)>
// CHECK-LABEL: poly.kernel private @matmul_softmax_{{[0-9a-f]+}}(
// CHECK:         poly.array : memref<12x1x100x197xf32>
// CHECK:         writes(%arg3[#[[WHOLE]]] : memref<12x197x64xf32>) interleaved 2
// CHECK-LABEL: poly.kernel private @matmul_softmax_{{[0-9a-f]+}}(
// CHECK:         poly.array : memref<12x1x97x197xf32>
// CHECK:         writes(%arg3[#[[REST]]] : memref<12x197x64xf32>) interleaved 2
module attributes {poly.target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 8>} {
  func.func @main(%q: tensor<12x197x64xf32>, %k: tensor<12x64x197xf32>, %v: tensor<12x197x64xf32>) -> tensor<12x197x64xf32> {
    %s = graph.matmul %q, %k : (tensor<12x197x64xf32>, tensor<12x64x197xf32>) -> tensor<12x197x197xf32>
    %p = graph.softmax %s {axis = 2 : i64} : (tensor<12x197x197xf32>) -> tensor<12x197x197xf32>
    %y = graph.matmul %p, %v : (tensor<12x197x197xf32>, tensor<12x197x64xf32>) -> tensor<12x197x64xf32>
    return %y : tensor<12x197x64xf32>
  }
}

// -----

// Blocks of rows whose length is not known have 32 of them.
// CHECK-LABEL: poly.kernel private @matmul_softmax_{{[0-9a-f]+}}(
// CHECK:         poly.array(%{{.*}}) : memref<12x?x32x?xf32>
// CHECK:         interleaved 2
// CHECK-LABEL: poly.kernel private @matmul_softmax_{{[0-9a-f]+}}(
// CHECK:         poly.array(%{{.*}}) : memref<12x1x?x?xf32>
// CHECK:         interleaved 2
// CHECK-LABEL: func.func @main
module attributes {poly.target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 8>} {
  func.func @main(%q: tensor<12x?x64xf32>, %k: tensor<12x64x?xf32>, %v: tensor<12x?x64xf32>) -> tensor<12x?x64xf32> {
    %s = graph.matmul %q, %k : (tensor<12x?x64xf32>, tensor<12x64x?xf32>) -> tensor<12x?x?xf32>
    %p = graph.softmax %s {axis = 2 : i64} : (tensor<12x?x?xf32>) -> tensor<12x?x?xf32>
    %y = graph.matmul %p, %v : (tensor<12x?x?xf32>, tensor<12x?x64xf32>) -> tensor<12x?x64xf32>
    return %y : tensor<12x?x64xf32>
  }
}

// -----

// Rows of a block are as long as those of an operand: lanes lie along them.
// CHECK-LABEL: poly.kernel private @matmul_layer_norm_{{[0-9a-f]+}}(
// CHECK:         interleaved 1
// CHECK-LABEL: func.func @main
// SCHEDULE-LABEL: poly.kernel private @matmul_layer_norm_{{[0-9a-f]+}}(
// SCHEDULE:         poly.filter [@s2_init, @s2,
// SCHEDULE-NEXT:      poly.band {{.*}} loops [sequential] {
// SCHEDULE:             poly.filter [@s2] {
// SCHEDULE-NEXT:          poly.band [@s2] {{.*}} loops [sequential, vector(32)] {
// SCHEDULE-LABEL: func.func @main
module attributes {poly.target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 8>} {
  func.func @main(%x: tensor<512x256xf32>, %w: tensor<256x1024xf32>, %s: tensor<1024xf32>, %b: tensor<1024xf32>, %u: tensor<1024x64xf32>) -> tensor<512x64xf32> {
    %0 = graph.matmul %x, %w : (tensor<512x256xf32>, tensor<256x1024xf32>) -> tensor<512x1024xf32>
    %1 = graph.layer_norm %0, %s, %b {axis = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<512x1024xf32>, tensor<1024xf32>, tensor<1024xf32>) -> tensor<512x1024xf32>
    %2 = graph.matmul %1, %u : (tensor<512x1024xf32>, tensor<1024x64xf32>) -> tensor<512x64xf32>
    return %2 : tensor<512x64xf32>
  }
}

// -----

// Each block would read so many columns that this takes longer than it saves.
// CHECK-LABEL: poly.kernel private @matmul_
// CHECK-NOT:     interleaved 2
// CHECK-LABEL: func.func @main
module attributes {poly.target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 8>} {
  func.func @main(%x: tensor<512x256xf32>, %w: tensor<256x1024xf32>, %u: tensor<1024x512xf32>) -> tensor<512x512xf32> {
    %0 = graph.matmul %x, %w : (tensor<512x256xf32>, tensor<256x1024xf32>) -> tensor<512x1024xf32>
    %1 = graph.softmax %0 {axis = 1 : i64} : (tensor<512x1024xf32>) -> tensor<512x1024xf32>
    %2 = graph.matmul %1, %u : (tensor<512x1024xf32>, tensor<1024x512xf32>) -> tensor<512x512xf32>
    return %2 : tensor<512x512xf32>
  }
}
