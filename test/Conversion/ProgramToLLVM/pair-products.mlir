// RUN: espalier-opt %s -split-input-file -program-pair-products -canonicalize | FileCheck %s

module attributes {poly.target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>} {
  // The first number of each pair is that of the first update.
  // CHECK-LABEL: func.func @broadcast
  // CHECK-SAME:  (%[[X:.*]]: bf16, %[[Y:.*]]: bf16, %[[B:.*]]: vector<8xbf16>, %[[SUM:.*]]: vector<4xf32>)
  // CHECK:       %[[PAIR:.*]] = vector.from_elements %[[X]], %[[Y]] : vector<2xbf16>
  // CHECK:       vector.bitcast %[[PAIR]] : vector<2xbf16> to vector<1xi32>
  // CHECK:       %[[WIDE:.*]] = vector.broadcast %{{.*}} : i32 to vector<4xi32>
  // CHECK:       %[[XY:.*]] = vector.bitcast %[[WIDE]] : vector<4xi32> to vector<8xbf16>
  // CHECK:       %[[DOT:.*]] = x86vector.avx512.dot %[[SUM]], %[[XY]], %[[B]] : vector<8xbf16> -> vector<4xf32>
  // CHECK-NOT:   arith.addf
  // CHECK:       return %[[DOT]]
  func.func @broadcast(%x: bf16, %y: bf16, %b: vector<8xbf16>, %sum: vector<4xf32>) -> vector<4xf32> {
    %b0 = vector.shuffle %b, %b [0, 2, 4, 6] : vector<8xbf16>, vector<8xbf16>
    %b1 = vector.shuffle %b, %b [1, 3, 5, 7] : vector<8xbf16>, vector<8xbf16>
    %xf = arith.extf %x : bf16 to f32
    %yf = arith.extf %y : bf16 to f32
    %b0f = arith.extf %b0 : vector<4xbf16> to vector<4xf32>
    %b1f = arith.extf %b1 : vector<4xbf16> to vector<4xf32>
    %xs = vector.broadcast %xf : f32 to vector<4xf32>
    %ys = vector.broadcast %yf : f32 to vector<4xf32>
    %p = arith.mulf %xs, %b0f : vector<4xf32>
    %s = arith.addf %sum, %p fastmath<reassoc> : vector<4xf32>
    %q = arith.mulf %b1f, %ys : vector<4xf32>
    %t = arith.addf %q, %s fastmath<reassoc> : vector<4xf32>
    return %t : vector<4xf32>
  }

  // Updates whose second numbers come first.
  // CHECK-LABEL: func.func @vectors
  // CHECK-SAME:  (%[[A:.*]]: vector<32xbf16>, %[[B:.*]]: vector<32xbf16>, %[[SUM:.*]]: vector<16xf32>)
  // CHECK:       x86vector.avx512.dot %[[SUM]], %[[A]], %[[B]]
  func.func @vectors(%a: vector<32xbf16>, %b: vector<32xbf16>, %sum: vector<16xf32>) -> vector<16xf32> {
    %a0 = vector.shuffle %a, %a [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30] : vector<32xbf16>, vector<32xbf16>
    %a1 = vector.shuffle %a, %a [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31] : vector<32xbf16>, vector<32xbf16>
    %b0 = vector.shuffle %b, %b [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30] : vector<32xbf16>, vector<32xbf16>
    %b1 = vector.shuffle %b, %b [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31] : vector<32xbf16>, vector<32xbf16>
    %a0f = arith.extf %a0 : vector<16xbf16> to vector<16xf32>
    %a1f = arith.extf %a1 : vector<16xbf16> to vector<16xf32>
    %b0f = arith.extf %b0 : vector<16xbf16> to vector<16xf32>
    %b1f = arith.extf %b1 : vector<16xbf16> to vector<16xf32>
    %q = arith.mulf %a1f, %b1f : vector<16xf32>
    %s = arith.addf %sum, %q fastmath<reassoc> : vector<16xf32>
    %p = arith.mulf %a0f, %b0f : vector<16xf32>
    %t = arith.addf %s, %p fastmath<reassoc> : vector<16xf32>
    return %t : vector<16xf32>
  }

  // The order of these sums is said to matter, a sum is used in between, and
  // what is multiplied does not lie in pairs.
  // CHECK-LABEL: func.func @stay
  // CHECK-NOT:   x86vector
  // CHECK:       return
  func.func @stay(%x: bf16, %y: bf16, %b: vector<8xbf16>, %c: vector<8xbf16>, %sum: vector<4xf32>) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>) {
    %b0 = vector.shuffle %b, %b [0, 2, 4, 6] : vector<8xbf16>, vector<8xbf16>
    %b1 = vector.shuffle %b, %b [1, 3, 5, 7] : vector<8xbf16>, vector<8xbf16>
    %c1 = vector.shuffle %c, %c [1, 3, 5, 7] : vector<8xbf16>, vector<8xbf16>
    %xf = arith.extf %x : bf16 to f32
    %yf = arith.extf %y : bf16 to f32
    %b0f = arith.extf %b0 : vector<4xbf16> to vector<4xf32>
    %b1f = arith.extf %b1 : vector<4xbf16> to vector<4xf32>
    %c1f = arith.extf %c1 : vector<4xbf16> to vector<4xf32>
    %xs = vector.broadcast %xf : f32 to vector<4xf32>
    %ys = vector.broadcast %yf : f32 to vector<4xf32>
    %p = arith.mulf %xs, %b0f : vector<4xf32>
    %q = arith.mulf %ys, %b1f : vector<4xf32>
    %r = arith.mulf %ys, %c1f : vector<4xf32>
    %s0 = arith.addf %sum, %p : vector<4xf32>
    %t0 = arith.addf %s0, %q : vector<4xf32>
    %s1 = arith.addf %sum, %p fastmath<reassoc> : vector<4xf32>
    %t1 = arith.addf %s1, %q fastmath<reassoc> : vector<4xf32>
    %s2 = arith.addf %sum, %p fastmath<reassoc> : vector<4xf32>
    %t2 = arith.addf %s2, %r fastmath<reassoc> : vector<4xf32>
    return %t0, %t1, %s1, %t2 : vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>
  }
}

// -----

// A machine without the instruction.
module attributes {poly.target = #poly.target<cpu = "skylake-avx512", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 2>} {
  // CHECK-LABEL: func.func @another_machine
  // CHECK-NOT:   x86vector
  // CHECK:       return
  func.func @another_machine(%a: vector<8xbf16>, %b: vector<8xbf16>, %sum: vector<4xf32>) -> vector<4xf32> {
    %a0 = vector.shuffle %a, %a [0, 2, 4, 6] : vector<8xbf16>, vector<8xbf16>
    %a1 = vector.shuffle %a, %a [1, 3, 5, 7] : vector<8xbf16>, vector<8xbf16>
    %b0 = vector.shuffle %b, %b [0, 2, 4, 6] : vector<8xbf16>, vector<8xbf16>
    %b1 = vector.shuffle %b, %b [1, 3, 5, 7] : vector<8xbf16>, vector<8xbf16>
    %a0f = arith.extf %a0 : vector<4xbf16> to vector<4xf32>
    %a1f = arith.extf %a1 : vector<4xbf16> to vector<4xf32>
    %b0f = arith.extf %b0 : vector<4xbf16> to vector<4xf32>
    %b1f = arith.extf %b1 : vector<4xbf16> to vector<4xf32>
    %p = arith.mulf %a0f, %b0f : vector<4xf32>
    %s = arith.addf %sum, %p fastmath<reassoc> : vector<4xf32>
    %q = arith.mulf %a1f, %b1f : vector<4xf32>
    %t = arith.addf %s, %q fastmath<reassoc> : vector<4xf32>
    return %t : vector<4xf32>
  }
}
