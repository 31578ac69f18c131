// RUN: espalier-opt %s -split-input-file -transform-interpreter | FileCheck %s

// Two calls become one; what both pass is one argument, and what the program
// allocates in between an array of the kernel.

#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#rows = affine_set<(i, k)[K, M] : (i >= 0, M - 1 - i >= 0, k >= 0, K - 1 - k >= 0)>
#i = affine_map<(i)[N] -> (i)>
#row = affine_map<(i, k)[K, M] -> (i)>
// CHECK-DAG: #[[POINTS:.*]] = affine_set<(d0)[s0, s1] : (d0 >= 0, -d0 + s0 - 1 >= 0)>
// CHECK-DAG: #[[ROWS:.*]] = affine_set<(d0, d1)[s0, s1] : (d0 >= 0, -d0 + s0 - 1 >= 0, d1 >= 0, -d1 + s1 - 1 >= 0)>
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: poly.kernel @scale(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: memref<?xf32>, %[[N:[a-z0-9]*]]: index, %{{[a-z0-9]*}}: index, %[[A:[a-z0-9]*]]: memref<?x?xf32> {poly.shape = affine_map<()[s0, s1] -> (s0, s1)>}, %[[Y:[a-z0-9]*]]: memref<?xf32>)
// CHECK:         %[[T:.*]] = poly.array(%[[N]]) : memref<?xf32>
// CHECK:         poly.compute @s0 domain [#[[POINTS]]] reads(%[[X]]{{.*}} writes(%[[T]]
// CHECK:         poly.compute @s0_1 domain [#[[ROWS]]] reads(%[[T]]{{.*}}, %[[A]]{{.*}}, %[[Y]]{{.*}} writes(%[[Y]]
// CHECK:         poly.band [@s0] {{.*}} loops [parallel] names ["d0"]
// CHECK:         poly.band [@s0_1] {{.*}} names ["d0", "d1"]
// CHECK-NOT:   poly.kernel
// CHECK-LABEL: func.func @main(
// CHECK-NOT:     memref.alloc
// CHECK:         poly.call @scale(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : memref<?xf32>, index, index, memref<?x?xf32>, memref<?xf32>
// CHECK-NOT:     poly.call
poly.kernel @scale(%x: memref<?xf32>, %t: memref<?xf32>, %N: index) {
  poly.compute @s0 domain [#points] reads(%x[#i] : memref<?xf32>) writes(%t[#i] : memref<?xf32>) {
  ^bb0(%v: f32):
    %r = arith.addf %v, %v : f32
    poly.yield %r : f32
  }
}
poly.kernel @sum(%K: index, %t: memref<?xf32>, %a: memref<?x?xf32> {poly.shape = affine_map<()[K, M] -> (M, K)>}, %y: memref<?xf32>, %M: index) {
  poly.compute @s0 domain [#rows]
      reads(%t[#row], %a[affine_map<(i, k)[K, M] -> (i, k)>], %y[#row] : memref<?xf32>, memref<?x?xf32>, memref<?xf32>)
      writes(%y[#row] : memref<?xf32>) reduction add {
  ^bb0(%v: f32, %w: f32, %s: f32):
    %p = arith.mulf %v, %w : f32
    %r = arith.addf %s, %p : f32
    poly.yield %r : f32
  }
}
func.func @main(%x: memref<?xf32>, %a: memref<?x?xf32>, %y: memref<?xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = memref.dim %x, %zero : memref<?xf32>
  %t = memref.alloc(%n) : memref<?xf32>
  poly.call @scale(%x, %t, %n) : memref<?xf32>, memref<?xf32>, index
  %k = memref.dim %a, %one : memref<?x?xf32>
  poly.call @sum(%k, %t, %a, %y, %n) : index, memref<?xf32>, memref<?x?xf32>, memref<?xf32>, index
  return
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %scale = transform.poly.computation @scale::@s0 of %module : (!transform.any_op) -> !transform.any_op
  %sum = transform.poly.computation @sum::@s0 of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.parallelize %scale loop "d0" : !transform.any_op
  transform.poly.merge %scale with %sum : !transform.any_op, !transform.any_op
  transform.poly.localize %scale : !transform.any_op
  transform.yield
}
}

// -----

// A merged kernel is one to all commands: the producer moves into the consumer's
// loop, and its array is one element.

#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: poly.kernel @double(
// CHECK:         poly.array {{.*}} storage
// CHECK:         poly.compute @s0
// CHECK:         poly.compute @s1
// CHECK:         poly.band [@s0, @s1]
poly.kernel @double(%x: memref<?xf32>, %t: memref<?xf32>, %N: index) {
  poly.compute @s0 dims ["i"] domain [#points] reads(%x[#i] : memref<?xf32>) writes(%t[#i] : memref<?xf32>) {
  ^bb0(%v: f32):
    %r = arith.addf %v, %v : f32
    poly.yield %r : f32
  }
}
poly.kernel @square(%t: memref<?xf32>, %y: memref<?xf32>, %N: index) {
  poly.compute @s1 dims ["i"] domain [#points] reads(%t[#i] : memref<?xf32>) writes(%y[#i] : memref<?xf32>) {
  ^bb0(%v: f32):
    %r = arith.mulf %v, %v : f32
    poly.yield %r : f32
  }
}
func.func @main(%x: memref<?xf32>, %y: memref<?xf32>) {
  %zero = arith.constant 0 : index
  %n = memref.dim %x, %zero : memref<?xf32>
  %t = memref.alloc(%n) : memref<?xf32>
  poly.call @double(%x, %t, %n) : memref<?xf32>, memref<?xf32>, index
  poly.call @square(%t, %y, %n) : memref<?xf32>, memref<?xf32>, index
  return
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @double::@s0 of %module : (!transform.any_op) -> !transform.any_op
  %b = transform.poly.computation @square::@s1 of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.merge %a with %b : !transform.any_op, !transform.any_op
  transform.poly.localize %a : !transform.any_op
  transform.poly.fuse %a with %b loops 1 : !transform.any_op, !transform.any_op
  transform.poly.privatize %a loop "i" : !transform.any_op
  transform.yield
}
}

// -----

// Parameters get other numbers wherever they are, and values follow them: in
// assumptions, bounds, conditions, filters, bands, prefetches and storages.

#all = affine_set<(n, j)[E, N] : (n >= 0, N - 1 - n >= 0, j >= 0, E - 1 - j >= 0)>
#row = affine_set<(n, j)[E, N, b, e] : (j - b >= 0, e - 1 - j >= 0)>
#n = affine_map<(n, j)[E, N] -> (n)>
#j = affine_map<(n, j)[E, N] -> (j)>
// CHECK-DAG: #[[LOOPS:.*]] = affine_map<(d0, d1)[s0, s1, s2] -> (d0 - s0, d1)>
// CHECK-DAG: #[[AHEAD:.*]] = affine_map<(d0, d1)[s0, s1, s2] -> (d0, d1 + s2)>
// CHECK-DAG: #[[THROUGH:.*]] = affine_map<(d0, d1)[s0, s1, s2, s3, s4] -> (s3)>
// CHECK-DAG: #[[ALL:.*]] = affine_set<(d0, d1)[s0, s1, s2] : (d0 >= 0, -d0 + s0 - 1 >= 0, d1 >= 0, -d1 + s2 - 1 >= 0)>
// CHECK-DAG: #[[ROW:.*]] = affine_set<(d0, d1)[s0, s1, s2, s3, s4] : (d1 - s3 >= 0, -d1 + s4 - 1 >= 0)>
// CHECK-DAG: #[[LOW:.*]] = affine_set<(d0, d1)[s0, s1, s2] : (-d1 + s2 - 5 >= 0)>
// CHECK-DAG: #[[ASSUMED:.*]] = affine_set<()[s0, s1, s2] : (-s2 + 100 >= 0, -s1 + 7 >= 0)>
// CHECK-DAG: #[[EXTENTS:.*]] = affine_map<()[s0, s1, s2] -> (s2)>
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: poly.kernel @clear(
// CHECK-SAME:    {poly.bounded_by = affine_map<()[s0, s1, s2] -> (s2 + 1)>, poly.monotonic}
// CHECK-SAME:    attributes {poly.assumptions = #[[ASSUMED]]}
// CHECK:         poly.array {{.*}} storage {{.*}} extents #[[EXTENTS]]
// CHECK:         poly.compute @copy dims ["n", "j"] domain [#[[ALL]]] where #[[ROW]]
// CHECK:         poly.compute @pick {{.*}} reads(%{{.*}}, %{{.*}}, %{{.*}}[#[[THROUGH]]]
// CHECK:         poly.filter [@copy] where [#[[LOW]]]
// CHECK:         poly.band [@copy] maps [#[[LOOPS]]]
// CHECK:         poly.prefetch @copy read 2 at #[[AHEAD]]
poly.kernel @clear(%x: memref<?xf32>, %N: index, %W: index) attributes {poly.assumptions = affine_set<()[N, W] : (7 - W >= 0)>} {
  poly.compute @zero domain [affine_set<(i)[N, W] : (i >= 0, N - 1 - i >= 0)>] reads() writes(%x[affine_map<(i)[N, W] -> (i)>] : memref<?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}
poly.kernel @rows(%E: index, %starts: memref<?xi32> {poly.monotonic, poly.bounded_by = affine_map<()[E, N] -> (E + 1)>},
                  %v: memref<?xf32>, %x: memref<?xf32>, %N: index) attributes {poly.assumptions = affine_set<()[E, N] : (100 - E >= 0)>} {
  %t = poly.array : memref<?xf32> storage affine_map<(j) -> (j)> as memref<?xf32> extents affine_map<()[E, N] -> (E)>
  poly.compute @copy dims ["n", "j"] domain [#all] where #row
      reads(%starts[#n], %starts[affine_map<(n, j)[E, N] -> (n + 1)>], %v[#j] : memref<?xi32>, memref<?xi32>, memref<?xf32>)
      writes(%t[#j] : memref<?xf32>) {
  ^bb0(%b: i32, %e: i32, %a: f32):
    poly.yield %a : f32
  }
  poly.compute @pick dims ["n", "j"] domain [#all]
      reads(%starts[#n], %t[#j], %v[affine_map<(n, j)[E, N, s, t] -> (s)>] : memref<?xi32>, memref<?xf32>, memref<?xf32>)
      writes(%x[#n] : memref<?xf32>) {
  ^bb0(%b: i32, %a: f32, %c: f32):
    poly.yield %a : f32
  }
  poly.schedule {
    poly.sequence {
      poly.filter [@copy] where [affine_set<(n, j)[E, N] : (E - j - 5 >= 0)>] {
        poly.band [@copy] maps [affine_map<(n, j)[E, N] -> (n - N, j)>] loops [sequential, sequential] {
          poly.prefetch @copy read 2 at affine_map<(n, j)[E, N] -> (n, j + E)> bytes 64
        }
      }
      poly.filter [@copy] where [affine_set<(n, j)[E, N] : (j - E + 4 >= 0)>]
      poly.filter [@pick]
    }
  }
}
func.func @main(%starts: memref<?xi32>, %v: memref<?xf32>, %x: memref<?xf32>, %n: index, %e: index, %w: index) {
  poly.call @clear(%x, %n, %w) : memref<?xf32>, index, index
  poly.call @rows(%e, %starts, %v, %x, %n) : index, memref<?xi32>, memref<?xf32>, memref<?xf32>, index
  return
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %zero = transform.poly.computation @clear::@zero of %module : (!transform.any_op) -> !transform.any_op
  %copy = transform.poly.computation @rows::@copy of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.merge %zero with %copy : !transform.any_op, !transform.any_op
  transform.yield
}
}

// -----

// What was made of one kernel is two again; the array in between is allocated
// by the program, and each part keeps its schedule.

#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: poly.kernel @both(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: memref<?xf32>, %{{[a-z0-9]*}}: index, %[[T:[a-z0-9]*]]: memref<?xf32>)
// CHECK-NOT:     poly.array
// CHECK:         poly.compute @a {{.*}} reads(%[[X]]{{.*}} writes(%[[T]]
// CHECK-NOT:     poly.compute
// CHECK:         poly.band [@a] {{.*}} loops [parallel]
// CHECK-LABEL: poly.kernel @rest(
// CHECK-SAME:    %[[Y:[a-z0-9]*]]: memref<?xf32>, %[[N:[a-z0-9]*]]: index, %[[T:[a-z0-9]*]]: memref<?xf32>)
// CHECK:         %[[OWN:.*]] = poly.array(%[[N]])
// CHECK:         poly.compute @b {{.*}} reads(%[[T]]{{.*}} writes(%[[OWN]]
// CHECK:         poly.compute @c {{.*}} reads(%[[OWN]]{{.*}} writes(%[[Y]]
// CHECK:         poly.sequence {
// CHECK-NEXT:      poly.filter [@b]
// CHECK:           poly.filter [@c]
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: memref<?xf32>, %[[Y:[a-z0-9]*]]: memref<?xf32>
// CHECK:         %[[N:.*]] = memref.dim
// CHECK:         %[[T:.*]] = memref.alloc(%[[N]]) {alignment = 64 : i64} : memref<?xf32>
// CHECK-NEXT:    poly.call @both(%[[X]], %[[N]], %[[T]])
// CHECK-NEXT:    poly.call @rest(%[[Y]], %[[N]], %[[T]])
// CHECK-NEXT:    return
poly.kernel @both(%x: memref<?xf32>, %y: memref<?xf32>, %N: index) {
  %t = poly.array (%N) : memref<?xf32>
  %u = poly.array (%N) : memref<?xf32>
  poly.compute @a domain [#points] reads(%x[#i] : memref<?xf32>) writes(%t[#i] : memref<?xf32>) {
  ^bb0(%v: f32):
    poly.yield %v : f32
  }
  poly.compute @b domain [#points] reads(%t[#i] : memref<?xf32>) writes(%u[#i] : memref<?xf32>) {
  ^bb0(%v: f32):
    poly.yield %v : f32
  }
  poly.compute @c domain [#points] reads(%u[#i] : memref<?xf32>) writes(%y[#i] : memref<?xf32>) {
  ^bb0(%v: f32):
    poly.yield %v : f32
  }
}
func.func @main(%x: memref<?xf32>, %y: memref<?xf32>) {
  %zero = arith.constant 0 : index
  %n = memref.dim %x, %zero : memref<?xf32>
  poly.call @both(%x, %y, %n) : memref<?xf32>, memref<?xf32>, index
  return
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %a = transform.poly.computation @both::@a of %module : (!transform.any_op) -> !transform.any_op
  %b = transform.poly.computation @both::@b of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.parallelize %a loop "d0" : !transform.any_op
  transform.poly.externalize %a : !transform.any_op
  transform.poly.detach %b into "rest" : !transform.any_op
  transform.yield
}
}
