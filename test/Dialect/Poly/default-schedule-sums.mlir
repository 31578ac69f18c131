// RUN: espalier-opt %s -split-input-file -convert-graph-to-poly -poly-form-kernels -poly-extract-script | FileCheck %s

// Sums of long rows have lanes along the rows: side by side, each row would be fetched in lines of its own. Short ones are
// transposed in registers, which saves adding up their lanes. Each step waits for the one before, so there are several
// side by side: a maximum takes longest, and a sum pays for what is left of a row if that is long.
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  // CHECK:      plan
  // CHECK-SAME: own_lanes ["", "i1", ""] own_vectors [1, 4, 1] keep
  func.func @long(%x: tensor<49x1024xf32>) -> tensor<49xf32> {
    %y = graph.reduce_sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<49x1024xf32>) -> tensor<49xf32>
    return %y : tensor<49xf32>
  }
}

// -----

module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  // CHECK:      plan
  // CHECK-SAME: own_lanes ["", "i1", ""] keep
  func.func @not_as_long(%x: tensor<49x100xf32>) -> tensor<49xf32> {
    %y = graph.reduce_sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<49x100xf32>) -> tensor<49xf32>
    return %y : tensor<49xf32>
  }
}

// -----

module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  // An image is a row as well.
  // CHECK:      plan
  // CHECK-SAME: own_lanes ["", "i2", ""] keep
  func.func @image(%x: tensor<49x35x35xf32>) -> tensor<49xf32> {
    %y = graph.reduce_sum %x {axes = array<i64: 1, 2>, keepdims = false} : (tensor<49x35x35xf32>) -> tensor<49xf32>
    return %y : tensor<49xf32>
  }
}

// -----

module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  // CHECK:      plan
  // CHECK-SAME: lanes "i0" width 16 keep
  func.func @short(%x: tensor<490x10xf32>) -> tensor<490xf32> {
    %y = graph.reduce_sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<490x10xf32>) -> tensor<490xf32>
    return %y : tensor<490xf32>
  }
}

// -----

module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  // CHECK:      plan
  // CHECK-SAME: own_lanes ["", "i1", ""] own_vectors [1, 4, 1]
  func.func @maximum(%x: tensor<49x1024xf32>) -> tensor<49xf32> {
    %y = graph.reduce_max %x {axes = array<i64: 1>, keepdims = false} : (tensor<49x1024xf32>) -> tensor<49xf32>
    return %y : tensor<49xf32>
  }
}

// -----

module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  // Rows without elements are not long.
  // CHECK: plan
  func.func @empty(%x: tensor<49x0x8xf32>) -> tensor<49xf32> {
    %y = graph.reduce_sum %x {axes = array<i64: 1, 2>, keepdims = false} : (tensor<49x0x8xf32>) -> tensor<49xf32>
    return %y : tensor<49xf32>
  }
}

// -----

module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  // One vector is long enough.
  // CHECK:      plan
  // CHECK-SAME: own_lanes ["", "i1", ""]
  func.func @one_vector(%x: tensor<490x16xf32>) -> tensor<490xf32> {
    %y = graph.reduce_sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<490x16xf32>) -> tensor<490xf32>
    return %y : tensor<490xf32>
  }
}

// -----

module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  // Two are, where a logarithm of each sum is computed.
  // CHECK:      plan
  // CHECK-SAME: own_lanes ["", "k", "", "k", "i1"]
  func.func @two_vectors(%x: tensor<490x32xf32>) -> tensor<490x32xf32> {
    %y = graph.log_softmax %x {axis = 1 : i64} : (tensor<490x32xf32>) -> tensor<490x32xf32>
    return %y : tensor<490x32xf32>
  }
}

// -----

module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  // CHECK:      plan
  // CHECK-SAME: lanes "i0" width 16 keep
  func.func @less_than_two_vectors(%x: tensor<490x31xf32>) -> tensor<490x31xf32> {
    %y = graph.log_softmax %x {axis = 1 : i64} : (tensor<490x31xf32>) -> tensor<490x31xf32>
    return %y : tensor<490x31xf32>
  }
}
