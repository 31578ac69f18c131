// RUN: espalier-opt %s -convert-poly-to-loops -split-input-file -verify-diagnostics

// What a kernel relies on is checked by the program only.
poly.kernel @scatter(%I: memref<4xi32> {poly.injective, poly.bounded_by = affine_map<() -> (4)>}, %y: memref<4xf32>) {
}
func.func @main(%I: memref<4xi32>, %y: memref<4xf32>) {
  // expected-error @below {{expects an argument of the program whose values are checked as operand #0, on whose values @scatter relies}}
  poly.call @scatter(%I, %y) : memref<4xi32>, memref<4xf32>
  return
}

// -----

// No loop can run over these points.
poly.kernel @endless(%A: memref<?xf32>, %N: index) {
  // expected-error @below {{expects @s to have a bounded domain, but nothing bounds "i"}}
  poly.compute @s dims ["i"] domain [affine_set<(i)[N] : (i - N >= 0)>] reads() writes(%A[affine_map<(i)[N] -> (i)>] : memref<?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}
