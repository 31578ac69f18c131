// RUN: espalier-opt %s -poly-overlap-calls | FileCheck %s
// RUN: espalier-opt %s -poly-overlap-calls=max-step-points=63 | FileCheck %s --check-prefix=SHORT

// Calls that stay one after the other.
// CHECK-NOT: scf.parallel
// CHECK:     @read_before
// CHECK:     scf.parallel
// CHECK:     @long_steps
// CHECK:     scf.parallel
// CHECK:     @other_extent
// CHECK-NOT: scf.parallel
// SHORT:     func.func
// SHORT-NOT: scf.parallel

#row = affine_set<(t, j)[T] : (t >= 0, T - 1 - t >= 0, j >= 0, 63 - j >= 0)>
#inner = affine_set<(t, j)[T] : (t >= 0, T - 1 - t >= 0, j >= 0, 63 - j >= 0, T - 2 - t >= 0)>
#later = affine_set<(t, j)[T] : (t >= 0, T - 1 - t >= 0, j >= 0, 63 - j >= 0, t - 1 >= 0)>
#id = affine_map<(t, j)[T] -> (t, j)>
#before = affine_map<(t, j)[T] -> (t - 1, j)>
#target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768,
                      l2 = 1048576, l3 = 33554432, cores = 2>

module attributes {poly.target = #target} {

poly.kernel private @sum(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %T: index) {
  poly.compute @first domain [#row] reads(%x[#id] : memref<?x64xf32>) writes(%y[#id] : memref<?x64xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @next domain [#later] reads(%y[#before], %y[#id] : memref<?x64xf32>, memref<?x64xf32>) writes(%y[#id] : memref<?x64xf32>) interleaved 1 {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    poly.yield %r : f32
  }
}

// It reads the row before as well.
poly.kernel private @lag(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %T: index) {
  poly.compute @first domain [#row] reads(%x[#id] : memref<?x64xf32>) writes(%y[#id] : memref<?x64xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @next domain [#later] reads(%y[#before], %x[#before] : memref<?x64xf32>, memref<?x64xf32>) writes(%y[#id] : memref<?x64xf32>) interleaved 1 {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    poly.yield %r : f32
  }
}

// The rows in reverse.
poly.kernel private @flip(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %T: index) {
  poly.compute @s domain [#row] reads(%x[affine_map<(t, j)[T] -> (T - 1 - t, j)>] : memref<?x64xf32>) writes(%y[#id] : memref<?x64xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}

// The row after.
poly.kernel private @ahead(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %T: index) {
  poly.compute @s domain [#inner] reads(%x[affine_map<(t, j)[T] -> (t + 1, j)>] : memref<?x64xf32>) writes(%y[#id] : memref<?x64xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}

// An array of its own with one row, which steps share: the sum until then.
poly.kernel private @carried(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %T: index) {
  %s = poly.array : memref<64xf32>
  poly.compute @zero domain [affine_set<(t, j)[T] : (t >= 0, T - 1 - t >= 0, j >= 0, 63 - j >= 0, t == 0)>] reads() writes(%s[affine_map<(t, j)[T] -> (j)>] : memref<64xf32>) {
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
  poly.compute @add domain [#row] reads(%x[#id], %s[affine_map<(t, j)[T] -> (j)>] : memref<?x64xf32>, memref<64xf32>) writes(%s[affine_map<(t, j)[T] -> (j)>], %y[#id] : memref<64xf32>, memref<?x64xf32>) interleaved 1 {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    poly.yield %r, %r : f32, f32
  }
}

// It reads the number of the step.
poly.kernel private @numbered(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %T: index) {
  poly.compute @s domain [#row] reads(%x[#id] : memref<?x64xf32>) writes(%y[#id] : memref<?x64xf32>) {
  ^bb0(%a: f32):
    %t = poly.index 0
    %i = arith.index_cast %t : index to i32
    %n = arith.sitofp %i : i32 to f32
    %r = arith.addf %a, %n : f32
    poly.yield %r : f32
  }
}

// Computations one after the other, of which the second reads what the first
// writes later.
poly.kernel private @two_passes(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %z: memref<?x64xf32>, %T: index) {
  poly.compute @a domain [#row] reads(%x[#id] : memref<?x64xf32>) writes(%z[#id] : memref<?x64xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @b domain [#inner] reads(%z[affine_map<(t, j)[T] -> (t + 1, j)>] : memref<?x64xf32>) writes(%y[#id] : memref<?x64xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}

func.func @one_recurrence(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %T: index) {
  poly.call @sum(%x, %y, %T) : memref<?x64xf32>, memref<?x64xf32>, index
  return
}

func.func @reversed_rows(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %T: index) {
  %h = memref.alloc(%T) : memref<?x64xf32>
  %f = memref.alloc(%T) : memref<?x64xf32>
  poly.call @sum(%x, %h, %T) : memref<?x64xf32>, memref<?x64xf32>, index
  poly.call @flip(%h, %f, %T) : memref<?x64xf32>, memref<?x64xf32>, index
  poly.call @sum(%f, %y, %T) : memref<?x64xf32>, memref<?x64xf32>, index
  return
}

func.func @later_rows(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %T: index) {
  %h = memref.alloc(%T) : memref<?x64xf32>
  %f = memref.alloc(%T) : memref<?x64xf32>
  poly.call @sum(%x, %h, %T) : memref<?x64xf32>, memref<?x64xf32>, index
  poly.call @ahead(%h, %f, %T) : memref<?x64xf32>, memref<?x64xf32>, index
  poly.call @sum(%f, %y, %T) : memref<?x64xf32>, memref<?x64xf32>, index
  return
}

func.func @state_of_its_own(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %T: index) {
  %h = memref.alloc(%T) : memref<?x64xf32>
  poly.call @carried(%x, %h, %T) : memref<?x64xf32>, memref<?x64xf32>, index
  poly.call @sum(%h, %y, %T) : memref<?x64xf32>, memref<?x64xf32>, index
  return
}

func.func @step_number(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %T: index) {
  %h = memref.alloc(%T) : memref<?x64xf32>
  %f = memref.alloc(%T) : memref<?x64xf32>
  poly.call @sum(%x, %h, %T) : memref<?x64xf32>, memref<?x64xf32>, index
  poly.call @numbered(%h, %f, %T) : memref<?x64xf32>, memref<?x64xf32>, index
  poly.call @sum(%f, %y, %T) : memref<?x64xf32>, memref<?x64xf32>, index
  return
}

func.func @passes_over_rows(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %T: index) {
  %h = memref.alloc(%T) : memref<?x64xf32>
  %f = memref.alloc(%T) : memref<?x64xf32>
  %z = memref.alloc(%T) : memref<?x64xf32>
  poly.call @sum(%x, %h, %T) : memref<?x64xf32>, memref<?x64xf32>, index
  poly.call @two_passes(%h, %f, %z, %T) : memref<?x64xf32>, memref<?x64xf32>, memref<?x64xf32>, index
  poly.call @sum(%f, %y, %T) : memref<?x64xf32>, memref<?x64xf32>, index
  return
}

// The second one overwrites what the first one reads a step later.
func.func @same_memory(%x: memref<?x64xf32>, %h: memref<?x64xf32>, %T: index) {
  poly.call @lag(%x, %h, %T) : memref<?x64xf32>, memref<?x64xf32>, index
  poly.call @sum(%h, %x, %T) : memref<?x64xf32>, memref<?x64xf32>, index
  return
}

// Rows of a view are other elements.
func.func @other_rows(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %T: index) {
  %c2 = arith.constant 2 : index
  %h = memref.alloc(%T) : memref<?x64xf32>
  %half = arith.divui %T, %c2 : index
  %part = memref.subview %h[%half, 0] [%half, 64] [1, 1] : memref<?x64xf32> to memref<?x64xf32, strided<[64, 1], offset: ?>>
  %cast = memref.reinterpret_cast %part to offset: [0], sizes: [%T, 64], strides: [64, 1] : memref<?x64xf32, strided<[64, 1], offset: ?>> to memref<?x64xf32>
  poly.call @sum(%x, %h, %T) : memref<?x64xf32>, memref<?x64xf32>, index
  poly.call @sum(%cast, %y, %T) : memref<?x64xf32>, memref<?x64xf32>, index
  return
}

func.func @other_effects(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %T: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %h = memref.alloc(%T) : memref<?x64xf32>
  poly.call @sum(%x, %h, %T) : memref<?x64xf32>, memref<?x64xf32>, index
  memref.store %v, %h[%c0, %c0] : memref<?x64xf32>
  poly.call @sum(%h, %y, %T) : memref<?x64xf32>, memref<?x64xf32>, index
  return
}

// Here the first one has read a row when the second one overwrites it.
func.func @read_before(%x: memref<?x64xf32>, %h: memref<?x64xf32>, %T: index) {
  poly.call @sum(%x, %h, %T) : memref<?x64xf32>, memref<?x64xf32>, index
  poly.call @sum(%h, %x, %T) : memref<?x64xf32>, memref<?x64xf32>, index
  return
}

// These do run side by side, unless steps are said to be too long.
func.func @long_steps(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %T: index) {
  %h = memref.alloc(%T) : memref<?x64xf32>
  poly.call @sum(%x, %h, %T) : memref<?x64xf32>, memref<?x64xf32>, index
  poly.call @sum(%h, %y, %T) : memref<?x64xf32>, memref<?x64xf32>, index
  return
}

func.func @other_extent(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %T: index, %N: index) {
  %h = memref.alloc(%T) : memref<?x64xf32>
  poly.call @sum(%x, %h, %T) : memref<?x64xf32>, memref<?x64xf32>, index
  poly.call @sum(%h, %y, %N) : memref<?x64xf32>, memref<?x64xf32>, index
  return
}

// What is stated of data is checked before a call, by one thread.
poly.kernel private @stated(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %m: memref<8xi64> {poly.monotonic}, %T: index) {
  poly.compute @first domain [#row] reads(%x[#id] : memref<?x64xf32>) writes(%y[#id] : memref<?x64xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @next domain [#later] reads(%y[#before], %y[#id] : memref<?x64xf32>, memref<?x64xf32>) writes(%y[#id] : memref<?x64xf32>) interleaved 1 {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    poly.yield %r : f32
  }
}
func.func @checked_before(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %m: memref<8xi64>, %T: index) {
  %h = memref.alloc(%T) : memref<?x64xf32>
  poly.call @sum(%x, %h, %T) : memref<?x64xf32>, memref<?x64xf32>, index
  poly.call @stated(%h, %y, %m, %T) : memref<?x64xf32>, memref<?x64xf32>, memref<8xi64>, index
  return
}
}
