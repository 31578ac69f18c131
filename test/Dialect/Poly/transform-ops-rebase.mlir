// RUN: espalier-opt %s -split-input-file -transform-interpreter | FileCheck %s

// Loops that count from a bound that is read.

#all = affine_set<(n, j)[N, E] : (n >= 0, N - 1 - n >= 0, j >= 0, E - 1 - j >= 0)>
#row = affine_set<(n, j)[N, E, b, e] : (j - b >= 0, e - 1 - j >= 0)>
#n = affine_map<(n, j)[N, E] -> (n)>
#next = affine_map<(n, j)[N, E] -> (n + 1)>
#j = affine_map<(n, j)[N, E] -> (j)>
#through = affine_map<(n, j)[N, E, b, e, c] -> (c)>

// CHECK-DAG: #[[POINTS:.*]] = affine_set<(d0, d1)[s0, s1] : (d1 >= 0, d0 >= 0, -d0 + s0 - 1 >= 0, -d1 + s1 - 1 >= 0)>
// CHECK-DAG: #[[ROW:.*]] = affine_set<(d0, d1)[s0, s1, s2, s3, s4, s5, s6, s7] : (-d1 - s2 + s3 - 1 >= 0)>
// CHECK-DAG: #[[COLUMN:.*]] = affine_map<(d0, d1)[s0, s1, s2, s3] -> (d1 + s2)>
// CHECK-DAG: #[[VALUE:.*]] = affine_map<(d0, d1)[s0, s1, s2, s3, s4] -> (d1 + s2)>
// CHECK-DAG: #[[TILES:.*]] = affine_map<(d0, d1)[s0, s1] -> (d0, d1 floordiv 8, d1 mod 8)>
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: poly.kernel @spmv(
// CHECK:         poly.compute @acc dims ["n", "j"] domain [#[[POINTS]]] where #[[ROW]]
// CHECK-SAME:      %arg1[#[[COLUMN]]], %arg2[#[[VALUE]]], %arg3[
// CHECK:         poly.band [@acc] maps [#[[TILES]]] loops [parallel, sequential, vector(8)] names ["n", "j.0", "j.1"]
poly.kernel @spmv(%starts: memref<?xi32> {poly.monotonic, poly.bounded_by = affine_map<()[N, E] -> (E + 1)>},
                  %col: memref<?xi32>, %val: memref<?xf32>, %x: memref<?xf32>, %y: memref<?xf32>, %N: index, %E: index) {
  poly.compute @acc dims ["n", "j"] domain [#all] where #row
      reads(%starts[#n], %starts[#next], %col[#j], %val[#j], %x[affine_map<(n, j)[N, E, b, e, c, v] -> (c)>], %y[#n]
            : memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?xf32>, memref<?xf32>, memref<?xf32>)
      writes(%y[#n] : memref<?xf32>) reduction add {
  ^bb0(%b: i32, %e: i32, %c: i32, %v: f32, %u: f32, %s: f32):
    %p = arith.mulf %v, %u : f32
    %r = arith.addf %s, %p : f32
    poly.yield %r : f32
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @spmv::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.rebase %acc loop "j" : !transform.any_op
  transform.poly.vectorize %acc loop "j" width 8 : !transform.any_op
  transform.poly.parallelize %acc loop "n" : !transform.any_op
  transform.yield
}
}

// -----

// Elements of one row differ, and so do those of different rows: both loops
// carry no dependence.

#all = affine_set<(n, j)[N, E] : (n >= 0, N - 1 - n >= 0, j >= 0, E - 1 - j >= 0)>
#row = affine_set<(n, j)[N, E, b, e] : (j - b >= 0, e - 1 - j >= 0)>
#n = affine_map<(n, j)[N, E] -> (n)>
#next = affine_map<(n, j)[N, E] -> (n + 1)>
#j = affine_map<(n, j)[N, E] -> (j)>
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: poly.kernel @scale(
// CHECK:         %[[INDEX:.*]] = poly.index 1
// CHECK:         %[[BEGIN:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK:         %[[J:.*]] = arith.addi %[[INDEX]], %[[BEGIN]]
// CHECK:         arith.index_cast %[[J]] : index to i32
// CHECK:         loops [parallel, parallel, vector(4)] names ["n", "j.0", "j.1"]
poly.kernel @scale(%starts: memref<?xi32> {poly.monotonic, poly.bounded_by = affine_map<()[N, E] -> (E + 1)>},
                   %x: memref<?xi32>, %N: index, %E: index) {
  poly.compute @scale dims ["n", "j"] domain [#all] where #row
      reads(%starts[#n], %starts[#next], %x[#j] : memref<?xi32>, memref<?xi32>, memref<?xi32>)
      writes(%x[#j] : memref<?xi32>) {
  ^bb0(%b: i32, %e: i32, %v: i32):
    %i = poly.index 1
    %c = arith.index_cast %i : index to i32
    %r = arith.muli %c, %v : i32
    poly.yield %r : i32
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %scale = transform.poly.computation @scale::@scale of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.rebase %scale loop "j" : !transform.any_op
  transform.poly.vectorize %scale loop "j" width 4 : !transform.any_op
  transform.poly.parallelize %scale loop "n" : !transform.any_op
  transform.poly.parallelize %scale loop "j.0" : !transform.any_op
  transform.yield
}
}
