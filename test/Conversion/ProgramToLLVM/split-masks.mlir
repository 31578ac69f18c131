// RUN: espalier-opt %s -split-input-file -program-split-masks -canonicalize | FileCheck %s

module attributes {poly.target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>} {
  // CHECK-LABEL: func.func @first_lanes
  // CHECK-SAME: (%[[TO:.*]]: memref<64xf32>, %[[I:.*]]: index, %[[VALUE:.*]]: vector<8xf32>)
  func.func @first_lanes(%to: memref<64xf32>, %i: index, %value: vector<8xf32>) {
    // CHECK-DAG: %[[FOUR:.*]] = vector.extract_strided_slice %[[VALUE]] {offsets = [0], sizes = [4], strides = [1]}
    // CHECK-DAG: vector.store %[[FOUR]], %[[TO]][%[[I]]] : memref<64xf32>, vector<4xf32>
    // CHECK-DAG: %[[TWO:.*]] = vector.extract_strided_slice %[[VALUE]] {offsets = [4], sizes = [2], strides = [1]}
    // CHECK-DAG: %[[FIFTH:.*]] = arith.addi %[[I]], %c4
    // CHECK-DAG: vector.store %[[TWO]], %[[TO]][%[[FIFTH]]] : memref<64xf32>, vector<2xf32>
    // CHECK-DAG: %[[ONE:.*]] = vector.extract_strided_slice %[[VALUE]] {offsets = [6], sizes = [1], strides = [1]}
    // CHECK-DAG: %[[SEVENTH:.*]] = arith.addi %[[I]], %c6
    // CHECK-DAG: vector.store %[[ONE]], %[[TO]][%[[SEVENTH]]] : memref<64xf32>, vector<1xf32>
    // CHECK-NOT: vector.maskedstore
    // CHECK: return
    %c7 = arith.constant 7 : index
    %mask = vector.create_mask %c7 : vector<8xi1>
    vector.maskedstore %to[%i], %mask, %value : memref<64xf32>, vector<8xi1>, vector<8xf32>
    return
  }

  // A part begins at a multiple of its size.
  // CHECK-LABEL: func.func @any_lanes
  func.func @any_lanes(%to: memref<64xf32>, %i: index, %value: vector<8xf32>) {
    // CHECK: offsets = [1], sizes = [1]
    // CHECK: offsets = [2], sizes = [2]
    // CHECK: offsets = [6], sizes = [1]
    // CHECK-NOT: vector.maskedstore
    // CHECK: return
    %mask = arith.constant dense<[false, true, true, true, false, false, true, false]> : vector<8xi1>
    vector.maskedstore %to[%i], %mask, %value : memref<64xf32>, vector<8xi1>, vector<8xf32>
    return
  }

  // CHECK-LABEL: func.func @no_lanes_and_all
  func.func @no_lanes_and_all(%to: memref<64xf32>, %i: index, %value: vector<8xf32>) {
    // CHECK-NOT: vector.maskedstore
    // CHECK: vector.store %{{.*}} : memref<64xf32>, vector<8xf32>
    // CHECK-NOT: vector.store
    // CHECK: return
    %none = vector.constant_mask [0] : vector<8xi1>
    vector.maskedstore %to[%i], %none, %value : memref<64xf32>, vector<8xi1>, vector<8xf32>
    %all = vector.constant_mask [8] : vector<8xi1>
    vector.maskedstore %to[%i], %all, %value : memref<64xf32>, vector<8xi1>, vector<8xf32>
    return
  }

  // AVX's masked loads take elements of 32 bits; what is not there stays.
  // CHECK-LABEL: func.func @loads
  func.func @loads(%from: memref<64xf32>, %short: memref<64xf16>, %i: index,
                   %other: vector<8xf32>, %rest: vector<8xf16>) -> (vector<8xf32>, vector<8xf16>) {
    // CHECK: vector.maskedload {{.*}} into vector<8xf32>
    // CHECK: %[[FOUR:.*]] = vector.load {{.*}} : memref<64xf16>, vector<4xf16>
    // CHECK: vector.insert_strided_slice %[[FOUR]], %{{.*}} {offsets = [0], strides = [1]}
    // CHECK: %[[ONE:.*]] = vector.load {{.*}} : memref<64xf16>, vector<1xf16>
    // CHECK: vector.insert_strided_slice %[[ONE]], %{{.*}} {offsets = [4], strides = [1]}
    // CHECK-NOT: vector.maskedload
    %mask = vector.constant_mask [5] : vector<8xi1>
    %a = vector.maskedload %from[%i], %mask, %other : memref<64xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    %b = vector.maskedload %short[%i], %mask, %rest : memref<64xf16>, vector<8xi1>, vector<8xf16> into vector<8xf16>
    return %a, %b : vector<8xf32>, vector<8xf16>
  }

  // What is known when the program runs keeps its mask.
  // CHECK-LABEL: func.func @unknown
  func.func @unknown(%to: memref<64xf32>, %i: index, %count: index, %value: vector<8xf32>) {
    // CHECK: vector.maskedstore
    %mask = vector.create_mask %count : vector<8xi1>
    vector.maskedstore %to[%i], %mask, %value : memref<64xf32>, vector<8xi1>, vector<8xf32>
    return
  }
}

// -----

// With registers for masks nothing is gained.
module attributes {poly.target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>} {
  // CHECK-LABEL: func.func @has_masks
  func.func @has_masks(%to: memref<64xf32>, %i: index, %value: vector<16xf32>) {
    // CHECK: vector.maskedstore
    %mask = vector.constant_mask [7] : vector<16xi1>
    vector.maskedstore %to[%i], %mask, %value : memref<64xf32>, vector<16xi1>, vector<16xf32>
    return
  }
}
