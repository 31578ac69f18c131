// From linalg to poly and back: the kernel runs as upstream's loops.

// RUN: espalier-opt %s \
// RUN:   -pass-pipeline='builtin.module(convert-linalg-to-poly,convert-poly-to-linalg,func.func(convert-linalg-to-loops))' -o %t.mlir
// RUN: FileCheck %s --check-prefix=LOOPS --input-file=%t.mlir
// RUN: espalier-run %t.mlir --input 3x2xf32=iota | FileCheck %s
// RUN: espalier-opt %s -convert-linalg-to-poly -o %t.poly.mlir
// RUN: espalier-run %t.poly.mlir --input 3x2xf32=iota | FileCheck %s

// LOOPS-NOT: poly.
// LOOPS: scf.for

// Transposed, and the row's number added.
// CHECK: {{\[\[}}0, 2, 4], [2, 4, 6]]
func.func @main(%x: tensor<?x2xf32>) -> tensor<2x?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x2xf32>
  %empty = tensor.empty(%n) : tensor<2x?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x2xf32>) outs(%empty : tensor<2x?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %i = linalg.index 0 : index
    %number = arith.index_cast %i : index to i32
    %f = arith.sitofp %number : i32 to f32
    %sum = arith.addf %a, %f : f32
    linalg.yield %sum : f32
  } -> tensor<2x?xf32>
  return %r : tensor<2x?xf32>
}
