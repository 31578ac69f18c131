// A stock mlir-opt proves rules and applies them, once it has loaded the plugin.

// RUN: echo "rule fuse" > %t.rules
// RUN: echo "src (relu (matmul :act none ?i0 ?i1))" >> %t.rules
// RUN: echo "dst (matmul :act relu ?i0 ?i1)" >> %t.rules
// RUN: %llvm_tools/mlir-opt %s --load-dialect-plugin=%obj_root/lib/EspalierPlugin.so \
// RUN:   --load-pass-plugin=%obj_root/lib/EspalierPlugin.so \
// RUN:   --pass-pipeline='builtin.module(graph-apply-rules{files=%t.rules})' | FileCheck %s

// CHECK-LABEL: func.func @product
// CHECK-NEXT: graph.matmul %arg0, %arg1 {activation = #graph.activation<relu>}
// CHECK-NEXT: return
func.func @product(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %0 = graph.matmul %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = graph.relu %0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
