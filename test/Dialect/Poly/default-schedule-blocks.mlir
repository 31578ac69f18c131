// RUN: espalier-opt %s -split-input-file -pass-pipeline='builtin.module(poly.kernel(poly-default-schedule,poly-verify-schedule))' | FileCheck %s

#target = #poly.target<cpu = "sapphirerapids", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 2097152, l3 = 33554432, cores = 2>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
#m = affine_map<(i, j) -> (i, j)>
#tile = affine_set<(i, j) : (i >= 0, 15 - i >= 0, j >= 0, 3071 - j >= 0)>
#points = affine_set<(i, j, k) : (i >= 0, 15 - i >= 0, j >= 0, 3071 - j >= 0, k >= 0, 767 - k >= 0)>

// Few rows pass a matrix with long rows. Blocks of columns pass 32 terms, which
// lie on as many pages, and fetch the next 32.
// CHECK-DAG:   #[[COLUMNS:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 256)>
// CHECK-DAG:   #[[PARTS:.*]] = affine_map<(d0, d1, d2) -> (d2 floordiv 32, (d1 mod 256) floordiv 32, d0 floordiv 8, d2 mod 32)>
// CHECK-DAG:   #[[NEXT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2 + 32)>
// CHECK-LABEL: poly.kernel @thin
// CHECK:         poly.array stack : memref<16x3072xf32> storage #{{.*}} as memref<16x256xf32>
// CHECK:         poly.band [@init, @acc, @store] maps [#{{.*}}, #[[COLUMNS]], #{{.*}}] loops [parallel]
// CHECK:         poly.band [@acc] maps [#[[PARTS]]]
// CHECK-NEXT:      poly.prefetch @acc read 1 at #[[NEXT]] bytes 128
module attributes {poly.target = #target} {
  poly.kernel @thin(%A: memref<16x768xf32>, %B: memref<768x3072xf32>, %C: memref<16x3072xf32>) {
    %t = poly.array : memref<16x3072xf32>
    poly.compute @init domain [#tile] reads() writes(%t[#m] : memref<16x3072xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc domain [#points] reads(%A[#a], %B[#b], %t[#c] : memref<16x768xf32>, memref<768x3072xf32>, memref<16x3072xf32>)
        writes(%t[#c] : memref<16x3072xf32>) reduction add {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %r = arith.addf %s, %p : f32
      poly.yield %r : f32
    }
    poly.compute @store domain [#tile] reads(%t[#m] : memref<16x3072xf32>) writes(%C[#m] : memref<16x3072xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
  }
}

// -----

#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
#m = affine_map<(i, j) -> (i, j)>
#tile = affine_set<(i, j) : (i >= 0, 15 - i >= 0, j >= 0, 3071 - j >= 0)>
#points = affine_set<(i, j, k) : (i >= 0, 15 - i >= 0, j >= 0, 3071 - j >= 0, k >= 0, 767 - k >= 0)>

// Rows of the matrix are three pages long, so all lines of a panel share a set of
// the cache, which has eight: four of them pass and four are fetched.
// CHECK-DAG:   #[[PARTS:.*]] = affine_map<(d0, d1, d2) -> (d2 floordiv 4, (d1 mod 256) floordiv 16, d0 floordiv 4, d2 mod 4)>
// CHECK-DAG:   #[[NEXT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2 + 4)>
// CHECK-LABEL: poly.kernel @crowded
// CHECK:         poly.band [@acc] maps [#[[PARTS]]]
// CHECK-NEXT:      poly.prefetch @acc read 1 at #[[NEXT]] bytes 64
module attributes {poly.target = #target} {
  poly.kernel @crowded(%A: memref<16x768xf32>, %B: memref<768x3072xf32>, %C: memref<16x3072xf32>) {
    %t = poly.array : memref<16x3072xf32>
    poly.compute @init domain [#tile] reads() writes(%t[#m] : memref<16x3072xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc domain [#points] reads(%A[#a], %B[#b], %t[#c] : memref<16x768xf32>, memref<768x3072xf32>, memref<16x3072xf32>)
        writes(%t[#c] : memref<16x3072xf32>) reduction add {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %r = arith.addf %s, %p : f32
      poly.yield %r : f32
    }
    poly.compute @store domain [#tile] reads(%t[#m] : memref<16x3072xf32>) writes(%C[#m] : memref<16x3072xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
  }
}

// -----

#target = #poly.target<cpu = "sapphirerapids", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 2097152, l3 = 33554432, cores = 2>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (j floordiv 32, k, j mod 32)>
#c = affine_map<(i, j, k) -> (i, j)>
#m = affine_map<(i, j) -> (i, j)>
#tile = affine_set<(i, j) : (i >= 0, 1023 - i >= 0, j >= 0, 1023 - j >= 0)>
#points = affine_set<(i, j, k) : (i >= 0, 1023 - i >= 0, j >= 0, 1023 - j >= 0, k >= 0, 1023 - k >= 0)>

// A block of rows stays in cache while all panels pass, so the sum is not cut.
// CHECK-DAG:   #[[BLOCKS:.*]] = affine_map<(d0, d1, d2) -> (d0 floordiv 60, d1 floordiv 64, (d0 mod 60) floordiv 6)>
// CHECK-DAG:   #[[NEXT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1 + 64, ((d0 mod 60) floordiv 6) * 103 + d2 floordiv 8)>
// CHECK-LABEL: poly.kernel @blocks
// CHECK:         poly.array register
// CHECK:         poly.band [@init, @acc, @store] maps [#{{.*}}, #[[BLOCKS]], #{{.*}}] loops [parallel, parallel, sequential]
// CHECK:         poly.prefetch @acc read 1 at #[[NEXT]] bytes 256
module attributes {poly.target = #target} {
  poly.kernel @blocks(%A: memref<1024x1024xf32>, %B: memref<32x1024x32xf32>, %C: memref<1024x1024xf32>) {
    %t = poly.array : memref<1024x1024xf32>
    poly.compute @init domain [#tile] reads() writes(%t[#m] : memref<1024x1024xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc domain [#points] reads(%A[#a], %B[#b], %t[#c] : memref<1024x1024xf32>, memref<32x1024x32xf32>, memref<1024x1024xf32>)
        writes(%t[#c] : memref<1024x1024xf32>) reduction add {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %r = arith.addf %s, %p : f32
      poly.yield %r : f32
    }
    poly.compute @store domain [#tile] reads(%t[#m] : memref<1024x1024xf32>) writes(%C[#m] : memref<1024x1024xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
  }
}

// -----

#target = #poly.target<cpu = "sapphirerapids", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 2097152, l3 = 33554432, cores = 2>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (j floordiv 32, k, j mod 32)>
#c = affine_map<(i, j, k) -> (i, j)>
#m = affine_map<(i, j) -> (i, j)>
#tile = affine_set<(i, j) : (i >= 0, 3135 - i >= 0, j >= 0, 63 - j >= 0)>
#points = affine_set<(i, j, k) : (i >= 0, 3135 - i >= 0, j >= 0, 63 - j >= 0, k >= 0, 255 - k >= 0)>

// The panels stay in cache. The rows come from memory: each step fetches a part of
// what the tile after the next reads.
// CHECK-DAG:   #[[TILES:.*]] = affine_map<(d0, d1, d2) -> (d0 floordiv 14, d1 floordiv 32)>
// CHECK-DAG:   #[[NEXT:.*]] = affine_map<(d0, d1, d2) -> (d0 + 28, d1, ((d1 floordiv 32) * 256 + d2) * 7)>
// CHECK-LABEL: poly.kernel @stream
// CHECK:         poly.band [@init, @acc, @store] maps [#{{.*}}, #[[TILES]], #{{.*}}] loops [parallel, sequential]
// CHECK:         poly.prefetch @acc read 0 at #[[NEXT]] bytes 64
module attributes {poly.target = #target} {
  poly.kernel @stream(%A: memref<3136x256xf32>, %B: memref<2x256x32xf32>, %C: memref<3136x64xf32>) {
    %t = poly.array : memref<3136x64xf32>
    poly.compute @init domain [#tile] reads() writes(%t[#m] : memref<3136x64xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc domain [#points] reads(%A[#a], %B[#b], %t[#c] : memref<3136x256xf32>, memref<2x256x32xf32>, memref<3136x64xf32>)
        writes(%t[#c] : memref<3136x64xf32>) reduction add {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %r = arith.addf %s, %p : f32
      poly.yield %r : f32
    }
    poly.compute @store domain [#tile] reads(%t[#m] : memref<3136x64xf32>) writes(%C[#m] : memref<3136x64xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
  }
}

// -----

#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 1>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (j floordiv 16, k, j mod 16)>
#c = affine_map<(i, j, k) -> (i, j)>
#m = affine_map<(i, j) -> (i, j)>
#tile = affine_set<(i, j) : (i >= 0, 127 - i >= 0, j >= 0, 3071 - j >= 0)>
#points = affine_set<(i, j, k) : (i >= 0, 127 - i >= 0, j >= 0, 3071 - j >= 0, k >= 0, 767 - k >= 0)>

// With few registers, tiles have whole panels, which are fetched ahead, though
// as many sums of four rows would divide the rows.
// CHECK-DAG:   #[[TILES:.*]] = affine_map<(d0, d1, d2) -> (d0 floordiv 6)>
// CHECK-DAG:   #[[NEXT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1 + 16, (d0 floordiv 6) * 35 + d2 floordiv 16)>
// CHECK-LABEL: poly.kernel @panels
// CHECK:         poly.band [@init, @acc, @store] maps [#{{.*}}, #[[TILES]], #{{.*}}] loops [sequential]
// CHECK:         poly.prefetch @acc read 1 at #[[NEXT]] bytes 64
module attributes {poly.target = #target} {
  poly.kernel @panels(%A: memref<128x768xf32>, %B: memref<192x768x16xf32>, %C: memref<128x3072xf32>) {
    %t = poly.array : memref<128x3072xf32>
    poly.compute @init domain [#tile] reads() writes(%t[#m] : memref<128x3072xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc domain [#points] reads(%A[#a], %B[#b], %t[#c] : memref<128x768xf32>, memref<192x768x16xf32>, memref<128x3072xf32>)
        writes(%t[#c] : memref<128x3072xf32>) reduction add {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %r = arith.addf %s, %p : f32
      poly.yield %r : f32
    }
    poly.compute @store domain [#tile] reads(%t[#m] : memref<128x3072xf32>) writes(%C[#m] : memref<128x3072xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
  }
}

// -----

#target = #poly.target<cpu = "sapphirerapids", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 2097152, l3 = 33554432, cores = 2>
#a = affine_map<(i, w, j, k) -> (i, w, k)>
#b = affine_map<(i, w, j, k) -> (j floordiv 32, k, j mod 32)>
#c = affine_map<(i, w, j, k) -> (i, w, j)>
#m = affine_map<(i, w, j) -> (i, w, j)>
#inside = affine_map<(i, w, j) -> (i + 3, w + 3, j)>
#tile = affine_set<(i, w, j) : (i >= 0, 31 - i >= 0, w >= 0, 31 - w >= 0, j >= 0, 767 - j >= 0)>
#points = affine_set<(i, w, j, k) : (i >= 0, 31 - i >= 0, w >= 0, 31 - w >= 0, j >= 0, 767 - j >= 0, k >= 0, 767 - k >= 0)>

// So does a block of rows of an image.
// CHECK-DAG:   #[[BLOCKS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0 floordiv 4, d2 floordiv 32, d0 mod 4, d1 floordiv 11)>
// CHECK-LABEL: poly.kernel @image
// CHECK:         poly.band [@init, @acc, @store] maps [#{{.*}}, #[[BLOCKS]], #{{.*}}] loops [parallel, parallel, sequential, sequential]
// CHECK:         poly.prefetch @acc read 1
module attributes {poly.target = #target} {
  poly.kernel @image(%A: memref<32x32x768xf32>, %B: memref<24x768x32xf32>, %C: memref<38x38x768xf32>) {
    %t = poly.array : memref<32x32x768xf32>
    poly.compute @init domain [#tile] reads() writes(%t[#m] : memref<32x32x768xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc domain [#points] reads(%A[#a], %B[#b], %t[#c] : memref<32x32x768xf32>, memref<24x768x32xf32>, memref<32x32x768xf32>)
        writes(%t[#c] : memref<32x32x768xf32>) reduction add {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %r = arith.addf %s, %p : f32
      poly.yield %r : f32
    }
    poly.compute @store domain [#tile] reads(%t[#m] : memref<32x32x768xf32>) writes(%C[#inside] : memref<38x38x768xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
  }
}

// -----

#target = #poly.target<cpu = "sapphirerapids", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 2097152, l3 = 33554432, cores = 2>
#a = affine_map<(n, p, j, k) -> (n, p, k)>
#b = affine_map<(n, p, j, k) -> (j floordiv 32, k, j mod 32)>
#c = affine_map<(n, p, j, k) -> (n, p, j)>
#m = affine_map<(n, p, j) -> (n, p, j)>
#tile = affine_set<(n, p, j) : (n >= 0, 1 - n >= 0, p >= 0, 3135 - p >= 0, j >= 0, 63 - j >= 0)>
#points = affine_set<(n, p, j, k) : (n >= 0, 1 - n >= 0, p >= 0, 3135 - p >= 0, j >= 0, 63 - j >= 0, k >= 0, 255 - k >= 0)>

// The points of an image would leave the cache before the next panel wants them: each
// tile of them takes all panels.
// CHECK-DAG:   #[[TILES:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1 floordiv 14, d2 floordiv 32)>
// CHECK-LABEL: poly.kernel @points
// CHECK:         poly.band [@init, @acc, @store] maps [#{{.*}}, #[[TILES]], #{{.*}}] loops [parallel, parallel, sequential]
// CHECK:         poly.prefetch @acc read 0
module attributes {poly.target = #target} {
  poly.kernel @points(%A: memref<2x3136x256xf32>, %B: memref<2x256x32xf32>, %C: memref<2x3136x64xf32>) {
    %t = poly.array : memref<2x3136x64xf32>
    poly.compute @init domain [#tile] reads() writes(%t[#m] : memref<2x3136x64xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc domain [#points] reads(%A[#a], %B[#b], %t[#c] : memref<2x3136x256xf32>, memref<2x256x32xf32>, memref<2x3136x64xf32>)
        writes(%t[#c] : memref<2x3136x64xf32>) reduction add {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %r = arith.addf %s, %p : f32
      poly.yield %r : f32
    }
    poly.compute @store domain [#tile] reads(%t[#m] : memref<2x3136x64xf32>) writes(%C[#m] : memref<2x3136x64xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
  }
}
