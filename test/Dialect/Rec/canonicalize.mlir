// RUN: espalier-opt %s -canonicalize | FileCheck %s

// Patterns of `graph` work inside of a cell, and constants stay there.

!node = !rec.node<tree, arity = 1>

// CHECK-LABEL: rec.model private @m
rec.model private @m(%n: !node, %x: tensor<?x4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: rec.case leaf {
  rec.case leaf {
    // CHECK-NEXT: %[[C:.*]] = arith.constant dense<5.000000e-01> : tensor<4xf32>
    // CHECK-NEXT: rec.yield %[[C]]
    %c = arith.constant dense<0.5> : tensor<4xf32>
    rec.yield %c : tensor<4xf32>
  }
  // CHECK: rec.case interior {
  rec.case interior {
    // CHECK-NEXT: %[[H:.*]] = rec.call
    // CHECK-NEXT: rec.yield %[[H]]
    %f = rec.feature %x at %n : tensor<?x4xf32>, !node -> tensor<4xf32>
    %h = rec.call %n child 0 : !node -> tensor<4xf32>
    %g = graph.reshape %h to [2, 2] : (tensor<4xf32>) -> tensor<2x2xf32>
    %r = graph.reshape %g to [4] : (tensor<2x2xf32>) -> tensor<4xf32>
    rec.yield %r : tensor<4xf32>
  }
}
