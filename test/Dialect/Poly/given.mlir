// RUN: espalier-opt %s -transform-interpreter=entry-point=compute_at | FileCheck %s --check-prefix=COMPUTE-AT
// RUN: espalier-opt %s -transform-interpreter=entry-point=contract | FileCheck %s --check-prefix=CONTRACT
// RUN: espalier-opt %s -transform-interpreter=entry-point=fold | FileCheck %s --check-prefix=FOLD
// RUN: not espalier-opt %s -transform-interpreter=entry-point=fold_less 2>&1 | FileCheck %s --check-prefix=FOLD-LESS
// RUN: espalier-opt %s -transform-interpreter=entry-point=block | FileCheck %s --check-prefix=BLOCK
// RUN: sed 's/b - 1 - c >= 0/b - c >= 0/' %s | not espalier-opt -transform-interpreter=entry-point=fold 2>&1 | FileCheck %s --check-prefix=MUTANT
// RUN: sed '/^  poly.given/,/holds/d' %s | not espalier-opt -transform-interpreter=entry-point=fold 2>&1 | FileCheck %s --check-prefix=MUTANT

// A tree cell, level by level: H[n, j] = sum_k (H[left n, k] + H[right n, k]) * W[k, j]
// params: N nodes, L levels, D hidden
#s_sum = affine_set<(l, n, k)[N, L, D] : (l >= 0, L - 1 - l >= 0, n >= 0, N - 1 - n >= 0, k >= 0, D - 1 - k >= 0)>
#w_sum = affine_set<(l, n, k)[N, L, D, b, e] : (n - b >= 0, e - 1 - n >= 0)>
#s_acc = affine_set<(l, n, j, k)[N, L, D] : (l >= 0, L - 1 - l >= 0, n >= 0, N - 1 - n >= 0, j >= 0, D - 1 - j >= 0, k >= 0, D - 1 - k >= 0)>
#w_acc = affine_set<(l, n, j, k)[N, L, D, b, e] : (n - b >= 0, e - 1 - n >= 0)>
#g_child = affine_set<(l, n)[N, L, D] : (l >= 0, L - 1 - l >= 0, n >= 0, N - 1 - n >= 0)>
#gw_child = affine_set<(l, n)[N, L, D, b, e] : (n - b >= 0, e - 1 - n >= 0)>
module attributes {transform.with_named_sequence} {
poly.kernel @tree(
    %levels: memref<?xi32> {espalier.name = "levels", poly.monotonic,
        poly.shape = affine_map<()[N, L, D] -> (L + 1)>, poly.bounded_by = affine_map<()[N, L, D] -> (N + 1)>},
    %left: memref<?xi32> {espalier.name = "left",
        poly.shape = affine_map<()[N, L, D] -> (N)>, poly.bounded_by = affine_map<()[N, L, D] -> (N)>},
    %right: memref<?xi32> {espalier.name = "right",
        poly.shape = affine_map<()[N, L, D] -> (N)>, poly.bounded_by = affine_map<()[N, L, D] -> (N)>},
    %W: memref<?x?xf32> {espalier.name = "W", poly.shape = affine_map<()[N, L, D] -> (D, D)>},
    %H: memref<?x?xf32> {espalier.name = "H", poly.shape = affine_map<()[N, L, D] -> (N, D)>},
        %N: index {espalier.name = "N"}, %L: index {espalier.name = "L"}, %D: index {espalier.name = "D"}) {
  %S = poly.array(%N, %D) : memref<?x?xf32>
  %G = poly.array(%N, %D) : memref<?x?xf32>
  poly.given @child dims ["l", "n"] domain [#g_child] where #gw_child
      reads(%levels[affine_map<(l, n)[N, L, D] -> (l)>], %levels[affine_map<(l, n)[N, L, D] -> (l + 1)>],
            %left[affine_map<(l, n)[N, L, D] -> (n)>], %right[affine_map<(l, n)[N, L, D] -> (n)>]
            : memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?xi32>)
      holds affine_set<(l, n)[N, L, D, b, e, c, d] : (b - 1 - c >= 0, b - 1 - d >= 0)>
  poly.compute @sum dims ["l", "n", "k"] domain [#s_sum] where #w_sum
      reads(%levels[affine_map<(l, n, k)[N, L, D] -> (l)>], %levels[affine_map<(l, n, k)[N, L, D] -> (l + 1)>],
            %left[affine_map<(l, n, k)[N, L, D] -> (n)>], %right[affine_map<(l, n, k)[N, L, D] -> (n)>],
            %H[affine_map<(l, n, k)[N, L, D, b, e, c, d] -> (c, k)>],
            %H[affine_map<(l, n, k)[N, L, D, b, e, c, d, x] -> (d, k)>]
            : memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?x?xf32>, memref<?x?xf32>)
      writes(%S[affine_map<(l, n, k)[N, L, D] -> (n, k)>] : memref<?x?xf32>) {
  ^bb0(%b: i32, %e: i32, %c: i32, %d: i32, %x: f32, %y: f32):
    %0 = arith.addf %x, %y : f32
    poly.yield %0 : f32
  }
  poly.compute @init dims ["l", "n", "j"] domain [#s_sum] where #w_sum
      reads(%levels[affine_map<(l, n, j)[N, L, D] -> (l)>], %levels[affine_map<(l, n, j)[N, L, D] -> (l + 1)>]
            : memref<?xi32>, memref<?xi32>)
      writes(%G[affine_map<(l, n, j)[N, L, D] -> (n, j)>] : memref<?x?xf32>) interleaved 1 {
  ^bb0(%b: i32, %e: i32):
    %0 = arith.constant 0.0 : f32
    poly.yield %0 : f32
  }
  poly.compute @acc dims ["l", "n", "j", "k"] domain [#s_acc] where #w_acc
      reads(%levels[affine_map<(l, n, j, k)[N, L, D] -> (l)>], %levels[affine_map<(l, n, j, k)[N, L, D] -> (l + 1)>],
            %S[affine_map<(l, n, j, k)[N, L, D] -> (n, k)>], %W[affine_map<(l, n, j, k)[N, L, D] -> (k, j)>],
            %G[affine_map<(l, n, j, k)[N, L, D] -> (n, j)>]
            : memref<?xi32>, memref<?xi32>, memref<?x?xf32>, memref<?x?xf32>, memref<?x?xf32>)
      writes(%G[affine_map<(l, n, j, k)[N, L, D] -> (n, j)>] : memref<?x?xf32>) reduction add interleaved 1 {
  ^bb0(%b: i32, %e: i32, %s: f32, %w: f32, %h: f32):
    %0 = arith.mulf %s, %w : f32
    %1 = arith.addf %h, %0 : f32
    poly.yield %1 : f32
  }
  poly.compute @store dims ["l", "n", "j"] domain [#s_sum] where #w_sum
      reads(%levels[affine_map<(l, n, j)[N, L, D] -> (l)>], %levels[affine_map<(l, n, j)[N, L, D] -> (l + 1)>],
            %G[affine_map<(l, n, j)[N, L, D] -> (n, j)>] : memref<?xi32>, memref<?xi32>, memref<?x?xf32>)
      writes(%H[affine_map<(l, n, j)[N, L, D] -> (n, j)>] : memref<?x?xf32>) interleaved 1 {
  ^bb0(%b: i32, %e: i32, %g: f32):
    %0 = math.tanh %g : f32
    poly.yield %0 : f32
  }
}

// In tiles of nodes, too: of all levels, only one has a node.
// COMPUTE-AT: poly.band [@acc, @sum]
transform.named_sequence @compute_at(%m: !transform.any_op {transform.readonly}) {
  %sum = transform.poly.computation @tree::@sum of %m : (!transform.any_op) -> !transform.any_op
  %init = transform.poly.computation @tree::@init of %m : (!transform.any_op) -> !transform.any_op
  %acc = transform.poly.computation @tree::@acc of %m : (!transform.any_op) -> !transform.any_op
  transform.poly.split %acc loop "n" factors [4] : !transform.any_op
  transform.poly.compute_at %sum in %acc loop "n.0" : !transform.any_op, !transform.any_op
  transform.yield
}

// A level writes the sums that it reads: both run for the same nodes.
// CONTRACT: poly.array : memref<?x?x?xf32> storage #{{.*}} as memref<?x?xf32>
transform.named_sequence @contract(%m: !transform.any_op {transform.readonly}) {
  %sum = transform.poly.computation @tree::@sum of %m : (!transform.any_op) -> !transform.any_op
  %init = transform.poly.computation @tree::@init of %m : (!transform.any_op) -> !transform.any_op
  %acc = transform.poly.computation @tree::@acc of %m : (!transform.any_op) -> !transform.any_op
  transform.poly.privatize %sum loop "l" : !transform.any_op
  transform.yield
}

// Nodes of one tile and level are at work at the same time, others are not.
// FOLD: memref<?x?xf32> storage #{{.*}} as memref<4x?xf32>
transform.named_sequence @fold(%m: !transform.any_op {transform.readonly}) {
  %sum = transform.poly.computation @tree::@sum of %m : (!transform.any_op) -> !transform.any_op
  %init = transform.poly.computation @tree::@init of %m : (!transform.any_op) -> !transform.any_op
  %acc = transform.poly.computation @tree::@acc of %m : (!transform.any_op) -> !transform.any_op
  transform.poly.arrange %sum with ["init", "acc", "store"] by [affine_map<(l, n, k)[N, L, D] -> (l, n floordiv 4, n, k)>,
      affine_map<(l, n, j)[N, L, D] -> (l, n floordiv 4, n, j)>, affine_map<(l, n, j, k)[N, L, D] -> (l, n floordiv 4, n, j, k)>,
      affine_map<(l, n, j)[N, L, D] -> (l, n floordiv 4, n, j)>] into ["l", "nb"] : !transform.any_op
  %g = transform.poly.written_array of %init : (!transform.any_op) -> !transform.any_op
  transform.poly.fold_storage %g index 0 places 4 : !transform.any_op
  transform.yield
}

// FOLD-LESS: error: 'transform.poly.fold_storage' op expects the storage of array #1 to suit the schedule, but elements
transform.named_sequence @fold_less(%m: !transform.any_op {transform.readonly}) {
  %sum = transform.poly.computation @tree::@sum of %m : (!transform.any_op) -> !transform.any_op
  %init = transform.poly.computation @tree::@init of %m : (!transform.any_op) -> !transform.any_op
  %acc = transform.poly.computation @tree::@acc of %m : (!transform.any_op) -> !transform.any_op
  transform.poly.arrange %sum with ["init", "acc", "store"] by [affine_map<(l, n, k)[N, L, D] -> (l, n floordiv 4, n, k)>,
      affine_map<(l, n, j)[N, L, D] -> (l, n floordiv 4, n, j)>, affine_map<(l, n, j, k)[N, L, D] -> (l, n floordiv 4, n, j, k)>,
      affine_map<(l, n, j)[N, L, D] -> (l, n floordiv 4, n, j)>] into ["l", "nb"] : !transform.any_op
  %g = transform.poly.written_array of %init : (!transform.any_op) -> !transform.any_op
  transform.poly.fold_storage %g index 0 places 3 : !transform.any_op
  transform.yield
}

// The block is filled and emptied while the other computations wait.
// BLOCK: poly.array register
transform.named_sequence @block(%m: !transform.any_op {transform.readonly}) {
  %sum = transform.poly.computation @tree::@sum of %m : (!transform.any_op) -> !transform.any_op
  %init = transform.poly.computation @tree::@init of %m : (!transform.any_op) -> !transform.any_op
  %acc = transform.poly.computation @tree::@acc of %m : (!transform.any_op) -> !transform.any_op
  %a, %b, %c = transform.poly.register_block %acc loops ["n", "j"] sizes [4, 32] width 16 : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.yield
}

// A child in its node's own level would be overwritten, or read too early.
// MUTANT: error: 'transform.poly.arrange' op expects to keep the {{anti|flow}} dependence from @{{sum|store}}({{.*}}) to @{{sum|store}}({{.*}}), on 'H'
}
