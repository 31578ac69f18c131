// RUN: espalier-opt %s -convert-graph-to-poly | FileCheck %s --check-prefix=WRITTEN
// RUN: espalier-opt %s -convert-graph-to-poly -poly-inline-maps -poly-fold-constants -poly-keep-row-major -poly-separate-groups -poly-assign-layouts -mlir-print-debuginfo -o %t.layouts
// RUN: FileCheck %s --check-prefix=LAYOUTS --input-file=%t.layouts
// RUN: espalier-opt %t.layouts -poly-pad-rows -poly-separate-interpolation -poly-drop-points -poly-share-sums -poly-align-outputs -poly-fuse-kernels -mlir-print-debuginfo -o %t.fused
// RUN: FileCheck %s --check-prefix=FUSED --input-file=%t.fused
// RUN: espalier-opt %t.fused -poly-separate-accumulators -poly-decompose-phases -poly-fuse-windows -poly-fuse-products -poly-winograd -poly-trim-windows -poly-fuse-copies -poly-apply-layouts -poly-name-kernels -o %t.chain
// RUN: espalier-opt %s -convert-graph-to-poly -poly-form-kernels -poly-name-kernels | diff - %t.chain

// Former names of steps and passes are read.
// RUN: espalier-opt %s -convert-graph-to-poly -poly-keep-rows -poly-separate-taps -poly-split-phases -poly-form-kernels=skip=keep-rows,separate-taps,split-phases -o %t.former
// RUN: espalier-opt %s -convert-graph-to-poly -poly-keep-row-major -poly-separate-interpolation -poly-decompose-phases -poly-form-kernels=skip=keep-row-major,separate-interpolation,decompose-phases | diff - %t.former

// Each step reads the kernels that the one before has written, also as text.

// A kernel for each statement: the sum, its map, relu, another map.
// WRITTEN-COUNT-4: poly.kernel private
// WRITTEN-NOT:     poly.kernel private
// WRITTEN-NOT:     poly.layout

// LAYOUTS: #[[PANELS:.*]] = affine_map<(d0, d1) -> (d1 floordiv 32, d0, d1 mod 32)>
// LAYOUTS: memref.get_global {{.*}} {poly.layout = #[[PANELS]]}

// The result alone is seen by others, the sum has become an array of the kernel.
// FUSED:     poly.kernel private {{.*}} attributes {poly.shared_dims = 2 : i64}
// FUSED:     poly.array
// FUSED:     poly.compute @s0 {{.*}} reduction add
// FUSED:     arith.maximumf
// FUSED-NOT: poly.kernel
#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>
module attributes {poly.target = #target} {
  func.func @main(%x: tensor<24x48xf32>) -> tensor<24x64xf32> {
    %w = graph.constant dense_resource<w> : tensor<48x64xf32>
    %0 = graph.matmul %x, %w : (tensor<24x48xf32>, tensor<48x64xf32>) -> tensor<24x64xf32>
    %1 = graph.relu %0 : (tensor<24x64xf32>) -> tensor<24x64xf32>
    %2 = graph.neg %1 : (tensor<24x64xf32>) -> tensor<24x64xf32>
    return %2 : tensor<24x64xf32>
  }
}
