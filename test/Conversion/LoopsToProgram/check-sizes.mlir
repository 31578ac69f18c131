// RUN: espalier-opt %s -split-input-file -verify-diagnostics -program-check-sizes | FileCheck %s

// Message 1 is about overflow, 2 about divisors, 3 the assertion's, with the two
// numbers that it compares.
// CHECK-LABEL: func.func @main_plan(
//  CHECK-SAME:   %[[N:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index)
//  CHECK-SAME:   espalier.plan_messages = ["expects sizes that fit into 63 bits, but got an overflow
//  CHECK-SAME:     "expects positive divisors in the computation of sizes
//  CHECK-SAME:     "n must be even, 100%%: % is not %"]
//       CHECK:   %[[SUM:.*]] = arith.addi %[[N]], %[[M]]
//   CHECK-DAG:   arith.xori %[[N]], %[[SUM]]
//   CHECK-DAG:   arith.xori %[[M]], %[[SUM]]
//       CHECK:   arith.andi
//       CHECK:   %[[LOW:.*]], %[[HIGH:.*]] = arith.mulsi_extended
//       CHECK:   %[[ZERO:.*]] = arith.cmpi slt, %[[M]], %{{.*}}
//       CHECK:   %[[DIVISOR:.*]] = arith.select %[[ZERO]], %{{.*}}, %[[M]]
//       CHECK:   arith.divsi %{{.*}}, %[[DIVISOR]]
//   CHECK-NOT:   cf.assert
//       CHECK:   %[[FAILS:.*]] = arith.xori
//       CHECK:   %[[REST:.*]] = arith.select %[[FAILS]], %{{.*}}, %{{.*}} : index
//       CHECK:   %[[BOUND:.*]] = arith.select %[[FAILS]], %{{.*}}, %{{.*}} : index
//       CHECK:   %[[CODE:.*]] = arith.constant -3 : index
//       CHECK:   %[[LAST:.*]] = arith.select %{{.*}}, %[[CODE]], %{{.*}}
//       CHECK:   return %{{.*}}, %[[LAST]], %[[REST]], %[[BOUND]] : index, index, index, index
module {
  func.func @main() attributes {espalier.num_inputs = 0 : i64} {
    return
  }
  func.func @main_plan(%n: index, %m: index) -> (index, index) {
    %c2 = arith.constant 2 : index
    %c0 = arith.constant 0 : index
    %sum = arith.addi %n, %m : index
    %product = arith.muli %sum, %n : index
    %quotient = arith.divsi %product, %m : index
    %rest = arith.remui %n, %c2 : index
    %even = arith.cmpi eq, %rest, %c0 : index
    cf.assert %even, "n must be even, 100%"
    return %quotient, %product : index, index
  }
}

// -----

// What the plan has asserted, @main need not.
// CHECK-LABEL: func.func @main(
//   CHECK-NOT:   cf.assert
//       CHECK:   return
module {
  func.func @main(%x: memref<?xf32>) attributes {espalier.num_inputs = 1 : i64} {
    %c0 = arith.constant 0 : index
    %n = memref.dim %x, %c0 : memref<?xf32>
    %positive = arith.cmpi sgt, %n, %c0 : index
    cf.assert %positive, "n must be positive"
    return
  }
  func.func @main_plan(%n: index) -> index {
    return %n : index
  }
}

// -----

module {
  func.func @main() attributes {espalier.num_inputs = 0 : i64} {
    return
  }
  func.func @main_plan(%flag: i1) -> index {
    %c0 = arith.constant 0 : index
    // expected-error @below {{expects straight-line code in @main_plan}}
    scf.if %flag {
    }
    return %c0 : index
  }
}

// -----

module {
  func.func @main() attributes {espalier.num_inputs = 0 : i64} {
    return
  }
  // expected-error @below {{expects the arena's size as a result; run -program-plan-memory before}}
  func.func @main_plan() {
    return
  }
}

// -----

// Sizes of the version that is not chosen fail in vain.
// CHECK-LABEL: func.func @main_plan(%arg0: index, %arg1: i1, %arg2: i1, %arg3: i1)
//  CHECK-SAME:   espalier.plan_messages = ["n must be even", "n must be odd"]
//       CHECK:   %[[BYTES:.*]] = scf.if %{{.*}} -> (index) {
//       CHECK:     %[[FIRST:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}}
//       CHECK:     scf.yield %[[FIRST]]
//       CHECK:   } else {
//       CHECK:     %[[SECOND:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}}
//       CHECK:     scf.yield %[[SECOND]]
//       CHECK:   return %{{.*}}, %[[BYTES]], %{{.*}}, %{{.*}} : index, index
module {
  func.func @main() attributes {espalier.num_inputs = 0 : i64} {
    return
  }
  func.func @main_plan(%n: index, %even: i1, %odd: i1, %holds: i1) -> (index, index) {
    %bytes = scf.if %holds -> (index) {
      cf.assert %even, "n must be even"
      scf.yield %n : index
    } else {
      cf.assert %odd, "n must be odd"
      scf.yield %n : index
    }
    return %n, %bytes : index, index
  }
}

// -----

func.func @main() attributes {espalier.num_inputs = 0 : i64} {
  return
}
func.func @main_plan(%n: index, %holds: i1) -> (index, index) {
  // expected-error @below {{expects straight-line code in @main_plan}}
  %m = scf.if %holds -> (index) {
    scf.yield %n : index
  } else {
    scf.yield %n : index
  }
  return %m, %n : index, index
}
