// RUN: espalier-opt %s -poly-check-givens -split-input-file | FileCheck %s

// What the program makes is looked at where it is complete, and the call is
// made if nothing is wrong.
// CHECK-LABEL: poly.kernel @check_rows_short(
// CHECK: func.func @main_check(
// CHECK-SAME: espalier.check_messages = ["expects @short of @rows to hold for its data, but got i = %, starts[i] = %"]
// CHECK-NEXT: return
// CHECK: func.func @main(%[[X:.*]]: memref<4xi32>, %[[Y:.*]]: memref<4xi32>, %[[R:.*]]: memref<32xi64> {espalier.record})
// CHECK: %[[T:.*]] = memref.alloc
// CHECK: poly.call @make(%[[X]], %[[T]])
// CHECK: memref.load %[[R]]
// CHECK: scf.if
// CHECK-NEXT: poly.call @check_rows_short(%[[T]], %[[R]])
// CHECK: memref.load %[[R]]
// CHECK: scf.if
// CHECK-NEXT: poly.call @rows(%[[T]], %[[Y]]) :
poly.kernel @make(%x: memref<4xi32>, %starts: memref<4xi32>) {
  poly.compute @m dims ["i"] domain [affine_set<(i) : (i >= 0, 3 - i >= 0)>]
      reads(%x[affine_map<(i) -> (i)>] : memref<4xi32>) writes(%starts[affine_map<(i) -> (i)>] : memref<4xi32>) {
  ^bb0(%v: i32):
    poly.yield %v : i32
  }
}
poly.kernel @rows(%starts: memref<4xi32> {espalier.name = "starts"}, %y: memref<4xi32>) {
  poly.given @short dims ["i"] domain [affine_set<(i) : (i >= 0, 3 - i >= 0)>]
      reads(%starts[affine_map<(i) -> (i)>] : memref<4xi32>)
      holds affine_set<(i)[b] : (b >= 0)>
}
func.func @main(%x: memref<4xi32>, %y: memref<4xi32>) attributes {espalier.num_inputs = 1 : i64} {
  %starts = memref.alloc() : memref<4xi32>
  poly.call @make(%x, %starts) : memref<4xi32>, memref<4xi32>
  poly.call @rows(%starts, %y) : memref<4xi32>, memref<4xi32>
  return
}

// -----

// Short forms are checked so, too: each in a kernel over the elements.
// CHECK-LABEL: poly.kernel @check_scatter_order(
// CHECK-SAME: %{{.*}}: memref<?xi32> {espalier.name = "order", poly.shape = affine_map<()[s0, s1] -> (s0)>}, %{{.*}}: index, %[[BOUND:.*]]: index,
// CHECK: poly.array(%[[BOUND]]) : memref<?xi8>
// CHECK: poly.compute @none
// CHECK: poly.compute @count
// CHECK: poly.compute @again
// CHECK: poly.compute @above
// CHECK: poly.compute @below
// CHECK: "expects values of 'order' of @scatter that are different, but % is there more than once", "expects values of 'order' of @scatter from 0 to less than n + 1, but element % is %"
// CHECK: scf.if
// CHECK-NEXT: poly.call @check_scatter_order(
// CHECK: scf.if
// CHECK-NEXT: poly.call @scatter({{.*}}) {poly.checked = array<i64: 0>} :
poly.kernel @scatter(%order: memref<?xi32> {espalier.name = "order", poly.injective, poly.bounded_by = affine_map<()[n] -> (n + 1)>},
                     %y: memref<?xi32>, %n: index {espalier.name = "n"}) {
}
func.func @main(%x: memref<?xi32>) attributes {espalier.num_inputs = 1 : i64} {
  %zero = arith.constant 0 : index
  %n = memref.dim %x, %zero : memref<?xi32>
  %order = memref.alloc(%n) : memref<?xi32>
  %y = memref.alloc(%n) : memref<?xi32>
  poly.call @scatter(%order, %y, %n) : memref<?xi32>, memref<?xi32>, index
  return
}

// -----

// CHECK-LABEL: poly.kernel @check_rows_starts(
// CHECK: poly.compute @order domain [#{{.*}}] where #{{.*}} reads
// CHECK-NOT: poly.compute
// CHECK: "expects values of 'starts' of @rows that do not decrease, but element % is % and the one before it %"
poly.kernel @rows(%starts: memref<?xi64> {espalier.name = "starts", poly.monotonic}) {
}
func.func @main(%n: index) attributes {espalier.num_inputs = 0 : i64} {
  %starts = memref.alloc(%n) : memref<?xi64>
  poly.call @rows(%starts) : memref<?xi64>
  return
}

// -----

// What callers are held to is not checked again; what they are not, is.
// CHECK-LABEL: poly.kernel @check_gather_arg0(
// CHECK: func.func @main(
// CHECK-NOT: scf.if
// CHECK: poly.call @gather(%{{.*}}, %{{.*}}) : memref<4xi32>, memref<?xi32>
// CHECK: scf.if
// CHECK-NEXT: poly.call @check_gather_arg0(
// CHECK: poly.call @gather(%{{.*}}, %{{.*}}) {poly.checked = array<i64: 0>}
poly.kernel @gather(%i: memref<4xi32> {poly.bounded_by = affine_map<() -> (4)>}, %x: memref<?xi32>) {
}
func.func @main(%i: memref<4xi32> {espalier.bound = 3 : i64}, %j: memref<4xi32> {espalier.bound = 5 : i64}, %x: memref<?xi32>)
    attributes {espalier.num_inputs = 3 : i64} {
  poly.call @gather(%i, %x) : memref<4xi32>, memref<?xi32>
  poly.call @gather(%j, %x) {poly.checked = array<i64: 0>} : memref<4xi32>, memref<?xi32>
  return
}

// -----

// The name of a bound has to be that of the size.
// CHECK-LABEL: poly.kernel @check_named_arg0(
// CHECK: func.func @main(
// CHECK-NOT: scf.if
// CHECK: poly.call @named
// CHECK: scf.if
// CHECK: poly.call @named
poly.kernel @named(%i: memref<4xi32> {poly.bounded_by = affine_map<()[n] -> (n)>}, %n: index) {
}
func.func @main(%i: memref<4xi32> {espalier.bound = "n"}, %x: memref<?xi32> {espalier.dims = ["n"]}, %z: memref<?xi32> {espalier.dims = ["m"]})
    attributes {espalier.num_inputs = 3 : i64} {
  %zero = arith.constant 0 : index
  %n = memref.dim %x, %zero : memref<?xi32>
  %m = memref.dim %z, %zero : memref<?xi32>
  poly.call @named(%i, %n) : memref<4xi32>, index
  poly.call @named(%i, %m) : memref<4xi32>, index
  return
}

// -----

// An input that the program writes is not what callers passed.
// CHECK-LABEL: poly.kernel @check_changed_short(
// CHECK: func.func @main(
// CHECK: poly.call @write
// CHECK: scf.if
// CHECK-NEXT: poly.call @check_changed_short
// CHECK: scf.if
// CHECK-NEXT: poly.call @changed
poly.kernel @changed(%starts: memref<4xi32> {espalier.name = "starts"}) {
  poly.given @short dims ["i"] domain [affine_set<(i) : (i >= 0, 3 - i >= 0)>]
      reads(%starts[affine_map<(i) -> (i)>] : memref<4xi32>)
      holds affine_set<(i)[b] : (b >= 0)>
}
poly.kernel @write(%starts: memref<4xi32>) {
  poly.compute @m dims ["i"] domain [affine_set<(i) : (i >= 0, 3 - i >= 0)>]
      reads() writes(%starts[affine_map<(i) -> (i)>] : memref<4xi32>) {
    %v = arith.constant -1 : i32
    poly.yield %v : i32
  }
}
func.func @main(%starts: memref<4xi32>) attributes {espalier.num_inputs = 1 : i64} {
  poly.call @write(%starts) : memref<4xi32>
  poly.call @changed(%starts) : memref<4xi32>
  return
}

// -----

// A call that the program may not make is checked where it is made.
// CHECK-LABEL: poly.kernel @check_perhaps_short(
// CHECK: func.func @main(
// CHECK: scf.if %{{.*}} {
// CHECK: scf.if
// CHECK-NEXT: poly.call @check_perhaps_short
// CHECK: scf.if
// CHECK-NEXT: poly.call @perhaps
poly.kernel @perhaps(%starts: memref<4xi32> {espalier.name = "starts"}) {
  poly.given @short dims ["i"] domain [affine_set<(i) : (i >= 0, 3 - i >= 0)>]
      reads(%starts[affine_map<(i) -> (i)>] : memref<4xi32>)
      holds affine_set<(i)[b] : (b >= 0)>
}
func.func @main(%starts: memref<4xi32>, %if: i1) attributes {espalier.num_inputs = 2 : i64} {
  scf.if %if {
    poly.call @perhaps(%starts) : memref<4xi32>
  }
  return
}
