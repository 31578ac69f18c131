// A small image classifier in TOSA, as other front ends emit it, lowered to
// linalg on tensors by stock passes. Four ways of running it must agree: the
// whole pipeline, our kernels as scheduled, our kernels in program order, and
// upstream's loops.

// RUN: espalier-opt %s -pass-pipeline='builtin.module(func.func(tosa-to-linalg-named,tosa-to-linalg,tosa-to-arith,tosa-to-tensor))' -o %t.linalg.mlir
// RUN: espalier-run %t.linalg.mlir --input 1x12x12x3xf32=iota | FileCheck %s
// RUN: espalier-opt %t.linalg.mlir --compile-to=poly -o %t.poly.mlir
// RUN: FileCheck %s --check-prefix=KERNELS --input-file=%t.poly.mlir
// RUN: espalier-opt %t.poly.mlir --compile-to=scheduled \
// RUN:   | espalier-opt -pass-pipeline='builtin.module(poly.kernel(poly-verify-schedule))' -o %t.scheduled.mlir
// RUN: espalier-run %t.scheduled.mlir --input 1x12x12x3xf32=iota | FileCheck %s
// RUN: espalier-opt %t.poly.mlir -convert-poly-to-loops -o %t.loops.mlir
// RUN: espalier-run %t.loops.mlir --input 1x12x12x3xf32=iota | FileCheck %s

// RUN: cat %s %S/Inputs/print-classifier.mlir \
// RUN:   | espalier-opt -pass-pipeline='builtin.module(func.func(tosa-to-linalg-named,tosa-to-linalg,tosa-to-arith,tosa-to-tensor,canonicalize),one-shot-bufferize{bufferize-function-boundaries},func.func(convert-linalg-to-loops,lower-affine,convert-scf-to-cf),expand-strided-metadata,lower-affine,convert-arith-to-llvm,convert-math-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,convert-cf-to-llvm,reconcile-unrealized-casts)' \
// RUN:   | mlir-runner -e print -entry-point-result=void -shared-libs=%llvm_tools/../lib/libmlir_runner_utils.so,%llvm_tools/../lib/libmlir_c_runner_utils.so | FileCheck %s

// CHECK: {{\[\[}}0.16212,{{ +}}0.179171,{{ +}}0.198014,{{ +}}0.218839,{{ +}}0.241855]]

// Padding; convolution with bias and clamp; pooling; two sums and the product
// with bias and exp; the quotient, and its copy with the result's shape.
// KERNELS-COUNT-8: poly.kernel private @{{[a-z0-9_]+_[0-9a-f]+}}(
// KERNELS-NOT: poly.kernel
func.func @main(%image: tensor<1x12x12x3xf32>) -> tensor<1x5xf32> {
  %w0 = "tosa.const"() <{values = dense<0.0005> : tensor<8x3x3x3xf32>}> : () -> tensor<8x3x3x3xf32>
  %b0 = "tosa.const"() <{values = dense<[0.1, -0.2, 0.3, -0.4, 0.5, -0.6, 0.7, -0.8]> : tensor<8xf32>}> : () -> tensor<8xf32>
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %image, %w0, %b0, %zp, %zp {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}
      : (tensor<1x12x12x3xf32>, tensor<8x3x3x3xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x12x12x8xf32>
  %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x12x12x8xf32>) -> tensor<1x12x12x8xf32>
  %2 = tosa.max_pool2d %1 {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x12x12x8xf32>) -> tensor<1x6x6x8xf32>
  %shape = tosa.const_shape {values = dense<[1, 36, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %3 = tosa.reshape %2, %shape : (tensor<1x6x6x8xf32>, !tosa.shape<3>) -> tensor<1x36x8xf32>
  %4 = tosa.reduce_sum %3 {axis = 1 : i32} : (tensor<1x36x8xf32>) -> tensor<1x1x8xf32>
  %w1 = "tosa.const"() <{values = dense<0.02> : tensor<1x8x5xf32>}> : () -> tensor<1x8x5xf32>
  %5 = tosa.matmul %4, %w1, %zp, %zp : (tensor<1x1x8xf32>, tensor<1x8x5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x5xf32>
  %b1 = "tosa.const"() <{values = dense<[[[0.1, 0.2, 0.3, 0.4, 0.5]]]> : tensor<1x1x5xf32>}> : () -> tensor<1x1x5xf32>
  %6 = tosa.add %5, %b1 : (tensor<1x1x5xf32>, tensor<1x1x5xf32>) -> tensor<1x1x5xf32>
  %7 = tosa.exp %6 : (tensor<1x1x5xf32>) -> tensor<1x1x5xf32>
  %8 = tosa.reduce_sum %7 {axis = 2 : i32} : (tensor<1x1x5xf32>) -> tensor<1x1x1xf32>
  %9 = tosa.reciprocal %8 : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %10 = tosa.mul %7, %9, %shift : (tensor<1x1x5xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x5xf32>
  %shape2 = tosa.const_shape {values = dense<[1, 5]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %11 = tosa.reshape %10, %shape2 : (tensor<1x1x5xf32>, !tosa.shape<2>) -> tensor<1x5xf32>
  return %11 : tensor<1x5xf32>
}
