// RUN: espalier-opt %s -split-input-file -verify-diagnostics -program-add-entry-points | FileCheck %s

// CHECK-LABEL: module @p
//  CHECK-SAME:   espalier.signature = {inputs = [{dtype = 0 : i32, extents = array<i64: -1, 4>, name = "x", symbols = ["n", ""]}],
//  CHECK-SAME:     name = "p", outputs = [{dtype = 0 : i32, extents = array<i64: -1>, name = "output0", symbols = ["n"]}],
//  CHECK-SAME:     plan_messages = ["m"]}
module @p {
  // A kernel may have the name of a function of the C library.
  // CHECK: func.func private @_espalier_p_fn_exp(
  func.func @exp(%a: memref<?x4xf32>, %b: memref<?xf32>) {
    return
  }
  // CHECK: func.func private @_espalier_p_fn_main(
  // CHECK:   call @_espalier_p_fn_exp
  func.func @main(%x: memref<?x4xf32> {espalier.name = "x", espalier.dims = ["n", ""]}, %y: memref<?xf32>,
                  %arena: memref<?xi8> {espalier.arena}, %constants: memref<?xi8> {espalier.constants})
      attributes {espalier.num_inputs = 1 : i64} {
    call @exp(%x, %y) : (memref<?x4xf32>, memref<?xf32>) -> ()
    return
  }
  func.func @main_plan(%n: index, %four: index) -> (index, index, index, index) attributes {espalier.plan_messages = ["m"]} {
    return %n, %four, %n, %four : index, index, index, index
  }
}
// CHECK-LABEL: func.func @_espalier_p_plan(
//  CHECK-SAME:   %[[IN:.*]]: !llvm.ptr, %[[OUT:.*]]: !llvm.ptr)
//       CHECK:   %[[R:.*]]:4 = call @_espalier_p_fn_main_plan(
//       CHECK:   %[[FIRST:.*]] = arith.index_cast %[[R]]#0 : index to i64
//       CHECK:   %[[ADDRESS:.*]] = llvm.getelementptr %[[OUT]][0]
//       CHECK:   llvm.store %[[FIRST]], %[[ADDRESS]]
// CHECK-LABEL: func.func @_espalier_p_run(
//  CHECK-SAME:   %[[DATA:[a-z0-9]+]]: !llvm.ptr, %[[EXTENTS:[a-z0-9]+]]: !llvm.ptr, %[[ARENA:[a-z0-9]+]]: !llvm.ptr, %[[CONSTANTS:[a-z0-9]+]]: !llvm.ptr)
//       CHECK:   llvm.getelementptr %[[DATA]][0]
//       CHECK:   llvm.getelementptr %[[EXTENTS]][0]
//       CHECK:   llvm.getelementptr %[[DATA]][1]
//       CHECK:   llvm.getelementptr %[[EXTENTS]][2]
//       CHECK:   call @_espalier_p_fn_main(

// -----

// expected-error @below {{expects no symbol @_espalier_program_fn_main}}
module {
  func.func @_espalier_program_fn_main() {
    return
  }
  func.func @main() attributes {espalier.num_inputs = 0 : i64} {
    return
  }
  func.func @main_plan() {
    return
  }
}

// -----

// Only an extent that is one of an input has its name.
// CHECK-LABEL: module @sum
//  CHECK-SAME:   outputs = [{dtype = 0 : i32, extents = array<i64: -1, -1, -1>, name = "output0", symbols = ["", "m", ""]}]
module @sum {
  func.func @main(%x: memref<?x?x?xf32> {espalier.dims = ["n", "m", ""]}, %y: memref<?x?x?xf32>)
      attributes {espalier.num_inputs = 1 : i64} {
    return
  }
  func.func @main_plan(%n: index, %m: index, %k: index) -> (index, index, index) {
    %0 = arith.addi %n, %m : index
    return %0, %m, %k : index, index, index
  }
}
