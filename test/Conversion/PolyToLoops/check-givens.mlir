// RUN: espalier-opt %s -poly-add-main -poly-check-givens -split-input-file | FileCheck %s

// Each constraint is a computation that runs where it does not hold.
// CHECK-LABEL: poly.kernel @check_rows_short(
// CHECK-SAME: %[[STARTS:.*]]: memref<?xi32> {espalier.name = "starts", poly.shape = affine_map<()[s0] -> (s0 + 1)>}, %{{.*}}: index, %[[RECORD:.*]]: memref<32xi64>
// CHECK: poly.compute @short_0 dims ["i"] domain [#{{.*}}] where #{{.*}} reads(%[[STARTS]][#{{.*}}], %[[STARTS]][#{{.*}}] : memref<?xi32>, memref<?xi32>) writes(%[[RECORD]]
// CHECK-NOT: poly.compute
// CHECK-LABEL: poly.kernel @rows(
// CHECK: func.func @main_check(%[[S:.*]]: memref<?xi32>, %[[N:.*]]: memref<?x0xi8>, %[[R:.*]]: memref<32xi64>)
// CHECK-SAME: espalier.check_messages = ["expects @short of @rows to hold for its data, but got i = %, starts[i] = %, starts[i + 1] = %"]
// CHECK: %[[n:.*]] = memref.dim %[[N]]
// CHECK: poly.call @check_rows_short(%[[S]], %[[n]], %[[R]])
poly.kernel @rows(
    %starts: memref<?xi32> {espalier.name = "starts", poly.shape = affine_map<()[N] -> (N + 1)>},
    %y: memref<?xi32> {espalier.name = "y", poly.shape = affine_map<()[N] -> (N)>}, %N: index {espalier.name = "N"}) {
  poly.given @short dims ["i"] domain [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>]
      reads(%starts[affine_map<(i)[N] -> (i)>], %starts[affine_map<(i)[N] -> (i + 1)>] : memref<?xi32>, memref<?xi32>)
      holds affine_set<(i)[N, b, e] : (b + 64 - e >= 0)>
  poly.compute @copy dims ["i"] domain [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>]
      reads(%starts[affine_map<(i)[N] -> (i)>] : memref<?xi32>) writes(%y[affine_map<(i)[N] -> (i)>] : memref<?xi32>) {
  ^bb0(%b: i32):
    poly.yield %b : i32
  }
}

// -----

// Constants are looked at now.
// CHECK-LABEL: module
// CHECK-NOT: main_check
memref.global "private" constant @starts : memref<4xi32> = dense<[0, 2, 2, 5]>
poly.kernel @rows(%starts: memref<4xi32>, %y: memref<3xi32>) {
  poly.given @short dims ["i"] domain [affine_set<(i) : (i >= 0, 2 - i >= 0)>]
      reads(%starts[affine_map<(i) -> (i)>], %starts[affine_map<(i) -> (i + 1)>] : memref<4xi32>, memref<4xi32>)
      holds affine_set<(i)[b, e] : (b + 3 - e >= 0)>
}
func.func @main(%y: memref<3xi32>) attributes {espalier.num_inputs = 0 : i64} {
  %starts = memref.get_global @starts : memref<4xi32>
  poly.call @rows(%starts, %y) : memref<4xi32>, memref<3xi32>
  return
}
