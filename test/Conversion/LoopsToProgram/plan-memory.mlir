// RUN: espalier-opt %s -split-input-file -program-plan-memory -canonicalize -cse | FileCheck %s

// %a is dead when %c comes to life: they share bytes.
// CHECK-LABEL: func.func @main(
//  CHECK-SAME:   %[[ARENA:[a-z0-9]+]]: memref<?xi8> {espalier.arena})
//   CHECK-DAG:   %[[C0:.*]] = arith.constant 0 : index
//   CHECK-DAG:   %[[C64:.*]] = arith.constant 64 : index
//       CHECK:   %[[A:.*]] = memref.view %[[ARENA]][%[[C0]]][] : memref<?xi8> to memref<16xf32>
//       CHECK:   call @k(%{{.*}}, %[[A]])
//       CHECK:   %[[B:.*]] = memref.view %[[ARENA]][%[[C64]]][] : memref<?xi8> to memref<3xf32>
//       CHECK:   call @k_small(%[[A]], %[[B]])
//       CHECK:   %[[C:.*]] = memref.view %[[ARENA]][%[[C0]]][] : memref<?xi8> to memref<2x8xf32>
//       CHECK:   call @k_last(%[[B]], %{{.*}})
//   CHECK-NOT:   memref.dealloc
// CHECK-LABEL: func.func @main_plan
//       CHECK:   %[[BYTES:.*]] = arith.constant 128 : index
//       CHECK:   return %{{.*}}, %[[BYTES]] : index, index
module {
  func.func private @k(memref<16xf32>, memref<16xf32>)
  func.func private @k_small(memref<16xf32>, memref<3xf32>)
  func.func private @k_last(memref<3xf32>, memref<2x8xf32>)
  func.func private @k_out(memref<2x8xf32>, memref<16xf32>)
  func.func @main(%x: memref<16xf32>, %y: memref<16xf32>) attributes {espalier.num_inputs = 1 : i64} {
    %a = memref.alloc() : memref<16xf32>
    func.call @k(%x, %a) : (memref<16xf32>, memref<16xf32>) -> ()
    %b = memref.alloc() : memref<3xf32>
    func.call @k_small(%a, %b) : (memref<16xf32>, memref<3xf32>) -> ()
    %c = memref.alloc() : memref<2x8xf32>
    func.call @k_last(%b, %c) : (memref<3xf32>, memref<2x8xf32>) -> ()
    memref.dealloc %b : memref<3xf32>
    func.call @k_out(%c, %y) : (memref<2x8xf32>, memref<16xf32>) -> ()
    return
  }
  func.func @main_plan(%n: index) -> index {
    return %n : index
  }
}

// -----

// A use through a view keeps %a alive: nothing is shared.
// CHECK-LABEL: func.func @main(
//   CHECK-DAG:   arith.constant 64 : index
//       CHECK: func.func @main_plan
//       CHECK:   %[[BYTES:.*]] = arith.constant 128 : index
//       CHECK:   return %{{.*}}, %[[BYTES]]
module {
  func.func private @k(memref<16xf32>, memref<4x4xf32>)
  func.func private @k2(memref<16xf32>, memref<16xf32>)
  func.func @main(%x: memref<16xf32>, %y: memref<16xf32>) attributes {espalier.num_inputs = 1 : i64} {
    %a = memref.alloc() : memref<4x4xf32>
    func.call @k(%x, %a) : (memref<16xf32>, memref<4x4xf32>) -> ()
    %flat = memref.collapse_shape %a [[0, 1]] : memref<4x4xf32> into memref<16xf32>
    %b = memref.alloc() : memref<16xf32>
    func.call @k2(%x, %b) : (memref<16xf32>, memref<16xf32>) -> ()
    func.call @k2(%flat, %b) : (memref<16xf32>, memref<16xf32>) -> ()
    func.call @k2(%b, %y) : (memref<16xf32>, memref<16xf32>) -> ()
    return
  }
  func.func @main_plan(%n: index) -> index {
    return %n : index
  }
}

// -----

// Buffers of n * 64 and n * 128 bytes are placed at multiples of n, whatever n
// is; "n" of both inputs is one size. The group of n follows the static one.
// CHECK-LABEL: func.func @main(
//   CHECK-DAG:   %[[C64:.*]] = arith.constant 64 : index
//   CHECK-DAG:   %[[C128:.*]] = arith.constant 128 : index
//       CHECK:   %[[N:.*]] = memref.dim
//   CHECK-DAG:   %[[BASE:.*]] = arith.muli %[[N]], %[[C128]] : index
//   CHECK-DAG:   %[[SMALL:.*]] = arith.addi %[[BASE]], %[[C64]] : index
//   CHECK-DAG:   memref.view %{{.*}}[%[[SMALL]]][%{{.*}}] : memref<?xi8> to memref<?x16xf32>
//   CHECK-DAG:   memref.view %{{.*}}[%[[C64]]][%[[N]]] : memref<?xi8> to memref<?x32xf32>
// CHECK-LABEL: func.func @main_plan(
//  CHECK-SAME:   %[[N:[a-z0-9]+]]: index
//   CHECK-DAG:   %[[C192:.*]] = arith.constant 192 : index
//   CHECK-DAG:   %[[C64:.*]] = arith.constant 64 : index
//       CHECK:   cf.assert %{{.*}}, "expects intermediate tensors without negative extents
//       CHECK:   %[[GROUP:.*]] = arith.muli %[[N]], %[[C192]] : index
//       CHECK:   %[[BYTES:.*]] = arith.addi %[[GROUP]], %[[C64]] : index
//       CHECK:   return %[[N]], %[[BYTES]] : index, index
module {
  func.func private @k(memref<?xf32>, memref<?xf32>, memref<?x32xf32>, memref<?x16xf32>, memref<3xf32>, memref<?xf32>)
  func.func @main(%x: memref<?xf32> {espalier.dims = ["n"]}, %z: memref<?xf32> {espalier.dims = ["n"]},
                  %y: memref<?xf32>) attributes {espalier.num_inputs = 2 : i64} {
    %c0 = arith.constant 0 : index
    %n = memref.dim %x, %c0 : memref<?xf32>
    %n2 = memref.dim %z, %c0 : memref<?xf32>
    %a = memref.alloc(%n) : memref<?x32xf32>
    %b = memref.alloc(%n2) : memref<?x16xf32>
    %s = memref.alloc() : memref<3xf32>
    func.call @k(%x, %z, %a, %b, %s, %y) : (memref<?xf32>, memref<?xf32>, memref<?x32xf32>, memref<?x16xf32>, memref<3xf32>, memref<?xf32>) -> ()
    return
  }
  func.func @main_plan(%n: index, %n2: index) -> index {
    return %n : index
  }
}

// -----

// Rounding 4 bytes to 64 would cost 16 times the memory of an n x m buffer: the
// unit is 4 * n * m, rounded up once.
// CHECK-LABEL: func.func @main_plan(
//  CHECK-SAME:   %[[N:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index
//   CHECK-DAG:   %[[C4:.*]] = arith.constant 4 : index
//   CHECK-DAG:   %[[C63:.*]] = arith.constant 63 : index
//   CHECK-DAG:   %[[C64:.*]] = arith.constant 64 : index
//       CHECK:   %[[NM:.*]] = arith.muli %[[N]], %[[M]] : index
//       CHECK:   %[[BYTES:.*]] = arith.muli %[[NM]], %[[C4]] : index
//       CHECK:   %[[MORE:.*]] = arith.addi %[[BYTES]], %[[C63]] : index
//       CHECK:   %[[LINES:.*]] = arith.divui %[[MORE]], %[[C64]] : index
//       CHECK:   arith.muli %[[LINES]], %[[C64]] : index
module {
  func.func private @k(memref<?x?xf32>, memref<?x?xf32>, memref<?x?xf32>)
  func.func @main(%x: memref<?x?xf32>, %y: memref<?x?xf32>) attributes {espalier.num_inputs = 1 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = memref.dim %x, %c0 : memref<?x?xf32>
    %m = memref.dim %x, %c1 : memref<?x?xf32>
    %a = memref.alloc(%n, %m) : memref<?x?xf32>
    func.call @k(%x, %a, %y) : (memref<?x?xf32>, memref<?x?xf32>, memref<?x?xf32>) -> ()
    return
  }
  func.func @main_plan(%n: index, %m: index) -> (index, index) {
    return %n, %m : index, index
  }
}

// -----

// Of two versions, each has the whole arena to itself; the plan says how much
// the one takes that is chosen, and asserts what that one does. What is asserted
// for both comes first.
// CHECK-LABEL: func.func @main(
//  CHECK-SAME:   %[[ARENA:[a-z0-9]+]]: memref<?xi8> {espalier.arena})
//   CHECK-DAG:   %[[C0:.*]] = arith.constant 0 : index
//       CHECK:   scf.if
//       CHECK:     memref.view %[[ARENA]][%[[C0]]][] : memref<?xi8> to memref<16xf32>
//       CHECK:   } else {
//       CHECK:     memref.view %[[ARENA]][%[[C0]]][%{{.*}}] : memref<?xi8> to memref<?x32xf32>
//       CHECK: func.func @main_plan(%[[N:.*]]: index)
//   CHECK-DAG:   %[[STATIC:.*]] = arith.constant 64 : index
//       CHECK:   %[[HOLDS:.*]] = arith.cmpi sge, %[[N]], %{{.*}}
//       CHECK:   cf.assert %[[HOLDS]], "expects 4 or more"
//       CHECK:   %[[BYTES:.*]] = scf.if %[[HOLDS]] -> (index) {
//       CHECK:     %[[EVEN:.*]] = arith.cmpi eq, %{{.*}}
//       CHECK:     cf.assert %[[EVEN]], "expects an even n"
//   CHECK-NOT:     cf.assert
//       CHECK:     scf.yield %[[STATIC]]
//  CHECK-NEXT:   } else {
//       CHECK:     cf.assert %{{.*}}, "expects intermediate tensors
//       CHECK:     %[[DYNAMIC:.*]] = arith.muli
//       CHECK:     scf.yield %[[DYNAMIC]]
//       CHECK:   return %[[N]], %[[BYTES]]
module {
  func.func private @k(memref<?xf32>, memref<16xf32>)
  func.func private @k2(memref<?xf32>, memref<?x32xf32>)
  func.func @main(%x: memref<?xf32>, %y: memref<?xf32>) attributes {espalier.num_inputs = 1 : i64} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %n = memref.dim %x, %c0 : memref<?xf32>
    %holds = arith.cmpi sge, %n, %c4 : index
    cf.assert %holds, "expects 4 or more"
    scf.if %holds {
      %c2 = arith.constant 2 : index
      %rest = arith.remui %n, %c2 : index
      %even = arith.cmpi eq, %rest, %c0 : index
      cf.assert %even, "expects an even n"
      %a = memref.alloc() : memref<16xf32>
      func.call @k(%x, %a) : (memref<?xf32>, memref<16xf32>) -> ()
      func.call @k(%y, %a) : (memref<?xf32>, memref<16xf32>) -> ()
    } else {
      %less = arith.subi %n, %c4 : index
      %b = memref.alloc(%less) : memref<?x32xf32>
      func.call @k2(%x, %b) : (memref<?xf32>, memref<?x32xf32>) -> ()
      func.call @k2(%y, %b) : (memref<?xf32>, memref<?x32xf32>) -> ()
    }
    return
  }
  func.func @main_plan(%n: index) -> index {
    return %n : index
  }
}
