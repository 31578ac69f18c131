// A stock mlir-opt with the plugin runs whole scripts: with choices, and what
// the compiler prints as its own schedule.

// DEFINE: %{opt} = %llvm_tools/mlir-opt --load-dialect-plugin=%obj_root/lib/EspalierPlugin.so --load-pass-plugin=%obj_root/lib/EspalierPlugin.so
// RUN: %{opt} %S/../Dialect/Poly/transform-ops-choices.mlir --transform-interpreter -o %t.plugin.mlir
// RUN: espalier-opt %S/../Dialect/Poly/transform-ops-choices.mlir -transform-interpreter -o %t.ours.mlir
// RUN: diff %t.plugin.mlir %t.ours.mlir
// RUN: FileCheck %s --check-prefix=SCHEDULED < %t.plugin.mlir
// SCHEDULED: poly.band [@acc]

// RUN: %{opt} %s --pass-pipeline='builtin.module(poly-extract-script)' -o %t.script.mlir
// RUN: FileCheck %s --check-prefix=SCRIPT < %t.script.mlir
// RUN: %{opt} %s --pass-pipeline='builtin.module(transform-preload-library{transform-library-paths=%t.script.mlir},transform-interpreter,convert-poly-to-loops)' -o %t.replayed.mlir
// RUN: espalier-opt %s -pass-pipeline='builtin.module(poly.kernel(poly-default-schedule),convert-poly-to-loops)' -o %t.default.mlir
// RUN: diff %t.replayed.mlir %t.default.mlir
// SCRIPT: transform.poly.plan

// RUN: not %{opt} %S/Inputs/open-choice.mlir --transform-interpreter 2>&1 | FileCheck %s --check-prefix=OPEN
// OPEN: error: expects the choice "rows" to be selected, one of [4, 8], but nothing is
#ij = affine_set<(i, j)[M] : (i >= 0, M - 1 - i >= 0, j >= 0, 63 - j >= 0)>
#id = affine_map<(i, j)[M] -> (i, j)>
poly.kernel @double(%A: memref<?x64xf32>, %R: memref<?x64xf32>, %M: index) {
  poly.compute @sum dims ["i", "j"] domain [#ij] reads(%A[#id] : memref<?x64xf32>) writes(%R[#id] : memref<?x64xf32>) {
  ^bb0(%a: f32):
    %r = arith.addf %a, %a : f32
    poly.yield %r : f32
  }
}
