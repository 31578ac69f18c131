// RUN: espalier-opt %s -split-input-file -verify-diagnostics

// Index arithmetic that is not affine where it has to be, or overflows.

// ComputeOp C16
poly.kernel @product_in_a_domain(%N: index) {
  // expected-error @below {{expects a domain of affine expressions, but got d0 * s0}}
  poly.compute @s domain [affine_set<(i)[N] : (i * N >= 0, N - i >= 0)>] reads() writes() {
    poly.yield
  }
}

// -----

// ComputeOp C16
poly.kernel @division_by_zero_in_a_domain(%N: index) {
  // expected-error @below {{expects a domain of positive divisors, but got d0 mod 0}}
  poly.compute @s domain [affine_set<(i)[N] : (i mod 0 >= 0, i >= 0, N - i >= 0)>] reads() writes() {
    poly.yield
  }
}

// -----

// ComputeOp C16
poly.kernel @endless_domain(%N: index) {
  // expected-error @below {{expects a domain of numbers of at most 2^31, but got 9223372036854775807 in -d0 + 9223372036854775807}}
  poly.compute @s domain [affine_set<(i)[N] : (i >= 0, 9223372036854775807 - i >= 0)>] reads() writes() {
    poly.yield
  }
}

// -----

#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>

// ComputeOp C17: not affine is fine, division by zero is not.
poly.kernel @division_by_zero_in_a_read(%A: memref<?xf32>, %B: memref<?xf32>, %N: index) {
  // expected-error @below {{expects indices of read #1 with positive divisors, but got d0 floordiv 0}}
  poly.compute @s domain [#points] reads(%A[affine_map<(i)[N] -> (i mod N)>], %A[affine_map<(i)[N] -> (i floordiv 0)>] : memref<?xf32>, memref<?xf32>) writes(%B[affine_map<(i)[N] -> (i)>] : memref<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    poly.yield %a : f32
  }
}

// -----

#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>

// ComputeOp C17
poly.kernel @overflow_in_a_write(%A: memref<?xf32>, %N: index) {
  // expected-error @below {{expects indices of write #0 with numbers of at most 2^31, but got 4611686018427387904 in d0 * 4611686018427387904}}
  poly.compute @s domain [#points] reads() writes(%A[affine_map<(i)[N] -> (i * 4611686018427387904)>] : memref<?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// -----

#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>

// ComputeOp C17: what is read may be zero.
poly.kernel @division_by_data(%A: memref<?xi32>, %B: memref<?xi32>, %N: index) {
  // expected-error @below {{expects indices of write #0 with divisors of numbers and parameters, but got d0 floordiv (s0 + s1)}}
  poly.compute @s domain [#points] reads(%A[affine_map<(i)[N] -> (i)>] : memref<?xi32>) writes(%B[affine_map<(i)[N, v] -> (i floordiv (N + v))>] : memref<?xi32>) {
  ^bb0(%a: i32):
    poly.yield %a : i32
  }
}

// -----

#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>

// ComputeOp C17
poly.kernel @division_by_data_in_where(%A: memref<?xi32>, %B: memref<?xi32>, %N: index) {
  // expected-error @below {{expects 'where' with divisors of numbers and parameters, but got d0 mod s1}}
  poly.compute @s domain [#points] where affine_set<(i)[N, v] : (i mod v - 1 >= 0)> reads(%A[affine_map<(i)[N] -> (0)>] : memref<?xi32>) writes(%B[affine_map<(i)[N] -> (i)>] : memref<?xi32>) {
  ^bb0(%a: i32):
    poly.yield %a : i32
  }
}

// -----

// ArrayOp C5
poly.kernel @overflow_of_a_storage(%N: index) {
  // expected-error @below {{expects storage by numbers of at most 2^31, but got 4611686018427387904 in d0 * 4611686018427387904}}
  %a = poly.array(%N) : memref<?xf32> storage affine_map<(i) -> (i * 4611686018427387904)> as memref<8xf32>
}

// -----

#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>

poly.kernel @loop_by_a_parameter(%N: index) {
  poly.compute @s domain [#points] reads() writes() {
    poly.yield
  }
  poly.schedule {
    // BandOp C5
    // expected-error @below {{expects loops over @s by affine expressions, but got d0 floordiv s0}}
    poly.band [@s] maps [affine_map<(i)[N] -> (i floordiv N)>] loops [sequential]
  }
}

// -----

#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>

poly.kernel @overflow_of_a_loop(%N: index) {
  poly.compute @s domain [#points] reads() writes() {
    poly.yield
  }
  poly.schedule {
    // BandOp C5
    // expected-error @below {{expects loops over @s by numbers of at most 2^31, but got 4611686018427387904 in d0 * 4611686018427387904}}
    poly.band [@s] maps [affine_map<(i)[N] -> (i * 4611686018427387904)>] loops [sequential]
  }
}
