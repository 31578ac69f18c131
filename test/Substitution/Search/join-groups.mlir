// RUN: espalier-opt %s --graph-optimize=max-merging-iterations=1 | FileCheck %s
// RUN: espalier-opt %s --graph-optimize='search=backtracking max-graphs=2' | FileCheck %s

// Nine products of one weight are one product at once, of nine rows. The tenth
// needs the first, and the weight of the last is another one.
// CHECK-LABEL: func @products_of_one_weight_are_joined_at_once
// CHECK: graph.matmul %{{.*}} : (tensor<9x512xf32>, tensor<512x512xf32>)
// CHECK-COUNT-2: graph.matmul %{{.*}} : (tensor<1x512xf32>, tensor<512x512xf32>)
// CHECK-NOT: graph.matmul
func.func @products_of_one_weight_are_joined_at_once(
    %w: tensor<512x512xf32>, %v: tensor<512x512xf32>,
    %x0: tensor<1x512xf32>, %x1: tensor<1x512xf32>, %x2: tensor<1x512xf32>,
    %x3: tensor<1x512xf32>, %x4: tensor<1x512xf32>, %x5: tensor<1x512xf32>,
    %x6: tensor<1x512xf32>, %x7: tensor<1x512xf32>, %x8: tensor<1x512xf32>)
    -> (tensor<1x512xf32>, tensor<1x512xf32>, tensor<1x512xf32>,
        tensor<1x512xf32>, tensor<1x512xf32>, tensor<1x512xf32>,
        tensor<1x512xf32>, tensor<1x512xf32>, tensor<1x512xf32>,
        tensor<1x512xf32>, tensor<1x512xf32>) {
  %0 = graph.matmul %x0, %w : (tensor<1x512xf32>, tensor<512x512xf32>) -> tensor<1x512xf32>
  %1 = graph.matmul %x1, %w : (tensor<1x512xf32>, tensor<512x512xf32>) -> tensor<1x512xf32>
  %2 = graph.matmul %x2, %w : (tensor<1x512xf32>, tensor<512x512xf32>) -> tensor<1x512xf32>
  %3 = graph.matmul %x3, %w : (tensor<1x512xf32>, tensor<512x512xf32>) -> tensor<1x512xf32>
  %4 = graph.matmul %x4, %w : (tensor<1x512xf32>, tensor<512x512xf32>) -> tensor<1x512xf32>
  %5 = graph.matmul %x5, %w : (tensor<1x512xf32>, tensor<512x512xf32>) -> tensor<1x512xf32>
  %6 = graph.matmul %x6, %w : (tensor<1x512xf32>, tensor<512x512xf32>) -> tensor<1x512xf32>
  %7 = graph.matmul %x7, %w : (tensor<1x512xf32>, tensor<512x512xf32>) -> tensor<1x512xf32>
  %8 = graph.matmul %x8, %w : (tensor<1x512xf32>, tensor<512x512xf32>) -> tensor<1x512xf32>
  %9 = graph.matmul %0, %w : (tensor<1x512xf32>, tensor<512x512xf32>) -> tensor<1x512xf32>
  %10 = graph.matmul %x0, %v : (tensor<1x512xf32>, tensor<512x512xf32>) -> tensor<1x512xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10
      : tensor<1x512xf32>, tensor<1x512xf32>, tensor<1x512xf32>,
        tensor<1x512xf32>, tensor<1x512xf32>, tensor<1x512xf32>,
        tensor<1x512xf32>, tensor<1x512xf32>, tensor<1x512xf32>,
        tensor<1x512xf32>, tensor<1x512xf32>
}
