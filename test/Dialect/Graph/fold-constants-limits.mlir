// RUN: espalier-opt %s -graph-fold-constants=max-bytes=8 -remarks-filter=graph-fold-constants 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t

// CHECK-LABEL: @larger_than_the_limit_stays
func.func @larger_than_the_limit_stays() -> tensor<2x2xf32> {
  // CHECK: graph.neg
  // REMARK: [Missed] TooLarge {{.*}} Bytes=16, MaxBytes=8
  %a = graph.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %r = graph.neg %a : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

// CHECK-LABEL: @within_the_limit
func.func @within_the_limit() -> tensor<2xf32> {
  // CHECK-NOT: graph.neg
  // REMARK: [Passed] Folded {{.*}} Bytes=8
  %a = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %r = graph.neg %a : (tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
