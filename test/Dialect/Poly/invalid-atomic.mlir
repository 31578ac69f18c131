// RUN: espalier-opt %s -split-input-file -verify-diagnostics

#all = affine_set<(k)[N] : (k >= 0, N - 1 - k >= 0)>
#at = affine_map<(k)[N] -> (k)>
#one = affine_map<(k)[N] -> ()>

// ComputeOp C21
poly.kernel @k(%x: memref<?xf32>, %B: memref<f32>, %P: memref<i32>, %N: index) {
  // expected-error @below {{expects 'atomic' on a reduction that adds, takes maxima or minima, or combines bits, but got one by arith.mulf}}
  poly.compute @pick dims ["k"] domain [#all]
      reads(%x[#at], %B[#one], %P[#one] : memref<?xf32>, memref<f32>, memref<i32>)
      writes(%B[#one] : memref<f32>) reduction mul atomic {
  ^bb0(%w: f32, %v: f32, %i: i32):
    %r = arith.mulf %v, %w : f32
    poly.yield %r : f32
  }
}

// -----

#all = affine_set<(k)[N] : (k >= 0, N - 1 - k >= 0)>
#at = affine_map<(k)[N] -> (k)>
#one = affine_map<(k)[N] -> ()>

// ComputeOp C21
poly.kernel @k(%x: memref<?xbf16>, %B: memref<bf16>, %N: index) {
  // expected-error @below {{expects 'atomic' on elements of integers of 8, 16, 32 or 64 bits, f32 or f64, but got bf16}}
  poly.compute @pick dims ["k"] domain [#all]
      reads(%x[#at], %B[#one] : memref<?xbf16>, memref<bf16>)
      writes(%B[#one] : memref<bf16>) reduction add atomic {
  ^bb0(%w: bf16, %v: bf16):
    %r = arith.addf %v, %w : bf16
    poly.yield %r : bf16
  }
}

// -----

#all = affine_set<(k)[N] : (k >= 0, N - 1 - k >= 0)>
#at = affine_map<(k)[N] -> (k)>
#one = affine_map<(k)[N] -> ()>

// ComputeOp C21: memory has no such operation on `index`
poly.kernel @k(%x: memref<?xindex>, %B: memref<index>, %N: index) {
  // expected-error @below {{expects 'atomic' on elements of integers of 8, 16, 32 or 64 bits, f32 or f64, but got index}}
  poly.compute @pick dims ["k"] domain [#all]
      reads(%x[#at], %B[#one] : memref<?xindex>, memref<index>)
      writes(%B[#one] : memref<index>) reduction add atomic {
  ^bb0(%w: index, %v: index):
    %r = arith.addi %v, %w : index
    poly.yield %r : index
  }
}
