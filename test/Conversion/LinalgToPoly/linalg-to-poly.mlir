// RUN: espalier-opt %s -convert-linalg-to-poly -split-input-file | FileCheck %s

// A reduction with its epilogue, of a dynamic size: one kernel.
// CHECK-DAG: #[[SPACE:.*]] = affine_set<(d0, d1)[s0] : (d0 >= 0, -d0 + s0 - 1 >= 0, d1 >= 0, -d1 + 31 >= 0)>
// CHECK-DAG: #[[POINTS:.*]] = affine_set<(d0, d1, d2)[s0] : (d0 >= 0, -d0 + s0 - 1 >= 0, d1 >= 0, -d1 + 31 >= 0, d2 >= 0, -d2 + 63 >= 0)>
// CHECK-LABEL: poly.kernel private @kernel_0(
// CHECK-SAME: %[[X:.*]]: memref<?x64xf32>, %[[W:.*]]: memref<64x32xf32>, %[[B:.*]]: memref<32xf32>, %[[R:.*]]: memref<?x32xf32>, %[[N:.*]]: index)
// CHECK: %[[ACC:.*]] = poly.array(%[[N]]) : memref<?x32xf32>
// CHECK: poly.compute @s0_init domain [#[[SPACE]]] reads() writes(%[[ACC]][
// CHECK: poly.compute @s0 domain [#[[POINTS]]] reads(%[[X]][#{{.*}}], %[[W]][#{{.*}}], %[[ACC]][#{{.*}}] : {{.*}}) writes(%[[ACC]][#{{.*}}] : memref<?x32xf32>) reduction add
// CHECK: poly.compute @s1 domain [#[[SPACE]]] reads(%[[ACC]][#{{.*}}], %[[B]][#{{.*}}] : {{.*}}) writes(%[[R]][
// CHECK: arith.maximumf
// CHECK-LABEL: func.func @main(
// CHECK-SAME: memref<?x64xf32> {espalier.name = "x"}, %{{.*}}: memref<64x32xf32>, %{{.*}}: memref<32xf32>, %{{.*}}: memref<?x32xf32>) attributes {espalier.num_inputs = 3 : i64}
// CHECK: %[[DIM:.*]] = memref.dim
// CHECK-NOT: memref.alloc
// CHECK: poly.call @kernel_0({{.*}}, %[[DIM]])
// CHECK-LABEL: func.func @main_plan(
// CHECK: %[[COLUMNS:.*]] = arith.constant 32 : index
// CHECK: return %arg0, %[[COLUMNS]]
func.func @main(%x: tensor<?x64xf32> {espalier.name = "x"}, %w: tensor<64x32xf32>, %b: tensor<32xf32>) -> tensor<?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64xf32>
  %empty = tensor.empty(%n) : tensor<?x32xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x32xf32>) -> tensor<?x32xf32>
  %product = linalg.matmul ins(%x, %w : tensor<?x64xf32>, tensor<64x32xf32>) outs(%zeros : tensor<?x32xf32>) -> tensor<?x32xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%product, %b : tensor<?x32xf32>, tensor<32xf32>) outs(%empty : tensor<?x32xf32>) {
  ^bb0(%p: f32, %bias: f32, %out: f32):
    %s = arith.addf %p, %bias : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  } -> tensor<?x32xf32>
  return %sum : tensor<?x32xf32>
}

// -----

// Two uses: the product stays in memory between two kernels; the transpose joins
// the sum, which is written to the first of two outputs and copied to the other.
// CHECK-LABEL: poly.kernel private @kernel_0(
// CHECK: poly.compute @s0_init domain [#{{.*}}] reads(%arg0[#{{.*}}] : memref<4x4xf32>)
// CHECK: poly.compute @s0_store
// CHECK-LABEL: poly.kernel private @kernel_1(
// CHECK: %[[T:.*]] = poly.array : memref<4x4xf32>
// CHECK: poly.compute @s0 domain [#{{.*}}] reads(%arg0[#{{.*}}] : memref<4x4xf32>) writes(%[[T]][
// CHECK: poly.compute @s1 domain [#{{.*}}] reads(%arg0[#{{.*}}], %[[T]][#{{.*}}] : memref<4x4xf32>, memref<4x4xf32>) writes(%arg1[
// CHECK-LABEL: func.func @two_uses(
// CHECK-SAME: %{{.*}}: memref<4x4xf32>, %[[FIRST:.*]]: memref<4x4xf32>, %[[SECOND:.*]]: memref<4x4xf32>)
// CHECK: %[[PRODUCT:.*]] = memref.alloc() {alignment = 64 : i64} : memref<4x4xf32>
// CHECK: poly.call @kernel_0({{.*}}, %[[PRODUCT]])
// CHECK: poly.call @kernel_1(%[[PRODUCT]], %[[FIRST]])
// CHECK: memref.copy %[[FIRST]], %[[SECOND]]
func.func @two_uses(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %product = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  %t = tensor.empty() : tensor<4x4xf32>
  %transposed = linalg.transpose ins(%product : tensor<4x4xf32>) outs(%t : tensor<4x4xf32>) permutation = [1, 0]
  %sum = linalg.add ins(%product, %transposed : tensor<4x4xf32>, tensor<4x4xf32>) outs(%t : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %sum, %sum : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Constants become globals, truth values bytes; a coordinate is poly.index.
// CHECK: memref.global "private" constant @constant_0 : memref<3xi8> = dense<[1, 0, 1]> {alignment = 64 : i64}
// CHECK-LABEL: poly.kernel private @kernel_0(%arg0: memref<3xi8>, %arg1: memref<3xi8>)
// CHECK: ^bb0(%[[BYTE:.*]]: i8):
// CHECK: %[[BIT:.*]] = arith.trunci %[[BYTE]] : i8 to i1
// CHECK: %[[I:.*]] = poly.index 0
// CHECK: %[[ODD:.*]] = arith.cmpi ne
// CHECK: %[[AND:.*]] = arith.andi %[[BIT]], %[[ODD]] : i1
// CHECK: %[[RESULT:.*]] = arith.extui %[[AND]] : i1 to i8
// CHECK: poly.yield %[[RESULT]] : i8
// CHECK-LABEL: func.func @truth_values(
// CHECK-SAME: memref<3xi8> {espalier.dtype = "bool"}
func.func @truth_values() -> tensor<3xi1> {
  %mask = arith.constant dense<[true, false, true]> : tensor<3xi1>
  %zero = arith.constant 0 : index
  %empty = tensor.empty() : tensor<3xi1>
  %odd = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%mask : tensor<3xi1>) outs(%empty : tensor<3xi1>) {
  ^bb0(%m: i1, %out: i1):
    %i = linalg.index 0 : index
    %differs = arith.cmpi ne, %i, %zero : index
    %both = arith.andi %m, %differs : i1
    linalg.yield %both : i1
  } -> tensor<3xi1>
  return %odd : tensor<3xi1>
}

// -----

// The window of a pooling gives its shape only.
// CHECK: #[[IN:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 * 2 + d4, d3 * 2 + d5)>
// CHECK-LABEL: poly.kernel private @kernel_0(%arg0: memref<1x4x8x8xf32>, %arg1: memref<1x4x4x4xf32>)
// CHECK: poly.compute @s0 domain [#{{.*}}] reads(%arg0[#[[IN]]], %{{.*}}) {{.*}} reduction max
func.func @pool(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32> {
  %low = arith.constant 0xFF800000 : f32
  %window = tensor.empty() : tensor<2x2xf32>
  %empty = tensor.empty() : tensor<1x4x4x4xf32>
  %init = linalg.fill ins(%low : f32) outs(%empty : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %r = linalg.pooling_nchw_max {strides = dense<2> : tensor<2xi64>} ins(%x, %window : tensor<1x4x8x8xf32>, tensor<2x2xf32>)
      outs(%init : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  return %r : tensor<1x4x4x4xf32>
}

// -----


// CHECK-DAG: #[[SHIFT:.*]] = affine_map<(d0)[s0, s1] -> (d0 + 1)>
// CHECK-DAG: #[[ALL:.*]] = affine_set<(d0)[s0, s1] : (d0 >= 0, -d0 + s0 - 1 >= 0)>
// CHECK-DAG: #[[INNER:.*]] = affine_set<(d0)[s0, s1] : (d0 >= 0, -d0 + s1 - 1 >= 0)>
// CHECK-LABEL: poly.kernel private @kernel_0(
// CHECK: poly.compute @s0 domain [#[[ALL]]] reads() writes(%{{.*}})
// CHECK: poly.compute @s1 domain [#[[INNER]]] reads(%arg0[#{{.*}}] : memref<?xf32>) writes(%arg1[#[[SHIFT]]]
// CHECK-LABEL: func.func @move_plan(%arg0: index) -> (index, index)
// CHECK: %[[LOW:.*]] = arith.addi %arg0, %{{.*}}
// CHECK: %[[PADDED:.*]] = arith.addi %[[LOW]], %{{.*}}
// CHECK: %[[THREE:.*]] = arith.constant 3 : index
// CHECK: return %[[PADDED]], %[[THREE]]
func.func @move(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<3xf32>) {
  %one = arith.constant 1.0 : f32
  %padded = tensor.pad %x low[1] high[2] {
  ^bb0(%i: index):
    tensor.yield %one : f32
  } : tensor<?xf32> to tensor<?xf32>
  %slice = tensor.extract_slice %padded[1][3][2] : tensor<?xf32> to tensor<3xf32>
  %empty = tensor.empty() : tensor<3xf32>
  %r = linalg.exp ins(%slice : tensor<3xf32>) outs(%empty : tensor<3xf32>) -> tensor<3xf32>
  return %padded, %r : tensor<?xf32>, tensor<3xf32>
}

// -----

// Without linalg there is nothing to do.
// CHECK-LABEL: func.func @other(%arg0: tensor<4xf32>) -> tensor<4xf32>
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
