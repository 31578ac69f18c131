// RUN: espalier-opt %s | FileCheck %s
// RUN: espalier-opt %s -mlir-print-op-generic | espalier-opt | FileCheck %s

#space = affine_set<(i, j)[M, N, K] : (i >= 0, M - 1 - i >= 0, j >= 0, N - 1 - j >= 0)>
#points = affine_set<(i, j, k)[M, N, K] : (i >= 0, M - 1 - i >= 0, j >= 0, N - 1 - j >= 0, k >= 0, K - 1 - k >= 0)>

// CHECK: module attributes {poly.target = #poly.target<cpu = "znver5", features = "+avx512f", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 8>}
module attributes {poly.target = #poly.target<cpu = "znver5", features = "+avx512f",
    vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 8>} {

// CHECK-LABEL: poly.kernel private @matmul(
// CHECK-SAME: %[[A:.*]]: memref<?x?xf32>, %[[B:.*]]: memref<?x?xf32>, %[[C:.*]]: memref<?x?xf32>, %[[M:.*]]: index, %[[N:.*]]: index, %{{.*}}: index)
poly.kernel private @matmul(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>, %M: index, %N: index, %K: index) {
  // CHECK: %[[ACC:.*]] = poly.array register(%[[M]], %[[N]]) : memref<?x?xf32> storage #{{.*}} as memref<4x4xf32>
  %acc = poly.array register(%M, %N) : memref<?x?xf32> storage affine_map<(i, j) -> (i mod 4, j mod 4)> as memref<4x4xf32>
  // CHECK: %{{.*}} = poly.array : memref<4xf32>
  %unused = poly.array : memref<4xf32>
  // CHECK: %{{.*}} = poly.array stack(%{{.*}}) : memref<?xf32> storage #{{.*}} as memref<16xf32>
  %folded = poly.array stack(%N) : memref<?xf32> storage affine_map<(i) -> (i mod 16)> as memref<16xf32>
  // CHECK: poly.compute @init domain [#{{.*}}] reads() writes(%[[ACC]][#{{.*}}] : memref<?x?xf32>) {
  poly.compute @init domain [#space] reads() writes(%acc[affine_map<(i, j)[M, N, K] -> (i, j)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    // CHECK: poly.yield %{{.*}} : f32
    poly.yield %z : f32
  }
  // CHECK: poly.compute @acc domain [#{{.*}}] reads(%[[A]][#{{.*}}], %[[B]][#{{.*}}], %[[ACC]][#{{.*}}] : memref<?x?xf32>, memref<?x?xf32>, memref<?x?xf32>) writes(%[[ACC]][#{{.*}}] : memref<?x?xf32>) reduction add attributes {note} {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32):
  poly.compute @acc domain [#points]
      reads(%A[affine_map<(i, j, k)[M, N, K] -> (i, k)>], %B[affine_map<(i, j, k)[M, N, K] -> (k, j)>],
            %acc[affine_map<(i, j, k)[M, N, K] -> (i, j)>] : memref<?x?xf32>, memref<?x?xf32>, memref<?x?xf32>)
      writes(%acc[affine_map<(i, j, k)[M, N, K] -> (i, j)>] : memref<?x?xf32>) reduction add attributes {note} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    poly.yield %s : f32
  }
  poly.compute @store domain [#space] reads(%acc[affine_map<(i, j)[M, N, K] -> (i, j)>] : memref<?x?xf32>)
      writes(%C[affine_map<(i, j)[M, N, K] -> (i, j)>] : memref<?x?xf32>) {
  ^bb0(%c: f32):
    poly.yield %c : f32
  }
  // CHECK: poly.schedule {
  poly.schedule {
    // CHECK: poly.band [@init, @acc, @store] maps [#{{.*}}, #{{.*}}, #{{.*}}] loops [parallel, sequential] full_tiles {
    poly.band [@init, @acc, @store] maps [affine_map<(i, j)[M, N, K] -> (i floordiv 14, j floordiv 32)>,
        affine_map<(i, j, k)[M, N, K] -> (i floordiv 14, j floordiv 32)>,
        affine_map<(i, j)[M, N, K] -> (i floordiv 14, j floordiv 32)>] loops [parallel, sequential] full_tiles {
      // CHECK: poly.sequence {
      poly.sequence {
        // CHECK: poly.filter [@init]
        // CHECK-NOT: {
        poly.filter [@init]
        // CHECK: poly.filter [@acc] {
        poly.filter [@acc] {
          // CHECK: poly.mark "micro_kernel" attributes {rows = 14 : i64} {
          poly.mark "micro_kernel" attributes {rows = 14 : i64} {
            // CHECK: poly.prefetch @acc read 0 at #{{.*}} bytes 64 {
            poly.prefetch @acc read 0 at affine_map<(i, j, k)[M, N, K] -> (i, j, k + 8)> bytes 64 {
              // CHECK: poly.prefetch @acc write 0 of @store at #{{.*}} bytes 128 {
              poly.prefetch @acc write 0 of @store at affine_map<(i, j, k)[M, N, K] -> (i + 14, j)> bytes 128 {
                // CHECK: poly.band [@acc] maps [#{{.*}}] loops [sequential, unroll, vector(16)]
                poly.band [@acc] maps [affine_map<(i, j, k)[M, N, K] -> (k, i mod 14, j mod 32)>] loops [sequential, unroll, vector(16)]
              }
            }
          }
        }
        // CHECK: poly.filter [@store] where [#{{.*}}]
        poly.filter [@store] where [affine_set<(i, j)[M, N, K] : (i - 1 >= 0)>]
        // CHECK: poly.filter [@store] where [#{{.*}}]
        poly.filter [@store] where [affine_set<(i, j)[M, N, K] : (-i >= 0)>]
      }
    }
  }
}

// Two steps of a recurrence.
// CHECK-LABEL: poly.kernel @recurrence(
poly.kernel @recurrence(%x: memref<?xf32>, %h: memref<?xf32>, %T: index) {
  %c = poly.array(%T) : memref<?xf32>
  poly.compute @cell domain [affine_set<(t)[T] : (t - 1 >= 0, T - 1 - t >= 0)>]
      reads(%x[affine_map<(t)[T] -> (t)>], %h[affine_map<(t)[T] -> (t - 1)>] : memref<?xf32>, memref<?xf32>)
      writes(%c[affine_map<(t)[T] -> (t)>] : memref<?xf32>) {
  ^bb0(%input: f32, %state: f32):
    %sum = arith.addf %input, %state : f32
    poly.yield %sum : f32
  }
  // CHECK: poly.compute @state {{.*}} interleaved 1 {
  poly.compute @state domain [affine_set<(t)[T] : (t - 1 >= 0, T - 1 - t >= 0)>]
      reads(%c[affine_map<(t)[T] -> (t)>] : memref<?xf32>) writes(%h[affine_map<(t)[T] -> (t)>] : memref<?xf32>) interleaved 1 {
  ^bb0(%value: f32):
    %tanh = math.tanh %value : f32
    poly.yield %tanh : f32
  }
}

// Names of dimensions and of loops.
// CHECK-LABEL: poly.kernel @names(
poly.kernel @names(%A: memref<8xf32>) {
  // CHECK: poly.compute @zero dims ["i"] domain
  poly.compute @zero dims ["i"] domain [affine_set<(i) : (i >= 0, 7 - i >= 0)>]
      reads() writes(%A[affine_map<(i) -> (i)>] : memref<8xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.schedule {
    // CHECK: poly.band [@zero] maps [{{.*}}] loops [sequential, vector(4)] names ["i.0", "i.1"] full_tiles
    poly.band [@zero] maps [affine_map<(i) -> (i floordiv 4, i mod 4)>] loops [sequential, vector(4)]
        names ["i.0", "i.1"] full_tiles
  }
}

// An indirect read, a coordinate, and a scalar of the kernel in the body.
// CHECK-LABEL: poly.kernel @gather(
poly.kernel @gather(%rows: memref<?xi32>, %table: memref<?xf32>, %out: memref<?xf32>, %scale: f32, %N: index) {
  poly.compute @copy domain [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>]
      reads(%rows[affine_map<(i)[N] -> (i)>], %table[affine_map<(i)[N, r] -> (r)>] : memref<?xi32>, memref<?xf32>)
      writes(%out[affine_map<(i)[N] -> (i)>] : memref<?xf32>) {
  ^bb0(%row: i32, %value: f32):
    // CHECK: poly.index 0
    %i = poly.index 0
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %scaled = arith.mulf %value, %scale : f32
    %sum = arith.addf %scaled, %f : f32
    poly.yield %sum : f32
  }
}

// CHECK-LABEL: poly.kernel @stated(
// CHECK-SAME: %[[STARTS:.*]]: memref<?xi32>, %{{.*}}: index)
poly.kernel @stated(%starts: memref<?xi32>, %N: index) {
  // CHECK: poly.given @short dims ["i"] domain [#{{.*}}] where #{{.*}} reads(%[[STARTS]][#{{.*}}], %[[STARTS]][#{{.*}}] : memref<?xi32>, memref<?xi32>) holds #{{.*}}
  poly.given @short dims ["i"] domain [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>]
      where affine_set<(i)[N, b, e] : (e - b - 1 >= 0)>
      reads(%starts[affine_map<(i)[N] -> (i)>], %starts[affine_map<(i)[N] -> (i + 1)>] : memref<?xi32>, memref<?xi32>)
      holds affine_set<(i)[N, b, e] : (b + 64 - e >= 0)>
}

// CHECK-LABEL: func.func @main
func.func @main(%rows: memref<?xi32>, %table: memref<?xf32>, %out: memref<?xf32>, %scale: f32, %N: index) {
  // CHECK: poly.call @gather(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : memref<?xi32>, memref<?xf32>, memref<?xf32>, f32, index
  poly.call @gather(%rows, %table, %out, %scale, %N) : memref<?xi32>, memref<?xf32>, memref<?xf32>, f32, index
  return
}
}
