// RUN: not espalier-opt %s -transform-interpreter=entry-point=same 2>&1 | FileCheck %s --check-prefix=SAME
// RUN: not espalier-opt %s -transform-interpreter=entry-point=called_twice 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=not_called 2>&1 | FileCheck %s --check-prefix=NEVER
// RUN: not espalier-opt %s -transform-interpreter=entry-point=order 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not espalier-opt %s -transform-interpreter=entry-point=between 2>&1 | FileCheck %s --check-prefix=BETWEEN
// RUN: not espalier-opt %s -transform-interpreter=entry-point=store 2>&1 | FileCheck %s --check-prefix=STORE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=view 2>&1 | FileCheck %s --check-prefix=VIEW
// RUN: not espalier-opt %s -transform-interpreter=entry-point=facts 2>&1 | FileCheck %s --check-prefix=FACTS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=handle 2>&1 | FileCheck %s --check-prefix=HANDLE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=number 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not espalier-opt %s -transform-interpreter=entry-point=local 2>&1 | FileCheck %s --check-prefix=LOCAL
// RUN: not espalier-opt %s -transform-interpreter=entry-point=outside 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=used 2>&1 | FileCheck %s --check-prefix=USED
// RUN: not espalier-opt %s -transform-interpreter=entry-point=sizes 2>&1 | FileCheck %s --check-prefix=SIZES
// RUN: not espalier-opt %s -transform-interpreter=entry-point=ext_argument 2>&1 | FileCheck %s --check-prefix=EXT-ARGUMENT
// RUN: not espalier-opt %s -transform-interpreter=entry-point=ext_register 2>&1 | FileCheck %s --check-prefix=EXT-REGISTER
// RUN: not espalier-opt %s -transform-interpreter=entry-point=ext_stored 2>&1 | FileCheck %s --check-prefix=EXT-STORED
// RUN: not espalier-opt %s -transform-interpreter=entry-point=ext_uncalled 2>&1 | FileCheck %s --check-prefix=EXT-UNCALLED
// RUN: not espalier-opt %s -transform-interpreter=entry-point=ext_first 2>&1 | FileCheck %s --check-prefix=EXT-FIRST
// RUN: not espalier-opt %s -transform-interpreter=entry-point=ext_interleaved 2>&1 | FileCheck %s --check-prefix=EXT-INTERLEAVED
// RUN: not espalier-opt %s -transform-interpreter=entry-point=ext_array 2>&1 | FileCheck %s --check-prefix=EXT-ARRAY
// RUN: not espalier-opt %s -transform-interpreter=entry-point=ext_fused 2>&1 | FileCheck %s --check-prefix=EXT-FUSED
// RUN: not espalier-opt %s -transform-interpreter=entry-point=ext_taken 2>&1 | FileCheck %s --check-prefix=EXT-TAKEN
// RUN: not espalier-opt %s -transform-interpreter=entry-point=ext_unnamed 2>&1 | FileCheck %s --check-prefix=EXT-UNNAMED

// Kernels that cannot be one, and buffers that cannot be local.
#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#ten = affine_set<(i) : (i >= 0, 9 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>
#t = affine_map<(i) -> (i)>

module attributes {transform.with_named_sequence} {
poly.kernel @a(%x: memref<?xi32>, %y: memref<?xi32>, %N: index) {
  poly.compute @s domain [#points] reads(%x[#i] : memref<?xi32>) writes(%y[#i] : memref<?xi32>) {
  ^bb0(%v: i32):
    poly.yield %v : i32
  }
  poly.compute @more domain [#points] reads(%x[#i] : memref<?xi32>) writes(%y[#i] : memref<?xi32>) {
  ^bb0(%v: i32):
    poly.yield %v : i32
  }
}
poly.kernel @b(%x: memref<?xi32>, %y: memref<?xi32>, %N: index) {
  poly.compute @s domain [#points] reads(%x[#i] : memref<?xi32>) writes(%y[#i] : memref<?xi32>) {
  ^bb0(%v: i32):
    poly.yield %v : i32
  }
}
poly.kernel @c(%x: memref<?xi32>, %y: memref<?xi32>, %N: index) {
  poly.compute @s domain [#points] reads(%x[#i] : memref<?xi32>) writes(%y[#i] : memref<?xi32>) {
  ^bb0(%v: i32):
    poly.yield %v : i32
  }
}
poly.kernel @d(%x: memref<?xi32>, %y: memref<?xi32>, %N: index) {
  poly.compute @s domain [#points] reads(%x[#i] : memref<?xi32>) writes(%y[#i] : memref<?xi32>) {
  ^bb0(%v: i32):
    poly.yield %v : i32
  }
}
poly.kernel @twice(%x: memref<?xi32>, %y: memref<?xi32>, %N: index) {
  poly.compute @s domain [#points] reads(%x[#i] : memref<?xi32>) writes(%y[#i] : memref<?xi32>) {
  ^bb0(%v: i32):
    poly.yield %v : i32
  }
}
poly.kernel @never(%x: memref<?xi32>, %y: memref<?xi32>, %N: index) {
  %t = poly.array (%N) : memref<?xi32>
  poly.compute @s domain [#points] reads(%x[#i] : memref<?xi32>) writes(%t[#i] : memref<?xi32>) {
  ^bb0(%v: i32):
    poly.yield %v : i32
  }
}
poly.kernel @first_ten(%y: memref<10xi32>, %z: memref<?xi32>) {
  poly.compute @s domain [#ten] reads(%y[#t] : memref<10xi32>) writes(%z[#t] : memref<?xi32>) {
  ^bb0(%v: i32):
    poly.yield %v : i32
  }
}
func.func @main(%x: memref<?xi32>, %y: memref<?xi32>, %z: memref<?xi32>, %small: memref<10xi32>) {
  %zero = arith.constant 0 : index
  %n = memref.dim %x, %zero : memref<?xi32>
  %m = memref.dim %y, %zero : memref<?xi32>
  %t = memref.alloc(%n) : memref<?xi32>
  %u = memref.alloc(%m) : memref<?xi32>
  poly.call @a(%x, %t, %n) : memref<?xi32>, memref<?xi32>, index
  poly.call @b(%t, %y, %n) : memref<?xi32>, memref<?xi32>, index
  poly.call @c(%y, %z, %n) : memref<?xi32>, memref<?xi32>, index
  %one = arith.constant 1 : i32
  memref.store %one, %z[%zero] : memref<?xi32>
  poly.call @d(%z, %y, %n) : memref<?xi32>, memref<?xi32>, index
  %part = memref.cast %y : memref<?xi32> to memref<10xi32>
  poly.call @first_ten(%part, %u) : memref<10xi32>, memref<?xi32>
  poly.call @twice(%x, %y, %n) : memref<?xi32>, memref<?xi32>, index
  poly.call @twice(%y, %z, %n) : memref<?xi32>, memref<?xi32>, index
  return
}

// SAME: error: 'transform.poly.merge' op expects computations of two kernels, but got two of @a
transform.named_sequence @same(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @a::@s of %module : (!transform.any_op) -> !transform.any_op
  %b = transform.poly.computation @a::@more of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.merge %a with %b : !transform.any_op, !transform.any_op
  transform.yield
}

// TWICE: error: 'transform.poly.merge' op expects one call of @twice, but got 2
transform.named_sequence @called_twice(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @d::@s of %module : (!transform.any_op) -> !transform.any_op
  %b = transform.poly.computation @twice::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.merge %a with %b : !transform.any_op, !transform.any_op
  transform.yield
}

// NEVER: error: 'transform.poly.merge' op expects one call of @never, but got 0
transform.named_sequence @not_called(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @never::@s of %module : (!transform.any_op) -> !transform.any_op
  %b = transform.poly.computation @a::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.merge %a with %b : !transform.any_op, !transform.any_op
  transform.yield
}

// ORDER: error: 'transform.poly.merge' op expects the call of @b before that of @a, in one block
transform.named_sequence @order(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @b::@s of %module : (!transform.any_op) -> !transform.any_op
  %b = transform.poly.computation @a::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.merge %a with %b : !transform.any_op, !transform.any_op
  transform.yield
}

// @b reads what @a makes.
// BETWEEN: error: 'transform.poly.merge' op expects nothing between the calls of @a and @c that depends on the first, but got a call of @b
transform.named_sequence @between(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @a::@s of %module : (!transform.any_op) -> !transform.any_op
  %b = transform.poly.computation @c::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.merge %a with %b : !transform.any_op, !transform.any_op
  transform.yield
}

// STORE: error: 'transform.poly.merge' op expects nothing between the calls of @c and @d that depends on the first, but got 'memref.store'
transform.named_sequence @store(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @c::@s of %module : (!transform.any_op) -> !transform.any_op
  %b = transform.poly.computation @d::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.merge %a with %b : !transform.any_op, !transform.any_op
  transform.yield
}

// What @d writes is read as an array of another type.
// VIEW: error: 'transform.poly.merge' op expects buffers that are the same or apart, but argument #1 of @d may overlap argument #0 of @first_ten
transform.named_sequence @view(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @d::@s of %module : (!transform.any_op) -> !transform.any_op
  %b = transform.poly.computation @first_ten::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.merge %a with %b : !transform.any_op, !transform.any_op
  transform.yield
}

// What is stated of an argument would be of what the kernel writes.
// FACTS: error: 'transform.poly.merge' op would make a kernel that is not valid: {{.*}}poly.monotonic
transform.named_sequence @facts(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @stated::@s of %module : (!transform.any_op) -> !transform.any_op
  %b = transform.poly.computation @states::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.merge %a with %b : !transform.any_op, !transform.any_op
  transform.yield
}
poly.kernel @stated(%x: memref<?xi32>, %y: memref<?xi32>, %N: index) {
  poly.compute @s domain [#points] reads(%x[#i] : memref<?xi32>) writes(%y[#i] : memref<?xi32>) {
  ^bb0(%v: i32):
    poly.yield %v : i32
  }
}
poly.kernel @states(%c: memref<?xi32> {poly.monotonic}, %y: memref<?xi32>, %N: index) {
  poly.compute @s domain [#points] reads(%c[#i] : memref<?xi32>) writes(%y[#i] : memref<?xi32>) {
  ^bb0(%v: i32):
    poly.yield %v : i32
  }
}
func.func @other(%x: memref<?xi32>, %y: memref<?xi32>, %z: memref<?xi32>, %n: index) {
  poly.call @stated(%x, %y, %n) : memref<?xi32>, memref<?xi32>, index
  poly.call @states(%y, %z, %n) : memref<?xi32>, memref<?xi32>, index
  return
}

// HANDLE: error: 'transform.poly.merge' op expects each target to be one poly.compute, but got 1 ops, the first of them a builtin.module
transform.named_sequence @handle(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @a::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.merge %a with %module : !transform.any_op, !transform.any_op
  transform.yield
}

// NUMBER: error: 'transform.poly.localize' op expects one of the 1 writes of @s, but got 1
transform.named_sequence @number(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @a::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.localize %a write 1 : !transform.any_op
  transform.yield
}

// LOCAL: error: 'transform.poly.localize' op expects an argument, but array #0 is an array of the kernel already
transform.named_sequence @local(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @never::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.localize %a : !transform.any_op
  transform.yield
}

// OUTSIDE: error: 'transform.poly.localize' op expects a buffer that the program allocates, but argument #1 comes from outside
transform.named_sequence @outside(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @b::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.localize %a : !transform.any_op
  transform.yield
}

// USED: error: 'transform.poly.localize' op expects a buffer for this call alone, but argument #1 is used by 'poly.call' too
transform.named_sequence @used(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @a::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.localize %a : !transform.any_op
  transform.yield
}

// SIZES: error: 'transform.poly.localize' op expects sizes that are parameters of @first_ten, but an extent of argument #1 is none
transform.named_sequence @sizes(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @first_ten::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.localize %a : !transform.any_op
  transform.yield
}

poly.kernel @parts(%x: memref<?xi32>, %y: memref<?xi32>, %N: index) {
  %t = poly.array (%N) : memref<?xi32>
  %r = poly.array stack : memref<8xi32>
  %f = poly.array : memref<?xi32> storage affine_map<(i) -> (i)> as memref<?xi32> extents affine_map<()[N] -> (N)>
  poly.compute @one dims ["i"] domain [#points] reads(%x[#i] : memref<?xi32>) writes(%t[#i] : memref<?xi32>) {
  ^bb0(%v: i32):
    poly.yield %v : i32
  }
  poly.compute @two dims ["i"] domain [#points] reads(%t[#i] : memref<?xi32>) writes(%y[#i] : memref<?xi32>) {
  ^bb0(%v: i32):
    poly.yield %v : i32
  }
  poly.compute @three dims ["i"] domain [#points] reads(%x[#i] : memref<?xi32>) writes(%y[#i] : memref<?xi32>) interleaved 1 {
  ^bb0(%v: i32):
    poly.yield %v : i32
  }
  poly.compute @four domain [affine_set<(i)[N] : (i >= 0, 7 - i >= 0)>] reads(%x[#i] : memref<?xi32>) writes(%r[#i] : memref<8xi32>) {
  ^bb0(%v: i32):
    poly.yield %v : i32
  }
  poly.compute @five dims ["i"] domain [#points] reads(%x[#i] : memref<?xi32>) writes(%f[#i] : memref<?xi32>) {
  ^bb0(%v: i32):
    poly.yield %v : i32
  }
}
func.func @third(%x: memref<?xi32>, %y: memref<?xi32>, %n: index) {
  poly.call @parts(%x, %y, %n) : memref<?xi32>, memref<?xi32>, index
  return
}
poly.kernel @uncalled(%x: memref<?xi32>, %N: index) {
  %t = poly.array (%N) : memref<?xi32>
  poly.compute @one dims ["i"] domain [#points] reads(%x[#i] : memref<?xi32>) writes(%t[#i] : memref<?xi32>) {
  ^bb0(%v: i32):
    poly.yield %v : i32
  }
}

// EXT-ARGUMENT: error: 'transform.poly.externalize' op expects an array of the kernel, but argument #1 is an argument already
transform.named_sequence @ext_argument(%module: !transform.any_op {transform.readonly}) {
  %c = transform.poly.computation @parts::@two of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.externalize %c : !transform.any_op
  transform.yield
}

// EXT-REGISTER: error: 'transform.poly.externalize' op expects an array on the heap, each element at its own place, but array #1 is in stack memory
transform.named_sequence @ext_register(%module: !transform.any_op {transform.readonly}) {
  %c = transform.poly.computation @parts::@four of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.externalize %c : !transform.any_op
  transform.yield
}

// EXT-STORED: error: 'transform.poly.externalize' op expects an array on the heap, each element at its own place, but array #2 is stored in another way
transform.named_sequence @ext_stored(%module: !transform.any_op {transform.readonly}) {
  %c = transform.poly.computation @parts::@five of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.externalize %c : !transform.any_op
  transform.yield
}

// EXT-UNCALLED: error: 'transform.poly.externalize' op expects one call of @uncalled, but got 0
transform.named_sequence @ext_uncalled(%module: !transform.any_op {transform.readonly}) {
  %c = transform.poly.computation @uncalled::@one of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.externalize %c : !transform.any_op
  transform.yield
}

// EXT-FIRST: error: 'transform.poly.detach' op expects a computation before @one, but it is the first of @parts
transform.named_sequence @ext_first(%module: !transform.any_op {transform.readonly}) {
  %c = transform.poly.computation @parts::@one of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.detach %c into "p" : !transform.any_op
  transform.yield
}

// EXT-INTERLEAVED: error: 'transform.poly.detach' op expects @three to run after those before it, but it is interleaved with them
transform.named_sequence @ext_interleaved(%module: !transform.any_op {transform.readonly}) {
  %c = transform.poly.computation @parts::@three of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.detach %c into "p" : !transform.any_op
  transform.yield
}

// EXT-ARRAY: error: 'transform.poly.detach' op expects arrays that one of the two kernels uses, but array #0 is used by both; legal after externalize
transform.named_sequence @ext_array(%module: !transform.any_op {transform.readonly}) {
  %c = transform.poly.computation @parts::@two of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.detach %c into "p" : !transform.any_op
  transform.yield
}

// EXT-FUSED: error: 'transform.poly.detach' op expects a schedule that runs the two parts one after the other; fission first
transform.named_sequence @ext_fused(%module: !transform.any_op {transform.readonly}) {
  %c = transform.poly.computation @a::@more of %module : (!transform.any_op) -> !transform.any_op
  %s = transform.poly.computation @a::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fuse %s with %c loops 1 : !transform.any_op, !transform.any_op
  transform.poly.detach %c into "p" : !transform.any_op
  transform.yield
}

// EXT-TAKEN: error: 'transform.poly.detach' op expects a name that is not taken, but got @a
transform.named_sequence @ext_taken(%module: !transform.any_op {transform.readonly}) {
  %c = transform.poly.computation @parts::@four of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.detach %c into "a" : !transform.any_op
  transform.yield
}

// EXT-UNNAMED: error: 'transform.poly.detach' op expects a name that is not taken, but got @
transform.named_sequence @ext_unnamed(%module: !transform.any_op {transform.readonly}) {
  %c = transform.poly.computation @parts::@four of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.detach %c into "" : !transform.any_op
  transform.yield
}
}
