// RUN: espalier-opt %s -split-input-file -verify-diagnostics -program-verify-planned

func.func private @external(memref<4xf32>)
func.func @reads(%a: memref<4xf32>, %b: memref<4xf32>, %r: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %0 = memref.load %a[%c0] : memref<4xf32>
  %1 = memref.load %b[%c0] : memref<4xf32>
  %2 = arith.addf %0, %1 : f32
  memref.store %2, %r[%c0] : memref<4xf32>
  return
}
// One buffer for two arguments is fine where both are only read.
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>, %arena: memref<?xi8> {espalier.arena},
                %constants: memref<?xi8> {espalier.constants}) attributes {espalier.num_inputs = 1 : i64} {
  call @reads(%x, %x, %y) : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
  return
}
func.func @main_plan(%n: index) -> (index, index) {
  %c0 = arith.constant 0 : index
  return %n, %c0 : index, index
}

// -----

func.func @writes(%a: memref<4xf32>, %r: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %0 = memref.load %a[%c0] : memref<4xf32>
  memref.store %0, %r[%c0] : memref<4xf32>
  return
}
func.func @main(%x: memref<4xf32>, %arena: memref<?xi8> {espalier.arena},
                %constants: memref<?xi8> {espalier.constants}) attributes {espalier.num_inputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %a = memref.view %arena[%c0][] : memref<?xi8> to memref<4xf32>
  %b = memref.expand_shape %a [[0, 1]] output_shape [2, 2] : memref<4xf32> into memref<2x2xf32>
  %c = memref.collapse_shape %b [[0, 1]] : memref<2x2xf32> into memref<4xf32>
  // expected-error @below {{expects a buffer of its own where the kernel writes, but argument #1 is the buffer of argument #0}}
  call @writes(%a, %c) : (memref<4xf32>, memref<4xf32>) -> ()
  return
}
func.func @main_plan(%n: index) -> index {
  return %n : index
}

// -----

// expected-error @below {{expects 'espalier.arena' on argument #2 from the end}}
func.func @main(%x: memref<4xf32>) attributes {espalier.num_inputs = 1 : i64} {
  return
}
func.func @main_plan(%n: index) -> index {
  return %n : index
}

// -----

func.func @main(%arena: memref<?xi8> {espalier.arena},
                %constants: memref<?xi8> {espalier.constants}) attributes {espalier.num_inputs = 0 : i64} {
  // expected-error @below {{expects no allocation in @main at stage program}}
  %a = memref.alloc() : memref<4xf32>
  return
}
func.func @main_plan() -> index {
  %c0 = arith.constant 0 : index
  return %c0 : index
}
