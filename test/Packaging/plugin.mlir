// RUN: %llvm_tools/mlir-opt --load-dialect-plugin=%obj_root/lib/EspalierPlugin.so \
// RUN:   --load-pass-plugin=%obj_root/lib/EspalierPlugin.so --show-dialects > %t.dialects
// RUN: FileCheck %s < %t.dialects

// CHECK: Available Dialects:
