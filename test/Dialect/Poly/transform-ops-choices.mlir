// RUN: espalier-opt %s -transform-interpreter -o %t.chosen.mlir
// RUN: sed -e '/tune.knob/d' -e 's/%%\([0-9]\)/\1/g' %s > %t.numbers.mlir
// RUN: espalier-opt %t.numbers.mlir -transform-interpreter -o %t.numbered.mlir
// RUN: sed '/transform.named_sequence/,$d' %t.chosen.mlir > %t.chosen-kernels.mlir
// RUN: sed '/transform.named_sequence/,$d' %t.numbered.mlir | diff - %t.chosen-kernels.mlir
// RUN: FileCheck %s < %t.chosen.mlir
// RUN: espalier-opt %s | espalier-opt | FileCheck %s --check-prefix=ROUND
// RUN: espalier-opt %s -mlir-print-op-generic | espalier-opt | FileCheck %s --check-prefix=ROUND

// Each number of a command may be a parameter; what comes out is what the
// numbers that are selected give.
#ij = affine_set<(i, j)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, N - 1 - j >= 0)>
#ijk = affine_set<(i, j, k)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, N - 1 - j >= 0, k >= 0, N - 1 - k >= 0)>
#id = affine_map<(i, j)[N] -> (i, j)>
module attributes {transform.with_named_sequence} {
poly.kernel @order(%A: memref<?x?xf32>, %N: index) {
  poly.compute @a dims ["i", "j"] domain [#ij] reads() writes(%A[#id] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @b dims ["i", "j"] domain [#ij] reads(%A[#id] : memref<?x?xf32>) writes(%A[#id] : memref<?x?xf32>) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.compute @c dims ["i", "j"] domain [#ij] reads(%A[#id] : memref<?x?xf32>) writes(%A[#id] : memref<?x?xf32>) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.compute @d dims ["i", "j"] domain [#ij] reads(%A[#id] : memref<?x?xf32>) writes(%A[#id] : memref<?x?xf32>) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
}
poly.kernel @data(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>, %N: index) {
  %t = poly.array (%N, %N) : memref<?x?xf32>
  poly.compute @fill dims ["i", "j"] domain [#ij] reads(%A[#id] : memref<?x?xf32>) writes(%t[#id] : memref<?x?xf32>) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.compute @acc dims ["i", "j", "k"] domain [#ijk]
      reads(%t[affine_map<(i, j, k)[N] -> (i, k)>], %B[affine_map<(i, j, k)[N] -> (k, j)>], %C[affine_map<(i, j, k)[N] -> (i, j)>]
            : memref<?x?xf32>, memref<?x?xf32>, memref<?x?xf32>)
      writes(%C[affine_map<(i, j, k)[N] -> (i, j)>] : memref<?x?xf32>) reduction add {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %r = arith.addf %s, %p : f32
    poly.yield %r : f32
  }
}
poly.kernel @planned(%A: memref<?x?xf32>, %N: index) {
  poly.compute @s dims ["i", "j"] domain [#ij] reads() writes(%A[#id] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// CHECK: poly.kernel @order
// CHECK: poly.kernel @data
// CHECK: poly.kernel @planned
// ROUND: transform.named_sequence
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @order::@a of %module : (!transform.any_op) -> !transform.any_op
  %b = transform.poly.computation @order::@b of %module : (!transform.any_op) -> !transform.any_op
  %c = transform.poly.computation @order::@c of %module : (!transform.any_op) -> !transform.any_op
  %d = transform.poly.computation @order::@d of %module : (!transform.any_op) -> !transform.any_op
  // ROUND: %[[ONE:.*]] = transform.tune.knob<"one"> = 1 : i64 from options = [1] -> !transform.param<i64>
  %1 = transform.tune.knob<"one"> = 1 from options = [1] -> !transform.param<i64>
  // ROUND: %[[TWO:.*]] = transform.tune.knob
  %2 = transform.tune.knob<"two"> = 2 from options = [2, 3] -> !transform.param<i64>
  // ROUND: %[[FOUR:.*]] = transform.tune.knob
  %4 = transform.tune.knob<"four"> = 4 from options = [4, 8] -> !transform.param<i64>
  // ROUND: %[[EIGHT:.*]] = transform.tune.knob
  %8 = transform.tune.knob<"eight"> = 8 from options = "any" -> !transform.param<i64>
  // ROUND: transform.poly.fuse %{{.*}} with %{{.*}} loops %[[ONE]]
  transform.poly.fuse %a with %b loops %1 : !transform.any_op, !transform.any_op
  // ROUND: transform.poly.tile %{{.*}} sizes {{\[\[}}64, %[[EIGHT]]], [%[[FOUR]], 4]]
  transform.poly.tile %c loops ["i", "j"] sizes [[64, %8], [%4, 4]] : !transform.any_op
  // ROUND: transform.poly.skew %{{.*}} by [%[[TWO]]] of
  transform.poly.skew %d loop "j" by [%2] of ["i"] : !transform.any_op
  // ROUND: transform.poly.shift %{{.*}} by %[[TWO]] :
  transform.poly.shift %d loop "i" by %2 : !transform.any_op
  // ROUND: transform.poly.wavefront %{{.*}} factors [%[[FOUR]], %[[ONE]]]
  transform.poly.wavefront %d loops ["i", "j"] factors [%4, %1] : !transform.any_op
  // ROUND: transform.poly.peel %{{.*}} first %[[ONE]]
  transform.poly.peel %b loop "j" first %1 : !transform.any_op
  // ROUND: transform.poly.peel %{{.*}} last %[[TWO]]
  transform.poly.peel %b loop "j" last %2 : !transform.any_op
  // ROUND: transform.poly.peel %{{.*}} at %[[FOUR]]
  transform.poly.peel %b loop "j" at %4 : !transform.any_op
  // ROUND: transform.poly.unroll_and_jam %{{.*}} factor %[[TWO]]
  transform.poly.unroll_and_jam %a loop "j" factor %2 : !transform.any_op

  %fill = transform.poly.computation @data::@fill of %module : (!transform.any_op) -> !transform.any_op
  %acc = transform.poly.computation @data::@acc of %module : (!transform.any_op) -> !transform.any_op
  %t = transform.poly.written_array of %fill : (!transform.any_op) -> !transform.any_op
  // ROUND: transform.poly.split %{{.*}} factors [%[[FOUR]], 2]
  transform.poly.split %fill loop "i" factors [%4, 2] : !transform.any_op
  // ROUND: transform.poly.unroll %{{.*}} factor %[[TWO]]
  transform.poly.unroll %fill loop "i.2" factor %2 : !transform.any_op
  // ROUND: transform.poly.vectorize %{{.*}} width %[[EIGHT]]
  transform.poly.vectorize %fill loop "j" width %8 : !transform.any_op
  // ROUND: transform.poly.layout %{{.*}} padding [0, %[[ONE]]] multiples [1, %[[EIGHT]]]
  transform.poly.layout %t by affine_map<(i, j) -> (j, i)> padding [0, %1] multiples [1, %8] : !transform.any_op
  // ROUND: transform.poly.split
  transform.poly.split %acc loop "k" factors [16] : !transform.any_op
  transform.poly.interchange %acc loops ["k.0", "i", "j", "k.1"] : !transform.any_op
  // ROUND: transform.poly.pack %{{.*}} blocks [0, %[[EIGHT]]]
  %panel, %copy = transform.poly.pack %acc read 1 blocks [0, %8] order [1, 0, 2] at "k.0" : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  // ROUND: transform.poly.register_block %{{.*}} sizes [%[[TWO]], 16] width %[[EIGHT]]
  %tile, %load, %store = transform.poly.register_block %acc loops ["i", "j"] sizes [%2, 16] width %8 : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  // ROUND: transform.poly.prefetch %{{.*}} distance %[[FOUR]] bytes %[[EIGHT]]
  transform.poly.prefetch %acc read 0 loop "k.1" distance %4 bytes %8 : !transform.any_op

  %s = transform.poly.computation @planned::@s of %module : (!transform.any_op) -> !transform.any_op
  // ROUND: transform.poly.plan %{{.*}} shared %[[TWO]] loops ["i", "j"] parallel %[[ONE]] tile ["i", "j"] by [%[[FOUR]], 16] lanes "j" width %[[EIGHT]]
  transform.poly.plan %s shared %2 loops ["i", "j"] parallel %1 tile ["i", "j"] by [%4, 16] lanes "j" width %8 : !transform.any_op
  transform.yield
}

// Those that are not run.
// ROUND: transform.named_sequence @syntax
transform.named_sequence @syntax(%s: !transform.any_op {transform.readonly}) {
  // ROUND: %[[THREE:.*]] = transform.tune.knob<"three"> options = [3]
  %3 = transform.tune.knob<"three"> options = [3] -> !transform.param<i64>
  // ROUND: transform.poly.fold_storage %{{.*}} index 0 places %[[THREE]]
  transform.poly.fold_storage %s index 0 places %3 : !transform.any_op
  // ROUND: transform.poly.plan %{{.*}} shared 2 inside %[[THREE]] window %[[THREE]] parallel %[[THREE]] around_rest %[[THREE]]
  // ROUND-SAME: tile ["i"] by [4] width %[[THREE]] block "j" block_size %[[THREE]]
  // ROUND-SAME: inside_sum ["k"] terms %[[THREE]] own_vectors [1, %[[THREE]]] ahead %[[THREE]]
  transform.poly.plan %s shared 2 inside %3 window %3 parallel %3 around_rest %3 tile ["i"] by [4]
      width %3 block "j" block_size %3 inside_sum ["k"] terms %3 own_vectors [1, %3] ahead %3 : !transform.any_op
  transform.yield
}
}
