// RUN: espalier-opt %s -graph-fold-constants | FileCheck %s

// CHECK-LABEL: @chain
func.func @chain() -> tensor<2x2xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.constant dense<{{\[}}[-1.000000e+00, -3.000000e+00], [-2.000000e+00, -4.000000e+00]]>
  // CHECK-NEXT: return %[[R]]
  %a = graph.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = graph.transpose %a {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %c = graph.neg %b : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %c : tensor<2x2xf32>
}

// An operand is unknown.
// CHECK-LABEL: @variable_stays
func.func @variable_stays(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: graph.add
  %a = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %r = graph.add %x, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// Filling a large tensor at compile time only makes the program larger.
// CHECK-LABEL: @inflation_stays
func.func @inflation_stays() -> tensor<1000x1000xf32> {
  // CHECK: graph.fill
  %a = graph.constant dense<1.0> : tensor<f32>
  %r = graph.fill %a to [1000, 1000] : (tensor<f32>) -> tensor<1000x1000xf32>
  return %r : tensor<1000x1000xf32>
}

// CHECK-LABEL: @several_results
func.func @several_results(%x: tensor<1x1x1xf32>) -> (tensor<1x1x1xf32>, tensor<1x1xf32>) {
  // CHECK-NOT: graph.gru
  // CHECK: return %{{.*}}, %{{.*}}
  %s = graph.constant dense<0.5> : tensor<1x1x1xf32>
  %w = graph.constant dense<0.0> : tensor<3x1xf32>
  %b = graph.constant dense<0.0> : tensor<6xf32>
  %h = graph.constant dense<1.0> : tensor<1x1xf32>
  %y:2 = graph.gru %s, %w, %w, %b, %h
      : (tensor<1x1x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>, tensor<6xf32>, tensor<1x1xf32>)
      -> (tensor<1x1x1xf32>, tensor<1x1xf32>)
  return %y#0, %y#1 : tensor<1x1x1xf32>, tensor<1x1xf32>
}

// The constant has the sizes, but the type of the result does not say so.
// CHECK-LABEL: @vaguer_type_stays
func.func @vaguer_type_stays() -> tensor<?xf32> {
  // CHECK: graph.neg
  %a = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %r = graph.neg %a : (tensor<2xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
