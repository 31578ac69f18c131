// RUN: espalier-opt %s -split-input-file -espalier-statements -transform-interpreter -espalier-poly | FileCheck %s
// RUN: espalier-opt %s -split-input-file -espalier-statements -espalier-poly | FileCheck %s --check-prefix=DEFAULT
// RUN: espalier-opt %s -split-input-file -espalier-statements -transform-interpreter -poly-form-kernels -poly-name-kernels -o %t.whole
// RUN: espalier-opt %s -split-input-file -espalier-statements -transform-interpreter -poly-inline-maps -poly-fold-constants -poly-forward-taps -poly-keep-row-major -poly-separate-groups -poly-assign-layouts -poly-widen-operands -poly-pad-rows -poly-separate-interpolation -poly-drop-points -poly-share-sums -poly-align-outputs -poly-fuse-kernels -poly-separate-accumulators -poly-decompose-phases -poly-group-entries -poly-fuse-windows -poly-fuse-products -poly-winograd -poly-trim-windows -poly-fuse-copies -poly-apply-layouts -poly-name-kernels | diff - %t.whole

// Who reads a result, in its kernel or in others, is what somebody has chosen.

// Pooling in the kernel of a convolution, and in one of its own.
// DEFAULT:     poly.kernel private @conv_
// DEFAULT:     reduction add
// DEFAULT-NOT: poly.kernel
// DEFAULT:     reduction max
// CHECK-LABEL: poly.kernel private @conv_
// CHECK:         reduction add
// CHECK:         arith.maximumf
// CHECK-LABEL: poly.kernel private @max_pool_
// CHECK:         reduction max
module attributes {transform.with_named_sequence, poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<2x3x10x12xf32>, %w: tensor<16x3x3x3xf32>) -> tensor<2x16x4x5xf32> {
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x3x10x12xf32>, tensor<16x3x3x3xf32>) -> tensor<2x16x8x10xf32>
    %1 = graph.relu %0 : (tensor<2x16x8x10xf32>) -> tensor<2x16x8x10xf32>
    %2 = graph.max_pool %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x16x8x10xf32>) -> tensor<2x16x4x5xf32>
    return %2 : tensor<2x16x4x5xf32>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %0 = transform.poly.computation @relu_957bbcba::@s0 of %module : (!transform.any_op) -> !transform.any_op
    transform.poly.fusion %0 separate : !transform.any_op
    transform.yield
  }
}

// -----

// Scores that stay in the cache anyway: three kernels, or one of both products
// and the rows between them.
// DEFAULT-LABEL: poly.kernel private @matmul_
// DEFAULT-LABEL: poly.kernel private @softmax_
// DEFAULT-LABEL: poly.kernel private @matmul_
// CHECK-LABEL: poly.kernel private @matmul_softmax_
// CHECK:         reduction add interleaved
// CHECK:         reduction max interleaved
// CHECK:         math.exp
// CHECK:         reduction add interleaved
// CHECK-NOT:   poly.kernel
// CHECK-LABEL: func.func @main(
module attributes {transform.with_named_sequence, poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%q: tensor<2x64x32xf32>, %k: tensor<2x32x64xf32>, %v: tensor<2x64x32xf32>) -> tensor<2x64x32xf32> {
    %s = graph.matmul %q, %k : (tensor<2x64x32xf32>, tensor<2x32x64xf32>) -> tensor<2x64x64xf32>
    %p = graph.softmax %s {axis = 2 : i64} : (tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
    %y = graph.matmul %p, %v : (tensor<2x64x64xf32>, tensor<2x64x32xf32>) -> tensor<2x64x32xf32>
    return %y : tensor<2x64x32xf32>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %0 = transform.poly.computation @matmul_0f9a2756::@s0 of %module : (!transform.any_op) -> !transform.any_op
    transform.poly.fusion %0 fused : !transform.any_op
    %1 = transform.poly.computation @softmax_affa427d::@s0 of %module : (!transform.any_op) -> !transform.any_op
    transform.poly.fusion %1 fused : !transform.any_op
    transform.yield
  }
}

// -----

// The maximum of each row, apart from what needs it.
// DEFAULT-LABEL: poly.kernel private @softmax_
// DEFAULT:         reduction max
// DEFAULT:         reduction add
// CHECK-LABEL: poly.kernel private @matmul_
// CHECK-LABEL: poly.kernel private @softmax_
// CHECK:         reduction max
// CHECK-LABEL: poly.kernel private @softmax_
// CHECK:         math.exp
// CHECK:         reduction add
// CHECK-LABEL: poly.kernel private @matmul_
// CHECK:         reduction add
module attributes {transform.with_named_sequence, poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%q: tensor<2x64x32xf32>, %k: tensor<2x32x64xf32>, %v: tensor<2x64x32xf32>) -> tensor<2x64x32xf32> {
    %s = graph.matmul %q, %k : (tensor<2x64x32xf32>, tensor<2x32x64xf32>) -> tensor<2x64x64xf32>
    %p = graph.softmax %s {axis = 2 : i64} : (tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
    %y = graph.matmul %p, %v : (tensor<2x64x64xf32>, tensor<2x64x32xf32>) -> tensor<2x64x32xf32>
    return %y : tensor<2x64x32xf32>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %0 = transform.poly.computation @softmax_b60ddedd::@s0 of %module : (!transform.any_op) -> !transform.any_op
    transform.poly.fusion %0 separate : !transform.any_op
    transform.yield
  }
}

// -----

// The border of each plane, beside the sums that read it, and before them all.
// DEFAULT-LABEL: poly.kernel private @conv_
// DEFAULT:         poly.compute @s0_4
// DEFAULT:         reduction add
// CHECK-LABEL: poly.kernel private @copy_
// CHECK:         poly.compute @s0_4
// CHECK-LABEL: poly.kernel private @conv_
// CHECK:         reduction add
module attributes {transform.with_named_sequence, poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<16x48x20x20xf32>, %w: tensor<48x1x3x3xf32>) -> tensor<16x48x20x20xf32> {
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 48 : i64} : (tensor<16x48x20x20xf32>, tensor<48x1x3x3xf32>) -> tensor<16x48x20x20xf32>
    return %0 : tensor<16x48x20x20xf32>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %0 = transform.poly.computation @copy_027845ec::@s0_0 of %module : (!transform.any_op) -> !transform.any_op
    transform.poly.fusion %0 separate : !transform.any_op
    transform.yield
  }
}

// -----

// A map that two others repeat is computed once.
// DEFAULT-LABEL: poly.kernel private @exp_
// DEFAULT:         arith.maximumf
// DEFAULT-LABEL: poly.kernel private @tanh_
// DEFAULT:         arith.maximumf
// CHECK-LABEL: poly.kernel private @relu_
// CHECK-COUNT-1: arith.maximumf
// CHECK-LABEL: poly.kernel private @exp_
// CHECK-NOT: arith.maximumf
module attributes {transform.with_named_sequence, poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<6x19xf32>) -> (tensor<6x19xf32>, tensor<6x19xf32>) {
    %0 = graph.relu %x : (tensor<6x19xf32>) -> tensor<6x19xf32>
    %1 = graph.exp %0 : (tensor<6x19xf32>) -> tensor<6x19xf32>
    %2 = graph.tanh %0 : (tensor<6x19xf32>) -> tensor<6x19xf32>
    return %1, %2 : tensor<6x19xf32>, tensor<6x19xf32>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %0 = transform.poly.computation @relu_3838f9ff::@s0 of %module : (!transform.any_op) -> !transform.any_op
    transform.poly.fusion %0 separate : !transform.any_op
    transform.yield
  }
}
