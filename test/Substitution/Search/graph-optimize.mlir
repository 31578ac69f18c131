// RUN: espalier-opt %s --allow-unregistered-dialect --graph-optimize=rules=%S/Inputs/merge.rules | FileCheck %s

// A product of the same operand with three constants is one product.
// CHECK-LABEL: func @products_of_one_operand_merge
// CHECK-COUNT-1: graph.matmul %{{.*}} : (tensor<8x64xf32>, tensor<64x80xf32>)
// CHECK-NOT: graph.matmul
// CHECK-COUNT-3: graph.slice
func.func @products_of_one_operand_merge(%x: tensor<8x64xf32>)
    -> (tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x16xf32>) {
  %a = graph.constant dense<1.0> : tensor<64x32xf32>
  %b = graph.constant dense<2.0> : tensor<64x32xf32>
  %c = graph.constant dense<3.0> : tensor<64x16xf32>
  %0 = graph.matmul %x, %a : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
  %1 = graph.matmul %x, %b : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
  %2 = graph.matmul %x, %c : (tensor<8x64xf32>, tensor<64x16xf32>) -> tensor<8x16xf32>
  return %0, %1, %2 : tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x16xf32>
}

// The rows of the operand may be unknown: the rule asks nothing of them.
// CHECK-LABEL: func @unknown_rows_merge
// CHECK: graph.matmul %{{.*}} : (tensor<?x64xf32>, tensor<64x64xf32>)
// CHECK: tensor.dim
// CHECK: graph.slice
func.func @unknown_rows_merge(%x: tensor<?x64xf32>) -> (tensor<?x32xf32>, tensor<?x32xf32>) {
  %a = graph.constant dense<1.0> : tensor<64x32xf32>
  %b = graph.constant dense<2.0> : tensor<64x32xf32>
  %0 = graph.matmul %x, %a : (tensor<?x64xf32>, tensor<64x32xf32>) -> tensor<?x32xf32>
  %1 = graph.matmul %x, %b : (tensor<?x64xf32>, tensor<64x32xf32>) -> tensor<?x32xf32>
  return %0, %1 : tensor<?x32xf32>, tensor<?x32xf32>
}

// Where to cut is not known.
// CHECK-LABEL: func @unknown_columns_stay
// CHECK-COUNT-2: graph.matmul
// CHECK-NOT: graph.concat
func.func @unknown_columns_stay(%x: tensor<8x64xf32>, %a: tensor<64x?xf32>, %b: tensor<64x?xf32>)
    -> (tensor<8x?xf32>, tensor<8x?xf32>) {
  %0 = graph.matmul %x, %a : (tensor<8x64xf32>, tensor<64x?xf32>) -> tensor<8x?xf32>
  %1 = graph.matmul %x, %b : (tensor<8x64xf32>, tensor<64x?xf32>) -> tensor<8x?xf32>
  return %0, %1 : tensor<8x?xf32>, tensor<8x?xf32>
}

// CHECK-LABEL: func @activation_is_fused
// CHECK: graph.matmul %{{.*}} {activation = #graph.activation<relu>}
// CHECK-NOT: graph.relu
func.func @activation_is_fused(%x: tensor<8x64xf32>, %a: tensor<64x32xf32>) -> tensor<8x32xf32> {
  %0 = graph.matmul %x, %a : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
  %1 = graph.relu %0 : (tensor<8x32xf32>) -> tensor<8x32xf32>
  return %1 : tensor<8x32xf32>
}

// The second product needs what the first one gave to a barrier: merged, it
// would be needed before itself.
// CHECK-LABEL: func @cycle_through_a_barrier_stays
// CHECK: graph.matmul
// CHECK: "unknown.barrier"
// CHECK: graph.matmul
// CHECK-NOT: graph.slice
func.func @cycle_through_a_barrier_stays(%x: tensor<8x8xf32>, %a: tensor<8x8xf32>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = graph.matmul %x, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = "unknown.barrier"(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = graph.matmul %x, %b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// Barriers are never dropped and keep their order, whatever uses them.
// CHECK-LABEL: func @barriers_stay
// CHECK: "unknown.first"() : () -> ()
// CHECK: %[[P:.*]] = graph.matmul %{{.*}} {activation = #graph.activation<relu>}
// CHECK: "unknown.second"(%[[P]]) : (tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK: "unknown.third"() ({
// CHECK:   "unknown.use"(%[[P]])
func.func @barriers_stay(%x: tensor<8x8xf32>, %a: tensor<8x8xf32>) {
  "unknown.first"() : () -> ()
  %0 = graph.matmul %x, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = graph.relu %0 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = "unknown.second"(%1) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  "unknown.third"() ({
    "unknown.use"(%1) : (tensor<8x8xf32>) -> ()
  }) : () -> ()
  return
}

// Integers wrap; rules are about numbers.
// CHECK-LABEL: func @integers_stay
// CHECK: graph.relu
func.func @integers_stay(%x: tensor<8x8xi32>, %a: tensor<8x8xi32>) -> tensor<8x8xi32> {
  %0 = graph.matmul %x, %a : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi32>
  %1 = graph.relu %0 : (tensor<8x8xi32>) -> tensor<8x8xi32>
  return %1 : tensor<8x8xi32>
}

// Encodings are not ours.
// CHECK-LABEL: func @encodings_stay
// CHECK: graph.relu %{{.*}} : (tensor<8x8xf32, "mine">) -> tensor<8x8xf32, "mine">
// CHECK: graph.matmul {{.*}} {activation = #graph.activation<relu>}
// CHECK-NOT: tensor.cast
// CHECK: return
func.func @encodings_stay(%x: tensor<8x8xf32, "mine">, %a: tensor<8x8xf32>)
    -> (tensor<8x8xf32, "mine">, tensor<8x8xf32>) {
  %0 = graph.relu %x : (tensor<8x8xf32, "mine">) -> tensor<8x8xf32, "mine">
  %1 = graph.matmul %a, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = graph.relu %1 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0, %2 : tensor<8x8xf32, "mine">, tensor<8x8xf32>
}
