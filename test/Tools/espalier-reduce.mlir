// RUN: cp %s %t.mlir && chmod +w %t.mlir
// RUN: espalier-reduce %t.mlir -reduction-tree='traversal-mode=0 test=%S/Inputs/has-division.sh' | FileCheck %s

// Only what the interestingness test asks for remains.

// CHECK-NOT: @plain
func.func @plain(%a: i32) -> i32 {
  return %a : i32
}

// CHECK: func.func @division
// CHECK: arith.divsi
func.func @division(%a: i32, %b: i32) -> i32 {
  %0 = arith.divsi %a, %b : i32
  return %0 : i32
}
