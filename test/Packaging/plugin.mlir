// RUN: %llvm_tools/mlir-opt %s --load-dialect-plugin=%obj_root/lib/EspalierPlugin.so \
// RUN:   --load-pass-plugin=%obj_root/lib/EspalierPlugin.so | FileCheck %s
// RUN: not %llvm_tools/mlir-opt %s 2>&1 | FileCheck %s --check-prefix=WITHOUT

// RUN: %llvm_tools/mlir-opt %S/../Integration/Inputs/mlp.mlir \
// RUN:   --load-dialect-plugin=%obj_root/lib/EspalierPlugin.so \
// RUN:   --load-pass-plugin=%obj_root/lib/EspalierPlugin.so \
// RUN:   --pass-pipeline='builtin.module(espalier-compile{to=llvm})' | FileCheck %s --check-prefix=PIPELINE

// A stock mlir-opt knows our dialects once it has loaded the plugin, and runs
// our pipelines.

// PIPELINE-NOT: func.func
// PIPELINE: llvm.func @_espalier_mlp_run(

// WITHOUT: Dialect `poly' not found

// CHECK: poly.kernel private @zero
poly.kernel private @zero(%R: memref<?xf32>, %N: index) {
  // CHECK: poly.compute @fill
  poly.compute @fill domain [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>]
      reads() writes(%R[affine_map<(i)[N] -> (i)>] : memref<?xf32>) {
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
}
