// RUN: espalier-opt %s -split-input-file -pass-pipeline='builtin.module(poly.kernel(poly-default-schedule))' | FileCheck %s

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>

#m = affine_map<(i, j) -> (i, j)>
#large = affine_set<(i, j) : (i >= 0, 255 - i >= 0, j >= 0, 255 - j >= 0)>
#small = affine_set<(i, j) : (i >= 0, 15 - i >= 0, j >= 0, 255 - j >= 0)>

// The lanes are neighbours in memory; enough points are worth two threads.
// CHECK-DAG:   #[[TILE:.*]] = affine_map<(d0, d1) -> (d0, d1 floordiv 16)>
// CHECK-DAG:   #[[LANE:.*]] = affine_map<(d0, d1) -> (d1 mod 16)>
// CHECK-LABEL: poly.kernel @many_points_are_parallel
// CHECK:         poly.band [@s] maps [#[[TILE]]] loops [parallel, sequential]
// CHECK-NEXT:      poly.band [@s] maps [#[[LANE]]] loops [vector(16)]
// CHECK-LABEL: poly.kernel @few_points_are_not
// CHECK:         poly.band [@s] maps [#[[TILE]]] loops [sequential, sequential]
module attributes {poly.target = #target} {
  poly.kernel @many_points_are_parallel(%A: memref<256x256xf32>, %B: memref<256x256xf32>) {
    poly.compute @s domain [#large] reads(%A[#m] : memref<256x256xf32>) writes(%B[#m] : memref<256x256xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
  }
  poly.kernel @few_points_are_not(%A: memref<16x256xf32>, %B: memref<16x256xf32>) {
    poly.compute @s domain [#small] reads(%A[#m] : memref<16x256xf32>) writes(%B[#m] : memref<16x256xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
  }
}

// -----

#target128 = #poly.target<cpu = "x86-64", features = "", vector_bits = 128, registers = 16, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 1>
#m = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(i, j) -> (j, i)>
#large = affine_set<(i, j) : (i >= 0, 255 - i >= 0, j >= 0, 255 - j >= 0)>

// Writes decide where reads and writes disagree, a square of vectors at a time.
// The lanes of another machine are fewer, and one core has no parallel loops.
// CHECK-DAG:   #[[LANE:.*]] = affine_map<(d0, d1) -> (d1 mod 4, d0 mod 4)>
// CHECK-LABEL: poly.kernel @lanes_follow_the_write
// CHECK:         loops [sequential, sequential]
// CHECK-NEXT:      poly.band [@s] maps [#[[LANE]]] loops [unroll, vector(4)]
// CHECK-LABEL: poly.kernel @wide_elements_have_fewer_lanes
// CHECK:         loops [vector(2)]
module attributes {poly.target = #target128} {
  poly.kernel @lanes_follow_the_write(%A: memref<256x256xf32>, %B: memref<256x256xf32>) {
    poly.compute @s domain [#large] reads(%A[#m] : memref<256x256xf32>) writes(%B[#transposed] : memref<256x256xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
  }
  poly.kernel @wide_elements_have_fewer_lanes(%A: memref<256x256xf64>, %B: memref<256x256xf64>) {
    poly.compute @s domain [#large] reads(%A[#m] : memref<256x256xf64>) writes(%B[#m] : memref<256x256xf64>) {
    ^bb0(%x: f64):
      poly.yield %x : f64
    }
  }
}

// -----

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>
#out = affine_map<(i, j) -> (i, j)>
#sum = affine_map<(i, j, k) -> (i, j)>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#tile = affine_set<(i, j) : (i >= 0, 13 - i >= 0, j >= 0, 31 - j >= 0)>
#points = affine_set<(i, j, k) : (i >= 0, 13 - i >= 0, j >= 0, 31 - j >= 0, k >= 0, 7 - k >= 0)>

// The sum of a contraction is a tile of registers that the loop over k updates:
// its storage map keeps one tile, and the loops over the tile are unrolled.
// CHECK-DAG:   #[[STORAGE:.*]] = affine_map<(d0, d1) -> (d0 mod 14, d1 mod [[WIDTH:16|32]])>
// CHECK-LABEL: poly.kernel @sums_stay_in_registers
// CHECK:         poly.array register : memref<14x32xf32> storage #[[STORAGE]] as memref<14x[[WIDTH]]xf32>
// CHECK:         poly.sequence {
// CHECK-NEXT:      poly.filter [@init] {
// CHECK-NEXT:        poly.band [@init] maps [#{{.*}}] loops [unroll, {{(unroll, )?}}vector(16)]
// CHECK:           poly.filter [@acc] {
// CHECK-NEXT:        poly.band [@acc] maps [#{{.*}}] loops [sequential, unroll, {{(unroll, )?}}vector(16)]
// CHECK:           poly.filter [@copy] {
module attributes {poly.target = #target} {
  poly.kernel @sums_stay_in_registers(%A: memref<14x8xf32>, %B: memref<8x32xf32>, %C: memref<14x32xf32>) {
    %acc = poly.array : memref<14x32xf32>
    poly.compute @init domain [#tile] reads() writes(%acc[#out] : memref<14x32xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc domain [#points] reads(%A[#a], %B[#b], %acc[#sum] : memref<14x8xf32>, memref<8x32xf32>, memref<14x32xf32>) writes(%acc[#sum] : memref<14x32xf32>) reduction add {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %c, %p : f32
      poly.yield %s : f32
    }
    poly.compute @copy domain [#tile] reads(%acc[#out] : memref<14x32xf32>) writes(%C[#out] : memref<14x32xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
  }
}

// -----

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>
#out = affine_map<(i, j)[M] -> (i, j)>
#sum = affine_map<(i, j, k)[M] -> (i, j)>
#a = affine_map<(i, j, k)[M] -> (i, k)>
#b = affine_map<(i, j, k)[M] -> (k, j)>
#tile = affine_set<(i, j)[M] : (i >= 0, M - 1 - i >= 0, j >= 0, 15 - j >= 0)>
#points = affine_set<(i, j, k)[M] : (i >= 0, M - 1 - i >= 0, j >= 0, 15 - j >= 0, k >= 0, 7 - k >= 0)>

// Rows whose number is not known: the last tile has as many as are left.
// CHECK-DAG:   #[[ROW:.*]] = affine_map<(d0, d1, d2)[s0] -> (d2, d0 mod [[ROWS:[0-9]+]], d1 mod 16)>
// CHECK-LABEL: poly.kernel @a_remainder_has_fewer_rows
// CHECK-NOT:     poly.filter [@init, @acc]
// CHECK:         poly.filter [@acc] {
// CHECK-NEXT:      poly.band [@acc] maps [#[[ROW]]] loops [sequential, unroll, vector(16)]
module attributes {poly.target = #target} {
  poly.kernel @a_remainder_has_fewer_rows(%A: memref<?x8xf32>, %B: memref<8x16xf32>, %C: memref<?x16xf32>, %M: index) {
    poly.compute @init domain [#tile] reads() writes(%C[#out] : memref<?x16xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc domain [#points] reads(%A[#a], %B[#b], %C[#sum] : memref<?x8xf32>, memref<8x16xf32>, memref<?x16xf32>) writes(%C[#sum] : memref<?x16xf32>) reduction add {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %c, %p : f32
      poly.yield %s : f32
    }
  }
}

// -----

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>
#row = affine_map<(i) -> (i)>
#of_row = affine_map<(i, j) -> (i)>
#m = affine_map<(i, j) -> (i, j)>
#rows = affine_set<(i) : (i >= 0, 2 - i >= 0)>
#points = affine_set<(i, j) : (i >= 0, 2 - i >= 0, j >= 0, 39 - j >= 0)>

// Computations of a row share the loop over rows. Of what they hand on, single
// elements are in registers and rows on the stack.
// CHECK-DAG:   #[[ONE:.*]] = affine_map<(d0) -> ()>
// CHECK-DAG:   #[[ROW:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: poly.kernel @rows_are_private
// CHECK:         poly.array register : memref<3xf32> storage #[[ONE]] as memref<f32>
// CHECK:         poly.array stack : memref<3x40xf32> storage #[[ROW]] as memref<40xf32>
// CHECK:         poly.band [@init, @exp, @acc, @scale] maps [{{.*}}] loops [sequential] {
// CHECK:           poly.filter [@acc] {
// CHECK-NEXT:        poly.band [@acc] maps [#{{.*}}] loops [sequential, vector(16)]
module attributes {poly.target = #target} {
  poly.kernel @rows_are_private(%A: memref<3x40xf32>, %B: memref<3x40xf32>) {
    %sum = poly.array : memref<3xf32>
    %exp = poly.array : memref<3x40xf32>
    poly.compute @init domain [#rows] reads() writes(%sum[#row] : memref<3xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @exp domain [#points] reads(%A[#m] : memref<3x40xf32>) writes(%exp[#m] : memref<3x40xf32>) {
    ^bb0(%x: f32):
      %e = math.exp %x : f32
      poly.yield %e : f32
    }
    poly.compute @acc domain [#points] reads(%exp[#m], %sum[#of_row] : memref<3x40xf32>, memref<3xf32>) writes(%sum[#of_row] : memref<3xf32>) reduction add {
    ^bb0(%x: f32, %s: f32):
      %t = arith.addf %s, %x : f32
      poly.yield %t : f32
    }
    poly.compute @scale domain [#points] reads(%exp[#m], %sum[#of_row] : memref<3x40xf32>, memref<3xf32>) writes(%B[#m] : memref<3x40xf32>) {
    ^bb0(%x: f32, %s: f32):
      %q = arith.divf %x, %s : f32
      poly.yield %q : f32
    }
  }
}

// -----

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>
#now = affine_map<(t, i) -> (t, i)>
#before = affine_map<(t, i) -> (t - 1, i)>
#later = affine_set<(t, i) : (t - 1 >= 0, 99 - t >= 0, i >= 0, 1023 - i >= 0)>
#m = affine_map<(i) -> (i)>
#points = affine_set<(i) : (i >= 0, 7 - i >= 0)>

// A recurrence runs in order along the dimension that carries it. A kernel that
// has a schedule keeps it.
// CHECK-LABEL: poly.kernel @time_is_sequential
// CHECK:         poly.band [@s] maps [#{{.*}}] loops [sequential, sequential]
// CHECK-NEXT:      poly.band [@s] maps [#{{.*}}] loops [vector(16)]
// CHECK-LABEL: poly.kernel @schedules_stay
// CHECK:         poly.schedule {
// CHECK-NEXT:      poly.band [@s] maps [#{{.*}}] loops [unroll]
module attributes {poly.target = #target} {
  poly.kernel @time_is_sequential(%A: memref<100x1024xf32>) {
    poly.compute @s domain [#later] reads(%A[#before] : memref<100x1024xf32>) writes(%A[#now] : memref<100x1024xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
  }
  poly.kernel @schedules_stay(%A: memref<8xf32>, %B: memref<8xf32>) {
    poly.compute @s domain [#points] reads(%A[#m] : memref<8xf32>) writes(%B[#m] : memref<8xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
    poly.schedule {
      poly.band [@s] maps [#m] loops [unroll] {
      }
    }
  }
}

// -----

#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>
#row = affine_map<(i)[M, N] -> (i)>
#of_row = affine_map<(i, j)[M, N] -> (i)>
#m = affine_map<(i, j)[M, N] -> (i, j)>
#rows = affine_set<(i)[M, N] : (i >= 0, M - 1 - i >= 0)>
#points = affine_set<(i, j)[M, N] : (i >= 0, M - 1 - i >= 0, j >= 0, N - 1 - j >= 0)>

// Rows at a distance that is not known are bad lanes; their elements are good,
// and taken to be many: four vectors side by side.
// CHECK-DAG:   #[[LANES:.*]] = affine_map<(d0, d1)[s0, s1] -> (d1 floordiv 64, d1 mod 64)>
// CHECK-LABEL: poly.kernel @unknown_distances_are_avoided
// CHECK:         poly.band [@acc] maps [#[[LANES]]] loops [sequential, vector(64)]
module attributes {poly.target = #target} {
  poly.kernel @unknown_distances_are_avoided(%A: memref<?x?xf32>, %B: memref<?xf32>, %M: index, %N: index) {
    %sum = poly.array(%M) : memref<?xf32>
    poly.compute @init domain [#rows] reads() writes(%sum[#row] : memref<?xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc domain [#points] reads(%A[#m], %sum[#of_row] : memref<?x?xf32>, memref<?xf32>) writes(%sum[#of_row] : memref<?xf32>) reduction add {
    ^bb0(%x: f32, %s: f32):
      %t = arith.addf %s, %x : f32
      poly.yield %t : f32
    }
    poly.compute @out domain [#rows] reads(%sum[#row] : memref<?xf32>) writes(%B[#row] : memref<?xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
  }
}

// -----

// Two steps of a recurrence: neither can run to its end before the other.
#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>
#steps = affine_set<(t, i)[T] : (t >= 0, T - 1 - t >= 0, i >= 0, 7 - i >= 0)>
#i = affine_map<(t, i)[T] -> (i)>
#left = affine_map<(t, i)[T] -> (i - 1)>
// CHECK-LABEL: poly.kernel @illegal_otherwise
// CHECK:         poly.band [@there, @back] maps {{.*}} loops [sequential]
// CHECK:           poly.filter [@there]
// CHECK:             vector(16)
// CHECK:           poly.filter [@back]
// CHECK:             vector(16)
module attributes {poly.target = #target} {
  poly.kernel @illegal_otherwise(%A: memref<8xf32>, %B: memref<8xf32>, %T: index) {
    poly.compute @there dims ["t", "i"] domain [#steps] reads(%A[#i] : memref<8xf32>) writes(%B[#i] : memref<8xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
    poly.compute @back dims ["t", "i"] domain [#steps] reads(%B[#i] : memref<8xf32>) writes(%A[#left] : memref<8xf32>) interleaved 1 {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
  }
}
