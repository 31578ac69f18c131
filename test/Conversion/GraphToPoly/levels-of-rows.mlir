// RUN: espalier-opt %s -split-input-file -compile-to=scheduled | FileCheck %s

// Nodes' states are vectors, so a cell makes rows of them for its product. In the
// kernel nodes of a level are the rows, and there are no others: bias and gate are
// computed on the register tile. All of a level's loops are parallel, so threads are
// woken once.

// CHECK: poly.array register({{.*}}) : memref<?x?x256xf32>
// CHECK-NOT: memref<{{.*}}x1x256xf32>
// CHECK: poly.compute @[[SUM:.*]] dims ["level", "m", "j", "k"] {{.*}} reduction add
// CHECK: poly.compute @[[STATE:.*]] dims ["level", "m", "b0"]
// CHECK-NEXT: ^bb0
// CHECK: arith.addf
// CHECK-NEXT: arith.maximumf
// CHECK: poly.filter [@[[TAKE:.*]]] {
// CHECK-NEXT: poly.band [@[[TAKE]]] {{.*}} loops [parallel]
// CHECK: poly.band [@[[SUM]]_init, @[[SUM]], @[[STATE]]] {{.*}} loops [parallel, parallel, sequential] {

#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>
!node = !rec.node<tree, arity = 1>
module attributes {poly.target = #target} {
  rec.model private @rnn(%n: !node, %x: tensor<?x256xf32>, %u: tensor<256x256xf32>, %b: tensor<256xf32>) -> tensor<256xf32> {
    rec.case leaf {
      %h = rec.feature %x at %n : tensor<?x256xf32>, !node -> tensor<256xf32>
      rec.yield %h : tensor<256xf32>
    }
    rec.case interior {
      %c = rec.call %n child 0 : !node -> tensor<256xf32>
      %row = graph.reshape %c to [1, 256] : (tensor<256xf32>) -> tensor<1x256xf32>
      %p = graph.matmul %row, %u : (tensor<1x256xf32>, tensor<256x256xf32>) -> tensor<1x256xf32>
      %s = graph.reshape %p to [256] : (tensor<1x256xf32>) -> tensor<256xf32>
      %z = graph.add %s, %b : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
      %h = graph.relu %z : (tensor<256xf32>) -> tensor<256xf32>
      rec.yield %h : tensor<256xf32>
    }
  }
  func.func @main(%arity: tensor<?xi32>, %children: tensor<?x1xi32>, %levels: tensor<?xi32>, %roots: tensor<?xi32>,
                  %x: tensor<?x256xf32>, %u: tensor<256x256xf32>, %b: tensor<256xf32>) -> tensor<?x256xf32> {
    %h = rec.apply @rnn at nodes of [%arity, %children, %levels, %roots](%x, %u, %b)
        : [tensor<?xi32>, tensor<?x1xi32>, tensor<?xi32>, tensor<?xi32>]
          (tensor<?x256xf32>, tensor<256x256xf32>, tensor<256xf32>) -> tensor<?x256xf32>
    return %h : tensor<?x256xf32>
  }
}

// -----

// Two products and gates over both are one loop nest. The registers hold one tile,
// so the other one is in memory. There is code for each number of rows, which
// would be long if gates were written out for each vector: they are loops.

// The child's number is one for both states: where a leaf has it, and where an
// interior node has it.

// CHECK: poly.kernel {{.*}}memref<?x2xi32>
// CHECK-COUNT-4: memref<?x?xi64> storage
// CHECK-NOT: memref<?x?xi64> storage
// CHECK-NOT: poly.array register({{.*}}6x16xf32>
// CHECK: poly.compute @[[I:.*]] dims ["level", "m", "j", "k"] {{.*}} reduction add
// CHECK: poly.compute @[[O:.*]] dims ["level", "m", "j", "k"] {{.*}} reduction add
// CHECK: poly.band [@[[I]]_init, @[[I]], @[[O]]_init, @[[O]], @[[C:[^,]*]]] {{.*}} loops [parallel
// CHECK: poly.filter [@[[C]]] {
// CHECK-NEXT: loops [sequential, sequential, vector(8)]

#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>
!node = !rec.node<tree, arity = 2>
module attributes {poly.target = #target} {
  rec.model private @gated(%n: !node, %x: tensor<?x256xf32>, %u: tensor<256x256xf32>, %v: tensor<256x256xf32>)
      -> (tensor<256xf32>, tensor<256xf32>) {
    rec.case leaf {
      %h = rec.feature %x at %n : tensor<?x256xf32>, !node -> tensor<256xf32>
      rec.yield %h, %h : tensor<256xf32>, tensor<256xf32>
    }
    rec.case interior {
      %lh, %lc = rec.call %n child 0 : !node -> tensor<256xf32>, tensor<256xf32>
      %rh, %rc = rec.call %n child 1 : !node -> tensor<256xf32>, tensor<256xf32>
      %s = graph.add %lh, %rh : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
      %row = graph.reshape %s to [1, 256] : (tensor<256xf32>) -> tensor<1x256xf32>
      %p = graph.matmul %row, %u : (tensor<1x256xf32>, tensor<256x256xf32>) -> tensor<1x256xf32>
      %i = graph.reshape %p to [256] : (tensor<1x256xf32>) -> tensor<256xf32>
      %q = graph.matmul %row, %v : (tensor<1x256xf32>, tensor<256x256xf32>) -> tensor<1x256xf32>
      %o = graph.reshape %q to [256] : (tensor<1x256xf32>) -> tensor<256xf32>
      %si = graph.sigmoid %i : (tensor<256xf32>) -> tensor<256xf32>
      %so = graph.sigmoid %o : (tensor<256xf32>) -> tensor<256xf32>
      %to = graph.tanh %o : (tensor<256xf32>) -> tensor<256xf32>
      %il = graph.mul %si, %lc : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
      %or = graph.mul %so, %rc : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
      %both = graph.add %il, %or : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
      %c = graph.add %both, %to : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
      %h = graph.tanh %c : (tensor<256xf32>) -> tensor<256xf32>
      rec.yield %h, %c : tensor<256xf32>, tensor<256xf32>
    }
  }
  func.func @main(%arity: tensor<?xi32>, %children: tensor<?x2xi32>, %levels: tensor<?xi32>, %roots: tensor<?xi32>,
                  %x: tensor<?x256xf32>, %u: tensor<256x256xf32>, %v: tensor<256x256xf32>) -> tensor<?x256xf32> {
    %h, %c = rec.apply @gated at nodes of [%arity, %children, %levels, %roots](%x, %u, %v)
        : [tensor<?xi32>, tensor<?x2xi32>, tensor<?xi32>, tensor<?xi32>]
          (tensor<?x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>) -> (tensor<?x256xf32>, tensor<?x256xf32>)
    return %h : tensor<?x256xf32>
  }
}

// -----

// What was computed for all nodes before is read row by row, after the product.

// CHECK: poly.compute @[[SUM:.*]] dims ["level", "m", "j", "k"] {{.*}} reduction add
// CHECK: poly.band [@[[SUM]]_init, @[[SUM]]] {{.*}} loops [parallel, parallel, sequential]
// CHECK: poly.band [@[[STATE:.*]]] {{.*}} loops [parallel, sequential]
// CHECK-NEXT: poly.band [@[[STATE]]] {{.*}} loops [vector(8)]

#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>
!node = !rec.node<tree, arity = 1>
module attributes {poly.target = #target} {
  rec.model private @input(%n: !node, %x: tensor<?x256xf32>, %u: tensor<256x256xf32>) -> tensor<256xf32> {
    rec.case leaf {
      %h = rec.feature %x at %n : tensor<?x256xf32>, !node -> tensor<256xf32>
      rec.yield %h : tensor<256xf32>
    }
    rec.case interior {
      %own = rec.feature %x at %n : tensor<?x256xf32>, !node -> tensor<256xf32>
      %c = rec.call %n child 0 : !node -> tensor<256xf32>
      %row = graph.reshape %c to [1, 256] : (tensor<256xf32>) -> tensor<1x256xf32>
      %p = graph.matmul %row, %u : (tensor<1x256xf32>, tensor<256x256xf32>) -> tensor<1x256xf32>
      %s = graph.reshape %p to [256] : (tensor<1x256xf32>) -> tensor<256xf32>
      %h = graph.add %s, %own : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
      rec.yield %h : tensor<256xf32>
    }
  }
  func.func @main(%arity: tensor<?xi32>, %children: tensor<?x1xi32>, %levels: tensor<?xi32>, %roots: tensor<?xi32>,
                  %x: tensor<?x256xf32>, %u: tensor<256x256xf32>) -> tensor<?x256xf32> {
    %h = rec.apply @input at nodes of [%arity, %children, %levels, %roots](%x, %u)
        : [tensor<?xi32>, tensor<?x1xi32>, tensor<?xi32>, tensor<?xi32>]
          (tensor<?x256xf32>, tensor<256x256xf32>) -> tensor<?x256xf32>
    return %h : tensor<?x256xf32>
  }
}
