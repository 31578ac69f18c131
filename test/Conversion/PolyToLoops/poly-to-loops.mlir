// RUN: espalier-opt %s -convert-poly-to-loops -canonicalize -split-input-file | FileCheck %s

#i = affine_map<(i) -> (i)>
#m = affine_map<(i, j) -> (i, j)>
#points = affine_set<(i, j) : (i >= 0, 1 - i >= 0, j >= 0, 2 - j >= 0)>
#two = affine_set<(i) : (i >= 0, 1 - i >= 0)>

// Without a schedule, a computation runs over its domain in order; memory is
// addressed in one dimension. Calls of the kernel become calls of the function.
// CHECK-LABEL: func.func @program_order(
// CHECK-SAME:      %[[A:.*]]: memref<2x3xf32>, %[[B:.*]]: memref<2x3xf32>)
// CHECK-DAG:     %[[FROM:.*]] = memref.collapse_shape %[[A]] {{.*}} into memref<6xf32>
// CHECK-DAG:     %[[TO:.*]] = memref.collapse_shape %[[B]]
// CHECK:         scf.for %[[I:.*]] = %c0 to %c2 step %c1 {
// CHECK:           scf.for %[[J:.*]] = %c0 to %c3 step %c1 {
// CHECK:             %[[ROW:.*]] = arith.muli %[[I]], %c3
// CHECK:             %[[X:.*]] = memref.load %[[FROM]][
// CHECK:             %[[Y:.*]] = math.exp %[[X]]
// CHECK:             memref.store %[[Y]], %[[TO]][
// CHECK-LABEL: func.func @main
// CHECK:         call @program_order(
poly.kernel @program_order(%A: memref<2x3xf32>, %B: memref<2x3xf32>) {
  poly.compute @s domain [#points] reads(%A[#m] : memref<2x3xf32>) writes(%B[#m] : memref<2x3xf32>) {
  ^bb0(%x: f32):
    %y = math.exp %x : f32
    poly.yield %y : f32
  }
}
func.func @main(%A: memref<2x3xf32>, %B: memref<2x3xf32>) {
  poly.call @program_order(%A, %B) : memref<2x3xf32>, memref<2x3xf32>
  return
}

// -----

#i = affine_map<(i)[N] -> (i)>
#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#tiles = affine_map<(i)[N] -> (i floordiv 16, i mod 16)>

// A vector loop is its lanes. Those beyond the end are masked. A division is
// total: it has a divisor for which there is a quotient.
// CHECK-LABEL: func.func @masked_tail(
// CHECK-SAME:      %[[A:.*]]: memref<?xi32>, %[[B:.*]]: memref<?xi32>, %[[C:.*]]: memref<?xi32>, %[[N:.*]]: index)
// CHECK-DAG:     %[[ONES:.*]] = arith.constant dense<1> : vector<16xi32>
// CHECK-DAG:     %[[ZEROS:.*]] = arith.constant dense<0> : vector<16xi32>
// CHECK-DAG:     %[[LEAST:.*]] = arith.constant dense<-2147483648> : vector<16xi32>
// CHECK-DAG:     %[[MINUS:.*]] = arith.constant dense<-1> : vector<16xi32>
// CHECK:         scf.parallel (%[[TILE:.*]]) = (%c0) to (%{{.*}}) step (%c1) {
// A mask has 32 bits.
// CHECK:           %[[LEFT:.*]] = arith.minsi
// CHECK:           %[[LANES:.*]] = arith.maxsi %[[LEFT]], %c0
// CHECK:           %[[MASK:.*]] = vector.create_mask %[[LANES]] : vector<16xi1>
// CHECK:           %[[X:.*]] = vector.maskedload %[[A]][{{.*}}], %[[MASK]]
// CHECK:           %[[Y:.*]] = vector.maskedload %[[B]][{{.*}}], %[[MASK]]
// CHECK:           %[[ZERO:.*]] = arith.cmpi eq, %[[Y]], %[[ZEROS]]
// CHECK:           %[[FIRST:.*]] = arith.cmpi eq, %[[X]], %[[LEAST]]
// CHECK:           %[[LAST:.*]] = arith.cmpi eq, %[[Y]], %[[MINUS]]
// CHECK:           %[[BOTH:.*]] = arith.andi %[[FIRST]], %[[LAST]]
// CHECK:           %[[TRAPS:.*]] = arith.ori %[[ZERO]], %[[BOTH]]
// CHECK:           %[[SAFE:.*]] = arith.select %[[TRAPS]], %[[ONES]], %[[Y]]
// CHECK:           %[[Q:.*]] = arith.divsi %[[X]], %[[SAFE]] : vector<16xi32>
// CHECK:           %[[Z:.*]] = arith.select %[[ZERO]], %[[ZEROS]], %[[Q]]
// CHECK:           vector.maskedstore %[[C]][{{.*}}], %[[MASK]], %[[Z]]
poly.kernel @masked_tail(%A: memref<?xi32>, %B: memref<?xi32>, %C: memref<?xi32>, %N: index) {
  poly.compute @s domain [#points] reads(%A[#i], %B[#i] : memref<?xi32>, memref<?xi32>) writes(%C[#i] : memref<?xi32>) {
  ^bb0(%x: i32, %y: i32):
    %z = arith.divsi %x, %y : i32
    poly.yield %z : i32
  }
  poly.schedule {
    poly.band [@s] maps [#tiles] loops [parallel, vector(16)] {
    }
  }
}

// -----

#i = affine_map<(i) -> (i)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#twice = affine_map<(i, j) -> (2 * j)>
#m = affine_map<(i, j) -> (i, j)>
#points = affine_set<(i, j) : (i >= 0, 1 - i >= 0, j >= 0, 15 - j >= 0)>

// An access is a scalar for all lanes, a contiguous vector, or parts of some.
// CHECK-LABEL: func.func @kinds_of_access(
// CHECK-NOT:     vector.create_mask
// CHECK:         scf.for
// CHECK:           memref.load {{.*}} : memref<2xf32>
// CHECK:           vector.load {{.*}} : memref<16xf32>, vector<16xf32>
// CHECK:           vector.shuffle {{.*}} [0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31]
// CHECK:           vector.broadcast %{{.*}} : f32 to vector<16xf32>
// CHECK:           vector.store {{.*}} : memref<32xf32>, vector<16xf32>
poly.kernel @kinds_of_access(%A: memref<2xf32>, %B: memref<16xf32>, %C: memref<32xf32>, %D: memref<2x16xf32>) {
  poly.compute @s domain [#points] reads(%A[#row], %B[#column], %C[#twice] : memref<2xf32>, memref<16xf32>, memref<32xf32>) writes(%D[#m] : memref<2x16xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %p, %z : f32
    poly.yield %q : f32
  }
  poly.schedule {
    poly.band [@s] maps [#m] loops [sequential, vector(16)] {
    }
  }
}

// -----

#i = affine_map<(i) -> (i)>
#data = affine_map<(i)[k, x] -> (k + i)>
#points = affine_set<(i) : (i >= 0, 15 - i >= 0)>

// Lanes may meet in an element whose index is read: the loop stays a loop.
// CHECK-LABEL: func.func @scattered_writes(
// CHECK-NOT:     vector
// CHECK:         scf.for
// CHECK:           %[[K:.*]] = memref.load %{{.*}} : memref<16xindex>
// CHECK:           memref.store %{{.*}} : memref<99xf32>
poly.kernel @scattered_writes(%I: memref<16xindex>, %X: memref<16xf32>, %Y: memref<99xf32>) {
  poly.compute @s domain [#points] reads(%I[#i], %X[affine_map<(i)[k] -> (i)>] : memref<16xindex>, memref<16xf32>) writes(%Y[#data] : memref<99xf32>) {
  ^bb0(%k: index, %x: f32):
    poly.yield %x : f32
  }
  poly.schedule {
    poly.band [@s] maps [#i] loops [vector(16)] {
    }
  }
}

// -----

#i = affine_map<(i) -> (i)>
#sum = affine_map<(i, k) -> (i)>
#m = affine_map<(i, k) -> (i, k)>
#rows = affine_set<(i) : (i >= 0, 1 - i >= 0)>
#points = affine_set<(i, k) : (i >= 0, 1 - i >= 0, k >= 0, 31 - k >= 0)>
#steps = affine_map<(i, k) -> (k, i)>

// Elements in registers are values that loops carry.
// CHECK-LABEL: func.func @registers_are_carried(
// CHECK-NOT:     memref.alloc
// CHECK:         %[[SUMS:.*]]:2 = scf.for %{{.*}} iter_args(%[[S0:.*]] = %[[ZERO:.*]], %[[S1:.*]] = %[[ZERO]]) -> (f32, f32) {
// CHECK:           %[[T0:.*]] = arith.addf %[[S0]]
// CHECK:           %[[T1:.*]] = arith.addf %[[S1]]
// CHECK:           scf.yield %[[T0]], %[[T1]]
// CHECK:         memref.store %[[SUMS]]#0
// CHECK:         memref.store %[[SUMS]]#1
poly.kernel @registers_are_carried(%A: memref<2x32xf32>, %B: memref<2xf32>) {
  %s = poly.array register : memref<2xf32>
  poly.compute @init domain [#rows] reads() writes(%s[#i] : memref<2xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @acc domain [#points] reads(%A[#m], %s[#sum] : memref<2x32xf32>, memref<2xf32>) writes(%s[#sum] : memref<2xf32>) reduction add {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %y, %x : f32
    poly.yield %z : f32
  }
  poly.compute @out domain [#rows] reads(%s[#i] : memref<2xf32>) writes(%B[#i] : memref<2xf32>) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.schedule {
    poly.sequence {
      poly.filter [@init] {
        poly.band [@init] maps [#i] loops [unroll] {
        }
      }
      poly.filter [@acc] {
        poly.band [@acc] maps [#steps] loops [sequential, unroll] {
        }
      }
      poly.filter [@out] {
        poly.band [@out] maps [#i] loops [unroll] {
        }
      }
    }
  }
}

// -----

#i = affine_map<(i) -> (i)>
#sum = affine_map<(i, k) -> (i)>
#m = affine_map<(i, k) -> (i, k)>
#one = affine_map<(i) -> ()>
#rows = affine_set<(i) : (i >= 0, 2 - i >= 0)>
#points = affine_set<(i, k) : (i >= 0, 2 - i >= 0, k >= 0, 31 - k >= 0)>
#lanes = affine_map<(i, k) -> (k floordiv 16, k mod 16)>

// A reduction over lanes keeps their partial results, and combines them once.
// CHECK-LABEL: func.func @lanes_are_added_up(
// CHECK:         scf.for
// CHECK:           %[[PARTIAL:.*]] = scf.for {{.*}} -> (vector<16xf32>)
// CHECK:             arith.addf %{{.*}} : vector<16xf32>
// CHECK:           %[[S:.*]] = vector.reduction <add>, %[[PARTIAL]], {{.*}} fastmath<reassoc> : vector<16xf32> into f32
// CHECK:           memref.store %[[S]]
poly.kernel @lanes_are_added_up(%A: memref<3x32xf32>, %B: memref<3xf32>) {
  %s = poly.array register : memref<3xf32> storage #one as memref<f32>
  poly.compute @init domain [#rows] reads() writes(%s[#i] : memref<3xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @acc domain [#points] reads(%A[#m], %s[#sum] : memref<3x32xf32>, memref<3xf32>) writes(%s[#sum] : memref<3xf32>) reduction add {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %y, %x : f32
    poly.yield %z : f32
  }
  poly.compute @out domain [#rows] reads(%s[#i] : memref<3xf32>) writes(%B[#i] : memref<3xf32>) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.schedule {
    poly.band [@init, @acc, @out] maps [#i, #sum, #i] loops [sequential] {
      poly.sequence {
        poly.filter [@init] {
        }
        poly.filter [@acc] {
          poly.band [@acc] maps [#lanes] loops [sequential, vector(16)] {
          }
        }
        poly.filter [@out] {
        }
      }
    }
  }
}

// -----

#m = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#slot = affine_map<(i, j) -> (j)>
#points = affine_set<(i, j) : (i >= 0, 2 - i >= 0, j >= 0, 3 - j >= 0)>

// Each iteration of a parallel loop has its own copy of an array with a storage
// map: on the stack, or allocated and freed inside. Other arrays are shared.
// CHECK-LABEL: func.func @private_arrays(
// CHECK:         %[[SHARED:.*]] = memref.alloc() {{.*}} : memref<3x4xf32>
// CHECK:         scf.parallel
// CHECK:           memref.alloca() {{.*}} : memref<4xf32>
// CHECK:           %[[OWN:.*]] = memref.alloc() {{.*}} : memref<4xf32>
// CHECK:           memref.dealloc %[[OWN]]
// CHECK:         memref.dealloc %[[SHARED]]
poly.kernel @private_arrays(%A: memref<3x4xf32>, %B: memref<3x4xf32>) {
  %p = poly.array stack : memref<3x4xf32> storage #slot as memref<4xf32>
  %q = poly.array : memref<3x4xf32> storage #slot as memref<4xf32>
  %r = poly.array : memref<3x4xf32>
  poly.compute @a domain [#points] reads(%A[#m] : memref<3x4xf32>) writes(%p[#m], %q[#m], %r[#m] : memref<3x4xf32>, memref<3x4xf32>, memref<3x4xf32>) {
  ^bb0(%x: f32):
    poly.yield %x, %x, %x : f32, f32, f32
  }
  poly.compute @b domain [#points] reads(%p[#m], %q[#m], %r[#m] : memref<3x4xf32>, memref<3x4xf32>, memref<3x4xf32>) writes(%B[#m] : memref<3x4xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.addf %x, %y : f32
    %t = arith.addf %s, %z : f32
    poly.yield %t : f32
  }
  poly.schedule {
    poly.band [@a, @b] maps [#row, #row] loops [parallel] {
      poly.sequence {
        poly.filter [@a] {
          poly.band [@a] maps [#slot] loops [sequential] {
          }
        }
        poly.filter [@b] {
          poly.band [@b] maps [#slot] loops [sequential] {
          }
        }
      }
    }
  }
}

// -----

#m = affine_map<(i, j) -> (i, j)>
#points = affine_set<(i, j) : (i >= 0, 2 - i >= 0, j >= 0, 3 - j >= 0)>

// Parallel loops directly inside of each other are one.
// CHECK-LABEL: func.func @parallel_loops_merge(
// CHECK:         scf.parallel (%{{.*}}, %{{.*}}) = (%c0, %c0) to (%c3, %c4)
poly.kernel @parallel_loops_merge(%A: memref<3x4xf32>) {
  poly.compute @a domain [#points] reads() writes(%A[#m] : memref<3x4xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.schedule {
    poly.band [@a] maps [#m] loops [parallel, parallel] {
    }
  }
}

// -----

#i = affine_map<(i)[N] -> (i)>
#sum = affine_map<(i, k)[N] -> (i)>
#rows = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#points = affine_set<(i, k)[N] : (i >= 0, N - 1 - i >= 0, k >= 0, 31 - k >= 0)>
#tile = affine_map<(i)[N] -> (i floordiv 2)>
#tiles = affine_map<(i, k)[N] -> (i floordiv 2)>

// There is code for each number of rows that the last tile may have; what sums
// them up is in registers.
// CHECK-LABEL: func.func @partial_tiles(
// CHECK:         scf.for
// CHECK:           %[[ROWS:.*]] = arith.minsi
// CHECK:           %[[WHOLE:.*]] = arith.cmpi eq, %[[ROWS]], %c2
// CHECK:           scf.if %[[WHOLE]] {
// CHECK:             %[[SUMS:.*]]:2 = scf.for {{.*}} -> (f32, f32) {
// CHECK:             memref.store %[[SUMS]]#0
// CHECK:             memref.store %[[SUMS]]#1
// CHECK:           } else {
// CHECK:             arith.cmpi eq, %[[ROWS]], %c1
// CHECK:             %[[SUM:.*]] = scf.for {{.*}} -> (f32) {
// CHECK:             memref.store %[[SUM]],
poly.kernel @partial_tiles(%A: memref<?x32xf32>, %B: memref<?xf32>, %N: index) {
  %s = poly.array register(%N) : memref<?xf32> storage affine_map<(i) -> (i mod 2)> as memref<2xf32>
  poly.compute @init domain [#rows] reads() writes(%s[#i] : memref<?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @acc domain [#points] reads(%A[affine_map<(i, k)[N] -> (i, k)>], %s[#sum] : memref<?x32xf32>, memref<?xf32>) writes(%s[#sum] : memref<?xf32>) reduction add {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %y, %x : f32
    poly.yield %z : f32
  }
  poly.compute @out domain [#rows] reads(%s[#i] : memref<?xf32>) writes(%B[#i] : memref<?xf32>) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
  poly.schedule {
    poly.band [@init, @acc, @out] maps [#tile, #tiles, #tile] loops [sequential] {
      poly.sequence {
        poly.filter [@init] {
          poly.band [@init] maps [affine_map<(i)[N] -> (i mod 2)>] loops [unroll]
        }
        poly.filter [@acc] {
          poly.band [@acc] maps [affine_map<(i, k)[N] -> (k, i mod 2)>] loops [sequential, unroll]
        }
        poly.filter [@out] {
          poly.band [@out] maps [affine_map<(i)[N] -> (i mod 2)>] loops [unroll]
        }
      }
    }
  }
}
