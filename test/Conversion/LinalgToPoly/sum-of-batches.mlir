// RUN: espalier-opt %s -convert-linalg-to-poly -poly-form-kernels -symbol-dce -poly-name-kernels | FileCheck %s

// A product that adds up batches needs the rows of all of them: they exist as a
// whole, and each product has a kernel of its own.
// CHECK-COUNT-3: poly.kernel private @generic_
// CHECK-NOT:     poly.kernel
// CHECK:         func.func @main
module attributes {poly.target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 4096, l2 = 8192, l3 = 33554432, cores = 1>} {
  func.func @main(%q: tensor<2x3x32x4xf32>, %k: tensor<2x3x4x24xf32>, %v: tensor<2x3x24x5xf32>) -> tensor<32x5xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x3x32x24xf32>
    %er = tensor.empty() : tensor<2x3x32xf32>
    %eo = tensor.empty() : tensor<32x5xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3x32x24xf32>) -> tensor<2x3x32x24xf32>
    %ir = linalg.fill ins(%zero : f32) outs(%er : tensor<2x3x32xf32>) -> tensor<2x3x32xf32>
    %io = linalg.fill ins(%zero : f32) outs(%eo : tensor<32x5xf32>) -> tensor<32x5xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(a, b, i, j, d) -> (a, b, i, d)>, affine_map<(a, b, i, j, d) -> (a, b, d, j)>, affine_map<(a, b, i, j, d) -> (a, b, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x3x32x4xf32>, tensor<2x3x4x24xf32>) outs(%i : tensor<2x3x32x24xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %m = arith.mulf %x, %y : f32
      %n = arith.addf %o, %m : f32
      linalg.yield %n : f32
    } -> tensor<2x3x32x24xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(a, b, i, j) -> (a, b, i, j)>, affine_map<(a, b, i, j) -> (a, b, i)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%s : tensor<2x3x32x24xf32>) outs(%ir : tensor<2x3x32xf32>) {
    ^bb0(%x: f32, %o: f32):
      %n = arith.addf %o, %x : f32
      linalg.yield %n : f32
    } -> tensor<2x3x32xf32>
    %p = linalg.generic {indexing_maps = [affine_map<(a, b, i, j) -> (a, b, i, j)>, affine_map<(a, b, i, j) -> (a, b, i)>, affine_map<(a, b, i, j) -> (a, b, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %r : tensor<2x3x32x24xf32>, tensor<2x3x32xf32>) outs(%e : tensor<2x3x32x24xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %n = arith.subf %x, %y : f32
      %n2 = math.exp %n : f32
      linalg.yield %n2 : f32
    } -> tensor<2x3x32x24xf32>
    %o = linalg.generic {indexing_maps = [affine_map<(i, e, a, b, j) -> (a, b, i, j)>, affine_map<(i, e, a, b, j) -> (a, b, j, e)>, affine_map<(i, e, a, b, j) -> (i, e)>], iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%p, %v : tensor<2x3x32x24xf32>, tensor<2x3x24x5xf32>) outs(%io : tensor<32x5xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %m = arith.mulf %x, %y : f32
      %n = arith.addf %o, %m : f32
      linalg.yield %n : f32
    } -> tensor<32x5xf32>
    return %o : tensor<32x5xf32>
  }
}
