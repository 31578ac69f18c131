// RUN: espalier-opt %s -poly-extract-script | FileCheck %s --check-prefix=SCRIPT
// RUN: espalier-opt %s -poly-extract-script -o %t.script.mlir
// RUN: espalier-opt %s -transform-preload-library=transform-library-paths=%t.script.mlir -transform-interpreter -convert-poly-to-loops -o %t.replayed.mlir
// RUN: espalier-opt %s -pass-pipeline='builtin.module(poly.kernel(poly-default-schedule),convert-poly-to-loops)' -o %t.default.mlir
// RUN: diff %t.replayed.mlir %t.default.mlir
// RUN: sed 's/by \[13, 32\]/by [6, 16]/' %t.script.mlir > %t.edited.mlir
// RUN: espalier-opt %s -transform-preload-library=transform-library-paths=%t.edited.mlir -transform-interpreter | FileCheck %s --check-prefix=EDITED

// What the compiler does by itself, as commands; applied to the kernels without
// schedules they give the same loops. With another tile in one place, loops,
// tails and storage follow.
// SCRIPT: transform.with_named_sequence
// SCRIPT: %[[INIT:.*]] = transform.poly.computation @dense::@init
// SCRIPT: transform.poly.plan %[[INIT]] with ["acc", "store"] shared 2 loops ["i", "j"] parallel 2
// SCRIPT-SAME: tile ["i", "j"] by [13, 32] lanes "j" width 16 keep ["init"]
// SCRIPT: transform.poly.computation @rows::@sum
// SCRIPT: transform.poly.plan %{{.*}} shared 1 loops ["i"] width 16 own_lanes ["j"]

// EDITED: poly.kernel @dense
// EDITED: poly.array register{{.*}} storage {{.*}} as memref<6x16xf32>
#ij = affine_set<(i, j)[M] : (i >= 0, M - 1 - i >= 0, j >= 0, 63 - j >= 0)>
#ijk = affine_set<(i, j, k)[M] : (i >= 0, M - 1 - i >= 0, j >= 0, 63 - j >= 0, k >= 0, 255 - k >= 0)>
#c = affine_map<(i, j)[M] -> (i, j)>
#C = affine_map<(i, j, k)[M] -> (i, j)>
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
poly.kernel @dense(%A: memref<?x256xf32>, %B: memref<256x64xf32>, %R: memref<?x64xf32>, %M: index) {
  %t = poly.array (%M) : memref<?x64xf32>
  poly.compute @init dims ["i", "j"] domain [#ij] reads() writes(%t[#c] : memref<?x64xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @acc dims ["i", "j", "k"] domain [#ijk]
      reads(%A[affine_map<(i, j, k)[M] -> (i, k)>], %B[affine_map<(i, j, k)[M] -> (k, j)>], %t[#C]
            : memref<?x256xf32>, memref<256x64xf32>, memref<?x64xf32>)
      writes(%t[#C] : memref<?x64xf32>) reduction add {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %r = arith.addf %s, %p : f32
    poly.yield %r : f32
  }
  poly.compute @store dims ["i", "j"] domain [#ij] reads(%t[#c] : memref<?x64xf32>) writes(%R[#c] : memref<?x64xf32>) {
  ^bb0(%s: f32):
    poly.yield %s : f32
  }
}

poly.kernel @rows(%A: memref<8x100xf32>, %R: memref<8xf32>) {
  poly.compute @sum dims ["i", "j"] domain [affine_set<(i, j) : (i >= 0, 7 - i >= 0, j >= 0, 99 - j >= 0)>]
      reads(%A[affine_map<(i, j) -> (i, j)>], %R[affine_map<(i, j) -> (i)>] : memref<8x100xf32>, memref<8xf32>)
      writes(%R[affine_map<(i, j) -> (i)>] : memref<8xf32>) reduction add {
  ^bb0(%a: f32, %s: f32):
    %r = arith.addf %a, %s : f32
    poly.yield %r : f32
  }
}
}
