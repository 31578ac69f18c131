// RUN: espalier-opt %s -program-mark-no-wrap | FileCheck %s

// CHECK-LABEL: func.func @counters_and_sizes
func.func @counters_and_sizes(%x: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %m = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c4 {
    // CHECK: arith.muli %{{.*}}, %{{.*}} overflow<nsw> : index
    %0 = arith.muli %i, %m : index
    // CHECK: arith.addi %{{.*}}, %{{.*}} overflow<nsw> : index
    %1 = arith.addi %0, %c4 : index
    %2 = memref.load %x[%1] : memref<?xf32>
  }
  return
}

// Nobody checked what was read from memory, and only addresses are index.
// CHECK-LABEL: func.func @values_from_memory_stay
func.func @values_from_memory_stay(%x: memref<?xi64>, %n: index) {
  %c0 = arith.constant 0 : index
  %v = memref.load %x[%c0] : memref<?xi64>
  // CHECK: arith.muli %{{.*}}, %{{.*}} : i64
  %square = arith.muli %v, %v : i64
  %i = arith.index_cast %square : i64 to index
  // CHECK: arith.addi %{{.*}}, %{{.*}} : index
  %1 = arith.addi %i, %n : index
  %2 = memref.load %x[%1] : memref<?xi64>
  return
}

// The plan looks for overflow.
// CHECK-LABEL: func.func @main_plan
func.func @main_plan(%n: index, %m: index) -> index attributes {espalier.plan_messages = []} {
  // CHECK: arith.muli %{{.*}}, %{{.*}} : index
  %0 = arith.muli %n, %m : index
  return %0 : index
}
