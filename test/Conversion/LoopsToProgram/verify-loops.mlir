// RUN: espalier-opt %s -split-input-file -verify-diagnostics -program-verify-loops

// A program with everything that may be said of it.
module @fine {
  func.func @main(%x: memref<?x4xi8> {espalier.name = "x", espalier.dims = ["n", ""], espalier.dtype = "u8"},
                  %y: memref<?xf32> {espalier.name = "x", espalier.dims = ["n"]})
      attributes {espalier.num_inputs = 1 : i64} {
    return
  }
  func.func @main_plan(%n: index, %four: index) -> index {
    return %n : index
  }
}

// -----

// expected-error @below {{expects the definition of a func.func @main}}
module {
}

// -----

// expected-error @below {{expects one block, but got 2}}
func.func @main() attributes {espalier.num_inputs = 0 : i64} {
  cf.br ^end
^end:
  return
}
func.func @main_plan() {
  return
}

// -----

// expected-error @below {{argument #0 expects a memref with the identity layout, but got 'memref<4xf32, strided<[2]>>'}}
func.func @main(%x: memref<4xf32, strided<[2]>>) attributes {espalier.num_inputs = 1 : i64} {
  return
}
func.func @main_plan(%n: index) {
  return
}

// -----

// expected-error @below {{argument #0 expects a rank of at most 15, but got 16}}
func.func @main(%x: memref<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>) attributes {espalier.num_inputs = 1 : i64} {
  return
}
func.func @main_plan(%n: index) {
  return
}

// -----

// expected-error @below {{argument #0 expects an element type of the boundary, but got 'i4'}}
func.func @main(%x: memref<4xi4>) attributes {espalier.num_inputs = 1 : i64} {
  return
}
func.func @main_plan(%n: index) {
  return
}

// -----

// expected-error @below {{argument #0 expects 'espalier.dtype' to name a type like 'i8', but got "u16"}}
func.func @main(%x: memref<4xi8> {espalier.dtype = "u16"}) attributes {espalier.num_inputs = 1 : i64} {
  return
}
func.func @main_plan(%n: index) {
  return
}

// -----

// expected-error @below {{argument #0 expects 'espalier.bound' to be a number, a name or both for integers, but got 4 : i64 for 'memref<4xf32>'}}
func.func @main(%x: memref<4xf32> {espalier.bound = 4 : i64}) attributes {espalier.num_inputs = 1 : i64} {
  return
}
func.func @main_plan(%n: index) {
  return
}

// -----

// expected-error @below {{argument #0 expects 'espalier.bound' to be a number, a name or both for integers, but got ["n", "m"] for 'memref<4xi32>'}}
func.func @main(%x: memref<4xi32> {espalier.bound = ["n", "m"]}) attributes {espalier.num_inputs = 1 : i64} {
  return
}
func.func @main_plan(%n: index) {
  return
}

// -----

// expected-error @below {{argument #0 expects 'espalier.monotonic' on integers in one dimension, but got it for 'memref<4x2xi32>'}}
func.func @main(%x: memref<4x2xi32> {espalier.monotonic}) attributes {espalier.num_inputs = 1 : i64} {
  return
}
func.func @main_plan(%n: index) {
  return
}

// -----

// expected-error @below {{argument #0 expects 'espalier.injective' beside 'espalier.bound', but got it alone}}
func.func @main(%x: memref<4xi32> {espalier.injective}) attributes {espalier.num_inputs = 1 : i64} {
  return
}
func.func @main_plan(%n: index) {
  return
}

// -----

// expected-error @below {{argument #0 expects 'espalier.dims' to hold 1 strings, but got ["n", "m"]}}
func.func @main(%x: memref<?xf32> {espalier.dims = ["n", "m"]}) attributes {espalier.num_inputs = 1 : i64} {
  return
}
func.func @main_plan(%n: index) {
  return
}

// -----

// expected-error @below {{expects 1 operands and 1 results, but got 2 and 0}}
func.func @main_plan(%n: index, %m: index) {
  return
}
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {espalier.num_inputs = 1 : i64} {
  return
}

// -----

// expected-error @below {{expects types 'index' only, but got '(i64) -> index'}}
func.func @main_plan(%n: i64) -> index {
  %c = arith.constant 4 : index
  return %c : index
}
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {espalier.num_inputs = 1 : i64} {
  return
}

// -----

// expected-error @below {{expects a C identifier as the program's name, but got 'a-b'}}
module @"a-b" {
  func.func @main() attributes {espalier.num_inputs = 0 : i64} {
    return
  }
  func.func @main_plan() {
    return
  }
}

// -----

// expected-error @below {{expects no results, but got 1}}
func.func @main(%x: memref<4xf32>) -> memref<4xf32> attributes {espalier.num_inputs = 1 : i64} {
  return %x : memref<4xf32>
}
func.func @main_plan(%n: index) {
  return
}

// -----

// expected-error @below {{expects 'espalier.num_inputs' to be an integer from 0 to 1, but got 2 : i64}}
func.func @main(%x: memref<4xf32>) attributes {espalier.num_inputs = 2 : i64} {
  return
}
func.func @main_plan(%n: index) {
  return
}

// -----

// expected-error @below {{argument #1 expects a name of its own, but got 'x' again}}
func.func @main(%x: memref<4xf32> {espalier.name = "x"}, %y: memref<4xf32> {espalier.name = "x"})
    attributes {espalier.num_inputs = 2 : i64} {
  return
}
func.func @main_plan(%n: index, %m: index) {
  return
}
