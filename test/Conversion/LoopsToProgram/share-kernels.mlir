// RUN: espalier-opt %s -split-input-file -program-share-kernels -canonicalize | FileCheck %s

// Parts of tensors of other widths, at other places: 20 twice, as the same
// argument, and 10, which is where something is read, in both.
//      CHECK: func.func private @a(%[[X:.*]]: memref<30xf32>, %[[Y:.*]]: memref<?xf32>, %[[P:.*]]: index, %[[Q:.*]]: index) {
//  CHECK-DAG:   %[[TEN:.*]] = arith.constant 10 : index
//      CHECK:   scf.for %[[I:.*]] = %{{.*}} to %[[TEN]]
//      CHECK:     arith.addi %[[I]], %[[TEN]]
//      CHECK:     %[[ROW:.*]] = arith.muli %[[I]], %[[P]]
//      CHECK:     %[[PLACE:.*]] = arith.addi %[[ROW]], %[[Q]]
//      CHECK:     memref.store %{{.*}}, %[[Y]][%[[PLACE]]] : memref<?xf32>
//      CHECK:     %[[NEXT:.*]] = arith.addi %[[ROW]], %[[P]]
//      CHECK:     memref.store %{{.*}}, %[[Y]][%[[NEXT]]] : memref<?xf32>
//  CHECK-NOT: func.func private @b
func.func private @a(%x: memref<30xf32>, %y: memref<11x20xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c10 = arith.constant 10 : index
  %c20 = arith.constant 20 : index
  %m = memref.collapse_shape %y [[0, 1]] : memref<11x20xf32> into memref<220xf32>
  scf.for %i = %c0 to %c10 step %c1 {
    %from = arith.addi %i, %c10 : index
    %v = memref.load %x[%from] : memref<30xf32>
    %row = arith.muli %i, %c20 : index
    %place = arith.addi %row, %c4 : index
    memref.store %v, %m[%place] : memref<220xf32>
    %next = arith.addi %row, %c20 : index
    memref.store %v, %m[%next] : memref<220xf32>
  }
  return
}

// The width is the number of rows, so there is one constant less.
func.func private @b(%x: memref<30xf32>, %y: memref<11x10xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %c7 = arith.constant 7 : index
  %m = memref.collapse_shape %y [[0, 1]] : memref<11x10xf32> into memref<110xf32>
  scf.for %i = %c0 to %c10 step %c1 {
    %from = arith.addi %i, %c10 : index
    %v = memref.load %x[%from] : memref<30xf32>
    %row = arith.muli %i, %c10 : index
    %place = arith.addi %row, %c7 : index
    memref.store %v, %m[%place] : memref<110xf32>
    %next = arith.addi %row, %c10 : index
    memref.store %v, %m[%next] : memref<110xf32>
  }
  return
}

// CHECK-LABEL: func.func @main(
//  CHECK-SAME:   %[[X:.*]]: memref<30xf32>, %[[A:.*]]: memref<11x20xf32>, %[[B:.*]]: memref<11x10xf32>)
//   CHECK-DAG:   %[[C4:.*]] = arith.constant 4 : index
//   CHECK-DAG:   %[[C7:.*]] = arith.constant 7 : index
//   CHECK-DAG:   %[[C10:.*]] = arith.constant 10 : index
//   CHECK-DAG:   %[[C20:.*]] = arith.constant 20 : index
//       CHECK:   %[[FLAT:.*]] = memref.collapse_shape %[[A]] {{\[\[}}0, 1]]
//       CHECK:   %[[CAST:.*]] = memref.cast %[[FLAT]] : memref<220xf32> to memref<?xf32>
//       CHECK:   call @a(%[[X]], %[[CAST]], %[[C20]], %[[C4]])
//       CHECK:   %[[FLAT:.*]] = memref.collapse_shape %[[B]] {{\[\[}}0, 1]]
//       CHECK:   %[[CAST:.*]] = memref.cast %[[FLAT]] : memref<110xf32> to memref<?xf32>
//       CHECK:   call @a(%[[X]], %[[CAST]], %[[C10]], %[[C7]])
func.func @main(%x: memref<30xf32>, %a: memref<11x20xf32>, %b: memref<11x10xf32>) {
  call @a(%x, %a) : (memref<30xf32>, memref<11x20xf32>) -> ()
  call @b(%x, %b) : (memref<30xf32>, memref<11x10xf32>) -> ()
  return
}

// -----

// Stays apart: the number says where something is read, how often a loop runs,
// what is stored, or is in the text of an operation.
// CHECK-LABEL: func.func private @loads_4(
// CHECK-LABEL: func.func private @loads_5(
// CHECK-LABEL: func.func private @runs_4(
// CHECK-LABEL: func.func private @runs_5(
// CHECK-LABEL: func.func private @stores_4(
// CHECK-LABEL: func.func private @stores_5(
// CHECK-LABEL: func.func private @sums_4(
// CHECK-LABEL: func.func private @sums_5(
func.func private @loads_4(%x: memref<9xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %v = memref.load %x[%c4] : memref<9xf32>
  memref.store %v, %x[%c0] : memref<9xf32>
  return
}
func.func private @loads_5(%x: memref<9xf32>) {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %v = memref.load %x[%c5] : memref<9xf32>
  memref.store %v, %x[%c0] : memref<9xf32>
  return
}
func.func private @runs_4(%x: memref<9xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    memref.store %v, %x[%i] : memref<9xf32>
  }
  return
}
func.func private @runs_5(%x: memref<9xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  scf.for %i = %c0 to %c5 step %c1 {
    memref.store %v, %x[%i] : memref<9xf32>
  }
  return
}
func.func private @stores_4(%x: memref<9xindex>) {
  %c4 = arith.constant 4 : index
  memref.store %c4, %x[%c4] : memref<9xindex>
  return
}
func.func private @stores_5(%x: memref<9xindex>) {
  %c5 = arith.constant 5 : index
  memref.store %c5, %x[%c5] : memref<9xindex>
  return
}
func.func private @sums_4(%x: memref<9xf32>, %i: index) {
  %c4 = arith.constant 4 : index
  %place = arith.addi %i, %c4 : index
  %v = memref.load %x[%place] : memref<9xf32>
  %w = arith.addf %v, %v : f32
  memref.store %w, %x[%place] : memref<9xf32>
  return
}
func.func private @sums_5(%x: memref<9xf32>, %i: index) {
  %c5 = arith.constant 5 : index
  %place = arith.addi %i, %c5 : index
  %v = memref.load %x[%place] : memref<9xf32>
  %w = arith.addf %v, %v : f32
  memref.store %w, %x[%place] : memref<9xf32>
  return
}
func.func @main(%x: memref<9xf32>, %n: memref<9xindex>, %v: f32, %i: index) {
  call @loads_4(%x) : (memref<9xf32>) -> ()
  call @loads_5(%x) : (memref<9xf32>) -> ()
  call @runs_4(%x, %v) : (memref<9xf32>, f32) -> ()
  call @runs_5(%x, %v) : (memref<9xf32>, f32) -> ()
  call @stores_4(%n) : (memref<9xindex>) -> ()
  call @stores_5(%n) : (memref<9xindex>) -> ()
  call @sums_4(%x, %i) : (memref<9xf32>, index) -> ()
  call @sums_5(%x, %i) : (memref<9xf32>, index) -> ()
  return
}

// -----

// Stays apart: others could call it, or its address is taken.
// CHECK-LABEL: func.func @public_4(
// CHECK-LABEL: func.func private @named_5(
// CHECK-LABEL: func.func private @only_6(
func.func @public_4(%x: memref<9xf32>, %v: f32) {
  %c4 = arith.constant 4 : index
  memref.store %v, %x[%c4] : memref<9xf32>
  return
}
func.func private @named_5(%x: memref<9xf32>, %v: f32) {
  %c5 = arith.constant 5 : index
  memref.store %v, %x[%c5] : memref<9xf32>
  return
}
func.func private @only_6(%x: memref<9xf32>, %v: f32) {
  %c6 = arith.constant 6 : index
  memref.store %v, %x[%c6] : memref<9xf32>
  return
}
func.func @main(%x: memref<9xf32>, %v: f32) {
  call @public_4(%x, %v) : (memref<9xf32>, f32) -> ()
  %f = func.constant @named_5 : (memref<9xf32>, f32) -> ()
  func.call_indirect %f(%x, %v) : (memref<9xf32>, f32) -> ()
  call @only_6(%x, %v) : (memref<9xf32>, f32) -> ()
  return
}
