// RUN: espalier-opt %s -convert-poly-to-loops -split-input-file -verify-diagnostics

// expected-error @below {{expects a prefetch mark outside of vector loops, with a computation, one of its reads or of those of a 'reader', a map 'at' of the dimensions and at most 4096 bytes, but got {at = affine_map<(d0) -> (d0)>, bytes = 64 : i64, computation = @copy, name = "prefetch", read = 1 : i64}}}
poly.kernel @prefetch_of_no_read(%x: memref<8xf32>, %y: memref<8xf32>) {
  poly.compute @copy domain [affine_set<(i) : (i >= 0, 7 - i >= 0)>]
      reads(%x[affine_map<(i) -> (i)>] : memref<8xf32>) writes(%y[affine_map<(i) -> (i)>] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.schedule {
    poly.mark "prefetch" attributes {computation = @copy, read = 1 : i64, at = affine_map<(i) -> (i)>, bytes = 64 : i64}
  }
}

// -----

// expected-error @below {{expects a prefetch mark outside of vector loops, with a computation, one of its reads or of those of a 'reader', a map 'at' of the dimensions and at most 4096 bytes, but got {at = affine_map<(d0) -> (d0)>, bytes = 64 : i64, computation = @copy, name = "prefetch", read = 0 : i64, reader = @nobody}}}
poly.kernel @prefetch_for_no_reader(%x: memref<8xf32>, %y: memref<8xf32>) {
  poly.compute @copy domain [affine_set<(i) : (i >= 0, 7 - i >= 0)>]
      reads(%x[affine_map<(i) -> (i)>] : memref<8xf32>) writes(%y[affine_map<(i) -> (i)>] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.schedule {
    poly.mark "prefetch" attributes {computation = @copy, read = 0 : i64, reader = @nobody, at = affine_map<(i) -> (i)>, bytes = 64 : i64}
  }
}

// -----

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
