// RUN: espalier-opt %s -convert-poly-to-loops -split-input-file | FileCheck %s

// A load for each lane, where the machine's gather is slower.
// CHECK-LABEL: func.func @table
// CHECK:         vector.load %{{.*}} : memref<16xindex>, vector<16xindex>
// CHECK-NOT:     vector.gather
// CHECK-COUNT-16: memref.load
// CHECK:         vector.from_elements
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  poly.kernel @table(%at: memref<16xindex>, %x: memref<64xf32>, %y: memref<16xf32>) {
    poly.compute @copy domain [affine_set<(j) : (j >= 0, 15 - j >= 0)>]
        reads(%at[affine_map<(j) -> (j)>], %x[affine_map<(j)[at] -> (at)>] : memref<16xindex>, memref<64xf32>)
        writes(%y[affine_map<(j) -> (j)>] : memref<16xf32>) {
    ^bb0(%i: index, %a: f32):
      poly.yield %a : f32
    }
    poly.schedule {
      poly.band [@copy] maps [affine_map<(j) -> (j)>] loops [vector(16)]
    }
  }
}

// -----

// CHECK-LABEL: func.func @table
// CHECK:         vector.gather
module attributes {poly.target = #poly.target<cpu = "sapphirerapids", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 2097152, l3 = 109051904, cores = 2>} {
  poly.kernel @table(%at: memref<16xindex>, %x: memref<64xf32>, %y: memref<16xf32>) {
    poly.compute @copy domain [affine_set<(j) : (j >= 0, 15 - j >= 0)>]
        reads(%at[affine_map<(j) -> (j)>], %x[affine_map<(j)[at] -> (at)>] : memref<16xindex>, memref<64xf32>)
        writes(%y[affine_map<(j) -> (j)>] : memref<16xf32>) {
    ^bb0(%i: index, %a: f32):
      poly.yield %a : f32
    }
    poly.schedule {
      poly.band [@copy] maps [affine_map<(j) -> (j)>] loops [vector(16)]
    }
  }
}

// -----

// LLVM's tuning of the processor says which it is, not who made it.
// CHECK-LABEL: func.func @table
// CHECK-NOT:     vector.gather
// CHECK-COUNT-16: memref.load
module attributes {poly.target = #poly.target<cpu = "haswell", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>} {
  poly.kernel @table(%at: memref<16xindex>, %x: memref<64xf32>, %y: memref<16xf32>) {
    poly.compute @copy domain [affine_set<(j) : (j >= 0, 15 - j >= 0)>]
        reads(%at[affine_map<(j) -> (j)>], %x[affine_map<(j)[at] -> (at)>] : memref<16xindex>, memref<64xf32>)
        writes(%y[affine_map<(j) -> (j)>] : memref<16xf32>) {
    ^bb0(%i: index, %a: f32):
      poly.yield %a : f32
    }
    poly.schedule {
      poly.band [@copy] maps [affine_map<(j) -> (j)>] loops [vector(16)]
    }
  }
}

// -----

// Features say otherwise.
// CHECK-LABEL: func.func @table
// CHECK:         vector.gather
module attributes {poly.target = #poly.target<cpu = "znver5", features = "+avx512f,+fast-gather", vector_bits = 512, registers = 32, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>} {
  poly.kernel @table(%at: memref<16xindex>, %x: memref<64xf32>, %y: memref<16xf32>) {
    poly.compute @copy domain [affine_set<(j) : (j >= 0, 15 - j >= 0)>]
        reads(%at[affine_map<(j) -> (j)>], %x[affine_map<(j)[at] -> (at)>] : memref<16xindex>, memref<64xf32>)
        writes(%y[affine_map<(j) -> (j)>] : memref<16xf32>) {
    ^bb0(%i: index, %a: f32):
      poly.yield %a : f32
    }
    poly.schedule {
      poly.band [@copy] maps [affine_map<(j) -> (j)>] loops [vector(16)]
    }
  }
}

// -----

// No instruction is known of a processor that LLVM does not know.
// CHECK-LABEL: func.func @table
// CHECK-NOT:     vector.gather
// CHECK:         return
module attributes {poly.target = #poly.target<cpu = "no-such-cpu", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>} {
  poly.kernel @table(%at: memref<16xindex>, %x: memref<64xf32>, %y: memref<16xf32>) {
    poly.compute @copy domain [affine_set<(j) : (j >= 0, 15 - j >= 0)>]
        reads(%at[affine_map<(j) -> (j)>], %x[affine_map<(j)[at] -> (at)>] : memref<16xindex>, memref<64xf32>)
        writes(%y[affine_map<(j) -> (j)>] : memref<16xf32>) {
    ^bb0(%i: index, %a: f32):
      poly.yield %a : f32
    }
    poly.schedule {
      poly.band [@copy] maps [affine_map<(j) -> (j)>] loops [vector(16)]
    }
  }
}
