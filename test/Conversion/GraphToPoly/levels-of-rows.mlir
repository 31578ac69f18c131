// RUN: espalier-opt %s -split-input-file -compile-to=scheduled | FileCheck %s

// Nodes' states are vectors, so a cell makes rows of them for its product. In the
// kernel nodes of a level are the rows, and there are no others: bias and gate are
// computed on the register tile, by all threads.

// CHECK: poly.array register({{.*}}) : memref<?x?x256xf32>
// CHECK-NOT: memref<{{.*}}x1x256xf32>
// CHECK: poly.compute @[[SUM:.*]] dims ["level", "m", "j", "k"] {{.*}} reduction add
// CHECK: poly.compute @[[STATE:.*]] dims ["level", "m", "b0"]
// CHECK-NEXT: ^bb0
// CHECK: arith.addf
// CHECK-NEXT: math.tanh
// CHECK: poly.band [@[[SUM]]_init, @[[SUM]], @[[STATE]]] {{.*}} loops [parallel, parallel] {

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
      %h = graph.tanh %z : (tensor<256xf32>) -> tensor<256xf32>
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
