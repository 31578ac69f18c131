// RUN: espalier-opt %s -convert-graph-to-poly -poly-form-kernels | FileCheck %s

// A recurrence through an array of indices: a loop over the levels is around
// all computations, each of which has its own loop over the nodes of the level.

!node = !rec.node<tree, arity = 1>

// CHECK-DAG: #[[BETWEEN:.*]] = affine_set<(d0, d1, d2)[{{.*}}] : (d1 - s{{.}} >= 0, -d1 + s{{.}} - 1 >= 0)>
// CHECK-DAG: #[[BEGIN:.*]] = affine_map<(d0, d1, d2)[{{.*}}] -> (d0)>
// CHECK-DAG: #[[END:.*]] = affine_map<(d0, d1, d2)[{{.*}}] -> (d0 + 1)>

// CHECK: poly.compute {{.*}} dims ["level", "m", "j0"] domain {{.*}} where #[[BETWEEN]] reads(%[[LEVELS:.*]][#[[BEGIN]]], %[[LEVELS]][#[[END]]], {{.*}} interleaved 1
// CHECK: poly.compute {{.*}} dims ["level", "m", "b0"] domain {{.*}} where #[[BETWEEN]] reads(%[[LEVELS]][#[[BEGIN]]], %[[LEVELS]][#[[END]]], {{.*}} interleaved 1
// CHECK: math.tanh

rec.model private @chain(%n: !node, %x: tensor<?x4xf32>) -> tensor<4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x4xf32>, !node -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
  rec.case interior {
    %c = rec.call %n child 0 : !node -> tensor<4xf32>
    %h = graph.tanh %c : (tensor<4xf32>) -> tensor<4xf32>
    rec.yield %h : tensor<4xf32>
  }
}

func.func @main(%arity: tensor<?xi32>, %children: tensor<?x1xi32>, %levels: tensor<?xi32>,
                %roots: tensor<?xi32>, %x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %h = rec.apply @chain at nodes of [%arity, %children, %levels, %roots](%x)
      : [tensor<?xi32>, tensor<?x1xi32>, tensor<?xi32>, tensor<?xi32>]
        (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %h : tensor<?x4xf32>
}
