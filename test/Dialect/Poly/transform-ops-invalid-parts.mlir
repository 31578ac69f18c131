// RUN: not espalier-opt %s -transform-interpreter=entry-point=fuse_itself 2>&1 | FileCheck %s --check-prefix=FUSE-ITSELF
// RUN: not espalier-opt %s -transform-interpreter=entry-point=tile_of_some 2>&1 | FileCheck %s --check-prefix=TILE-OF-SOME
// RUN: not espalier-opt %s -transform-interpreter=entry-point=plan_of_some 2>&1 | FileCheck %s --check-prefix=PLAN-OF-SOME

// Parts of a sequence that run some points of a computation.

#all = affine_set<(i) : (i >= 0, 15 - i >= 0)>
#low = affine_set<(i) : (7 - i >= 0)>
#high = affine_set<(i) : (i - 8 >= 0)>
#any = affine_set<(i) : (0 == 0)>
#i = affine_map<(i) -> (i)>
!v = memref<16xf32>

module attributes {transform.with_named_sequence} {
poly.kernel @k(%A: !v, %B: !v, %C: !v) {
  poly.compute @a dims ["i"] domain [#all] reads() writes(%A[#i] : !v) {
    %x = arith.constant 1.0 : f32
    poly.yield %x : f32
  }
  poly.compute @b dims ["i"] domain [#all] reads() writes(%B[#i] : !v) {
    %x = arith.constant 2.0 : f32
    poly.yield %x : f32
  }
  poly.compute @c dims ["i"] domain [#all] reads(%A[#i] : !v) writes(%C[#i] : !v) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.schedule {
    poly.sequence {
      poly.filter [@a, @c] where [#any, #low] {
        poly.band [@a, @c] maps [#i, #i] loops [sequential] names ["i"] {
          poly.sequence {
            poly.filter [@a]
            poly.filter [@c]
          }
        }
      }
      poly.filter [@b, @c] where [#any, #high] {
        poly.band [@b, @c] maps [#i, #i] loops [sequential] names ["j"] {
          poly.sequence {
            poly.filter [@b]
            poly.filter [@c]
          }
        }
      }
    }
  }
}

// FuseOp, parts that both run a computation
// FUSE-ITSELF: error: 'transform.poly.fuse' op expects to fuse different computations, but both parts run @c
transform.named_sequence @fuse_itself(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  %b = transform.poly.computation @k::@b of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fuse %a with %b loops 1 : !transform.any_op, !transform.any_op
  transform.yield
}

// CacheReadOp, a loop for some points only
// TILE-OF-SOME: error: 'transform.poly.cache_read' op expects all points of @a to run in "i", but a filter above it leaves some out
transform.named_sequence @tile_of_some(%module: !transform.any_op {transform.readonly}) {
  %c = transform.poly.computation @k::@c of %module : (!transform.any_op) -> !transform.any_op
  %0:2 = transform.poly.cache_read %c read 0 at "i" : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}

// PlanOp, a computation in several parts
// PLAN-OF-SOME: error: 'transform.poly.plan' op expects parts of a sequence that run all points of a computation, but @a is in several
transform.named_sequence @plan_of_some(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.plan %a with ["c"] shared 1 loops ["i"] : !transform.any_op
  transform.yield
}
}
