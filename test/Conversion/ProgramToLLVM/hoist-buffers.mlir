// RUN: espalier-opt %s -program-hoist-buffers | FileCheck %s
// RUN: espalier-opt %s -program-hoist-buffers=max-stack-bytes=0 | FileCheck %s --check-prefix=HEAP

// CHECK-LABEL: func.func @small_goes_on_the_stack_of_the_thread
//  HEAP-LABEL: func.func @small_goes_on_the_stack_of_the_thread
func.func @small_goes_on_the_stack_of_the_thread(%x: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  //      CHECK: omp.parallel {
  // CHECK-NEXT:   memref.alloca() {alignment = 64 : i64} : memref<16xf32>
  //  CHECK-NOT:   dealloc
  //       HEAP: omp.parallel {
  //  HEAP-NEXT:   %[[A:.*]] = memref.alloc() {alignment = 64 : i64} : memref<16xf32>
  //       HEAP:   omp.wsloop
  //       HEAP:   memref.dealloc %[[A]]
  //  HEAP-NEXT:   omp.terminator
  omp.parallel {
    omp.wsloop {
      omp.loop_nest (%i) : index = (%c0) to (%n) step (%c1) {
        %a = memref.alloc() : memref<16xf32>
        memref.store %one, %a[%c0] : memref<16xf32>
        memref.dealloc %a : memref<16xf32>
        omp.yield
      }
    }
    omp.terminator
  }
  return
}

// CHECK-LABEL: func.func @large_is_freed_at_the_end
//       CHECK:   %[[A:.*]] = memref.alloc() {alignment = 64 : i64} : memref<4097xf32>
//       CHECK:   scf.for
//       CHECK:   memref.dealloc %[[A]]
//  CHECK-NEXT:   return
func.func @large_is_freed_at_the_end(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloc() : memref<4097xf32>
    memref.store %one, %a[%i] : memref<4097xf32>
  }
  return
}

// The size may change from one iteration to the next.
// CHECK-LABEL: func.func @dynamic_stays_in_its_block
//       CHECK:   scf.for
//  CHECK-NEXT:     %[[A:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
//       CHECK:     memref.dealloc %[[A]]
//  CHECK-NEXT:   }
func.func @dynamic_stays_in_its_block(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloc(%i) : memref<?xf32>
    memref.store %one, %a[%c0] : memref<?xf32>
  }
  return
}
