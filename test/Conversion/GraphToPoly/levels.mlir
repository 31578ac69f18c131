// RUN: espalier-opt %s -convert-graph-to-poly -poly-form-kernels | FileCheck %s

// A recurrence through an array of indices: a loop over the levels is around
// all computations, each of which has its own loop over the nodes of the level.

!node = !rec.node<tree, arity = 1>

// The nodes are counted from where their level begins, which is said to be
// inside the array. What only one level uses has the memory of one.

// CHECK-DAG: #[[BELOW:.*]] = affine_set<(d0, d1, d2)[s0, s1, s2, s3, s4, s5] : (-d1 + s5 - s4 - 1 >= 0)>
// CHECK-DAG: #[[INSIDE:.*]] = affine_set<(d0)[s0, s1, s2, s3, s4, s5] : (s4 >= 0, s1 - s5 >= 0)>
// CHECK-DAG: #[[OF:.*]] = affine_set<(d0, d1)[s0, s1, s2, s3, s4, s5] : (d1 - s4 >= 0, -d1 + s5 - 1 >= 0)>
// CHECK-DAG: #[[EARLIER:.*]] = affine_set<(d0, d1)[s0, s1, s2, s3, s4, s5, s6] : (-s1 + s3 + s4 - s6 - 1 >= 0)>
// CHECK-DAG: #[[BEGIN:.*]] = affine_map<(d0, d1, d2)[{{.*}}] -> (d0)>
// CHECK-DAG: #[[END:.*]] = affine_map<(d0, d1, d2)[{{.*}}] -> (d0 + 1)>
// CHECK-DAG: #[[NODE:.*]] = affine_map<(d0, d1, d2)[s0, s1, s2, s3, s4, s5, s6] -> (d1 + s4, d2)>

// CHECK: %[[SCRATCH:.*]] = poly.array(%{{.*}}, %{{.*}}) : memref<?x?x4xf32> storage {{.*}} as memref<?x4xf32>
// A child is before its level, or a leaf.
// CHECK: poly.given @earlier_0 dims ["level", "m"] {{.*}} where #[[OF]] reads({{.*}} holds #[[EARLIER]]
// CHECK: poly.given @levels dims ["level"] {{.*}} holds #[[INSIDE]]
// CHECK: poly.compute {{.*}} dims ["level", "m", "j0"] domain {{.*}} where #[[BELOW]] reads(%[[LEVELS:.*]][#[[BEGIN]]], %[[LEVELS]][#[[END]]], {{.*}} writes(%[[SCRATCH]][{{.*}} interleaved 1
// CHECK: poly.compute {{.*}} dims ["level", "m", "b0"] domain {{.*}} where #[[BELOW]] reads(%[[LEVELS]][#[[BEGIN]]], %[[LEVELS]][#[[END]]], {{.*}} writes(%{{.*}}[#[[NODE]]] {{.*}} interleaved 1
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
