// RUN: espalier-opt %s -program-sequentialize | FileCheck %s
// RUN: espalier-opt %s -program-sequentialize=all | FileCheck %s --check-prefix=ALL

// CHECK-LABEL: func.func @nested
//  ALL-LABEL: func.func @nested
func.func @nested(%x: memref<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  // CHECK: scf.parallel
  //   ALL-NOT: scf.parallel
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    // CHECK-NEXT: scf.for
    scf.parallel (%j) = (%c0) to (%c8) step (%c1) {
      memref.store %zero, %x[%i, %j] : memref<8x8xf32>
      scf.reduce
    }
    scf.reduce
  }
  return
}

// A reduction has no sequential form here; OpenMP takes it.
// CHECK-LABEL: func.func @reduction_stays
//       CHECK:   scf.parallel
//  ALL-LABEL: func.func @reduction_stays
//        ALL:   scf.parallel
func.func @reduction_stays(%x: memref<8xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.parallel (%i) = (%c0) to (%c8) step (%c1) init (%zero) -> f32 {
    %v = memref.load %x[%i] : memref<8xf32>
    scf.reduce(%v : f32) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }
  }
  return %sum : f32
}
