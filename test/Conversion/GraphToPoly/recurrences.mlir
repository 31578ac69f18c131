// RUN: espalier-opt %s -split-input-file -convert-graph-to-poly -poly-form-kernels | FileCheck %s

// Weights that are arguments are packed once, in a kernel before that of the
// recurrence. Inside it, slices of the product are read where they are used, and
// maps are written into their readers. The product's rows are the nodes of a level,
// and not the single row that a node has in the cell.

// CHECK-DAG: #[[PANELS:.*]] = affine_map<(d0, d1) -> (d1 floordiv 32, d0, d1 mod 32)>
// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0, d1, d2){{.*}} -> (d0, d1, d2)>
// CHECK-DAG: #[[SECOND:.*]] = affine_map<(d0, d1, d2){{.*}} -> (d0, d1, d2 + 32)>
// CHECK: poly.kernel private @{{.*}}(%{{.*}}: memref<32x64xf32>, %{{.*}}: memref<2x32x32xf32>)
// CHECK-NEXT: poly.compute {{.*}} writes(%{{.*}}[#[[PANELS]]] : memref<2x32x32xf32>)
// CHECK: poly.kernel {{.*}} memref<2x32x32xf32>
// CHECK: poly.compute {{.*}} dims ["level", "m", "j", "k"] {{.*}} writes(%[[SUM:.*]][{{.*}} reduction add interleaved 1
// CHECK: poly.compute {{.*}} dims ["level", "m", "b0"] {{.*}} %[[SUM]][#[[FIRST]]], %[[SUM]][#[[SECOND]]] {{.*}} interleaved 1
// CHECK: math.tanh
// CHECK-NEXT: arith.mulf
// CHECK-NOT: poly.compute {{.*}} interleaved

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>
!node = !rec.node<tree, arity = 1>
module attributes {poly.target = #target} {
  rec.model private @gates(%n: !node, %x: tensor<?x32xf32>, %u: tensor<32x64xf32>) -> tensor<32xf32> {
    rec.case leaf {
      %h = rec.feature %x at %n : tensor<?x32xf32>, !node -> tensor<32xf32>
      rec.yield %h : tensor<32xf32>
    }
    rec.case interior {
      %c = rec.call %n child 0 : !node -> tensor<32xf32>
      %row = graph.reshape %c to [1, 32] : (tensor<32xf32>) -> tensor<1x32xf32>
      %p = graph.matmul %row, %u : (tensor<1x32xf32>, tensor<32x64xf32>) -> tensor<1x64xf32>
      %g = graph.reshape %p to [64] : (tensor<1x64xf32>) -> tensor<64xf32>
      %i = graph.slice %g [0] [32] {steps = array<i64: 1>} : (tensor<64xf32>) -> tensor<32xf32>
      %o = graph.slice %g [32] [32] {steps = array<i64: 1>} : (tensor<64xf32>) -> tensor<32xf32>
      %t = graph.tanh %i : (tensor<32xf32>) -> tensor<32xf32>
      %h = graph.mul %t, %o : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
      rec.yield %h : tensor<32xf32>
    }
  }
  func.func @main(%arity: tensor<?xi32>, %children: tensor<?x1xi32>, %levels: tensor<?xi32>,
                  %roots: tensor<?xi32>, %x: tensor<?x32xf32>, %u: tensor<32x64xf32>) -> tensor<?x32xf32> {
    %h = rec.apply @gates at nodes of [%arity, %children, %levels, %roots](%x, %u)
        : [tensor<?xi32>, tensor<?x1xi32>, tensor<?xi32>, tensor<?xi32>]
          (tensor<?x32xf32>, tensor<32x64xf32>) -> tensor<?x32xf32>
    return %h : tensor<?x32xf32>
  }
}

// -----

// The gates' weights are parts of one matrix, which is stored in panels once: those
// of both gates of the state are one product. All sums and what joins them have
// features side by side. The memory of what one
// step alone uses is that of one step.

// CHECK-DAG: #[[STEP:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0, d1, d2, d3)[s0] -> (d2 floordiv 32, d3, d2 mod 32)>
// CHECK-DAG: #[[THIRD:.*]] = affine_map<(d0, d1, d2, d3)[s0] -> (d2 floordiv 32 + 2, d3, d2 mod 32)>
// CHECK: memref<96x32xf32>, %{{.*}}: memref<3x32x32xf32>
// CHECK: poly.kernel
// CHECK: poly.array({{.*}}) : memref<?x5x32xf32> storage #[[STEP]] as memref<5x32xf32>
// CHECK: reads({{.*}}[#[[FIRST]]], {{.*}} writes({{.*}} : memref<?x5x64xf32>) reduction add interleaved 1
// CHECK: reads({{.*}}[#[[THIRD]]], {{.*}} writes({{.*}} : memref<?x5x32xf32>) reduction add interleaved 1

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>
module attributes {poly.target = #target} {
  func.func @gru(%x: tensor<?x5x8xf32>, %w: tensor<96x8xf32>, %u: tensor<96x32xf32>, %b: tensor<192xf32>, %h: tensor<5x32xf32>) -> tensor<?x5x32xf32> {
    %r:2 = graph.gru %x, %w, %u, %b, %h : (tensor<?x5x8xf32>, tensor<96x8xf32>, tensor<96x32xf32>, tensor<192xf32>, tensor<5x32xf32>) -> (tensor<?x5x32xf32>, tensor<5x32xf32>)
    return %r#0 : tensor<?x5x32xf32>
  }
}

// -----

// What the step copies of its child for the product lies in panels, and results lie
// as the next step reads them: nothing is transposed.

// CHECK-DAG: #[[PANEL:.*]] = affine_map<(d0, d1, d2, d3, d4){{.*}} -> (d0, d1, d3 floordiv 32, d4, d3 mod 32)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1, d2, d3, d4){{.*}} -> (d2, d4)>
// CHECK-DAG: #[[OWN:.*]] = affine_map<(d0, d1, d2, d3, d4){{.*}} -> (d0, d1, d2, d3)>
// CHECK: poly.compute {{.*}} dims ["level", "m", "i", "j", "k"] {{.*}}[#[[ROW]]], %{{.*}}[#[[PANEL]]], {{.*}} memref<?x?x2x32x32xf32>, {{.*}} writes({{.*}}[#[[OWN]]] : memref<?x?x32x64xf32>) reduction add interleaved 1

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>
!node = !rec.node<tree, arity = 1>
module attributes {poly.target = #target} {
  rec.model private @turn(%n: !node, %x: tensor<?x32x64xf32>, %u: tensor<32x32xf32>) -> tensor<32x64xf32> {
    rec.case leaf {
      %h = rec.feature %x at %n : tensor<?x32x64xf32>, !node -> tensor<32x64xf32>
      rec.yield %h : tensor<32x64xf32>
    }
    rec.case interior {
      %c = rec.call %n child 0 : !node -> tensor<32x64xf32>
      %p = graph.matmul %u, %c : (tensor<32x32xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
      %h = graph.tanh %p : (tensor<32x64xf32>) -> tensor<32x64xf32>
      rec.yield %h : tensor<32x64xf32>
    }
  }
  func.func @main(%arity: tensor<?xi32>, %children: tensor<?x1xi32>, %levels: tensor<?xi32>,
                  %roots: tensor<?xi32>, %x: tensor<?x32x64xf32>, %u: tensor<32x32xf32>) -> tensor<?x32x64xf32> {
    %h = rec.apply @turn at nodes of [%arity, %children, %levels, %roots](%x, %u)
        : [tensor<?xi32>, tensor<?x1xi32>, tensor<?xi32>, tensor<?xi32>]
          (tensor<?x32x64xf32>, tensor<32x32xf32>) -> tensor<?x32x64xf32>
    return %h : tensor<?x32x64xf32>
  }
}
