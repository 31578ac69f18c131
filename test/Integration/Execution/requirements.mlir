// Sizes that operators do not accept are refused. (The interpreter does so for the
// same reason: see test/Python/operators/test_requirements.py.)

// RUN: split-file %s %t

// Of two versions, the one that runs has to accept them.
// RUN: espalier-run %t/versions.mlir --input 3xf32=iota --input 5xf32=iota | FileCheck %s --check-prefix=SECOND
// SECOND: 3xf32 = [-0, -1, -2]
// RUN: espalier-run %t/versions.mlir --input 5xf32=iota --input 5xf32=iota | FileCheck %s --check-prefix=FIRST
// FIRST: 5xf32 = [0, 2, 4, 6, 8]
// RUN: not espalier-run %t/versions.mlir --input 5xf32=iota --input 3xf32=iota 2>&1 | FileCheck %s --check-prefix=VERSION
// VERSION: in 'graph.add' expects extents of b0 to agree, but got size(input1, 0) where size(input0, 0) is needed; got input0: 5, input1: 3

// The extents of a concatenation may add up although one is negative.
// RUN: espalier-run %t/parts.mlir --input 6xf32=iota --input 2xf32=iota | FileCheck %s --check-prefix=PARTS
// PARTS: 3xf32 = [4, 0, 1]
// RUN: not espalier-run %t/parts.mlir --input 3xf32=iota --input 9xf32=iota 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: in 'graph.slice' expects a result without negative extents, but got size(input0, 0) - 5 where 0 is the least: -2 is less than 0; got input0: 3, input1: 9

// A quotient that leaves a rest does not fill a reshape.
// RUN: not espalier-run %t/rest.mlir --input 7xf32=iota 2>&1 | FileCheck %s --check-prefix=REST
// REST: in 'graph.reshape' expects as many elements as X has, but got {{.*}} where size(input0, 0) is needed: 6 is not 7; got input0: 7

//--- versions.mlir
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %holds = arith.cmpi sge, %n, %c4 : index
  %r = scf.if %holds -> (tensor<?xf32>) {
    %1 = graph.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    scf.yield %1 : tensor<?xf32>
  } else {
    %1 = graph.neg %x : (tensor<?xf32>) -> tensor<?xf32>
    scf.yield %1 : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

//--- parts.mlir
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = arith.subi %n, %c5 : index
  %0 = graph.slice %x [4] [%m] {steps = array<i64: 1>} : (tensor<?xf32>) -> tensor<?xf32>
  %r = graph.concat %0, %y {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

//--- rest.mlir
func.func @main(%x: tensor<?xf32>) -> tensor<2x?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %half = arith.floordivsi %n, %c2 : index
  %r = graph.reshape %x to [2, %half] : (tensor<?xf32>) -> tensor<2x?xf32>
  return %r : tensor<2x?xf32>
}
