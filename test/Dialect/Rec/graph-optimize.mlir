// RUN: espalier-opt %s --graph-optimize | FileCheck %s
// RUN: espalier-opt %s --graph-apply-rules | FileCheck %s --check-prefix=RULES

// Substitutions work in cells: two gates share one product. Joining the weights
// costs nothing, since it is done once for all nodes; in a function, it is work
// for each product.

!node = !rec.node<sequence, arity = 1>
!weight = tensor<64x64xf32>
!row = tensor<1x64xf32>

// CHECK-LABEL: rec.model private @gates
// CHECK: rec.case interior
// CHECK: %[[H:.*]] = rec.call
// CHECK: %[[W:.*]] = graph.concat
// CHECK: graph.matmul %[[H]], %[[W]] : (tensor<1x64xf32>, tensor<64x128xf32>)
// CHECK-NOT: graph.matmul
// RULES-LABEL: rec.model private @gates
// RULES: graph.matmul %{{.*}}, %{{.*}} {activation = #graph.activation<relu>}
// RULES-NOT: graph.relu
rec.model private @gates(%n: !node, %x: tensor<?x1x64xf32>, %wr: !weight, %wz: !weight) -> !row {
  rec.case leaf {
    %h = rec.feature %x at %n : tensor<?x1x64xf32>, !node -> !row
    rec.yield %h : !row
  }
  rec.case interior {
    %h = rec.call %n child 0 : !node -> !row
    %r = graph.matmul %h, %wr : (!row, !weight) -> !row
    %z = graph.matmul %h, %wz : (!row, !weight) -> !row
    %s = graph.sigmoid %r : (!row) -> !row
    %a = graph.relu %z : (!row) -> !row
    %b = graph.relu %a : (!row) -> !row
    %y = graph.add %s, %b : (!row, !row) -> !row
    rec.yield %y : !row
  }
}

// CHECK-LABEL: func.func @function
// CHECK-COUNT-2: graph.matmul
func.func @function(%h: !row, %wr: !weight, %wz: !weight) -> (!row, !row) {
  %r = graph.matmul %h, %wr : (!row, !weight) -> !row
  %z = graph.matmul %h, %wz : (!row, !weight) -> !row
  return %r, %z : !row, !row
}
