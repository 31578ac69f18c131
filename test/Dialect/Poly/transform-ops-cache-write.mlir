// RUN: espalier-opt %s -transform-interpreter -split-input-file | FileCheck %s
// RUN: espalier-opt %s -transform-interpreter -split-input-file -convert-poly-to-loops -cse -canonicalize | FileCheck %s --check-prefix=LOOPS

#ij = affine_set<(i, j) : (i >= 0, 11 - i >= 0, j >= 0, 31 - j >= 0)>
#ijk = affine_set<(i, j, k) : (i >= 0, 11 - i >= 0, j >= 0, 31 - j >= 0, k >= 0, 63 - k >= 0)>
#C2 = affine_map<(i, j) -> (i, j)>
#C = affine_map<(i, j, k) -> (i, j)>

// Steps of k outside of the tile: each adds up on its own, in registers.
// CHECK-LABEL: poly.kernel @blocks(
// CHECK:         %[[TILE:.*]] = poly.array register : memref<?x?x?x4x16xf32> {{.*}} as memref<4x16xf32>
// CHECK:         poly.compute @acc_init dims ["pc", "ir", "jr", "e0", "e1"] {{.*}} writes(%[[TILE]][
// CHECK-NEXT:      arith.constant -0.0
// CHECK:         poly.compute @acc {{.*}} writes(%[[TILE]][
// CHECK:         poly.compute @acc_combine dims ["pc", "ir", "jr", "e0", "e1"] {{.*}} reads(%[[TILE]][{{.*}} reduction add
// LOOPS-LABEL: func.func @blocks(
// LOOPS-COUNT-3: scf.for
// LOOPS-NOT:     memref.load
// LOOPS:         scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// LOOPS-COUNT-4:   arith.addf
// LOOPS-NOT:     arith.addf
// LOOPS:           scf.yield
// LOOPS-COUNT-4: vector.store
module attributes {transform.with_named_sequence} {
poly.kernel @blocks(%A: memref<12x64xf32>, %B: memref<64x32xf32>, %C: memref<12x32xf32>) {
  poly.compute @acc dims ["i", "j", "k"] domain [#ijk]
      reads(%A[affine_map<(i, j, k) -> (i, k)>], %B[affine_map<(i, j, k) -> (k, j)>], %C[#C] : memref<12x64xf32>, memref<64x32xf32>, memref<12x32xf32>)
      writes(%C[#C] : memref<12x32xf32>) reduction add {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    poly.yield %s : f32
  }
  poly.schedule {
    poly.band [@acc] maps [affine_map<(i, j, k) -> (k floordiv 16, i floordiv 4, j floordiv 16, k mod 16, i mod 4, j mod 16)>]
        loops [sequential, sequential, sequential, sequential, unroll, vector(16)] names ["pc", "ir", "jr", "k", "i", "j"]
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @blocks::@acc of %module : (!transform.any_op) -> !transform.any_op
  %tile, %init, %combine = transform.poly.cache_write %acc write 0 at "jr" place register
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.poly.unroll %init loop "e0" : !transform.any_op
  transform.poly.vectorize %init loop "e1" width 16 : !transform.any_op
  transform.poly.unroll %combine loop "e0" : !transform.any_op
  transform.poly.vectorize %combine loop "e1" width 16 : !transform.any_op
  transform.yield
}
}

// -----

#ij = affine_set<(i, j) : (i >= 0, 11 - i >= 0, j >= 0, 31 - j >= 0)>
#ijk = affine_set<(i, j, k) : (i >= 0, 11 - i >= 0, j >= 0, 31 - j >= 0, k >= 0, 63 - k >= 0)>
#C2 = affine_map<(i, j) -> (i, j)>
#C = affine_map<(i, j, k) -> (i, j)>

// All uses of a row in one iteration: nothing has to be copied in.
// CHECK-LABEL: poly.kernel @rows(
// CHECK:         %[[ROW:.*]] = poly.array stack : memref<?x1x32xf32> {{.*}} as memref<1x32xf32>
// CHECK:         poly.compute @init {{.*}} writes(%[[ROW]][
// CHECK-NOT:     poly.compute @acc_in
// CHECK:         poly.compute @acc {{.*}} writes(%[[ROW]][
// CHECK:         poly.compute @acc_out {{.*}} reads(%[[ROW]][
// CHECK:           poly.filter [@init]
// CHECK:           poly.filter [@acc]
// CHECK:           poly.filter [@acc_out]
module attributes {transform.with_named_sequence} {
poly.kernel @rows(%A: memref<12x64xf32>, %C: memref<12x32xf32>) {
  poly.compute @init dims ["i", "j"] domain [#ij] reads() writes(%C[#C2] : memref<12x32xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @acc dims ["i", "j", "k"] domain [#ijk]
      reads(%A[affine_map<(i, j, k) -> (i, k)>], %C[#C] : memref<12x64xf32>, memref<12x32xf32>)
      writes(%C[#C] : memref<12x32xf32>) reduction add {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %c, %a : f32
    poly.yield %s : f32
  }
  poly.schedule {
    poly.band [@init, @acc] maps [affine_map<(i, j) -> (i)>, affine_map<(i, j, k) -> (i)>] loops [parallel] names ["i"] {
      poly.sequence {
        poly.filter [@init]
        poly.filter [@acc]
      }
    }
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %acc = transform.poly.computation @rows::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.cache_write %acc write 0 at "i" : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.yield
}
}

// -----

#points = affine_set<(i, t) : (i >= 0, 63 - i >= 0, t >= 0, 9 - t >= 0)>
#x = affine_map<(i, t) -> (i)>

// What is read before it is written is copied in.
// CHECK-LABEL: poly.kernel @in_place(
// CHECK:         poly.compute @step_in dims ["b", "e0"] {{.*}} reads(%arg0[
// CHECK:         poly.compute @step dims
// CHECK:         poly.compute @step_out dims ["b", "e0"] {{.*}} writes(%arg0[
// CHECK:           poly.filter [@step_in]
// CHECK:           poly.filter [@step]
// CHECK:           poly.filter [@step_out]
module attributes {transform.with_named_sequence} {
poly.kernel @in_place(%A: memref<64xf32>) {
  poly.compute @step dims ["i", "t"] domain [#points] reads(%A[#x] : memref<64xf32>) writes(%A[#x] : memref<64xf32>) {
  ^bb0(%a: f32):
    %s = math.sin %a : f32
    poly.yield %s : f32
  }
  poly.schedule {
    poly.band [@step] maps [affine_map<(i, t) -> (i floordiv 16, t, i mod 16)>] loops [sequential, sequential, sequential] names ["b", "t", "i"]
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %step = transform.poly.computation @in_place::@step of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.cache_write %step write 0 at "b" : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.yield
}
}
