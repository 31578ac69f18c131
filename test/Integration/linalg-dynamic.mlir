// A dense layer of any number of rows: scheduled and in program order, for no
// row, one, a prime and a full tile.

// RUN: espalier-opt %s -convert-linalg-to-poly -o %t.poly.mlir
// RUN: espalier-opt %t.poly.mlir --compile-to=scheduled \
// RUN:   | espalier-opt -pass-pipeline='builtin.module(poly.kernel(poly-verify-schedule))' -o %t.scheduled.mlir
// RUN: espalier-opt %t.poly.mlir -convert-poly-to-loops -o %t.loops.mlir
// RUN: for n in 0 1 13 28; do \
// RUN:   espalier-run %t.scheduled.mlir --input ${n}x7xf32=iota --input 7x5xf32=iota --input 5xf32=-900 > %t.scheduled.$n && \
// RUN:   espalier-run %t.loops.mlir --input ${n}x7xf32=iota --input 7x5xf32=iota --input 5xf32=-900 > %t.loops.$n && \
// RUN:   cmp %t.scheduled.$n %t.loops.$n || exit 1; done

// The pipeline takes linalg as it is.
// RUN: espalier-run %s --input 13x7xf32=iota --input 7x5xf32=iota --input 5xf32=-900 | cmp - %t.scheduled.13
// RUN: espalier-opt %s --compile-to=llvm | FileCheck %s --check-prefix=LLVM
// LLVM-NOT: linalg.
// LLVM: llvm.func @_espalier_program_run(
// LLVM-NOT: linalg.

// RUN: FileCheck %s --check-prefix=EMPTY --input-file=%t.scheduled.0
// RUN: FileCheck %s --check-prefix=ROW --input-file=%t.scheduled.1
// RUN: FileCheck %s --check-prefix=ROWS --input-file=%t.scheduled.13

// EMPTY: 0x5xf32
// 0*0 + 1*5 + 2*10 + ... + 6*30 = 455, which the bias hides.
// ROW: {{\[\[}}0, 0, 0, 0, 0]]
// The second row: 7*0 + 8*5 + ... + 13*30 - 900 = 290.
// ROWS: {{\[\[}}0, 0, 0, 0, 0], [290,

func.func @main(%x: tensor<?x7xf32>, %w: tensor<7x5xf32>, %b: tensor<5xf32>) -> tensor<?x5xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x7xf32>
  %empty = tensor.empty(%n) : tensor<?x5xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x5xf32>) -> tensor<?x5xf32>
  %product = linalg.matmul ins(%x, %w : tensor<?x7xf32>, tensor<7x5xf32>) outs(%zeros : tensor<?x5xf32>) -> tensor<?x5xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%product, %b : tensor<?x5xf32>, tensor<5xf32>) outs(%empty : tensor<?x5xf32>) {
  ^bb0(%p: f32, %bias: f32, %out: f32):
    %s = arith.addf %p, %bias : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  } -> tensor<?x5xf32>
  return %sum : tensor<?x5xf32>
}
