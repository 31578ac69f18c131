// RUN: espalier-opt %s -poly-profile-calls -split-input-file -verify-diagnostics | FileCheck %s

#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>

// Each call is a row of nanoseconds, operations and bytes; an output more.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:.*]]: memref<?xf32>, %[[Y:.*]]: memref<?xf32>,
// CHECK-SAME:    %[[PROFILE:.*]]: memref<1x3xi64> {espalier.name = "kernel_profile"})
// CHECK-DAG:     %[[N:.*]] = memref.dim %[[X]]
// CHECK:         %[[OPERATIONS:.*]] = arith.index_cast
// CHECK-NEXT:    %[[ROW:.*]] = arith.constant 0
// CHECK-NEXT:    %[[COLUMN:.*]] = arith.constant 1
// CHECK-NEXT:    memref.store %[[OPERATIONS]], %[[PROFILE]][%[[ROW]], %[[COLUMN]]]
// CHECK:         %[[BEGIN:.*]] = call @read_clock()
// CHECK-NEXT:    poly.call @scale
// CHECK-NEXT:    %[[END:.*]] = call @read_clock()
// CHECK-NEXT:    %[[TIME:.*]] = arith.subi %[[END]], %[[BEGIN]]
// CHECK:         memref.store %[[TIME]], %[[PROFILE]]
// CHECK-LABEL: func.func @main_plan(
// CHECK-SAME:    %[[EXTENT:.*]]: index) -> (index, index, index)
// CHECK:         %[[ROWS:.*]] = arith.constant 1
// CHECK:         %[[COLUMNS:.*]] = arith.constant 3
// CHECK:         return %[[EXTENT]], %[[ROWS]], %[[COLUMNS]]
// CHECK:       func.func private @clock_gettime(i32, i64) -> i32
// CHECK:       func.func private @read_clock() -> i64
poly.kernel private @scale(%x: memref<?xf32>, %y: memref<?xf32>, %N: index) {
  poly.compute @s domain [#points] reads(%x[#i] : memref<?xf32>) writes(%y[#i] : memref<?xf32>) {
  ^bb0(%a: f32):
    %b = arith.mulf %a, %a : f32
    poly.yield %b : f32
  }
}
func.func @main(%x: memref<?xf32>, %y: memref<?xf32>) attributes {espalier.num_inputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  poly.call @scale(%x, %y, %n) : memref<?xf32>, memref<?xf32>, index
  return
}
func.func @main_plan(%n: index) -> index {
  return %n : index
}

// -----

// expected-error@+1 {{expects no argument called 'kernel_profile', but #0 is}}
func.func @main(%x: memref<?xf32> {espalier.name = "kernel_profile"}) attributes {espalier.num_inputs = 1 : i64} {
  return
}
func.func @main_plan(%n: index) {
  return
}

// -----

// expected-error@+1 {{expects the definition of a func.func @main}}
module {
}

// -----

// Names of the program's own stay.
// CHECK-LABEL: poly.kernel private @read_clock(
// CHECK:       call @read_clock_0()
// CHECK-NEXT:  poly.call @read_clock(
// CHECK-NEXT:  call @read_clock_0()
// CHECK:       func.func private @read_clock_0() -> i64
poly.kernel private @read_clock(%x: memref<?xi32>, %N: index) {
  %t = poly.array(%N) : memref<?xf32>
}
func.func @main(%x: memref<?xi32>, %n: memref<?x0xi8>) attributes {espalier.num_inputs = 2 : i64} {
  %c0 = arith.constant 0 : index
  %N = memref.dim %x, %c0 : memref<?xi32>
  poly.call @read_clock(%x, %N) : memref<?xi32>, index
  return
}
func.func @main_plan(%n: index, %m: index) {
  return
}

// -----

// expected-error@+1 {{expects another name than 'clock_gettime', which is the C library's function that a profile calls}}
poly.kernel private @clock_gettime(%x: memref<?xi32>, %N: index) {
  %t = poly.array(%N) : memref<?xf32>
}
func.func @main(%x: memref<?xi32>) attributes {espalier.num_inputs = 1 : i64} {
  return
}
func.func @main_plan(%n: index) {
  return
}
