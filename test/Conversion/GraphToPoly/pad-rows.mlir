// RUN: espalier-opt %s -split-input-file -convert-graph-to-poly -poly-form-kernels | FileCheck %s
// RUN: espalier-opt %s -split-input-file -convert-graph-to-poly -poly-form-kernels=skip=pad-rows | FileCheck %s --check-prefix=SKIPPED

// SKIPPED-NOT: memref<{{.*}}1040xf32>

// Rows of 1024 numbers are 4096 bytes apart, so the lines of a tile would share a
// set of the cache. What the program computes gets rows that are a line longer.
// CHECK-LABEL: func.func @main(
// CHECK:         %[[HIDDEN:.*]] = memref.alloc() {{.*}} : memref<32x1040xf32>
// CHECK:         poly.call @{{.*}}(%{{.*}}, %{{.*}}, %[[HIDDEN]])
// CHECK:         poly.call @{{.*}}(%[[HIDDEN]]
func.func @main(%x: tensor<32x24xf32>, %v: tensor<24x1024xf32>, %w: tensor<1024x48xf32>) -> tensor<32x48xf32> {
  %0 = graph.matmul %x, %v : (tensor<32x24xf32>, tensor<24x1024xf32>) -> tensor<32x1024xf32>
  %1 = graph.matmul %0, %w : (tensor<32x1024xf32>, tensor<1024x48xf32>) -> tensor<32x48xf32>
  return %1 : tensor<32x48xf32>
}

// -----

// The caller's rows are copied if eight passes of two vectors read them.
// CHECK-LABEL: func.func @main(
// CHECK:         %[[ROWS:.*]] = memref.alloc() {{.*}} : memref<32x1040xf32>
// CHECK:         poly.call @{{.*}}(%arg0, %[[ROWS]])
// CHECK:         poly.call @{{.*}}(%[[ROWS]]
func.func @main(%x: tensor<32x1024xf32>, %w: tensor<1024x256xf32>) -> tensor<32x256xf32> {
  %0 = graph.matmul %x, %w : (tensor<32x1024xf32>, tensor<1024x256xf32>) -> tensor<32x256xf32>
  return %0 : tensor<32x256xf32>
}

// -----

// CHECK-LABEL: func.func @main(
// CHECK-NOT:     1040
// CHECK-LABEL: func.func @main_plan(
func.func @main(%x: tensor<32x1024xf32>, %w: tensor<1024x96xf32>) -> tensor<32x96xf32> {
  %0 = graph.matmul %x, %w : (tensor<32x1024xf32>, tensor<1024x96xf32>) -> tensor<32x96xf32>
  return %0 : tensor<32x96xf32>
}

// -----

// Few rows, and rows at other distances, stay as they are.
// CHECK-LABEL: func.func @main(
// CHECK-NOT:     memref.alloc
// CHECK-LABEL: func.func @main_plan(
func.func @main(%x: tensor<7x1024xf32>, %y: tensor<32x1000xf32>, %v: tensor<1024x256xf32>, %w: tensor<1000x256xf32>) -> (tensor<7x256xf32>, tensor<32x256xf32>) {
  %0 = graph.matmul %x, %v : (tensor<7x1024xf32>, tensor<1024x256xf32>) -> tensor<7x256xf32>
  %1 = graph.matmul %y, %w : (tensor<32x1000xf32>, tensor<1000x256xf32>) -> tensor<32x256xf32>
  return %0, %1 : tensor<7x256xf32>, tensor<32x256xf32>
}

// -----

// Rows at numbers that are read: the number is no row.
// CHECK-LABEL: func.func @main(
// CHECK:         poly.call
func.func @main(%x: tensor<50x16xf32>, %i: tensor<9xi64>, %w: tensor<16x24xf32>) -> tensor<9x24xf32> {
  %a = graph.gather %x, %i {axis = 0 : i64} : (tensor<50x16xf32>, tensor<9xi64>) -> tensor<9x16xf32>
  %r = graph.matmul %a, %w : (tensor<9x16xf32>, tensor<16x24xf32>) -> tensor<9x24xf32>
  return %r : tensor<9x24xf32>
}
