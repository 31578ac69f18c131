// RUN: espalier-opt %s -transform-interpreter -convert-poly-to-loops -canonicalize | FileCheck %s
// RUN: not espalier-opt %s -transform-interpreter=entry-point=place 2>&1 | FileCheck %s --check-prefix=PLACE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=serialize 2>&1 | FileCheck %s --check-prefix=SERIALIZE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=lanes 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: not espalier-opt %s -transform-interpreter=entry-point=numbers 2>&1 | FileCheck %s --check-prefix=NUMBERS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=block 2>&1 | FileCheck %s --check-prefix=BLOCK

// Loops around arrays in registers. Each refusal is an entry point.
#i = affine_map<(i)[N] -> (i)>
#all = affine_set<(i)[N] : (i >= 0, 7 - i >= 0)>
#ij = affine_map<(i, j, k)[N] -> (i, j)>

module attributes {transform.with_named_sequence} {
// CHECK-LABEL: func.func @copy(
// CHECK-NOT:     memref.alloca
// CHECK-COUNT-8: memref.store
poly.kernel @copy(%A: memref<8xf32>, %B: memref<8xf32>, %N: index) {
  %t = poly.array : memref<16xf32>
  poly.compute @make dims ["i"] domain [#all] reads(%A[#i] : memref<8xf32>) writes(%t[affine_map<(i)[N] -> (2 * i)>] : memref<16xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @use dims ["i"] domain [#all] reads(%t[affine_map<(i)[N] -> (2 * i)>] : memref<16xf32>) writes(%B[#i] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}

poly.kernel @some(%A: memref<8xf32>, %B: memref<8xf32>, %N: index) {
  %t = poly.array : memref<8xf32>
  poly.compute @make dims ["i"] domain [affine_set<(i)[N] : (i - N >= 0, N + 3 - i >= 0)>] reads(%A[#i] : memref<8xf32>) writes(%t[#i] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @use dims ["i"] domain [affine_set<(i)[N] : (i - N >= 0, N + 3 - i >= 0)>] reads(%t[#i] : memref<8xf32>) writes(%B[#i] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.schedule {
    poly.sequence {
      poly.filter [@make] {
        poly.band [@make] maps [#i] loops [unroll] names ["i"]
      }
      poly.filter [@use] {
        poly.band [@use] maps [#i] loops [unroll] names ["i"]
      }
    }
  }
}

poly.kernel @sum(%A: memref<8x64xf32>, %C: memref<8x8xf32>, %N: index) {
  poly.compute @acc dims ["i", "j", "k"] domain [affine_set<(i, j, k)[N] : (i >= 0, 7 - i >= 0, j >= 0, 7 - j >= 0, k >= 0, 63 - k >= 0)>]
      reads(%A[affine_map<(i, j, k)[N] -> (i, k)>], %C[#ij] : memref<8x64xf32>, memref<8x8xf32>) writes(%C[#ij] : memref<8x8xf32>) reduction add {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %c, %a : f32
    poly.yield %s : f32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %make = transform.poly.computation @copy::@make of %module : (!transform.any_op) -> !transform.any_op
  %use = transform.poly.computation @copy::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.unroll %make loop "i" : !transform.any_op
  transform.poly.unroll %use loop "i" : !transform.any_op
  %t = transform.poly.written_array of %make : (!transform.any_op) -> !transform.any_op
  transform.poly.place %t register : !transform.any_op
  transform.yield
}

// PLACE: error: 'transform.poly.place' op expects the loop "i" of @make to be unrolled, or lanes over neighbours, to use other elements of array #0 in registers in each iteration, but it is sequential
transform.named_sequence @place(%module: !transform.any_op {transform.readonly}) {
  %make = transform.poly.computation @copy::@make of %module : (!transform.any_op) -> !transform.any_op
  %t = transform.poly.written_array of %make : (!transform.any_op) -> !transform.any_op
  transform.poly.place %t register : !transform.any_op
  transform.yield
}

// SERIALIZE: error: 'transform.poly.serialize' op expects the loop "i" of @use to be unrolled, or lanes over neighbours, to use other elements of array #0 in registers in each iteration, but it is sequential
transform.named_sequence @serialize(%module: !transform.any_op {transform.readonly}) {
  %make = transform.poly.computation @copy::@make of %module : (!transform.any_op) -> !transform.any_op
  %use = transform.poly.computation @copy::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.unroll %make loop "i" : !transform.any_op
  transform.poly.unroll %use loop "i" : !transform.any_op
  %t = transform.poly.written_array of %make : (!transform.any_op) -> !transform.any_op
  transform.poly.place %t register : !transform.any_op
  transform.poly.serialize %use loop "i" : !transform.any_op
  transform.yield
}

// LANES: error: 'transform.poly.place' op expects the loop "i" of @make to be unrolled, or lanes over neighbours, to use other elements of array #0 in registers in each iteration, but it has lanes over others
transform.named_sequence @lanes(%module: !transform.any_op {transform.readonly}) {
  %make = transform.poly.computation @copy::@make of %module : (!transform.any_op) -> !transform.any_op
  %use = transform.poly.computation @copy::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.vectorize %make loop "i" width 8 : !transform.any_op
  transform.poly.unroll %use loop "i" : !transform.any_op
  %t = transform.poly.written_array of %make : (!transform.any_op) -> !transform.any_op
  transform.poly.place %t register : !transform.any_op
  transform.yield
}

// NUMBERS: error: 'transform.poly.place' op expects the loop "i" of @make to run between numbers, to use other elements of array #0 in registers in each iteration, but it runs between others
transform.named_sequence @numbers(%module: !transform.any_op {transform.readonly}) {
  %make = transform.poly.computation @some::@make of %module : (!transform.any_op) -> !transform.any_op
  %t = transform.poly.written_array of %make : (!transform.any_op) -> !transform.any_op
  transform.poly.place %t register : !transform.any_op
  transform.yield
}

// BLOCK: error: 'transform.poly.register_block' op expects the loop "j" of @acc to be unrolled, or lanes over neighbours, to use other elements of array #0 in registers in each iteration, but it is sequential
transform.named_sequence @block(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @sum::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.register_block %acc loops ["k", "i"] sizes [64, 2] width 1 : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.yield
}
}
