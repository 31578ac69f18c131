// RUN: espalier-opt %s -pass-pipeline='builtin.module(poly.kernel(poly-default-schedule,poly-verify-schedule))' | FileCheck %s

// A sum for each entry of a sparse matrix, as of a product that is wanted there alone.
#start = affine_map<(i, e, k)[N, E, M, W] -> (i)>
#end = affine_map<(i, e, k)[N, E, M, W] -> (i + 1)>
#entry = affine_map<(i, e, k)[N, E, M, W] -> (e)>
#left = affine_map<(i, e, k)[N, E, M, W] -> (i, k)>
#right = affine_map<(i, e, k)[N, E, M, W, b, l, s, a, c] -> (c, k)>
#inRow = affine_set<(i, e, k)[N, E, M, W, b, l] : (e - b >= 0, l - 1 - e >= 0)>
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {

// It may be short: lanes are left to LLVM, which has code for each length.
// CHECK-LABEL: poly.kernel @any_length
// CHECK-NOT: vector<
// CHECK-NOT: loops [{{.*}}vector
poly.kernel @any_length(%starts: memref<?xi32> {poly.monotonic, poly.bounded_by = affine_map<()[N, E, M, W] -> (E + 1)>, poly.shape = affine_map<()[N, E, M, W] -> (N + 1)>},
    %column: memref<?xi32> {poly.bounded_by = affine_map<()[N, E, M, W] -> (M)>, poly.shape = affine_map<()[N, E, M, W] -> (E)>}, %x: memref<?x?xf32> {poly.shape = affine_map<()[N, E, M, W] -> (N, W)>},
    %z: memref<?x?xf32> {poly.shape = affine_map<()[N, E, M, W] -> (M, W)>}, %y: memref<?xf32> {poly.shape = affine_map<()[N, E, M, W] -> (E)>}, %N: index, %E: index, %M: index, %W: index) {
  poly.compute @sum dims ["i", "e", "k"]
      domain [affine_set<(i, e, k)[N, E, M, W] : (i >= 0, N - 1 - i >= 0, e >= 0, E - 1 - e >= 0, k >= 0, W - 1 - k >= 0)>] where #inRow
      reads(%starts[#start], %starts[#end], %y[#entry], %x[#left], %column[#entry], %z[#right]
            : memref<?xi32>, memref<?xi32>, memref<?xf32>, memref<?x?xf32>, memref<?xi32>, memref<?x?xf32>)
      writes(%y[#entry] : memref<?xf32>) reduction add {
  ^bb0(%b: i32, %l: i32, %s: f32, %a: f32, %c: i32, %d: f32):
    %p = arith.mulf %a, %d : f32
    %r = arith.addf %s, %p : f32
    poly.yield %r : f32
  }
}

// Its lanes are known to be full.
// CHECK-LABEL: poly.kernel @known_length
// CHECK: loops [{{.*}}vector
poly.kernel @known_length(%starts: memref<?xi32> {poly.monotonic, poly.bounded_by = affine_map<()[N, E, M, W] -> (E + 1)>, poly.shape = affine_map<()[N, E, M, W] -> (N + 1)>},
    %column: memref<?xi32> {poly.bounded_by = affine_map<()[N, E, M, W] -> (M)>, poly.shape = affine_map<()[N, E, M, W] -> (E)>}, %x: memref<?x64xf32> {poly.shape = affine_map<()[N, E, M, W] -> (N, 64)>},
    %z: memref<?x64xf32> {poly.shape = affine_map<()[N, E, M, W] -> (M, 64)>}, %y: memref<?xf32> {poly.shape = affine_map<()[N, E, M, W] -> (E)>}, %N: index, %E: index, %M: index, %W: index) {
  poly.compute @sum dims ["i", "e", "k"]
      domain [affine_set<(i, e, k)[N, E, M, W] : (i >= 0, N - 1 - i >= 0, e >= 0, E - 1 - e >= 0, k >= 0, 63 - k >= 0)>] where #inRow
      reads(%starts[#start], %starts[#end], %y[#entry], %x[#left], %column[#entry], %z[#right]
            : memref<?xi32>, memref<?xi32>, memref<?xf32>, memref<?x64xf32>, memref<?xi32>, memref<?x64xf32>)
      writes(%y[#entry] : memref<?xf32>) reduction add {
  ^bb0(%b: i32, %l: i32, %s: f32, %a: f32, %c: i32, %d: f32):
    %p = arith.mulf %a, %d : f32
    %r = arith.addf %s, %p : f32
    poly.yield %r : f32
  }
}
}
