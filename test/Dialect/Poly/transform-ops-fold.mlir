// RUN: espalier-opt %s -transform-interpreter | FileCheck %s
// RUN: not espalier-opt %s -transform-interpreter=entry-point=few 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: not espalier-opt %s -transform-interpreter=entry-point=apart 2>&1 | FileCheck %s --check-prefix=APART
// RUN: not espalier-opt %s -transform-interpreter=entry-point=later 2>&1 | FileCheck %s --check-prefix=LATER
// RUN: not espalier-opt %s -transform-interpreter=entry-point=none 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=index 2>&1 | FileCheck %s --check-prefix=INDEX
// RUN: not espalier-opt %s -transform-interpreter=entry-point=extent 2>&1 | FileCheck %s --check-prefix=EXTENT
// RUN: not espalier-opt %s -transform-interpreter=entry-point=argument 2>&1 | FileCheck %s --check-prefix=ARGUMENT

// Three rows of a stencil, and its columns in another layout.

#all = affine_set<(i, j)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, 15 - j >= 0)>
#inner = affine_set<(i, j)[N] : (i - 1 >= 0, N - 2 - i >= 0, j >= 0, 15 - j >= 0)>
#ij = affine_map<(i, j)[N] -> (i, j)>
#above = affine_map<(i, j)[N] -> (i - 1, j)>
#below = affine_map<(i, j)[N] -> (i + 1, j)>

// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1) -> (d1, d0 mod 3)>
// CHECK-LABEL: poly.kernel @blur
module attributes {transform.with_named_sequence} {
poly.kernel @blur(%A: memref<?x16xf32>, %B: memref<?x16xf32>, %N: index {espalier.name = "n"}) {
  // CHECK: poly.array(%{{.*}}) {espalier.name = "rows"} : memref<?x16xf32> storage #[[ROWS]] as memref<16x3xf32>
  %rows = poly.array(%N) {espalier.name = "rows"} : memref<?x16xf32>
  poly.compute @make dims ["i", "j"] domain [#all] reads(%A[#ij] : memref<?x16xf32>) writes(%rows[#ij] : memref<?x16xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @use dims ["i", "j"] domain [#inner] reads(%rows[#above], %rows[#below] : memref<?x16xf32>, memref<?x16xf32>) writes(%B[#ij] : memref<?x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    poly.yield %s : f32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %make = transform.poly.computation @blur::@make of %module : (!transform.any_op) -> !transform.any_op
  %use = transform.poly.computation @blur::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fuse %make with %use loops 1 : !transform.any_op, !transform.any_op
  %rows = transform.poly.written_array of %make : (!transform.any_op) -> !transform.any_op
  transform.poly.layout %rows by affine_map<(i, j) -> (j, i)> : !transform.any_op
  transform.poly.fold_storage %rows index 1 places 3 : !transform.any_op
  transform.yield
}

// FEW: error: 'transform.poly.fold_storage' op expects the storage of 'rows' to suit the schedule, but elements {{.*}} are in one place and alive at the same time, with n = {{[0-9]+}}; legal with 3 places
transform.named_sequence @few(%module: !transform.any_op {transform.readonly}) {
  %make = transform.poly.computation @blur::@make of %module : (!transform.any_op) -> !transform.any_op
  %use = transform.poly.computation @blur::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fuse %make with %use loops 1 : !transform.any_op, !transform.any_op
  %rows = transform.poly.written_array of %make : (!transform.any_op) -> !transform.any_op
  transform.poly.fold_storage %rows index 0 places 2 : !transform.any_op
  transform.yield
}

// All rows are made before the first is used.
// APART: error: 'transform.poly.fold_storage' op expects the storage of 'rows' to suit the schedule, but elements {{.*}} are in one place and alive at the same time, with n = {{[0-9]+}}{{$}}
transform.named_sequence @apart(%module: !transform.any_op {transform.readonly}) {
  %make = transform.poly.computation @blur::@make of %module : (!transform.any_op) -> !transform.any_op
  %rows = transform.poly.written_array of %make : (!transform.any_op) -> !transform.any_op
  transform.poly.fold_storage %rows index 0 places 3 : !transform.any_op
  transform.yield
}

// A later command is checked against the places, too.
// LATER: error: 'transform.poly.fission' op expects the storage of 'rows' to suit the schedule
transform.named_sequence @later(%module: !transform.any_op {transform.readonly}) {
  %make = transform.poly.computation @blur::@make of %module : (!transform.any_op) -> !transform.any_op
  %use = transform.poly.computation @blur::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fuse %make with %use loops 1 : !transform.any_op, !transform.any_op
  %rows = transform.poly.written_array of %make : (!transform.any_op) -> !transform.any_op
  transform.poly.fold_storage %rows index 0 places 3 : !transform.any_op
  transform.poly.fission %make loop "i" : !transform.any_op
  transform.yield
}

// NONE: error: 'transform.poly.fold_storage' op expects between 1 and 1073741824 places along index #0 of 'rows', but got 0
transform.named_sequence @none(%module: !transform.any_op {transform.readonly}) {
  %make = transform.poly.computation @blur::@make of %module : (!transform.any_op) -> !transform.any_op
  %rows = transform.poly.written_array of %make : (!transform.any_op) -> !transform.any_op
  transform.poly.fold_storage %rows index 0 places 0 : !transform.any_op
  transform.yield
}

// INDEX: error: 'transform.poly.fold_storage' op expects one of the 2 indices of the memory of 'rows', but got #2
transform.named_sequence @index(%module: !transform.any_op {transform.readonly}) {
  %make = transform.poly.computation @blur::@make of %module : (!transform.any_op) -> !transform.any_op
  %rows = transform.poly.written_array of %make : (!transform.any_op) -> !transform.any_op
  transform.poly.fold_storage %rows index 2 places 3 : !transform.any_op
  transform.yield
}

// EXTENT: error: 'transform.poly.fold_storage' op expects between 1 and 16 places along index #1 of 'rows', but got 17
transform.named_sequence @extent(%module: !transform.any_op {transform.readonly}) {
  %make = transform.poly.computation @blur::@make of %module : (!transform.any_op) -> !transform.any_op
  %rows = transform.poly.written_array of %make : (!transform.any_op) -> !transform.any_op
  transform.poly.fold_storage %rows index 1 places 17 : !transform.any_op
  transform.yield
}

// ARGUMENT: error: 'transform.poly.written_array' op expects @use to write an array of the kernel, but got an argument
transform.named_sequence @argument(%module: !transform.any_op {transform.readonly}) {
  %use = transform.poly.computation @blur::@use of %module : (!transform.any_op) -> !transform.any_op
  %rows = transform.poly.written_array of %use : (!transform.any_op) -> !transform.any_op
  transform.poly.fold_storage %rows index 0 places 3 : !transform.any_op
  transform.yield
}
}
