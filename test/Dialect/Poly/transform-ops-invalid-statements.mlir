// RUN: not espalier-opt %s -transform-interpreter=entry-point=no_sum 2>&1 | FileCheck %s --check-prefix=NO-SUM
// RUN: not espalier-opt %s -transform-interpreter=entry-point=read 2>&1 | FileCheck %s --check-prefix=READ
// RUN: not espalier-opt %s -transform-interpreter=entry-point=own 2>&1 | FileCheck %s --check-prefix=OWN
// RUN: not espalier-opt %s -transform-interpreter=entry-point=uncalled 2>&1 | FileCheck %s --check-prefix=UNCALLED
// RUN: not espalier-opt %s -transform-interpreter=entry-point=outside 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=view 2>&1 | FileCheck %s --check-prefix=VIEW
// RUN: not espalier-opt %s -transform-interpreter=entry-point=shapes 2>&1 | FileCheck %s --check-prefix=SHAPES
// RUN: not espalier-opt %s -transform-interpreter=entry-point=rank 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not espalier-opt %s -transform-interpreter=entry-point=form 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not espalier-opt %s -transform-interpreter=entry-point=one 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=place 2>&1 | FileCheck %s --check-prefix=PLACE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=order 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not espalier-opt %s -transform-interpreter=entry-point=fuse_own 2>&1 | FileCheck %s --check-prefix=FUSE-OWN
// RUN: not espalier-opt %s -transform-interpreter=entry-point=fuse_outside 2>&1 | FileCheck %s --check-prefix=FUSE-OUTSIDE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=fuse_uncalled 2>&1 | FileCheck %s --check-prefix=FUSE-UNCALLED
// RUN: not espalier-opt %s -transform-interpreter=entry-point=fuse_step 2>&1 | FileCheck %s --check-prefix=FUSE-STEP
// RUN: not espalier-opt %s -transform-interpreter=entry-point=fuse_handle 2>&1 | FileCheck %s --check-prefix=FUSE-HANDLE
// RUN: sed 's/"statements"/"poly"/' %s | not espalier-opt -transform-interpreter=entry-point=fuse_step 2>&1 | FileCheck %s --check-prefix=STAGE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=handle 2>&1 | FileCheck %s --check-prefix=HANDLE
// RUN: sed 's/"statements"/"poly"/' %s | not espalier-opt -transform-interpreter=entry-point=no_sum 2>&1 | FileCheck %s --check-prefix=STAGE
// RUN: sed 's/"statements"/"poly"/' %s | not espalier-opt -transform-interpreter=entry-point=rank 2>&1 | FileCheck %s --check-prefix=STAGE
// RUN: sed 's/espalier.stage = "statements", //' %s | not espalier-opt -transform-interpreter=entry-point=no_sum 2>&1 | FileCheck %s --check-prefix=NO-STAGE

// What cannot be chosen for statements. Nobody reads it at another stage.
// STAGE: error: 'transform.poly.{{.*}}' op expects a module at stage statements, where kernels are not formed yet, but it is at stage poly
// NO-STAGE: error: 'transform.poly.algorithm' op expects a module at stage statements, where kernels are not formed yet, but nothing says its stage
#ten = affine_set<(i) : (i >= 0, 9 - i >= 0)>
#i = affine_map<(i) -> (i)>
#inside = affine_set<(i) : (i - 1 >= 0, 9 - i >= 0)>
module attributes {espalier.stage = "statements", transform.with_named_sequence} {

poly.kernel private @copy(%x: memref<10xf32>, %y: memref<10xf32>) {
  poly.compute @s domain [#ten] reads(%x[#i] : memref<10xf32>) writes(%y[#i] : memref<10xf32>) {
  ^bb0(%v: f32):
    poly.yield %v : f32
  }
}
poly.kernel private @twice(%x: memref<10xf32>, %y: memref<10xf32>) {
  %z = poly.array : memref<10xf32>
  poly.compute @first domain [#ten] reads(%x[#i] : memref<10xf32>) writes(%z[#i] : memref<10xf32>) {
  ^bb0(%v: f32):
    poly.yield %v : f32
  }
  poly.compute @second domain [#ten] reads(%z[#i] : memref<10xf32>) writes(%y[#i] : memref<10xf32>) {
  ^bb0(%v: f32):
    poly.yield %v : f32
  }
}
poly.kernel private @never(%x: memref<10xf32>, %y: memref<10xf32>) {
  poly.compute @s domain [#ten] reads(%x[#i] : memref<10xf32>) writes(%y[#i] : memref<10xf32>) {
  ^bb0(%v: f32):
    poly.yield %v : f32
  }
}
func.func @main(%x: memref<10xf32>, %y: memref<2x5xf32>, %z: memref<10xf32>) {
  %a = memref.alloc() : memref<10xf32>
  poly.call @copy(%x, %a) : memref<10xf32>, memref<10xf32>
  %b = memref.collapse_shape %y [[0, 1]] : memref<2x5xf32> into memref<10xf32>
  %c = memref.expand_shape %a [[0, 1]] output_shape [2, 5] : memref<10xf32> into memref<2x5xf32>
  poly.call @twice(%b, %z) : memref<10xf32>, memref<10xf32>
  return
}

// NO-SUM: error: 'transform.poly.algorithm' op expects a sum, but @s is none
transform.named_sequence @no_sum(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @copy::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.algorithm %s direct : !transform.any_op
  transform.yield
}
// READ: error: 'transform.poly.buffer_layout' op expects one of the 1 reads of @s, but got 1
transform.named_sequence @read(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @copy::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.buffer_layout %s read 1 affine_map<(i) -> (i)> : !transform.any_op
  transform.yield
}
// OWN: error: 'transform.poly.buffer_layout' op expects a buffer of the program, but array #0 is an array of the kernel
transform.named_sequence @own(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @twice::@first of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.buffer_layout %s affine_map<(i) -> (i)> : !transform.any_op
  transform.yield
}
// UNCALLED: error: 'transform.poly.buffer_layout' op expects one call of @never, but got 0
transform.named_sequence @uncalled(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @never::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.buffer_layout %s affine_map<(i) -> (i)> : !transform.any_op
  transform.yield
}
// OUTSIDE: error: 'transform.poly.buffer_layout' op expects a buffer that the program allocates, or a constant, but argument #0 comes from outside
transform.named_sequence @outside(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @copy::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.buffer_layout %s read 0 affine_map<(i) -> (i)> : !transform.any_op
  transform.yield
}
// VIEW: error: 'transform.poly.buffer_layout' op expects a buffer that the program allocates, or a constant, but argument #0 is a view
transform.named_sequence @view(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @twice::@first of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.buffer_layout %s read 0 affine_map<(i) -> (i)> : !transform.any_op
  transform.yield
}
// SHAPES: error: 'transform.poly.buffer_layout' op expects a buffer in one shape, but argument #1 is also seen in another
transform.named_sequence @shapes(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @copy::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.buffer_layout %s affine_map<(i) -> (i)> : !transform.any_op
  transform.yield
}
// RANK: error: 'transform.poly.buffer_layout' op expects a layout to map the indices of the array
transform.named_sequence @rank(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @plain::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.buffer_layout %s affine_map<(i, j) -> (i, j)> : !transform.any_op
  transform.yield
}
// FORM: error: 'transform.poly.buffer_layout' op expects a layout of indices, and their quotients and remainders by positive numbers
transform.named_sequence @form(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @plain::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.buffer_layout %s affine_map<(i) -> (i + 1)> : !transform.any_op
  transform.yield
}
// ONE: error: 'transform.poly.buffer_layout' op expects a layout without an index that is 0 for all elements, as remainders by 1 are
transform.named_sequence @one(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @plain::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.buffer_layout %s affine_map<(i) -> (i floordiv 1, i mod 1)> : !transform.any_op
  transform.yield
}
// PLACE: error: 'transform.poly.buffer_layout' op expects a layout to give each element a place of its own
transform.named_sequence @place(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @plain::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.buffer_layout %s affine_map<(i) -> (i mod 4)> : !transform.any_op
  transform.yield
}
poly.kernel private @plain(%x: memref<10xf32>, %y: memref<10xf32>) {
  poly.compute @s domain [#ten] reads(%x[#i] : memref<10xf32>) writes(%y[#i] : memref<10xf32>) {
  ^bb0(%v: f32):
    poly.yield %v : f32
  }
}
func.func @other(%x: memref<10xf32>) {
  %a = memref.alloc() : memref<10xf32>
  poly.call @plain(%x, %a) : memref<10xf32>, memref<10xf32>
  return
}

// ORDER: error: 'transform.poly.buffer_layout' op expects a layout with one index of argument #0, whose elements are in order (poly.monotonic), but got 2
transform.named_sequence @order(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @row::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.buffer_layout %s read 0 affine_map<(i) -> (i floordiv 5, i mod 5)> : !transform.any_op
  transform.yield
}
poly.kernel private @row(%starts: memref<10xi32> {poly.monotonic}, %y: memref<10xi32>) {
  poly.compute @s domain [#ten] reads(%starts[#i] : memref<10xi32>) writes(%y[#i] : memref<10xi32>) {
  ^bb0(%v: i32):
    poly.yield %v : i32
  }
}
func.func @rows(%y: memref<10xi32>) {
  %a = memref.alloc() : memref<10xi32>
  poly.call @row(%a, %y) : memref<10xi32>, memref<10xi32>
  return
}

// FUSE-OWN: error: 'transform.poly.fusion' op expects a buffer of the program, but array #0 is an array of the kernel
transform.named_sequence @fuse_own(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @twice::@first of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fusion %s separate : !transform.any_op
  transform.yield
}
// FUSE-OUTSIDE: error: 'transform.poly.fusion' op expects a buffer that the program allocates, or a constant, but argument #1 comes from outside
transform.named_sequence @fuse_outside(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @twice::@second of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fusion %s separate : !transform.any_op
  transform.yield
}
// FUSE-UNCALLED: error: 'transform.poly.fusion' op expects one call of @never, but got 0
transform.named_sequence @fuse_uncalled(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @never::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fusion %s fused : !transform.any_op
  transform.yield
}
// FUSE-STEP: error: 'transform.poly.fusion' op expects a result that other kernels read, but @s of @step reads argument #1
transform.named_sequence @fuse_step(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @step::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fusion %s separate : !transform.any_op
  transform.yield
}
poly.kernel private @step(%x: memref<10xf32>, %y: memref<10xf32>) {
  poly.compute @s domain [#inside] reads(%x[#i], %y[affine_map<(i) -> (i - 1)>] : memref<10xf32>, memref<10xf32>) writes(%y[#i] : memref<10xf32>) {
  ^bb0(%v: f32, %w: f32):
    %0 = arith.addf %v, %w : f32
    poly.yield %0 : f32
  }
}
func.func @steps(%x: memref<10xf32>) {
  %a = memref.alloc() : memref<10xf32>
  poly.call @step(%x, %a) : memref<10xf32>, memref<10xf32>
  return
}
// FUSE-HANDLE: error: 'transform.poly.fusion' op expects targets to be poly.compute, but got builtin.module
transform.named_sequence @fuse_handle(%module: !transform.any_op {transform.readonly}) {
  transform.poly.fusion %module separate : !transform.any_op
  transform.yield
}

// HANDLE: error: 'transform.poly.algorithm' op expects targets to be poly.compute, but got builtin.module
transform.named_sequence @handle(%module: !transform.any_op {transform.readonly}) {
  transform.poly.algorithm %module direct : !transform.any_op
  transform.yield
}
}
