// RUN: espalier-opt %s -split-input-file -verify-diagnostics -program-plan-memory

func.func @main(%x: memref<?xi64>, %y: memref<?xf32>) attributes {espalier.num_inputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expects a size that follows from the extents of the inputs, but got}}
  %read = memref.load %x[%c0] : memref<?xi64>
  %n = arith.index_cast %read : i64 to index
  %a = memref.alloc(%n) : memref<?xf32>
  return
}
func.func @main_plan(%n: index) -> index {
  return %n : index
}

// -----

func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {espalier.num_inputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %c1 step %c1 {
    // expected-error @below {{expects allocations outside of loops and branches of @main}}
    %a = memref.alloc() : memref<4xf32>
  }
  return
}
func.func @main_plan(%n: index) -> index {
  return %n : index
}

// -----

func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {espalier.num_inputs = 1 : i64} {
  // expected-error @below {{expects the identity layout and the default memory space, but got 'memref<4xf32, 3>'}}
  %a = memref.alloc() : memref<4xf32, 3>
  return
}
func.func @main_plan(%n: index) -> index {
  return %n : index
}

// -----

func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {espalier.num_inputs = 1 : i64} {
  // expected-error @below {{expects an alignment of at most 64, but got 128}}
  %a = memref.alloc() {alignment = 128 : i64} : memref<4xf32>
  return
}
func.func @main_plan(%n: index) -> index {
  return %n : index
}

// -----

func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {espalier.num_inputs = 1 : i64} {
  // expected-error @below {{expects a buffer of fewer than 2^63 bytes, but got 'memref<4611686018427387904x4xf32>'}}
  %a = memref.alloc() : memref<4611686018427387904x4xf32>
  return
}
func.func @main_plan(%n: index) -> index {
  return %n : index
}

// -----

func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {espalier.num_inputs = 1 : i64} {
  // expected-error @below {{expects an arena of fewer than 2^63 bytes}}
  %a = memref.alloc() : memref<9223372036854775800xi8>
  return
}
func.func @main_plan(%n: index) -> index {
  return %n : index
}

// -----

// expected-error @below {{expects the definition of a func.func @main_plan}}
module {
  func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {espalier.num_inputs = 1 : i64} {
    return
  }
}

// -----

func.func @main(%x: memref<?xf32>, %y: memref<?xf32>) attributes {espalier.num_inputs = 1 : i64} {
  %c1 = arith.constant 1 : index
  // expected-error @below {{expects a constant dimension of a ranked memref}}
  %n = memref.dim %x, %c1 : memref<?xf32>
  %a = memref.alloc(%n) : memref<?xf32>
  return
}
func.func @main_plan(%n: index) -> index {
  return %n : index
}

// -----

// Buffers of one version would be in the way of those of both.
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {espalier.num_inputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %holds = arith.cmpi eq, %c0, %c0 : index
  // expected-error @below {{expects allocations outside of loops and branches of @main}}
  %a = memref.alloc() : memref<4xf32>
  scf.if %holds {
    %b = memref.alloc() : memref<4xf32>
  } else {
  }
  return
}
func.func @main_plan(%n: index) -> index {
  return %n : index
}

// -----

// The plan asserts what @main does, once.
func.func @main(%x: memref<?xf32>, %y: memref<4xf32>) attributes {espalier.num_inputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %holds = arith.cmpi eq, %n, %c1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{expects assertions outside of loops and branches of @main}}
    cf.assert %holds, "expects one"
  }
  return
}
func.func @main_plan(%n: index) -> index {
  return %n : index
}

// -----

func.func @main(%x: memref<?xi1>, %y: memref<4xf32>) attributes {espalier.num_inputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expects a size that follows from the extents of the inputs}}
  %holds = memref.load %x[%c0] : memref<?xi1>
  cf.assert %holds, "expects truth"
  return
}
func.func @main_plan(%n: index) -> index {
  return %n : index
}
