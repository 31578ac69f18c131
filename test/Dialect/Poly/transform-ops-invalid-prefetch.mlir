// RUN: not espalier-opt %s -transform-interpreter=entry-point=both 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not espalier-opt %s -transform-interpreter=entry-point=neither 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not espalier-opt %s -transform-interpreter=entry-point=reader 2>&1 | FileCheck %s --check-prefix=READER
// RUN: not espalier-opt %s -transform-interpreter=entry-point=read_of 2>&1 | FileCheck %s --check-prefix=READ-OF
// RUN: not espalier-opt %s -transform-interpreter=entry-point=write_of 2>&1 | FileCheck %s --check-prefix=WRITE-OF
// RUN: not espalier-opt %s -transform-interpreter=entry-point=map 2>&1 | FileCheck %s --check-prefix=MAP
// RUN: not espalier-opt %s -transform-interpreter=entry-point=affine 2>&1 | FileCheck %s --check-prefix=AFFINE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=lanes 2>&1 | FileCheck %s --check-prefix=LANES

#ij = affine_set<(i, j) : (i >= 0, 7 - i >= 0, j >= 0, 63 - j >= 0)>
#c = affine_map<(i, j) -> (i, j)>
module attributes {transform.with_named_sequence} {
poly.kernel @k(%A: memref<8x64xf32>, %B: memref<8x64xf32>) {
  poly.compute @a dims ["i", "j"] domain [#ij] reads(%A[#c] : memref<8x64xf32>) writes(%B[#c] : memref<8x64xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @b dims ["i", "j"] domain [#ij] reads() writes(%A[#c] : memref<8x64xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// PrefetchCommandOp, place
// BOTH: error: 'transform.poly.prefetch' op expects either a distance or a map
transform.named_sequence @both(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.prefetch %a read 0 loop "i" distance 1 at #c : !transform.any_op
  transform.yield
}
transform.named_sequence @neither(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.prefetch %a read 0 loop "i" : !transform.any_op
  transform.yield
}

// PrefetchCommandOp, reader
// READER: error: 'transform.poly.prefetch' op expects an access of one out of [@a, @b], but got @c
transform.named_sequence @reader(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.prefetch %a read 0 of @c loop "i" at #c : !transform.any_op
  transform.yield
}

// PrefetchCommandOp, read
// READ-OF: error: 'transform.poly.prefetch' op expects one of the 0 reads of @b, but got #0
transform.named_sequence @read_of(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.prefetch %a read 0 of @b loop "i" at #c : !transform.any_op
  transform.yield
}

// PrefetchCommandOp, write
// WRITE-OF: error: 'transform.poly.prefetch' op expects one of the 1 writes of @b, but got #1
transform.named_sequence @write_of(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.prefetch %a write 1 of @b loop "i" at #c : !transform.any_op
  transform.yield
}

// PrefetchCommandOp, map
// MAP: error: 'transform.poly.prefetch' op expects a map from the 2 dimensions of @a to the 2 of @a, but got one from 2 to 1
transform.named_sequence @map(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.prefetch %a read 0 loop "i" at affine_map<(i, j) -> (i)> : !transform.any_op
  transform.yield
}

// PrefetchCommandOp, map
// AFFINE: error: 'transform.poly.prefetch' op expects an affine expression of 2 loops and 0 parameters, with numbers of at most 2^30, but got d1 + 4294967296
transform.named_sequence @affine(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.prefetch %a read 0 loop "i" at affine_map<(i, j) -> (i, j + 4294967296)> : !transform.any_op
  transform.yield
}

// PrefetchCommandOp, lanes
// LANES: error: 'transform.poly.prefetch' op expects no prefetch inside the lanes "j.1"
transform.named_sequence @lanes(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @k::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.vectorize %a loop "j" width 16 : !transform.any_op
  transform.poly.prefetch %a read 0 loop "j.1" at #c : !transform.any_op
  transform.yield
}
}
