// RUN: not espalier-opt %s -transform-interpreter=entry-point=changed 2>&1 | FileCheck %s --check-prefix=CHANGED
// RUN: not espalier-opt %s -transform-interpreter=entry-point=between 2>&1 | FileCheck %s --check-prefix=BETWEEN
// RUN: not espalier-opt %s -transform-interpreter=entry-point=turns 2>&1 | FileCheck %s --check-prefix=TURNS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=bounds 2>&1 | FileCheck %s --check-prefix=BOUNDS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=hard 2>&1 | FileCheck %s --check-prefix=HARD
// RUN: not espalier-opt %s -transform-interpreter=entry-point=element 2>&1 | FileCheck %s --check-prefix=ELEMENT
// RUN: not espalier-opt %s -transform-interpreter=entry-point=own 2>&1 | FileCheck %s --check-prefix=OWN
// RUN: not espalier-opt %s -transform-interpreter=entry-point=unstated 2>&1 | FileCheck %s --check-prefix=UNSTATED
// RUN: not espalier-opt %s -transform-interpreter=entry-point=interleaved 2>&1 | FileCheck %s --check-prefix=INTERLEAVED

// Why there is no local copy, and there are no partial results. Each case is an
// entry point.

#i = affine_map<(i)[N] -> (i)>
#west = affine_map<(i)[N] -> (i - 1)>
#turns = affine_map<(i)[N] -> (i mod 2)>
#row = affine_map<(i, j)[N] -> (i)>
#element = affine_map<(i, j)[N] -> (i, j)>
#all = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#inner = affine_set<(i)[N] : (i - 1 >= 0, N - 1 - i >= 0)>
#few = affine_set<(i)[N] : (i >= 0, 15 - i >= 0)>
#ij = affine_set<(i, j)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, N - 1 - j >= 0)>
!v = memref<?xf32>
!m = memref<?x?xf32>

module attributes {transform.with_named_sequence} {
poly.kernel @scattered(%I: memref<?xi32>, %h: memref<4x?xf32>, %N: index) {
  poly.compute @add dims ["i"] domain [#all]
      reads(%I[#i], %h[affine_map<(i)[N, v] -> (0, v)>] : memref<?xi32>, memref<4x?xf32>)
      writes(%h[affine_map<(i)[N, v, w] -> (0, v)>] : memref<4x?xf32>) reduction add {
  ^bb0(%v: i32, %s: f32):
    %one = arith.constant 1.0 : f32
    %r = arith.addf %s, %one : f32
    poly.yield %r : f32
  }
}

poly.kernel @k(%A: !v, %B: !v, %C: !v, %N: index) {
  poly.compute @a dims ["i"] domain [#inner] reads(%B[#west] : !v) writes(%A[#i] : !v) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.compute @b dims ["i"] domain [#inner] reads(%A[#i] : !v) writes(%B[#i] : !v) interleaved 1 {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.compute @turns dims ["i"] domain [#all] reads(%A[#i] : !v) writes(%C[#turns] : !v) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
}
poly.kernel @other(%A: !v, %B: !v, %C: !v, %N: index) {
  poly.compute @make dims ["i"] domain [#all] reads() writes(%A[#i] : !v) {
    %x = arith.constant 1.0 : f32
    poly.yield %x : f32
  }
  poly.compute @use dims ["i"] domain [#all] reads(%A[#i] : !v) writes(%B[#i] : !v) interleaved 1 {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.compute @either dims ["i"] domain [#all, #few] reads(%C[#i] : !v) writes(%B[#i] : !v) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
}
poly.kernel @sums(%A: !m, %S: !v, %N: index) {
  poly.compute @sum dims ["i", "j"] domain [#ij] reads(%S[#row], %A[#element] : !v, !m) writes(%S[#row] : !v) reduction add {
  ^bb0(%s: f32, %a: f32):
    %r = arith.addf %s, %a : f32
    poly.yield %r : f32
  }
  poly.compute @own dims ["i", "j"] domain [#ij] reads(%S[#row], %S[affine_map<(i, j)[N] -> (j + N)>] : !v, !v) writes(%S[#row] : !v) reduction add {
  ^bb0(%s: f32, %a: f32):
    %r = arith.addf %s, %a : f32
    poly.yield %r : f32
  }
}
poly.kernel @heavy(%A: !v, %B: !v, %N: index) {
  poly.compute @w0 dims ["i", "j"] domain [#ij] reads() writes(%A[affine_map<(i, j)[N] -> (i * 3 + ((j * 5 + i) mod 37) * 5 - (j mod 5))>] : !v) {
    %x = arith.constant 1.0 : f32
    poly.yield %x : f32
  }
  poly.compute @w1 dims ["i", "j"] domain [#ij] reads() writes(%A[affine_map<(i, j)[N] -> (i * 7 + ((j * 2 + i) mod 41) * 2 - (j mod 9))>] : !v) {
    %x = arith.constant 1.0 : f32
    poly.yield %x : f32
  }
  poly.compute @w2 dims ["i", "j"] domain [#ij] reads() writes(%A[affine_map<(i, j)[N] -> (i * 11 + ((j * 13 + i) mod 43) * 13 - (j mod 13))>] : !v) {
    %x = arith.constant 1.0 : f32
    poly.yield %x : f32
  }
  poly.compute @w3 dims ["i", "j"] domain [#ij] reads() writes(%A[affine_map<(i, j)[N] -> (i * 5 + ((j * 17 + i) mod 47) * 17 - (j mod 7))>] : !v) {
    %x = arith.constant 1.0 : f32
    poly.yield %x : f32
  }
  poly.compute @w4 dims ["i", "j"] domain [#ij] reads() writes(%A[affine_map<(i, j)[N] -> (i * 19 + ((j * 4 + i) mod 53) * 4 - (j mod 21))>] : !v) {
    %x = arith.constant 1.0 : f32
    poly.yield %x : f32
  }
  poly.compute @w5 dims ["i", "j"] domain [#ij] reads() writes(%A[affine_map<(i, j)[N] -> (i * 23 + ((j * 9 + i) mod 59) * 9 - (j mod 25))>] : !v) {
    %x = arith.constant 1.0 : f32
    poly.yield %x : f32
  }
  poly.compute @w6 dims ["i", "j"] domain [#ij] reads() writes(%A[affine_map<(i, j)[N] -> (i * 6 + ((j * 25 + i) mod 61) * 25 - (j mod 8))>] : !v) {
    %x = arith.constant 1.0 : f32
    poly.yield %x : f32
  }
  poly.compute @w7 dims ["i", "j"] domain [#ij] reads() writes(%A[affine_map<(i, j)[N] -> (i * 29 + ((j * 8 + i) mod 67) * 8 - (j mod 31))>] : !v) {
    %x = arith.constant 1.0 : f32
    poly.yield %x : f32
  }
  poly.compute @r dims ["i", "j"] domain [#ij] reads(%A[affine_map<(i, j)[N] -> (i * 7 + (j * 5 + i) mod 31)>] : !v) writes(%B[#row] : !v) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
poly.kernel @woven(%A: !m, %S: !v, %B: !m, %N: index) {
  poly.compute @sum dims ["i", "j"] domain [#ij] reads(%S[#row], %A[#element] : !v, !m) writes(%S[#row] : !v) reduction add {
  ^bb0(%s: f32, %a: f32):
    %r = arith.addf %s, %a : f32
    poly.yield %r : f32
  }
  poly.compute @look dims ["i", "j"] domain [#ij] reads(%S[#row] : !v) writes(%B[#element] : !m) interleaved 2 {
  ^bb0(%s: f32):
    poly.yield %s : f32
  }
}

// CacheReadOp, what is read changes
// CHANGED: error: 'transform.poly.cache_read' op expects argument #1 to stay as it is from the copy to its uses, but @b writes what @a reads
transform.named_sequence @changed(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  %0:2 = transform.poly.cache_read %a read 0 : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}

// CacheWriteOp, another use
// BETWEEN: error: 'transform.poly.cache_write' op expects all uses of argument #0 in the loop until it is copied back, but @use is outside
transform.named_sequence @between(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @other::@make of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fission %a loop "i" : !transform.any_op
  transform.poly.split %a loop "i" factors [4] : !transform.any_op
  %0:3 = transform.poly.cache_write %a write 0 at "i.0" : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.yield
}

// CacheWriteOp, elements of several iterations
// TURNS: error: 'transform.poly.cache_write' op expects all uses of an element of argument #2 in one iteration of "i", unless they are the updates of one reduction
transform.named_sequence @turns(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@turns of %module : (!transform.any_op) -> !transform.any_op
  %0:3 = transform.poly.cache_write %a write 0 at "i" : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.yield
}

// CacheReadOp, no bounds
// BOUNDS: error: 'transform.poly.cache_read' op expects what a tile touches of argument #2 to have bounds that are affine in the parameters; legal for the loops ["i"]
transform.named_sequence @bounds(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @other::@either of %module : (!transform.any_op) -> !transform.any_op
  %0:2 = transform.poly.cache_read %a read 0 : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}

// CacheWriteOp, too hard
// HARD: error: 'transform.poly.cache_write' op cannot compute what a tile touches: too many operations on integer sets
transform.named_sequence @hard(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @heavy::@w0 of %module : (!transform.any_op) -> !transform.any_op
  %0:3 = transform.poly.cache_write %a write 0 : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.yield
}

// RfactorOp, a loop of each element
// ELEMENT: error: 'transform.poly.rfactor' op expects "i" to run over the updates of an element, but each has all of its updates in one iteration; legal for the loops ["j"]
transform.named_sequence @element(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @sums::@sum of %module : (!transform.any_op) -> !transform.any_op
  %0:3 = transform.poly.rfactor %a loop "i" : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.yield
}

// RfactorOp, a sum that reads other results
// OWN: error: 'transform.poly.rfactor' op expects @own to use nothing but the updated element of argument #1
transform.named_sequence @own(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @sums::@own of %module : (!transform.any_op) -> !transform.any_op
  %0:3 = transform.poly.rfactor %a loop "j" : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.yield
}

// RfactorOp, a copy of nobody knows how many elements
// UNSTATED: error: 'transform.poly.rfactor' op expects an extent that the type of argument #1 or 'poly.shape' states in dimension 1, which @add indexes by data
transform.named_sequence @unstated(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @scattered::@add of %module : (!transform.any_op) -> !transform.any_op
  %0:3 = transform.poly.rfactor %a loop "i" : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.yield
}

// RfactorOp, a sum that is used on its way
// INTERLEAVED: error: 'transform.poly.rfactor' op expects argument #1 to be used after all updates, but @look is interleaved with @sum
transform.named_sequence @interleaved(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @woven::@sum of %module : (!transform.any_op) -> !transform.any_op
  %0:3 = transform.poly.rfactor %a loop "j" : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.yield
}
}
