// RUN: espalier-opt %s -transform-interpreter -split-input-file --remark-format=emitRemark --remarks-filter=poly-schedule 2>&1 | FileCheck %s

#points = affine_set<(i, j)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, N - 1 - j >= 0)>
#inner = affine_set<(i, j)[N] : (i - 1 >= 0, N - 3 - i >= 0, j >= 0, N - 1 - j >= 0)>
#same = affine_map<(i, j)[N] -> (i, j)>
#above = affine_map<(i, j)[N] -> (i - 1, j)>
#below = affine_map<(i, j)[N] -> (i + 2, j)>

// What reads two rows ahead is delayed by two rows. Loops of the second whose
// names are taken get new ones.
// CHECK: remark: [Passed] Fused | Category:poly-schedule | {{.*}}Delay=2
// CHECK-DAG: #[[SAME:.*]] = affine_map<(d0, d1)[s0] -> (d0)>
// CHECK-DAG: #[[DELAYED:.*]] = affine_map<(d0, d1)[s0] -> (d0 + 2)>
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: poly.kernel @rows
poly.kernel @rows(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>, %N: index) {
  poly.compute @make dims ["i", "j"] domain [#points] reads(%A[#same] : memref<?x?xf32>) writes(%B[#same] : memref<?x?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @use dims ["x", "i"] domain [#inner] reads(%B[#above], %B[#below] : memref<?x?xf32>, memref<?x?xf32>) writes(%C[#same] : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    poly.yield %s : f32
  }
  // CHECK: poly.schedule {
  // CHECK-NEXT: poly.band [@make, @use] maps [#[[SAME]], #[[DELAYED]]] loops [sequential] names ["i"] {
  // CHECK-NEXT: poly.sequence {
  // CHECK-NEXT: poly.filter [@make] {
  // CHECK-NEXT: poly.band [@make] {{.*}} names ["j"]
  // CHECK: poly.filter [@use] {
  // CHECK-NEXT: poly.band [@use] {{.*}} names ["i.use"]
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %make = transform.poly.computation @rows::@make of %module : (!transform.any_op) -> !transform.any_op
  %use = transform.poly.computation @rows::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fuse %make with %use loops 1 : !transform.any_op, !transform.any_op
  transform.yield
}
}

// -----

#points = affine_set<(i, j)[N] : (i >= 0, N - 1 - i >= 0, j - i >= 0, N - 1 - j >= 0)>
#same = affine_map<(i, j)[N] -> (i, j)>

// Fission gives the parts of a sequence their own loops; nested sequences become
// one. Parts that do not depend on one another may change places.
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: poly.kernel @parts
poly.kernel @parts(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>, %N: index) {
  poly.compute @a dims ["i", "j"] domain [#points] reads(%A[#same] : memref<?x?xf32>) writes(%A[#same] : memref<?x?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @b dims ["i", "j"] domain [#points] reads(%B[#same] : memref<?x?xf32>) writes(%B[#same] : memref<?x?xf32>) interleaved 2 {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @c dims ["i", "j"] domain [#points] reads(%C[#same] : memref<?x?xf32>) writes(%C[#same] : memref<?x?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  // CHECK: poly.schedule {
  // CHECK-NEXT: poly.sequence {
  // CHECK-NEXT: poly.filter [@c] {
  // CHECK-NEXT: poly.band [@c] {{.*}} names ["i", "j"]
  // CHECK: poly.filter [@a] {
  // CHECK-NEXT: poly.band [@a] {{.*}} names ["i"] {
  // CHECK-NEXT: poly.mark "row" {
  // CHECK-NEXT: poly.band [@a] {{.*}} names ["j"]
  // CHECK: poly.filter [@b] {
  // CHECK-NEXT: poly.band [@b] {{.*}} names ["i", "j"]
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @parts::@a of %module : (!transform.any_op) -> !transform.any_op
  %c = transform.poly.computation @parts::@c of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fission %a loop "i" : !transform.any_op
  transform.poly.move %c before %a : !transform.any_op, !transform.any_op
  transform.poly.mark %a loop "j" as "row" : !transform.any_op
  transform.yield
}
}

// -----

#line = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#here = affine_map<(i)[N] -> (i)>

// At one point, what is before it shares loops, as what is behind it does.
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: poly.kernel @cut
poly.kernel @cut(%A: memref<?xf32>, %B: memref<?xf32>, %C: memref<?xf32>, %N: index) {
  poly.compute @a dims ["i"] domain [#line] reads(%A[#here] : memref<?xf32>) writes(%A[#here] : memref<?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @b dims ["i"] domain [#line] reads(%B[#here] : memref<?xf32>) writes(%B[#here] : memref<?xf32>) interleaved 1 {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @c dims ["i"] domain [#line] reads(%C[#here] : memref<?xf32>) writes(%C[#here] : memref<?xf32>) interleaved 1 {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  // CHECK: poly.schedule {
  // CHECK-NEXT: poly.sequence {
  // CHECK-NEXT: poly.filter [@a] {
  // CHECK-NEXT: poly.band [@a] {{.*}} names ["i"]
  // CHECK: poly.filter [@b, @c] {
  // CHECK-NEXT: poly.band [@b, @c] {{.*}} names ["i"] {
  // CHECK-NEXT: poly.sequence {
  // CHECK-NEXT: poly.filter [@b] {
  // CHECK: poly.filter [@c] {
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %b = transform.poly.computation @cut::@b of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.fission %b loop "i" at 1 : !transform.any_op
  transform.yield
}
}

// -----

#points = affine_set<(i, j)[N] : (i >= 0, N - 1 - i >= 0, j - i >= 0, N - 1 - j >= 0)>
#same = affine_map<(i, j)[N] -> (i, j)>

// The first iterations of a loop follow the loops around it. The peeled loops
// have names of their own, so that later commands can tell them apart.
// CHECK-DAG: #[[MAIN:.*]] = affine_set<(d0, d1)[s0] : (-d0 + s0 - 3 >= 0)>
// CHECK-DAG: #[[LAST:.*]] = affine_set<(d0, d1)[s0] : (d0 - (s0 - 2) >= 0)>
// CHECK-DAG: #[[DIAGONAL:.*]] = affine_set<(d0, d1)[s0] : (d0 - d1 >= 0)>
// CHECK-DAG: #[[BELOW:.*]] = affine_set<(d0, d1)[s0] : (-d1 + 16 >= 0)>
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: poly.kernel @peeled
poly.kernel @peeled(%A: memref<?x?xf32>, %N: index) {
  poly.compute @a dims ["i", "j"] domain [#points] reads(%A[#same] : memref<?x?xf32>) writes(%A[#same] : memref<?x?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  // CHECK: poly.filter [@a] where [#[[MAIN]]] {
  // CHECK-NEXT: poly.band [@a] {{.*}} names ["i"] {
  // CHECK-NEXT: poly.sequence {
  // CHECK-NEXT: poly.filter [@a] where [#[[DIAGONAL]]] {
  // CHECK-NEXT: poly.band [@a] {{.*}} loops [sequential] names ["j.peel"]
  // CHECK: poly.sequence {
  // CHECK-NEXT: poly.filter [@a] where [#[[BELOW]]] {
  // CHECK-NEXT: poly.band [@a] {{.*}} loops [vector(16)] names ["j"]
  // CHECK: poly.band [@a] {{.*}} names ["j.peel.2"]
  // CHECK: poly.filter [@a] where [#[[LAST]]] {
  // CHECK-NEXT: poly.band [@a] {{.*}} names ["i.peel"] {
  // CHECK: poly.band [@a] {{.*}} names ["j.peel.peel"]
  // CHECK: poly.band [@a] {{.*}} loops [sequential] names ["j.peel.1"]
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @peeled::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.peel %a loop "j" first 1 : !transform.any_op
  transform.poly.peel %a loop "i" last 2 : !transform.any_op
  transform.poly.peel %a loop "j" at 17 : !transform.any_op
  transform.poly.vectorize %a loop "j" width 16 : !transform.any_op
  transform.yield
}
}

// -----

#box = affine_set<(i, j)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, N - 1 - j >= 0)>
#same = affine_map<(i, j)[N] -> (i, j)>

// The loops over the tiles get a band of their own.
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: poly.kernel @full
poly.kernel @full(%A: memref<?x?xf32>, %N: index) {
  poly.compute @a dims ["i", "j"] domain [#box] reads(%A[#same] : memref<?x?xf32>) writes(%A[#same] : memref<?x?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  // CHECK: poly.band [@a] {{.*}} names ["i.0"] {
  // CHECK-NEXT: poly.band [@a] {{.*}} names ["i.1", "j.0"] full_tiles {
  // CHECK-NEXT: poly.band [@a] {{.*}} loops [unroll, sequential] names ["i.2", "j.1"]
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @full::@a of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.split %a loop "i" factors [8, 4] : !transform.any_op
  transform.poly.split %a loop "j" factors [4] : !transform.any_op
  transform.poly.interchange %a loops ["j.0", "i.2"] : !transform.any_op
  transform.poly.separate_full_tiles %a loops ["i.1", "j.0"] : !transform.any_op
  transform.poly.unroll %a loop "i.2" : !transform.any_op
  transform.yield
}
}
