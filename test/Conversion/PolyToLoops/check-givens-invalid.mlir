// RUN: espalier-opt %s -poly-check-givens -split-input-file -verify-diagnostics

memref.global "private" constant @starts : memref<4xi32> = dense<[0, 2, 2, 5]>
poly.kernel @rows(%starts: memref<4xi32>) {
  // expected-error @below {{expects data for which it holds, but at (2) the values are 2, 5}}
  poly.given @short dims ["i"] domain [affine_set<(i) : (i >= 0, 2 - i >= 0)>]
      reads(%starts[affine_map<(i) -> (i)>], %starts[affine_map<(i) -> (i + 1)>] : memref<4xi32>, memref<4xi32>)
      holds affine_set<(i)[b, e] : (b + 2 - e >= 0)>
}
func.func @main() attributes {espalier.num_inputs = 0 : i64} {
  %starts = memref.get_global @starts : memref<4xi32>
  poly.call @rows(%starts) : memref<4xi32>
  return
}

// -----

memref.global "private" constant @starts : memref<4xi32> = dense<[0, 2, 2, 5]>
poly.kernel @rows(%starts: memref<4xi32>) {
  // expected-error @below {{expects reads inside their arrays, but read #0 is at 4 of 4}}
  poly.given @short dims ["i"] domain [affine_set<(i) : (i >= 0, 4 - i >= 0)>]
      reads(%starts[affine_map<(i) -> (i)>] : memref<4xi32>)
      holds affine_set<(i)[b] : (b >= 0)>
}
func.func @main() attributes {espalier.num_inputs = 0 : i64} {
  %starts = memref.get_global @starts : memref<4xi32>
  poly.call @rows(%starts) : memref<4xi32>
  return
}

// -----

// Points that end early take time, too.
memref.global "private" constant @starts : memref<4xi32> = dense<[0, 2, 2, 5]>
poly.kernel @rows(%starts: memref<4xi32>) {
  // expected-error @below {{expects at most 10000000 points about constants, those of its outer loops included}}
  poly.given @short dims ["i", "j"] domain [affine_set<(i, j) : (i >= 0, 2000000000 - i >= 0, j >= 0)>]
      where affine_set<(i, j)[b] : (b - 1 - j >= 0)>
      reads(%starts[affine_map<(i, j) -> (0)>] : memref<4xi32>)
      holds affine_set<(i, j)[b] : (b >= 0)>
}
func.func @main() attributes {espalier.num_inputs = 0 : i64} {
  %starts = memref.get_global @starts : memref<4xi32>
  poly.call @rows(%starts) : memref<4xi32>
  return
}

// -----

memref.global "private" constant @starts : memref<4xi32> = dense<[0, 2, 2, 5]>
poly.kernel @rows(%starts: memref<4xi32>) {
  // expected-error @below {{expects bounds for 'i'}}
  poly.given @short dims ["i"] domain [affine_set<(i) : (i >= 0)>]
      reads(%starts[affine_map<(i) -> (0)>] : memref<4xi32>)
      holds affine_set<(i)[b] : (b >= 0)>
}
func.func @main() attributes {espalier.num_inputs = 0 : i64} {
  %starts = memref.get_global @starts : memref<4xi32>
  poly.call @rows(%starts) : memref<4xi32>
  return
}

// -----

poly.kernel @rows(%starts: memref<?xi32> {espalier.name = "starts"}) {
  // expected-error @below {{expects the extents of 'starts', 'poly.shape', inside which it reads}}
  poly.given @short dims ["i"] domain [affine_set<(i) : (i >= 0, 3 - i >= 0)>]
      reads(%starts[affine_map<(i) -> (i)>] : memref<?xi32>)
      holds affine_set<(i)[b] : (b >= 0)>
}
func.func @main(%starts: memref<?xi32>) attributes {espalier.num_inputs = 1 : i64} {
  poly.call @rows(%starts) : memref<?xi32>
  return
}

// -----

poly.kernel @rows(%starts: memref<4xi32> {espalier.name = "starts", poly.shape = affine_map<() -> (4)>}) {
  // expected-error @below {{expects to read 'starts' inside its extent 4 in dimension 0, but at point (4) the index is 4}}
  poly.given @short dims ["i"] domain [affine_set<(i) : (i >= 0, 4 - i >= 0)>]
      reads(%starts[affine_map<(i) -> (i)>] : memref<4xi32>)
      holds affine_set<(i)[b] : (b >= 0)>
}
func.func @main(%starts: memref<4xi32>) attributes {espalier.num_inputs = 1 : i64} {
  poly.call @rows(%starts) : memref<4xi32>
  return
}

// -----

poly.kernel @rows(%starts: memref<4xi32>) {
  // expected-error @below {{expects a program, @main, that checks it}}
  poly.given @short dims ["i"] domain [affine_set<(i) : (i >= 0, 3 - i >= 0)>]
      reads(%starts[affine_map<(i) -> (i)>] : memref<4xi32>)
      holds affine_set<(i)[b] : (b >= 0)>
}
func.func @other(%starts: memref<4xi32>) {
  poly.call @rows(%starts) : memref<4xi32>
  return
}

// -----

memref.global "private" constant @starts : memref<4xi64> = dense<[0, 2, 2, 4611686018427387904]>
poly.kernel @rows(%starts: memref<4xi64>) {
  // expected-error @below {{expects values from -2147483648 to less than 2147483648, but read #0 has 4611686018427387904}}
  poly.given @short dims ["i"] domain [affine_set<(i) : (i >= 0, 3 - i >= 0)>]
      reads(%starts[affine_map<(i) -> (i)>] : memref<4xi64>)
      holds affine_set<(i)[b] : (4 - 4 * b >= 0)>
}
func.func @main() attributes {espalier.num_inputs = 0 : i64} {
  %starts = memref.get_global @starts : memref<4xi64>
  poly.call @rows(%starts) : memref<4xi64>
  return
}
