// RUN: espalier-opt %s --pass-pipeline='builtin.module(func.func(canonicalize))' | FileCheck %s
// RUN: not espalier-opt %s --pass-pipeline='builtin.module(builtin.module(canonicalize))' -o %t 2>&1 | FileCheck %s --check-prefix=NESTED
// RUN: not ls %t
// RUN: not espalier-opt %s --pass-pipeline='builtin.module(gpu.module(canonicalize))' 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not espalier-opt %s --pass-pipeline='func.func(canonicalize)' 2>&1 | FileCheck %s --check-prefix=ANCHOR
// RUN: not espalier-opt %s --pass-pipeline='builtin.module(no-such-pass)' 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// A pipeline that met nothing to run on is a fault; MLIR itself would print
// the input and succeed.

// NESTED: error: expects an operation for each pipeline to run on, but 'builtin.module' contains no 'builtin.module'
// ABSENT: error: expects an operation for each pipeline to run on, but 'builtin.module' contains no 'gpu.module'
// ANCHOR: error: can't run 'func.func' pass manager on 'builtin.module' op
// UNKNOWN: error: {{.*}} 'no-such-pass' does not refer to a registered pass or pass pipeline

// CHECK-LABEL: @f
// CHECK-NEXT: return %arg0
func.func @f(%x: i32) -> i32 {
  %0 = arith.constant 0 : i32
  %1 = arith.addi %x, %0 : i32
  return %1 : i32
}
