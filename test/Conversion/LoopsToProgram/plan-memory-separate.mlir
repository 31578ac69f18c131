// RUN: espalier-opt %s -program-plan-memory=separate | FileCheck %s

// Buffers stay, to the end of @main; their bytes are planned all the same.
// CHECK-LABEL: func.func @main(
//  CHECK-SAME:   memref<?xi8> {espalier.arena})
//       CHECK:   %[[A:.*]] = memref.alloc() {alignment = 64 : i64} : memref<16xf32>
//   CHECK-NOT:   memref.dealloc
//       CHECK:   call @k(%[[A]], %{{.*}})
//       CHECK:   memref.dealloc %[[A]] : memref<16xf32>
//  CHECK-NEXT:   return
// CHECK-LABEL: func.func @main_plan
//       CHECK:   %[[BYTES:.*]] = arith.constant 64 : index
//       CHECK:   return %{{.*}}, %[[BYTES]] : index, index
module {
  func.func private @k(memref<16xf32>, memref<16xf32>)
  func.func @main(%x: memref<16xf32>, %y: memref<16xf32>) attributes {espalier.num_inputs = 1 : i64} {
    %a = memref.alloc() : memref<16xf32>
    func.call @k(%x, %a) : (memref<16xf32>, memref<16xf32>) -> ()
    memref.dealloc %a : memref<16xf32>
    func.call @k(%a, %y) : (memref<16xf32>, memref<16xf32>) -> ()
    return
  }
  func.func @main_plan(%n: index) -> index {
    return %n : index
  }
}
