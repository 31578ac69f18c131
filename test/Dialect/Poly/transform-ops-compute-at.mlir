// RUN: espalier-opt %s -transform-interpreter -split-input-file | FileCheck %s

#i = affine_map<(i)[N] -> (i)>
#east = affine_map<(i)[N] -> (i + 1)>
#padded = affine_set<(i)[N] : (i >= 0, N - i >= 0)>
#all = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>

// Tiles of a stencil overlap: elements at their borders are computed twice.
// CHECK-DAG: #[[BOX:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[MAKE:.*]] = affine_map<(d0, d1)[s0] -> (d0, d0 * -16 + d1)>
// CHECK-DAG: #[[IN:.*]] = affine_map<(d0, d1)[s0] -> (d1 + 1)>
// CHECK-DAG: #[[USE:.*]] = affine_map<(d0)[s0] -> (d0 floordiv 16, d0 mod 16)>
// CHECK-LABEL: poly.kernel @overlapped
module attributes {transform.with_named_sequence} {
poly.kernel @overlapped(%a: memref<?xf32>, %c: memref<?xf32>, %N: index) {
  // CHECK: %[[B:.*]] = poly.array stack : memref<?x17xf32> storage #[[BOX]] as memref<17xf32>
  %b = poly.array(%N) : memref<?xf32>
  // CHECK: poly.compute @sum dims ["i.0", "i.sum"]
  // CHECK-SAME: reads(%{{.*}}, %{{.*}}[#[[IN]]]
  // CHECK-SAME: writes(%[[B]][#[[MAKE]]]
  // CHECK: poly.index 1
  poly.compute @sum dims ["i"] domain [#padded] reads(%a[#i], %a[#east] : memref<?xf32>, memref<?xf32>) writes(%b[#i] : memref<?xf32>) {
  ^bb0(%w: f32, %e: f32):
    %at = poly.index 0
    %n = arith.index_cast %at : index to i32
    %f = arith.sitofp %n : i32 to f32
    %s = arith.addf %w, %e : f32
    %r = arith.addf %s, %f : f32
    poly.yield %r : f32
  }
  // CHECK: poly.compute @product dims ["i"] {{.*}} reads(%[[B]][#[[USE]]]
  poly.compute @product dims ["i"] domain [#all] reads(%b[#i], %b[#east] : memref<?xf32>, memref<?xf32>) writes(%c[#i] : memref<?xf32>) {
  ^bb0(%w: f32, %e: f32):
    %r = arith.mulf %w, %e : f32
    poly.yield %r : f32
  }
  // CHECK:      poly.schedule {
  // CHECK-NEXT:   poly.band [@product, @sum] {{.*}} names ["i.0"] {
  // CHECK-NEXT:     poly.sequence
  // CHECK-NEXT:       poly.filter [@sum] {
  // CHECK-NEXT:         poly.band [@sum] {{.*}} names ["i.sum"]
  // CHECK:            poly.filter [@product] {
  // CHECK-NEXT:         poly.band [@product] {{.*}} names ["i.1"]
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %sum = transform.poly.computation @overlapped::@sum of %module : (!transform.any_op) -> !transform.any_op
  %product = transform.poly.computation @overlapped::@product of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.split %product loop "i" factors [16] : !transform.any_op
  transform.poly.compute_at %sum in %product loop "i.0" : !transform.any_op, !transform.any_op
  transform.yield
}
}

// -----

#point = affine_map<(i, j)[N] -> (i, j)>
#row = affine_map<(i)[N] -> (i)>
#sum = affine_map<(i, j)[N] -> (i)>
#square = affine_set<(i, j)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, N - 1 - j >= 0)>
#line = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#half = affine_set<(i)[N] : (i >= 0, N - 2 * i - 1 >= 0)>

// All that write the array move: they stay interleaved, and change it in place.
// What nobody uses, the odd rows, is not computed.
// CHECK: #[[EVEN:.*]] = affine_set<(d0, d1)[s0] : (d0 * -2 + d1 == 0, d0 >= 0, d0 * -2 + s0 - 1 >= 0)>
// CHECK-LABEL: poly.kernel @stages
module attributes {transform.with_named_sequence} {
poly.kernel @stages(%A: memref<?x?xf32>, %C: memref<?xf32>, %N: index) {
  // CHECK: poly.array register : memref<?x1xf32> storage #{{.*}} as memref<1xf32>
  %s = poly.array(%N) : memref<?xf32>
  // CHECK: poly.compute @init dims ["i", "i.init"] domain [#[[EVEN]]]
  poly.compute @init dims ["i"] domain [#line] reads() writes(%s[#row] : memref<?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  // CHECK: poly.compute @add dims ["i", "i.add", "j"] {{.*}} reduction add interleaved 2
  poly.compute @add dims ["i", "j"] domain [#square] reads(%A[#point], %s[#sum] : memref<?x?xf32>, memref<?xf32>)
      writes(%s[#sum] : memref<?xf32>) reduction add interleaved 1 {
  ^bb0(%a: f32, %x: f32):
    %r = arith.addf %x, %a : f32
    poly.yield %r : f32
  }
  // CHECK: poly.compute @relu dims ["i", "i.relu"]
  poly.compute @relu dims ["i"] domain [#line] reads(%s[#row] : memref<?xf32>) writes(%s[#row] : memref<?xf32>) {
  ^bb0(%x: f32):
    %z = arith.constant 0.0 : f32
    %r = arith.maximumf %x, %z : f32
    poly.yield %r : f32
  }
  poly.compute @use dims ["i"] domain [#half] reads(%s[affine_map<(i)[N] -> (2 * i)>] : memref<?xf32>) writes(%C[#row] : memref<?xf32>) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  // CHECK:      poly.band [@use, @init, @add, @relu] {{.*}} names ["i"]
  // CHECK-NEXT:   poly.sequence
  // CHECK-NEXT:     poly.filter [@init]
  // CHECK:          poly.filter [@add]
  // CHECK:          poly.filter [@relu]
  // CHECK:          poly.filter [@use]
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %add = transform.poly.computation @stages::@add of %module : (!transform.any_op) -> !transform.any_op
  %use = transform.poly.computation @stages::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.compute_at %add in %use loop "i" place register : !transform.any_op, !transform.any_op
  transform.yield
}
}

// -----

#point = affine_map<(i, j)[N] -> (i, j)>
#square = affine_set<(i, j)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, N - 1 - j >= 0)>

// An argument stays: each element is made in the tile that uses it.
// CHECK: #[[TILE:.*]] = affine_map<(d0, d1)[s0] -> (d1 floordiv 8)>
// CHECK-LABEL: poly.kernel @moved
module attributes {transform.with_named_sequence} {
poly.kernel @moved(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>, %N: index) {
  // CHECK: poly.compute @scale dims ["i", "j"]
  poly.compute @scale dims ["i", "j"] domain [#square] reads(%A[#point] : memref<?x?xf32>) writes(%B[#point] : memref<?x?xf32>) {
  ^bb0(%a: f32):
    %r = arith.addf %a, %a : f32
    poly.yield %r : f32
  }
  poly.compute @turn dims ["i", "j"] domain [#square] reads(%B[affine_map<(i, j)[N] -> (j, i)>] : memref<?x?xf32>) writes(%C[#point] : memref<?x?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  // CHECK:      poly.band [@turn, @scale] maps [#{{.*}}, #[[TILE]]] {{.*}} names ["i.0"]
  // CHECK-NEXT:   poly.sequence
  // CHECK-NEXT:     poly.filter [@scale] {
  // CHECK-NEXT:       poly.band [@scale] {{.*}} names ["i.scale", "j"]
  // CHECK:          poly.filter [@turn] {
  // CHECK-NEXT:       poly.band [@turn] {{.*}} names ["i.1", "j"]
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %scale = transform.poly.computation @moved::@scale of %module : (!transform.any_op) -> !transform.any_op
  %turn = transform.poly.computation @moved::@turn of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.split %turn loop "i" factors [8] : !transform.any_op
  transform.poly.compute_at %scale in %turn loop "i.0" : !transform.any_op, !transform.any_op
  transform.yield
}
}
