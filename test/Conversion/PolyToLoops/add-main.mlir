// RUN: espalier-opt %s -poly-add-main -split-input-file | FileCheck %s

#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>

// What is written is an output; sizes and scalars are inputs.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:.*]]: memref<?xf32> {espalier.dims = ["N"], espalier.name = "x"},
// CHECK-SAME:    %[[BY:.*]]: memref<f32> {espalier.dims = [], espalier.name = "by"},
// CHECK-SAME:    %[[SIZE:.*]]: memref<?x0xi8> {espalier.dims = ["N", ""], espalier.name = "N"},
// CHECK-SAME:    %[[Y:.*]]: memref<?xf32> {espalier.dims = [""], espalier.name = "y"}) attributes {espalier.num_inputs = 3 : i64}
// CHECK-DAG:     %[[B:.*]] = memref.load %[[BY]][]
// CHECK-DAG:     %[[N:.*]] = memref.dim %[[SIZE]], %c0
// CHECK:         poly.call @scale(%[[X]], %[[Y]], %[[B]], %[[N]])
// The extents of an input are checked, those of an output planned.
// CHECK-LABEL: func.func @main_plan(
// CHECK-SAME:    %[[EXTENT:.*]]: index, %[[N:.*]]: index, %{{.*}}: index) -> index
// CHECK:         %[[FITS:.*]] = arith.cmpi eq, %[[EXTENT]], %[[N]]
// CHECK:         cf.assert %[[FITS]], "argument 'x' expects an extent that fits the others in dimension 0"
// CHECK:         %[[ONE:.*]] = arith.constant 1
// CHECK:         %[[MORE:.*]] = arith.addi %[[N]], %[[ONE]]
// CHECK:         return %[[MORE]]
poly.kernel @scale(%x: memref<?xf32> {espalier.name = "x", poly.shape = affine_map<()[N] -> (N)>},
                   %y: memref<?xf32> {espalier.name = "y", poly.shape = affine_map<()[N] -> (N + 1)>},
                   %by: f32 {espalier.name = "by"}, %N: index {espalier.name = "N"}) {
  poly.compute @s domain [#points] reads(%x[#i] : memref<?xf32>) writes(%y[#i] : memref<?xf32>) {
  ^bb0(%a: f32):
    %b = arith.mulf %a, %by : f32
    poly.yield %b : f32
  }
}

// -----

#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (3, i)>

// Without names and shapes, the caller says how large an output is.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %{{.*}}: memref<?x0xi8> {espalier.dims = ["arg1", ""], espalier.name = "arg1"},
// CHECK-SAME:    %{{.*}}: memref<?x0xi8> {espalier.dims = ["arg0.1", ""], espalier.name = "arg0.1"},
// CHECK-SAME:    %{{.*}}: memref<4x?xf32> {espalier.dims = ["", "arg0.1"], espalier.name = "arg0"}) attributes {espalier.num_inputs = 2 : i64}
// CHECK-LABEL: func.func @main_plan(
// CHECK-SAME:    %{{.*}}: index, %{{.*}}: index, %[[EXTENT:.*]]: index, %{{.*}}: index) -> (index, index)
// CHECK:         %[[FOUR:.*]] = arith.constant 4
// CHECK:         return %[[FOUR]], %[[EXTENT]]
poly.kernel @zero(%y: memref<4x?xf32>, %N: index) {
  poly.compute @s domain [#points] reads() writes(%y[#i] : memref<4x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// -----

// A module that has a function, or several kernels, does not become a program.
// CHECK-NOT: @main
// CHECK: func.func @own
// CHECK-NOT: @main
poly.kernel @zero(%y: memref<4xf32>) {
}
func.func @own(%y: memref<4xf32>) {
  poly.call @zero(%y) : memref<4xf32>
  return
}

// -----

// What the kernel relies on, the program checks.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    memref<?xi32> {espalier.bound = "n", espalier.dims = ["n"], espalier.injective, espalier.name = "at"}
// CHECK-SAME:    memref<?xi32> {espalier.bound = 7 : i64, espalier.dims = ["n"], espalier.name = "few"}
// CHECK-SAME:    memref<?xi32> {espalier.bound = ["n", 1], espalier.dims = [""], espalier.monotonic, espalier.name = "starts"}
poly.kernel @scatter(%I: memref<?xi32> {espalier.name = "at", poly.shape = affine_map<()[n] -> (n)>, poly.injective, poly.bounded_by = affine_map<()[n] -> (n)>},
                     %J: memref<?xi32> {espalier.name = "few", poly.shape = affine_map<()[n] -> (n)>, poly.bounded_by = affine_map<()[n] -> (7)>},
                     %K: memref<?xi32> {espalier.name = "starts", poly.shape = affine_map<()[n] -> (n + 1)>, poly.monotonic, poly.bounded_by = affine_map<()[n] -> (n + 1)>},
                     %n: index {espalier.name = "n"}) {
}

// -----

// A micro-kernel that nothing runs is no part of the program.
// CHECK-NOT:   @micro
// CHECK-LABEL: func.func @main(
poly.kernel private @micro(%A: memref<4xf32>) {
}
poly.kernel @large(%A: memref<8xf32> {espalier.name = "a"}) {
}

// -----

// Nothing is divided by a size of 0. An index that is not affine is at its
// extremes where its variables are at theirs: 0, and (n - 1) floordiv m.
// CHECK-LABEL: poly.kernel @rows(
//       CHECK: func.func @main_plan(%{{[a-z0-9]*}}: index, %[[N:[a-z0-9]*]]: index, %{{[a-z0-9]*}}: index, %[[M:[a-z0-9]*]]: index,
//       CHECK:   %[[ONE:.*]] = arith.constant 1 : index
//       CHECK:   %[[HOLDS:.*]] = arith.cmpi sge, %[[M]], %[[ONE]]
//       CHECK:   cf.assert %[[HOLDS]], "expects sizes with m >= 1"
//       CHECK:   arith.divsi
//       CHECK:   cf.assert %{{.*}}, "expects sizes with which @s reads argument #0 inside its extent in dimension 0"
//       CHECK:   arith.addi %[[N]]
//       CHECK:   cf.assert %{{.*}}, "expects sizes with which @s writes argument #1 inside its extent in dimension 0"
//   CHECK-NOT:   cf.assert
poly.kernel @rows(%x: memref<?xf32>, %y: memref<?xf32>, %n: index {espalier.name = "n"}, %m: index {espalier.name = "m"}) {
  poly.compute @s domain [affine_set<(i)[n, m] : (i >= 0, n - 1 - i >= 0)>]
      reads(%x[affine_map<(i)[n, m] -> (i floordiv m)>] : memref<?xf32>)
      writes(%y[affine_map<(i)[n, m] -> (i)>] : memref<?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}

// -----

// What nothing states is checked: the points outside of it, as sizes.
// CHECK-LABEL: poly.kernel @few(
//       CHECK: func.func @main_plan(%[[N:[a-z0-9]*]]: index,
//       CHECK:   %[[C9:.*]] = arith.constant -9 : index
//       CHECK:   %[[MORE:.*]] = arith.addi %[[N]], %[[C9]]
//       CHECK:   %[[OUTSIDE:.*]] = arith.cmpi sge, %[[MORE]]
//       CHECK:   cf.assert %{{.*}}, "expects sizes with which @s writes 'y' inside its extent in dimension 0"
//   CHECK-NOT:   cf.assert
poly.kernel @few(%y: memref<8xf32> {espalier.name = "y"}, %N: index) {
  poly.compute @s domain [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>] reads() writes(%y[affine_map<(i)[N] -> (i)>] : memref<8xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}
