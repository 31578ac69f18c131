// RUN: espalier-opt %s --graph-fold-constants | FileCheck %s

// Constants of several values are weights, so an operator that makes one stays.

!node = !rec.node<dag>

// CHECK-LABEL: rec.model private @m
rec.model private @m(%n: !node, %w: tensor<2xf32>) -> tensor<2xf32> {
  rec.case leaf {
    // CHECK: %[[A:.*]] = graph.constant dense<1.0{{.*}}> : tensor<1xf32>
    // CHECK: %[[B:.*]] = graph.constant dense<2.0{{.*}}> : tensor<1xf32>
    // CHECK: %[[C:.*]] = graph.concat %[[A]], %[[B]]
    // CHECK: %[[D:.*]] = graph.constant dense<-1.0{{.*}}> : tensor<1xf32>
    // CHECK: graph.mul %[[C]], %[[D]]
    %a = graph.constant dense<1.0> : tensor<1xf32>
    %b = graph.constant dense<2.0> : tensor<1xf32>
    %c = graph.concat %a, %b {axis = 0 : i64} : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
    %d = graph.neg %a : (tensor<1xf32>) -> tensor<1xf32>
    %e = graph.mul %c, %d : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
    rec.yield %e : tensor<2xf32>
  }
  rec.case interior {
    %s = rec.children %n reduce [add] {
    ^bb0(%k: tensor<2xf32>):
      rec.yield %k : tensor<2xf32>
    } : !node -> tensor<2xf32>
    rec.yield %s : tensor<2xf32>
  }
}
