// RUN: espalier-opt %s -transform-interpreter | FileCheck %s
// RUN: not espalier-opt %s -transform-interpreter=entry-point=inline 2>&1 | FileCheck %s --check-prefix=INLINE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=inline_starts 2>&1 | FileCheck %s --check-prefix=INLINE-STARTS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=tensorize 2>&1 | FileCheck %s --check-prefix=TENSORIZE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=contract 2>&1 | FileCheck %s --check-prefix=CONTRACT
// RUN: espalier-opt %s -transform-interpreter=entry-point=interchange | FileCheck %s --check-prefix=INTERCHANGE
// RUN: espalier-opt %s -transform-interpreter=entry-point=jam | FileCheck %s --check-prefix=JAM

// Computations that data may keep from running. Each refusal is an entry point.
#all = affine_set<(n, j)[N, E] : (n >= 0, N - 1 - n >= 0, j >= 0, E - 1 - j >= 0)>
#row = affine_set<(n, j)[N, E, b, e] : (j - b >= 0, e - 1 - j >= 0)>
#small = affine_set<(n, j)[N, E] : (n >= 0, N - 1 - n >= 0, j >= 0, 7 - j >= 0)>
#n = affine_map<(n, j)[N, E] -> (n)>
#next = affine_map<(n, j)[N, E] -> (n + 1)>
#j = affine_map<(n, j)[N, E] -> (j)>
#nj = affine_map<(n, j)[N, E] -> (n, j)>

module attributes {transform.with_named_sequence} {
// What is copied back is copied in first: rows need not cover the tile.
// CHECK-LABEL: poly.kernel @write(
// CHECK:         poly.compute @clear_in dims ["n", "e0", "e1"] {{.*}} reads(%arg1[
// CHECK:         poly.compute @clear dims ["n", "j"] {{.*}} where
// CHECK:         poly.compute @clear_out dims ["n", "e0", "e1"]
poly.kernel @write(%starts: memref<?xi32> {poly.monotonic}, %x: memref<?x8xf32>, %N: index, %E: index) {
  poly.compute @clear dims ["n", "j"] domain [#small] where #row
      reads(%starts[#n], %starts[#next] : memref<?xi32>, memref<?xi32>) writes(%x[#nj] : memref<?x8xf32>) {
  ^bb0(%b: i32, %e: i32):
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// The condition follows its computation, below other loops and reads.
// CHECK-LABEL: poly.kernel @moves(
// CHECK:         poly.compute @make dims ["i", "n", "j"] domain {{.*}} where #[[MOVED:.*]] reads
// CHECK:         poly.compute @use
poly.kernel @moves(%starts: memref<?xi32>, %y: memref<?xf32>, %N: index, %E: index) {
  %t = poly.array : memref<64x8xf32>
  poly.compute @zero dims ["n", "j"] domain [affine_set<(n, j)[N, E] : (n >= 0, 63 - n >= 0, j >= 0, 7 - j >= 0)>]
      reads() writes(%t[#nj] : memref<64x8xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @make dims ["n", "j"] domain [affine_set<(n, j)[N, E] : (n >= 0, 63 - n >= 0, j >= 0, 7 - j >= 0)>] where #row
      reads(%starts[#n], %starts[#next] : memref<?xi32>, memref<?xi32>) writes(%t[#nj] : memref<64x8xf32>) {
  ^bb0(%b: i32, %e: i32):
    %z = arith.constant 1.0 : f32
    poly.yield %z : f32
  }
  poly.compute @use dims ["i"] domain [affine_set<(i)[N, E] : (i >= 0, 63 - i >= 0)>]
      reads(%t[affine_map<(i)[N, E] -> (i, 3)>] : memref<64x8xf32>) writes(%y[affine_map<(i)[N, E] -> (i)>] : memref<?xf32>) {
  ^bb0(%v: f32):
    poly.yield %v : f32
  }
}

poly.kernel @producer(%starts: memref<?xi32> {poly.monotonic}, %x: memref<?xf32>, %y: memref<?xf32>, %N: index, %E: index) {
  %t = poly.array (%E) : memref<?xf32>
  poly.compute @make dims ["n", "j"] domain [#all] where #row
      reads(%starts[#n], %starts[#next], %x[#j] : memref<?xi32>, memref<?xi32>, memref<?xf32>) writes(%t[#j] : memref<?xf32>) {
  ^bb0(%b: i32, %e: i32, %v: f32):
    poly.yield %v : f32
  }
  poly.compute @use dims ["i"] domain [affine_set<(i)[N, E] : (i >= 0, E - 1 - i >= 0)>]
      reads(%t[affine_map<(i)[N, E] -> (i)>] : memref<?xf32>) writes(%y[affine_map<(i)[N, E] -> (i)>] : memref<?xf32>) {
  ^bb0(%v: f32):
    poly.yield %v : f32
  }
}

// What bounds the loop is made by a computation.
poly.kernel @starts(%lengths: memref<?xi32>, %y: memref<?x?xf32>, %N: index, %E: index) {
  %t = poly.array (%N) : memref<?xi32>
  poly.compute @make dims ["n"] domain [affine_set<(n)[N, E] : (n >= 0, N - 1 - n >= 0)>]
      reads(%lengths[affine_map<(n)[N, E] -> (n)>] : memref<?xi32>) writes(%t[affine_map<(n)[N, E] -> (n)>] : memref<?xi32>) {
  ^bb0(%l: i32):
    poly.yield %l : i32
  }
  poly.compute @use dims ["n", "j"] domain [#all] where affine_set<(n, j)[N, E, l] : (l - 1 - j >= 0)>
      reads(%t[#n] : memref<?xi32>) writes(%y[#nj] : memref<?x?xf32>) {
  ^bb0(%l: i32):
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// Each iteration reads all of %t, of which a row may not have been written in it.
poly.kernel @partial(%starts: memref<?xi32>, %y: memref<?x8xf32>, %N: index, %E: index) {
  %t = poly.array : memref<8xf32>
  poly.compute @make dims ["n", "j"] domain [#small] where #row
      reads(%starts[#n], %starts[#next] : memref<?xi32>, memref<?xi32>) writes(%t[#j] : memref<8xf32>) {
  ^bb0(%b: i32, %e: i32):
    %z = arith.constant 1.0 : f32
    poly.yield %z : f32
  }
  poly.compute @use dims ["n", "j"] domain [#small] reads(%t[#j] : memref<8xf32>) writes(%y[#nj] : memref<?x8xf32>) interleaved 1 {
  ^bb0(%v: f32):
    poly.yield %v : f32
  }
}

poly.kernel @clear8(%x: memref<8xf32>) {
  poly.compute @clear dims ["j"] domain [affine_set<(j) : (j >= 0, 7 - j >= 0)>] reads() writes(%x[affine_map<(j) -> (j)>] : memref<8xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %clear = transform.poly.computation @write::@clear of %module : (!transform.any_op) -> !transform.any_op
  %a, %in, %out = transform.poly.cache_write %clear write 0 at "n" : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  %make = transform.poly.computation @moves::@make of %module : (!transform.any_op) -> !transform.any_op
  %use = transform.poly.computation @moves::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.compute_at %make in %use loop "i" : !transform.any_op, !transform.any_op
  transform.yield
}

// INLINE: error: 'transform.poly.inline' op expects a point at which @make reads the same values as @use and writes what read 0 of @use takes from array #0
transform.named_sequence @inline(%module: !transform.any_op {transform.readonly}) {
  %make = transform.poly.computation @producer::@make of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.inline %make : !transform.any_op
  transform.yield
}

// INLINE-STARTS: error: 'transform.poly.inline' op expects @use not to run where a value of @make allows it
transform.named_sequence @inline_starts(%module: !transform.any_op {transform.readonly}) {
  %make = transform.poly.computation @starts::@make of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.inline %make : !transform.any_op
  transform.yield
}

// TENSORIZE: error: 'transform.poly.tensorize' op expects computations that run at all points of their domains, but what @clear reads decides where it runs
transform.named_sequence @tensorize(%module: !transform.any_op {transform.readonly}) {
  %clear = transform.poly.computation @write::@clear of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.tensorize %clear loop "j" to @clear8 : !transform.any_op
  transform.yield
}

// CONTRACT: error: 'transform.poly.privatize' op expects each iteration of "n" to write what it reads of array #0 before, but read 0 of @use takes what others wrote
transform.named_sequence @contract(%module: !transform.any_op {transform.readonly}) {
  %make = transform.poly.computation @partial::@make of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.privatize %make loop "n" : !transform.any_op
  transform.yield
}

// Where rows begin and end is a condition on the points of the inner loop.
// INTERCHANGE-LABEL: poly.kernel @write(
// INTERCHANGE:         poly.band [@clear] maps [#{{.*}}] loops [sequential, sequential] names ["j", "n"]
transform.named_sequence @interchange(%module: !transform.any_op {transform.readonly}) {
  %clear = transform.poly.computation @write::@clear of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.interchange %clear loops ["j", "n"] : !transform.any_op
  transform.yield
}

// JAM-LABEL: poly.kernel @write(
// JAM:         poly.band [@clear] maps [#{{.*}}] loops [sequential] names ["n.0"]
// JAM:         poly.band [@clear] maps [#{{.*}}] loops [sequential, unroll] names ["j", "n.1"]
transform.named_sequence @jam(%module: !transform.any_op {transform.readonly}) {
  %clear = transform.poly.computation @write::@clear of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.unroll_and_jam %clear loop "n" factor 2 : !transform.any_op
  transform.yield
}
}
