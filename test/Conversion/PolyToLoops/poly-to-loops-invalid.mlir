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

// -----

memref.global "private" constant @at : memref<4xi32> = dense<[0, 2, 1, 5]>
poly.kernel @rows(%at: memref<4xi32> {poly.monotonic}) {
}
func.func @main() {
  %at = memref.get_global @at : memref<4xi32>
  // expected-error @below {{expects constants as operand #0 that do not decrease, but element 2 is 1}}
  poly.call @rows(%at) : memref<4xi32>
  return
}

// -----

memref.global "private" constant @at : memref<4xi32> = dense<[0, 2, 1, 5]>
poly.kernel @rows(%at: memref<4xi32> {poly.bounded_by = affine_map<() -> (5)>}) {
}
func.func @main() {
  %at = memref.get_global @at : memref<4xi32>
  // expected-error @below {{expects constants as operand #0 from 0 to less than 5, but element 3 is 5}}
  poly.call @rows(%at) : memref<4xi32>
  return
}

// -----

memref.global "private" constant @at : memref<4xi32> = dense<[0, 2, 1, 2]>
poly.kernel @rows(%at: memref<4xi32> {poly.injective, poly.bounded_by = affine_map<() -> (5)>}) {
}
func.func @main() {
  %at = memref.get_global @at : memref<4xi32>
  // expected-error @below {{expects constants as operand #0 that are different, but element 3 is 2}}
  poly.call @rows(%at) : memref<4xi32>
  return
}
