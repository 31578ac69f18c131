// RUN: espalier-opt %s -pass-pipeline='builtin.module(poly.kernel(poly-verify-schedule))' -split-input-file -verify-diagnostics

#points = affine_set<(t, i)[T, N] : (t >= 0, T - 1 - t >= 0, i - 1 >= 0, N - 2 - i >= 0)>
#west = affine_map<(t, i)[T, N] -> (t, i - 1)>
#east = affine_map<(t, i)[T, N] -> (t, i + 1)>
#next = affine_map<(t, i)[T, N] -> (t + 1, i)>

poly.kernel @skewed_tiles_are_legal(%A: memref<?x?xf32>, %T: index, %N: index) {
  poly.compute @step domain [#points] reads(%A[#west], %A[#east] : memref<?x?xf32>, memref<?x?xf32>) writes(%A[#next] : memref<?x?xf32>) {
  ^bb0(%west: f32, %east: f32):
    %sum = arith.addf %west, %east : f32
    poly.yield %sum : f32
  }
  poly.schedule {
    poly.band [@step] maps [affine_map<(t, i)[T, N] -> (t floordiv 4, (t + i) floordiv 4, t mod 4, (t + i) mod 4)>]
        loops [sequential, sequential, sequential, sequential]
  }
}

// -----

#points = affine_set<(t, i)[T, N] : (t >= 0, T - 1 - t >= 0, i - 1 >= 0, N - 2 - i >= 0)>
#west = affine_map<(t, i)[T, N] -> (t, i - 1)>
#east = affine_map<(t, i)[T, N] -> (t, i + 1)>
#next = affine_map<(t, i)[T, N] -> (t + 1, i)>

// Without the skew a tile reads what the tile to its right has not written.
poly.kernel @plain_tiles_are_not(%A: memref<?x?xf32>, %T: index, %N: index) {
  // expected-note @below {{the source runs first in program order}}
  poly.compute @step domain [#points] reads(%A[#west], %A[#east] : memref<?x?xf32>, memref<?x?xf32>) writes(%A[#next] : memref<?x?xf32>) {
  ^bb0(%west: f32, %east: f32):
    %sum = arith.addf %west, %east : f32
    poly.yield %sum : f32
  }
  // expected-error @below {{expects to keep the flow dependence from @step(0, 4) to @step(1, 3), distance (1, -1), on argument #0 (write 0 at [d0 + 1, d1], read 1 at [d0, d1 + 1]), with parameters (2, 6)}}
  poly.schedule {
    poly.band [@step] maps [affine_map<(t, i)[T, N] -> (t floordiv 4, i floordiv 4, t mod 4, i mod 4)>]
        loops [sequential, sequential, sequential, sequential]
  }
}

// -----

#points = affine_set<(i)[N] : (i - 1 >= 0, N - 1 - i >= 0)>

poly.kernel @parallel_loop_carries_a_dependence(%A: memref<?xf32>, %N: index) {
  // expected-note @below {{the source runs first in program order}}
  poly.compute @scan domain [#points] reads(%A[affine_map<(i)[N] -> (i - 1)>] : memref<?xf32>) writes(%A[affine_map<(i)[N] -> (i)>] : memref<?xf32>) {
  ^bb0(%previous: f32):
    poly.yield %previous : f32
  }
  // expected-error @below {{expects the parallel loop to carry no dependence, but got the flow dependence from @scan(1) to @scan(2), distance (1), on argument #0 (write 0 at [d0], read 0 at [d0 - 1]), with parameters (3)}}
  poly.schedule {
    poly.band [@scan] maps [affine_map<(i)[N] -> (i)>] loops [parallel]
  }
}

// -----

#points = affine_set<(i, k)[] : (i >= 0, 7 - i >= 0, k >= 0, 7 - k >= 0)>
#row = affine_map<(i, k) -> (i)>

// A vector loop may hold the summands of a reduction, a parallel loop may not.
poly.kernel @vector_reduction_is_legal(%A: memref<8x8xf32>, %s: memref<8xf32>) {
  poly.compute @acc domain [#points] reads(%A[affine_map<(i, k) -> (i, k)>], %s[#row] : memref<8x8xf32>, memref<8xf32>)
      writes(%s[#row] : memref<8xf32>) reduction add {
  ^bb0(%a: f32, %s0: f32):
    %s1 = arith.addf %s0, %a : f32
    poly.yield %s1 : f32
  }
  poly.schedule {
    poly.band [@acc] maps [affine_map<(i, k) -> (i, k)>] loops [parallel, vector(8)]
  }
}

// -----

#points = affine_set<(i)[] : (i >= 0, 7 - i >= 0)>
#id = affine_map<(i) -> (i)>

poly.kernel @consumer_first(%A: memref<8xf32>, %B: memref<8xf32>) {
  %t = poly.array stack : memref<8xf32>
  // expected-note @below {{the source runs first in program order}}
  poly.compute @produce domain [#points] reads(%A[#id] : memref<8xf32>) writes(%t[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  // expected-note @below {{the sink must run after it}}
  poly.compute @consume domain [#points] reads(%t[#id] : memref<8xf32>) writes(%B[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  // expected-error @below {{expects to keep the flow dependence from @produce(0) to @consume(0), on array #0}}
  poly.schedule {
    poly.sequence {
      poly.filter [@consume]
      poly.filter [@produce]
    }
  }
}

// -----

#points = affine_set<(i)[] : (i >= 0, 7 - i >= 0)>
#id = affine_map<(i) -> (i)>

poly.kernel @a_point_is_dropped(%A: memref<8xf32>, %B: memref<8xf32>) {
  poly.compute @copy domain [#points] reads(%A[#id] : memref<8xf32>) writes(%B[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  // expected-error @below {{expects every point to run once, but filters drop a point of @copy}}
  poly.schedule {
    poly.sequence {
      poly.filter [@copy] where [affine_set<(i) : (3 - i >= 0)>]
      poly.filter [@copy] where [affine_set<(i) : (i - 5 >= 0)>]
    }
  }
}

// -----

#points = affine_set<(i)[] : (i >= 0, 7 - i >= 0)>
#id = affine_map<(i) -> (i)>

poly.kernel @a_point_runs_twice(%A: memref<8xf32>, %B: memref<8xf32>) {
  poly.compute @copy domain [#points] reads(%A[#id] : memref<8xf32>) writes(%B[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  // expected-error @below {{expects every point to run once, but filters pass a point twice of @copy}}
  poly.schedule {
    poly.sequence {
      poly.filter [@copy] where [affine_set<(i) : (5 - i >= 0)>]
      poly.filter [@copy] where [affine_set<(i) : (i - 5 >= 0)>]
    }
  }
}

// -----

#points = affine_set<(i)[N] : (i - 1 >= 0, N - 1 - i >= 0)>

poly.kernel @schedule_is_not_affine(%A: memref<?xf32>, %N: index) {
  poly.compute @scan domain [#points] reads(%A[affine_map<(i)[N] -> (i - 1)>] : memref<?xf32>) writes(%A[affine_map<(i)[N] -> (i)>] : memref<?xf32>) {
  ^bb0(%previous: f32):
    poly.yield %previous : f32
  }
  poly.schedule {
    // expected-error @below {{expects loops over @scan by affine expressions, but got d0 floordiv s0}}
    poly.band [@scan] maps [affine_map<(i)[N] -> (i floordiv N)>] loops [sequential]
  }
}

// -----

#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#id = affine_map<(i)[N] -> (i)>
#tile = affine_map<(i)[N] -> (i floordiv 16)>
#point = affine_map<(i)[N] -> (i mod 16)>

// A tile of 16 elements is enough, if both computations stay in their tile.
poly.kernel @tile_in_registers(%A: memref<?xf32>, %B: memref<?xf32>, %N: index) {
  %t = poly.array register(%N) : memref<?xf32> storage affine_map<(i) -> (i mod 16)> as memref<16xf32>
  poly.compute @produce domain [#points] reads(%A[#id] : memref<?xf32>) writes(%t[#id] : memref<?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @consume domain [#points] reads(%t[#id] : memref<?xf32>) writes(%B[#id] : memref<?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.schedule {
    poly.band [@produce, @consume] maps [#tile, #tile] loops [parallel] {
      poly.sequence {
        poly.filter [@produce] {
          poly.band [@produce] maps [#point] loops [vector(16)]
        }
        poly.filter [@consume] {
          poly.band [@consume] maps [#point] loops [vector(16)]
        }
      }
    }
  }
}

// -----

#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#id = affine_map<(i)[N] -> (i)>

poly.kernel @elements_share_a_place(%A: memref<?xf32>, %B: memref<?xf32>, %N: index) {
  %t = poly.array stack(%N) : memref<?xf32> storage affine_map<(i) -> (i mod 16)> as memref<16xf32>
  poly.compute @produce domain [#points] reads(%A[#id] : memref<?xf32>) writes(%t[#id] : memref<?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @consume domain [#points] reads(%t[#id] : memref<?xf32>) writes(%B[#id] : memref<?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  // expected-error @below {{expects the storage of array #0 to suit the schedule, but elements (0) and (16) are in one place and alive at the same time, with parameters (17)}}
  poly.schedule {
    poly.sequence {
      poly.filter [@produce]
      poly.filter [@consume]
    }
  }
}

// -----

#points = affine_set<(i)[] : (i >= 0, 7 - i >= 0)>
#id = affine_map<(i) -> (i)>

// What a parallel loop leaves in registers is gone after it.
poly.kernel @registers_do_not_leave_a_parallel_loop(%A: memref<8xf32>, %B: memref<8xf32>) {
  %t = poly.array register : memref<8xf32>
  poly.compute @produce domain [#points] reads(%A[#id] : memref<8xf32>) writes(%t[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @consume domain [#points] reads(%t[#id] : memref<8xf32>) writes(%B[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  // expected-error @below {{expects the storage of array #0 to suit the schedule, but iterations of a parallel loop share register memory, in @produce}}
  poly.schedule {
    poly.sequence {
      poly.filter [@produce] {
        poly.band [@produce] maps [#id] loops [parallel]
      }
      poly.filter [@consume]
    }
  }
}

// -----

#points = affine_set<(t)[T] : (t - 1 >= 0, T - 1 - t >= 0)>
#id = affine_map<(t)[T] -> (t)>
#before = affine_map<(t)[T] -> (t - 1)>

// One step reads what the other wrote at the time before.
poly.kernel @steps_of_a_recurrence_stay_together(%c: memref<?xf32>, %h: memref<?xf32>, %T: index) {
  // expected-note @below {{the sink must run after it}}
  poly.compute @cell domain [#points] reads(%h[#before] : memref<?xf32>) writes(%c[#id] : memref<?xf32>) {
  ^bb0(%state: f32):
    poly.yield %state : f32
  }
  // expected-note @below {{the source runs first in program order}}
  poly.compute @state domain [#points] reads(%c[#id] : memref<?xf32>) writes(%h[#id] : memref<?xf32>) interleaved 1 {
  ^bb0(%value: f32):
    poly.yield %value : f32
  }
  // expected-error @below {{expects to keep the flow dependence from @state(1) to @cell(2), on argument #1 (write 0 at [d0], read 0 at [d0 - 1]), with parameters (3)}}
  poly.schedule {
    poly.sequence {
      poly.filter [@cell]
      poly.filter [@state]
    }
  }
}

// -----

#points = affine_set<(t)[T] : (t - 1 >= 0, T - 1 - t >= 0)>
#id = affine_map<(t)[T] -> (t)>
#before = affine_map<(t)[T] -> (t - 1)>

poly.kernel @recurrence_in_its_order(%c: memref<?xf32>, %h: memref<?xf32>, %T: index) {
  poly.compute @cell domain [#points] reads(%h[#before] : memref<?xf32>) writes(%c[#id] : memref<?xf32>) {
  ^bb0(%state: f32):
    poly.yield %state : f32
  }
  poly.compute @state domain [#points] reads(%c[#id] : memref<?xf32>) writes(%h[#id] : memref<?xf32>) interleaved 1 {
  ^bb0(%value: f32):
    poly.yield %value : f32
  }
  poly.schedule {
    poly.band [@cell, @state] maps [#id, #id] loops [sequential] {
      poly.sequence {
        poly.filter [@cell]
        poly.filter [@state]
      }
    }
  }
}

// -----

#line = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>

// Lanes beyond the width would never run.
poly.kernel @lanes_are_enough(%A: memref<?xf32>, %N: index) {
  poly.compute @s domain [#line] reads() writes(%A[#i] : memref<?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  // expected-error @below {{expects at most 8 iterations of the loop #poly.loop<vector(8)> of [@s], but it has more}}
  poly.schedule {
    poly.band [@s] maps [#i] loops [vector(8)]
  }
}

// -----

#line = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>

// Both computations have eight iterations, but not the same ones.
poly.kernel @shared_lanes(%A: memref<?xf32>, %B: memref<?xf32>, %N: index) {
  poly.compute @a domain [#line] reads() writes(%A[#i] : memref<?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @b domain [#line] reads() writes(%B[#i] : memref<?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  // expected-error @below {{expects at most 8 iterations of the loop #poly.loop<vector(8)> of [@a, @b], but it has 9}}
  poly.schedule {
    poly.band [@a, @b] maps [affine_map<(i)[N] -> (i floordiv 8, i mod 8)>, affine_map<(i)[N] -> (i floordiv 8, i mod 8 + 1)>]
        loops [sequential, vector(8)] {
      poly.sequence {
        poly.filter [@a]
        poly.filter [@b]
      }
    }
  }
}

// -----

#line = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>

poly.kernel @lanes_are_affine(%A: memref<?xf32>, %N: index) {
  poly.compute @s domain [#line] reads() writes(%A[affine_map<(i)[N] -> (i)>] : memref<?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.schedule {
    // expected-error @below {{expects loops over @s by affine expressions, but got d0 mod s0}}
    poly.band [@s] maps [affine_map<(i)[N] -> (i mod N)>] loops [vector(8)]
  }
}
