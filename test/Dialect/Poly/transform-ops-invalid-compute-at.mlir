// RUN: not espalier-opt %s -transform-interpreter=entry-point=self 2>&1 | FileCheck %s --check-prefix=SELF
// RUN: not espalier-opt %s -transform-interpreter=entry-point=loop 2>&1 | FileCheck %s --check-prefix=LOOP
// RUN: not espalier-opt %s -transform-interpreter=entry-point=kernels 2>&1 | FileCheck %s --check-prefix=KERNELS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=two 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not espalier-opt %s -transform-interpreter=entry-point=unused 2>&1 | FileCheck %s --check-prefix=UNUSED
// RUN: not espalier-opt %s -transform-interpreter=entry-point=argument 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// RUN: not espalier-opt %s -transform-interpreter=entry-point=no_use 2>&1 | FileCheck %s --check-prefix=NO-USE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=outside 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=after 2>&1 | FileCheck %s --check-prefix=AFTER
// RUN: not espalier-opt %s -transform-interpreter=entry-point=inputs 2>&1 | FileCheck %s --check-prefix=INPUTS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=scan 2>&1 | FileCheck %s --check-prefix=SCAN
// RUN: not espalier-opt %s -transform-interpreter=entry-point=woven 2>&1 | FileCheck %s --check-prefix=WOVEN
// RUN: not espalier-opt %s -transform-interpreter=entry-point=indirect 2>&1 | FileCheck %s --check-prefix=INDIRECT
// RUN: not espalier-opt %s -transform-interpreter=entry-point=schedule 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=again 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: not espalier-opt %s -transform-interpreter=entry-point=local 2>&1 | FileCheck %s --check-prefix=LOCAL
// RUN: not espalier-opt %s -transform-interpreter=entry-point=global 2>&1 | FileCheck %s --check-prefix=GLOBAL

// Why an array is not computed in the loop that uses it. Each case is an entry
// point.

#i = affine_map<(i)[N] -> (i)>
#west = affine_map<(i)[N] -> (i - 1)>
#all = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#inner = affine_set<(i)[N] : (i - 1 >= 0, N - 1 - i >= 0)>
!v = memref<?xf32>

#at = affine_map<(i)[N, v, a] -> (v)>
module attributes {transform.with_named_sequence} {
poly.kernel @k(%A: !v, %B: !v, %C: !v, %I: memref<?xi32>, %N: index) {
  %p = poly.array(%N) : !v
  %q = poly.array(%N) : !v
  %r = poly.array(%N) : !v
  %s = poly.array(%N) : !v
  %t = poly.array(%N) : !v
  %u = poly.array(%N) : !v
  %v = poly.array(%N) : !v
  poly.compute @both dims ["i"] domain [#all] reads(%A[#i] : !v) writes(%u[#i], %v[#i] : !v, !v) {
  ^bb0(%a: f32):
    poly.yield %a, %a : f32, f32
  }
  poly.compute @p dims ["i"] domain [#all] reads(%A[#i] : !v) writes(%p[#i] : !v) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @q dims ["i"] domain [#all] reads(%A[#i] : !v) writes(%q[#i] : !v) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  // The input of @q changes before its use.
  poly.compute @change dims ["i"] domain [#all] reads(%p[#i] : !v) writes(%A[#i] : !v) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @use_p dims ["i"] domain [#inner] reads(%p[#west], %p[#i] : !v, !v) writes(%B[#i] : !v) {
  ^bb0(%a: f32, %b: f32):
    %x = arith.addf %a, %b : f32
    poly.yield %x : f32
  }
  poly.compute @more_p dims ["i"] domain [#all] reads() writes(%p[#i] : !v) {
    %x = arith.constant 1.0 : f32
    poly.yield %x : f32
  }
  poly.compute @use_q dims ["i"] domain [#inner] reads(%q[#i] : !v) writes(%C[#i] : !v) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @scan dims ["i"] domain [#inner] reads(%B[#i], %r[#west] : !v, !v) writes(%r[#i] : !v) {
  ^bb0(%b: f32, %a: f32):
    %x = arith.addf %a, %b : f32
    poly.yield %x : f32
  }
  poly.compute @use_r dims ["i"] domain [#inner] reads(%r[#i], %s[#west] : !v, !v) writes(%C[#i] : !v) {
  ^bb0(%a: f32, %b: f32):
    poly.yield %a : f32
  }
  poly.compute @s dims ["i"] domain [#inner] reads(%C[#i] : !v) writes(%s[#i] : !v) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @use_s dims ["i"] domain [#inner] reads(%s[#i], %v[#i] : !v, !v) writes(%B[#i] : !v) {
  ^bb0(%a: f32, %b: f32):
    poly.yield %a : f32
  }
  poly.compute @t dims ["i"] domain [#inner] reads(%B[#i] : !v) writes(%t[#i] : !v) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @use_t dims ["i"] domain [#inner] reads(%I[#i], %t[affine_map<(i)[N, at] -> (at)>] : memref<?xi32>, !v) writes(%C[#i] : !v) {
  ^bb0(%at: i32, %a: f32):
    poly.yield %a : f32
  }
  poly.compute @last dims ["i"] domain [#all] reads(%C[#i] : !v) writes(%u[#i] : !v) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
poly.kernel @other(%A: !v, %B: !v, %C: !v, %N: index) {
  %p = poly.array(%N) : !v
  poly.compute @p dims ["i"] domain [#inner] reads(%A[#west] : !v) writes(%p[#i] : !v) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @use dims ["i", "j"] domain [affine_set<(i, j)[N] : (i - 1 >= 0, N - 1 - i >= 0, j >= 0, 1 - j >= 0)>]
      reads(%p[affine_map<(i, j)[N] -> (i)>] : !v) writes(%A[affine_map<(i, j)[N] -> (i)>] : !v) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  %q = poly.array(%N) : !v
  %r = poly.array(%N) : !v
  poly.compute @first dims ["i"] domain [#all] reads(%B[#i] : !v) writes(%q[#i] : !v) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @use_q dims ["i"] domain [#inner] reads(%q[#i], %q[#west] : !v, !v) writes(%B[#i] : !v) {
  ^bb0(%a: f32, %b: f32):
    poly.yield %a : f32
  }
  poly.compute @second dims ["i"] domain [#all] reads() writes(%q[#i] : !v) {
    %x = arith.constant 1.0 : f32
    poly.yield %x : f32
  }
  poly.compute @woven dims ["i"] domain [#all] reads(%C[#i] : !v) writes(%r[#i] : !v) interleaved 1 {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @use_r dims ["i"] domain [#all] reads(%r[#i] : !v) writes(%B[#i] : !v) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
poly.kernel @placed(%A: !v, %B: !v, %C: !v, %I: memref<?xi32>, %N: index) {
  %p = poly.array(%N) : !v
  %q = poly.array(%N) : !v
  %r = poly.array(%N) : !v
  poly.compute @two dims ["i"] domain [#all] reads() writes(%q[#i], %r[#i] : !v, !v) {
    %x = arith.constant 1.0 : f32
    poly.yield %x, %x : f32, f32
  }
  poly.compute @again dims ["i"] domain [#all] reads() writes(%q[#i] : !v) {
    %x = arith.constant 2.0 : f32
    poly.yield %x : f32
  }
  poly.compute @local dims ["i"] domain [#all] reads(%I[#i], %A[#i] : memref<?xi32>, !v) writes(%p[#at] : !v) {
  ^bb0(%v: i32, %a: f32):
    poly.yield %a : f32
  }
  poly.compute @global dims ["i"] domain [#all] reads(%I[#i], %A[#i] : memref<?xi32>, !v) writes(%B[#at] : !v) {
  ^bb0(%v: i32, %a: f32):
    poly.yield %a : f32
  }
  poly.compute @use dims ["i"] domain [#all] reads(%p[#i], %B[#i], %q[#i] : !v, !v, !v) writes(%C[#i] : !v) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %x = arith.addf %a, %b : f32
    %y = arith.addf %x, %c : f32
    poly.yield %y : f32
  }
}

// SELF: error: 'transform.poly.compute_at' op expects two computations, but got @p twice
transform.named_sequence @self(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @k::@p of %module : (!transform.any_op) -> !transform.any_op
  %c = transform.poly.computation @k::@p of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.compute_at %p in %c loop "i" : !transform.any_op, !transform.any_op
  transform.yield
}

// LOOP: error: 'transform.poly.compute_at' op expects a loop of @use_p, one of ["i"], but got "x"
transform.named_sequence @loop(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @k::@p of %module : (!transform.any_op) -> !transform.any_op
  %c = transform.poly.computation @k::@use_p of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.compute_at %p in %c loop "x" : !transform.any_op, !transform.any_op
  transform.yield
}

// KERNELS: error: 'transform.poly.compute_at' op expects computations of one kernel
transform.named_sequence @kernels(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @k::@p of %module : (!transform.any_op) -> !transform.any_op
  %c = transform.poly.computation @other::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.compute_at %p in %c loop "i" : !transform.any_op, !transform.any_op
  transform.yield
}

// TWO: error: 'transform.poly.compute_at' op expects @both to write one array, but got 2
transform.named_sequence @two(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @k::@both of %module : (!transform.any_op) -> !transform.any_op
  %c = transform.poly.computation @k::@use_s of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.compute_at %p in %c loop "i" : !transform.any_op, !transform.any_op
  transform.yield
}

// UNUSED: error: 'transform.poly.compute_at' op expects a computation that reads what @last writes
transform.named_sequence @unused(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @k::@last of %module : (!transform.any_op) -> !transform.any_op
  %c = transform.poly.computation @k::@use_t of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.compute_at %p in %c loop "i" : !transform.any_op, !transform.any_op
  transform.yield
}

// ARGUMENT: error: 'transform.poly.compute_at' op expects no layout and no placement for argument #1, which stays as it is, since argument #1 is an argument
transform.named_sequence @argument(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @k::@use_s of %module : (!transform.any_op) -> !transform.any_op
  %c = transform.poly.computation @k::@t of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.compute_at %p in %c loop "i" place stack : !transform.any_op, !transform.any_op
  transform.yield
}

// NO-USE: error: 'transform.poly.compute_at' op expects a computation in "i" that uses what @use_p writes
transform.named_sequence @no_use(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @k::@use_p of %module : (!transform.any_op) -> !transform.any_op
  %c = transform.poly.computation @k::@use_t of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.compute_at %p in %c loop "i" : !transform.any_op, !transform.any_op
  transform.yield
}

// OUTSIDE: error: 'transform.poly.compute_at' op expects a first use in "i" of each element that @p writes, at an affine function of it, since @change reads array #0 outside of that loop
transform.named_sequence @outside(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @k::@p of %module : (!transform.any_op) -> !transform.any_op
  %c = transform.poly.computation @k::@use_p of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.compute_at %p in %c loop "i" : !transform.any_op, !transform.any_op
  transform.yield
}

// AFTER: error: 'transform.poly.compute_at' op expects all computations that write array #1 before those that read it, but @second comes after @use_q
transform.named_sequence @after(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @other::@first of %module : (!transform.any_op) -> !transform.any_op
  %c = transform.poly.computation @other::@use_q of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.compute_at %p in %c loop "i" : !transform.any_op, !transform.any_op
  transform.yield
}

// INPUTS: error: 'transform.poly.compute_at' op expects what @q reads to stay as it is until @use_q uses the result, but @change writes argument #0 in between
transform.named_sequence @inputs(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @k::@q of %module : (!transform.any_op) -> !transform.any_op
  %c = transform.poly.computation @k::@use_q of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.compute_at %p in %c loop "i" : !transform.any_op, !transform.any_op
  transform.yield
}

// SCAN: error: 'transform.poly.compute_at' op expects each tile to make all that it uses of array #2, but read 1 of @scan takes elements that the tile does not need otherwise
transform.named_sequence @scan(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @k::@scan of %module : (!transform.any_op) -> !transform.any_op
  %c = transform.poly.computation @k::@use_r of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.compute_at %p in %c loop "i" : !transform.any_op, !transform.any_op
  transform.yield
}

// WOVEN: error: 'transform.poly.compute_at' op expects @woven not to be interleaved with @second, which does not write array #2
transform.named_sequence @woven(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @other::@woven of %module : (!transform.any_op) -> !transform.any_op
  %c = transform.poly.computation @other::@use_r of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.compute_at %p in %c loop "i" : !transform.any_op, !transform.any_op
  transform.yield
}

// INDIRECT: error: 'transform.poly.compute_at' op expects affine accesses to array #4, but read 1 of @use_t is (d0)[s0, s1] -> (s1)
transform.named_sequence @indirect(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @k::@t of %module : (!transform.any_op) -> !transform.any_op
  %c = transform.poly.computation @k::@use_t of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.compute_at %p in %c loop "i" : !transform.any_op, !transform.any_op
  transform.yield
}

// SCHEDULE: error: 'transform.poly.compute_at' op expects to keep the anti dependence from @p(2, 2) to @use(1, 0), on argument #0 (read 0 at [i.p - 1], write 0 at [i]), with parameters (3); no loop of @use may be around @p
transform.named_sequence @schedule(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @other::@p of %module : (!transform.any_op) -> !transform.any_op
  %c = transform.poly.computation @other::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.compute_at %p in %c loop "i" : !transform.any_op, !transform.any_op
  transform.yield
}

// AGAIN: error: 'transform.poly.compute_at' op expects @two to write nothing but array #1
transform.named_sequence @again(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @placed::@again of %module : (!transform.any_op) -> !transform.any_op
  %u = transform.poly.computation @placed::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.compute_at %p in %u loop "i" : !transform.any_op, !transform.any_op
  transform.yield
}

// LOCAL: error: 'transform.poly.compute_at' op expects write 0 of @local to be affine
transform.named_sequence @local(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @placed::@local of %module : (!transform.any_op) -> !transform.any_op
  %u = transform.poly.computation @placed::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.compute_at %p in %u loop "i" : !transform.any_op, !transform.any_op
  transform.yield
}

// GLOBAL: error: 'transform.poly.compute_at' op expects write 0 of @global to be affine
transform.named_sequence @global(%module: !transform.any_op {transform.readonly}) {
  %p = transform.poly.computation @placed::@global of %module : (!transform.any_op) -> !transform.any_op
  %u = transform.poly.computation @placed::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.compute_at %p in %u loop "i" : !transform.any_op, !transform.any_op
  transform.yield
}
}
