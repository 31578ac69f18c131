// RUN: espalier-opt %s --rec-refactor -split-input-file | FileCheck %s
// RUN: espalier-opt %s --rec-refactor --remarks-filter=.* -split-input-file -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// What a child alone decides moves to the child, also from the leaves' cell's
// point of view; what the node has a part in stays.

!node = !rec.node<dag>

// REMARK: remark: [Passed] Moved
// REMARK: remark: [Missed] Stays {{.*}} Reason="expects a term of one child, but got one of several"
// CHECK-LABEL: rec.model private @sum
// CHECK-SAME: -> (tensor<1x4xf32>, tensor<1x4xf32>)
rec.model private @sum(%n: !node, %x: tensor<?x1x4xf32>, %u: tensor<4x4xf32>) -> tensor<1x4xf32> {
  // CHECK: rec.case leaf
  rec.case leaf {
    // CHECK: %[[X:.*]] = rec.feature
    // CHECK: %[[T:.*]] = graph.matmul %[[X]], %{{.*}}
    // CHECK: rec.yield %[[X]], %[[T]]
    %h = rec.feature %x at %n : tensor<?x1x4xf32>, !node -> tensor<1x4xf32>
    rec.yield %h : tensor<1x4xf32>
  }
  // CHECK: rec.case interior
  rec.case interior {
    // CHECK: rec.children
    // CHECK-NEXT: ^bb0(%{{.*}}: tensor<1x4xf32>, %[[C:.*]]: tensor<1x4xf32>):
    // CHECK-NEXT: %[[R:.*]] = graph.sigmoid %[[C]]
    // CHECK-NEXT: rec.yield %[[R]]
    %s = rec.children %n reduce [add] {
    ^bb0(%k: tensor<1x4xf32>):
      %p = graph.matmul %k, %u : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
      %q = graph.sigmoid %p : (tensor<1x4xf32>) -> tensor<1x4xf32>
      rec.yield %q : tensor<1x4xf32>
    } : !node -> tensor<1x4xf32>
    // CHECK: %[[H:.*]] = graph.matmul %{{.*}}, %{{.*}}
    // CHECK: %[[T:.*]] = graph.matmul %[[H]], %{{.*}}
    // CHECK: rec.yield %[[H]], %[[T]]
    %h = graph.matmul %s, %u : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
    rec.yield %h : tensor<1x4xf32>
  }
}
// CHECK: %[[A:.*]]:2 = rec.apply
// CHECK: return %[[A]]#0
func.func @main(%arity: tensor<?xi32>, %children: tensor<?x?xi32>, %levels: tensor<?xi32>,
                %roots: tensor<?xi32>, %x: tensor<?x1x4xf32>, %u: tensor<4x4xf32>)
    -> tensor<?x1x4xf32> {
  %h = rec.apply @sum at nodes of [%arity, %children, %levels, %roots](%x, %u)
      : [tensor<?xi32>, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>]
        (tensor<?x1x4xf32>, tensor<4x4xf32>) -> tensor<?x1x4xf32>
  return %h : tensor<?x1x4xf32>
}

// -----

// Both children have the same term, which is one result then.

!node = !rec.node<tree, arity = 2>

// REMARK: remark: [Passed] Moved
// REMARK-NOT: remark
// CHECK-LABEL: rec.model private @same
// CHECK: %[[L:.*]]:2 = rec.call %{{.*}} child 0
// CHECK: %[[R:.*]]:2 = rec.call %{{.*}} child 1
// CHECK: graph.add %[[L]]#1, %[[R]]#1
rec.model private @same(%n: !node, %x: tensor<?x1x4xf32>, %u: tensor<4x4xf32>) -> tensor<1x4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x1x4xf32>, !node -> tensor<1x4xf32>
    rec.yield %h : tensor<1x4xf32>
  }
  rec.case interior {
    %l = rec.call %n child 0 : !node -> tensor<1x4xf32>
    %p = graph.matmul %l, %u : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
    %r = rec.call %n child 1 : !node -> tensor<1x4xf32>
    %q = graph.matmul %r, %u : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
    %h = graph.add %p, %q : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
    rec.yield %h : tensor<1x4xf32>
  }
}

// -----

// Terms of calls may be in what is computed for each child; what they alone
// needed goes.

!node = !rec.node<tree, arity = 2>

// REMARK: remark: [Passed] Moved
// CHECK-LABEL: rec.model private @inside
// CHECK: rec.case interior
// CHECK: %[[L:.*]]:2 = rec.call %{{.*}} child 0
// CHECK-NEXT: %[[R:.*]]:2 = rec.call %{{.*}} child 1
// CHECK-NEXT: rec.children
// CHECK-NEXT: ^bb0
// CHECK-NEXT: graph.add %[[L]]#1, %[[R]]#1
// CHECK-NEXT: rec.yield
rec.model private @inside(%n: !node, %x: tensor<?x1x4xf32>, %u: tensor<4x4xf32>) -> tensor<1x4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x1x4xf32>, !node -> tensor<1x4xf32>
    rec.yield %h : tensor<1x4xf32>
  }
  rec.case interior {
    %l = rec.call %n child 0 : !node -> tensor<1x4xf32>
    %a = graph.tanh %l : (tensor<1x4xf32>) -> tensor<1x4xf32>
    %r = rec.call %n child 1 : !node -> tensor<1x4xf32>
    %b = graph.tanh %r : (tensor<1x4xf32>) -> tensor<1x4xf32>
    %s = rec.children %n reduce [add] {
    ^bb0(%k: tensor<1x4xf32>):
      %p = graph.matmul %a, %u : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
      %q = graph.matmul %b, %u : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
      %t = graph.add %p, %q : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
      rec.yield %t : tensor<1x4xf32>
    } : !node -> tensor<1x4xf32>
    rec.yield %s : tensor<1x4xf32>
  }
}

// -----

// Left and right have weights of their own: each node would compute both.

!node = !rec.node<tree, arity = 2>

// REMARK: remark: [Missed] Stays {{.*}} Reason="expects the same term of each child, which nodes would compute in vain otherwise, but child 1 has none"
// REMARK: remark: [Missed] Stays {{.*}} but child 0 has none"
// CHECK-LABEL: rec.model private @different
// CHECK-SAME: -> tensor<1x4xf32> {
rec.model private @different(%n: !node, %x: tensor<?x1x4xf32>, %u: tensor<4x4xf32>,
                             %v: tensor<4x4xf32>) -> tensor<1x4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x1x4xf32>, !node -> tensor<1x4xf32>
    rec.yield %h : tensor<1x4xf32>
  }
  rec.case interior {
    %l = rec.call %n child 0 : !node -> tensor<1x4xf32>
    %r = rec.call %n child 1 : !node -> tensor<1x4xf32>
    %p = graph.matmul %l, %u : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
    %q = graph.matmul %r, %v : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
    %h = graph.add %p, %q : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
    rec.yield %h : tensor<1x4xf32>
  }
}

// -----

// A node with one child gains nothing; a feature is the node's.

!node = !rec.node<sequence, arity = 1>

// REMARK: remark: [Missed] Stays {{.*}} Reason="nodes have one child"
// REMARK: remark: [Missed] Stays {{.*}} Reason="expects a term of a child, but got one of the node's features"
// CHECK-LABEL: rec.model private @chain
rec.model private @chain(%n: !node, %x: tensor<?x1x4xf32>, %u: tensor<4x4xf32>) -> tensor<1x4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x1x4xf32>, !node -> tensor<1x4xf32>
    rec.yield %h : tensor<1x4xf32>
  }
  rec.case interior {
    %f = rec.feature %x at %n : tensor<?x1x4xf32>, !node -> tensor<1x4xf32>
    %l = rec.call %n child 0 : !node -> tensor<1x4xf32>
    %p = graph.matmul %l, %u : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
    %q = graph.add %p, %f : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
    %r = graph.matmul %q, %u : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
    rec.yield %r : tensor<1x4xf32>
  }
}

// -----

// A module inside has a model of the same name, which is another one.

!node = !rec.node<dag>

// CHECK-LABEL: rec.model private @sum
// CHECK-SAME: -> (tensor<1x4xf32>, tensor<1x4xf32>)
rec.model private @sum(%n: !node, %x: tensor<?x1x4xf32>, %u: tensor<4x4xf32>) -> tensor<1x4xf32> {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x1x4xf32>, !node -> tensor<1x4xf32>
    rec.yield %h : tensor<1x4xf32>
  }
  rec.case interior {
    %s = rec.children %n reduce [add] {
    ^bb0(%k: tensor<1x4xf32>):
      %p = graph.matmul %k, %u : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
      rec.yield %p : tensor<1x4xf32>
    } : !node -> tensor<1x4xf32>
    rec.yield %s : tensor<1x4xf32>
  }
}
module @inside {
  // CHECK: module @inside
  // CHECK: rec.model private @sum
  // CHECK-SAME: -> tensor<4xf32> {
  rec.model private @sum(%n: !node, %x: tensor<?x4xf32>) -> tensor<4xf32> {
    rec.case leaf {
      %h = rec.feature %x at %n : tensor<?x4xf32>, !node -> tensor<4xf32>
      rec.yield %h : tensor<4xf32>
    }
    rec.case interior {
      %s = rec.children %n reduce [add] {
      ^bb0(%k: tensor<4xf32>):
        rec.yield %k : tensor<4xf32>
      } : !node -> tensor<4xf32>
      rec.yield %s : tensor<4xf32>
    }
  }
  // CHECK: %[[A:.*]] = rec.apply @sum at nodes of{{.*}} (tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK-NEXT: return %[[A]]
  func.func @main(%arity: tensor<?xi32>, %children: tensor<?x?xi32>, %levels: tensor<?xi32>,
                  %roots: tensor<?xi32>, %x: tensor<?x4xf32>) -> tensor<?x4xf32> {
    %h = rec.apply @sum at nodes of [%arity, %children, %levels, %roots](%x)
        : [tensor<?xi32>, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>]
          (tensor<?x4xf32>) -> tensor<?x4xf32>
    return %h : tensor<?x4xf32>
  }
}
