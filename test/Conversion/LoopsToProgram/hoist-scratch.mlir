// RUN: espalier-opt %s -program-hoist-scratch=min-bytes=64 | FileCheck %s

// CHECK-LABEL: func.func @k(
//  CHECK-SAME:   %{{.*}}: memref<?xf32>, %[[N:.*]]: index, %[[A:.*]]: memref<?x4xf32>, %[[B:.*]]: memref<16xf32>)
//   CHECK-NOT:   memref.alloc
//       CHECK:   memref.store %{{.*}}, %[[A]]
//       CHECK:   memref.store %{{.*}}, %[[B]]
//   CHECK-NOT:   memref.dealloc
func.func @k(%x: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %m = arith.muli %n, %c2 : index
  %a = memref.alloc(%m) : memref<?x4xf32>
  memref.store %zero, %a[%c0, %c0] : memref<?x4xf32>
  scf.for %i = %c0 to %n step %c2 {
    %b = memref.alloc() : memref<16xf32>
    memref.store %zero, %b[%c0] : memref<16xf32>
    memref.dealloc %b : memref<16xf32>
  }
  memref.dealloc %a : memref<?x4xf32>
  return
}

// Of each thread, of changing size, small.
// CHECK-LABEL: func.func @stay(
//  CHECK-SAME:   %{{.*}}: memref<?xf32>, %{{.*}}: index)
// CHECK-COUNT-3: memref.alloc
func.func @stay(%x: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %a = memref.alloc() : memref<16xf32>
    memref.store %zero, %a[%c0] : memref<16xf32>
    scf.reduce
  }
  scf.for %i = %c1 to %n step %c1 {
    %b = memref.alloc(%i) : memref<?xf32>
    memref.store %zero, %b[%c0] : memref<?xf32>
  }
  %c = memref.alloc() : memref<15xf32>
  memref.store %zero, %c[%c0] : memref<15xf32>
  return
}

// Each thread has its own, but the size is checked.
// CHECK-LABEL: func.func @threads(
//  CHECK-SAME:   %{{.*}}: memref<?xf32>, %[[N:.*]]: index, %{{.*}}: memref<?xf32>)
//       CHECK:   scf.parallel
//       CHECK:     %[[A:.*]] = memref.alloc(%[[N]]) : memref<?xf32>
//       CHECK:     memref.store %{{.*}}, %[[A]]
//       CHECK:     memref.dealloc %[[A]]
func.func @threads(%x: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %a = memref.alloc(%n) : memref<?xf32>
    memref.store %zero, %a[%c0] : memref<?xf32>
    memref.dealloc %a : memref<?xf32>
    scf.reduce
  }
  return
}

// CHECK-LABEL: func.func @main(
//       CHECK:   %[[N:.*]] = memref.dim
//       CHECK:   %[[M:.*]] = arith.muli %[[N]], %{{.*}} : index
//       CHECK:   %[[A:.*]] = memref.alloc(%[[M]]) : memref<?x4xf32>
//       CHECK:   %[[B:.*]] = memref.alloc() : memref<16xf32>
//       CHECK:   call @k(%{{.*}}, %[[N]], %[[A]], %[[B]])
//       CHECK:   call @stay(%{{.*}}, %[[N]])
//       CHECK:   %[[E:.*]] = memref.alloc(%[[N]]) : memref<?xf32>
//       CHECK:   call @threads(%{{.*}}, %[[N]], %[[E]])
//       CHECK:   scf.if
//       CHECK:     %[[C:.*]] = memref.alloc(%{{.*}}) : memref<?x4xf32>
//       CHECK:     %[[D:.*]] = memref.alloc() : memref<16xf32>
//       CHECK:     call @k(%{{.*}}, %[[N]], %[[C]], %[[D]])
func.func @main(%x: memref<?xf32>) attributes {espalier.num_inputs = 0 : i64} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  call @k(%x, %n) : (memref<?xf32>, index) -> ()
  call @stay(%x, %n) : (memref<?xf32>, index) -> ()
  call @threads(%x, %n) : (memref<?xf32>, index) -> ()
  // A version of the program calls its kernels itself.
  %holds = arith.cmpi eq, %n, %c0 : index
  scf.if %holds {
    func.call @k(%x, %n) : (memref<?xf32>, index) -> ()
  }
  return
}
func.func @main_plan() -> index {
  %c4 = arith.constant 4 : index
  return %c4 : index
}
