// RUN: espalier-opt %s -pass-pipeline='builtin.module(func.func(program-limit-unrolling))' | FileCheck %s
// RUN: espalier-opt %s -pass-pipeline='builtin.module(func.func(program-limit-unrolling{max-stores=2}))' \
// RUN:   | FileCheck %s --check-prefix=TWO

// Seventeen times two stores are too many for one block, two are not.
// CHECK-LABEL: @nest
// CHECK: scf.for
// CHECK: vector.store
// CHECK-NEXT: }
// CHECK-NEXT: } {loop_annotation = #[[NO:.*]]}
// TWO-LABEL: @nest
func.func @nest(%m: memref<306xi64>, %v: vector<8xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c17 = arith.constant 17 : index
  scf.for %i = %c0 to %c17 step %c1 {
    scf.for %j = %c0 to %c2 step %c1 {
      %k = arith.muli %i, %j : index
      vector.store %v, %m[%k] : memref<306xi64>, vector<8xi64>
    }
  }
  return
}

// A loop that sums up, and one of unknown length, are left to LLVM; of three
// iterations the loop around them stores no more than that.
// CHECK-LABEL: @others
// CHECK-NOT: loop_annotation
// TWO-LABEL: @others
// TWO: } {loop_annotation
func.func @others(%m: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c100 = arith.constant 100 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %x = memref.load %m[%i] : memref<?xf32>
    %sum = scf.for %j = %c0 to %c100 step %c1 iter_args(%s = %x) -> f32 {
      %y = memref.load %m[%j] : memref<?xf32>
      %t = arith.addf %s, %y : f32
      scf.yield %t : f32
    }
    memref.store %sum, %m[%i] : memref<?xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %m[%i] : memref<?xf32>
    memref.store %x, %m[%i] : memref<?xf32>
  }
  return
}
