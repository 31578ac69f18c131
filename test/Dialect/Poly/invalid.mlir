// RUN: espalier-opt %s -split-input-file -verify-diagnostics

// ArrayOp C1
poly.kernel @k(%N: index) {
  // expected-error @below {{expects 2 sizes, one for each dynamic extent, but got 1}}
  %a = poly.array(%N) : memref<?x4x?xf32>
}

// -----

// ArrayOp C2
poly.kernel @k(%N: index) {
  %s = arith.constant 4 : index
  // expected-error @below {{expects sizes that are parameters of the kernel, but size #0 is computed}}
  %a = poly.array(%s) : memref<?xf32>
}

// -----

// ArrayOp C3
poly.kernel @k() {
  // expected-error @below {{expects storage that maps 2 indices to those of a memref of 'f32', but got affine_map<(d0) -> (d0)> to 'memref<4xf32>'}}
  %a = poly.array : memref<8x8xf32> storage affine_map<(i) -> (i)> as memref<4xf32>
}

// -----

// ArrayOp C4
poly.kernel @k(%N: index) {
  // expected-error @below {{expects a dynamic extent of the storage to be that of a dynamic dimension, but got affine_map<(d0) -> (d0 mod 4)> to 'memref<?xf32>'}}
  %a = poly.array(%N) : memref<?xf32> storage affine_map<(i) -> (i mod 4)> as memref<?xf32>
}

// -----

// ComputeOp C1
poly.kernel @k(%A: memref<?xf32>, %B: memref<?xf32>, %N: index) {
  // expected-error @below {{expects at least one set as domain}}
  poly.compute @c domain []
      reads(%A[affine_map<(i)[N] -> (i)>] : memref<?xf32>)
      writes(%B[affine_map<(i)[N] -> (i)>] : memref<?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}

// -----

// ComputeOp C1
poly.kernel @k(%A: memref<?xf32>, %B: memref<?xf32>, %N: index) {
  // expected-error @below {{expects sets of 1 dimensions, but set #1 has 2}}
  poly.compute @c domain [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>, affine_set<(i, j)[N] : (i == 0)>]
      reads(%A[affine_map<(i)[N] -> (i)>] : memref<?xf32>)
      writes(%B[affine_map<(i)[N] -> (i)>] : memref<?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}

// -----

// ComputeOp C2
poly.kernel @k(%A: memref<?xf32>, %B: memref<?xf32>, %N: index) {
  // expected-error @below {{expects the kernel's 1 parameters as symbols, but set #0 has 0}}
  poly.compute @c domain [affine_set<(i) : (i >= 0)>]
      reads(%A[affine_map<(i)[N] -> (i)>] : memref<?xf32>)
      writes(%B[affine_map<(i)[N] -> (i)>] : memref<?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}

// -----

// ComputeOp C3
poly.kernel @k(%A: memref<?xf32>, %B: memref<?xf32>, %N: index) {
  // expected-error @below {{expects a map from 1 dimensions to 1 indices for read #0, but got affine_map<(d0)[s0] -> (d0, d0)>}}
  poly.compute @c domain [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>]
      reads(%A[affine_map<(i)[N] -> (i, i)>] : memref<?xf32>)
      writes(%B[affine_map<(i)[N] -> (i)>] : memref<?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}

// -----

// ComputeOp C3
poly.kernel @k(%A: memref<?xf32>, %N: index) {
  // expected-error @below {{expects one map per write, but got 0 maps for 1}}
  "poly.compute"(%A) <{domain = [affine_set<(i)[N] : (i >= 0)>], operandSegmentSizes = array<i32: 0, 1>,
      read_maps = [], sym_name = "c", write_maps = []}> ({
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }) : (memref<?xf32>) -> ()
}

// -----

// ComputeOp C4
poly.kernel @k(%A: memref<?xf32>, %B: memref<?xf32>, %N: index) {
  // expected-error @below {{expects 1 parameters, and the values of none or all of 0 reads, as symbols of the map of read #0, but got 2 symbols}}
  poly.compute @c domain [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>]
      reads(%A[affine_map<(i)[N, r] -> (r)>] : memref<?xf32>)
      writes(%B[affine_map<(i)[N] -> (i)>] : memref<?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}

// -----

// ComputeOp C4
poly.kernel @k(%A: memref<?xf32>, %B: memref<?xf32>, %N: index) {
  // expected-error @below {{expects 1 parameters, and the values of none or all of 1 reads, as symbols of the map of write #0, but got 3 symbols}}
  poly.compute @c domain [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>]
      reads(%A[affine_map<(i)[N] -> (i)>] : memref<?xf32>)
      writes(%B[affine_map<(i)[N, r, s] -> (r)>] : memref<?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}

// -----

// ComputeOp C5
poly.kernel @k(%A: memref<?xf32>, %B: memref<?xf32>, %N: index) {
  // expected-error @below {{expects one argument per read, 1, but got 0}}
  poly.compute @c domain [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>]
      reads(%A[affine_map<(i)[N] -> (i)>] : memref<?xf32>)
      writes(%B[affine_map<(i)[N] -> (i)>] : memref<?xf32>) {
    %a = arith.constant 0.0 : f32
    poly.yield %a : f32
  }
}

// -----

// ComputeOp C5
poly.kernel @k(%A: memref<?xf32>, %B: memref<?xf32>, %N: index) {
  // expected-error @below {{expects argument #0 to be 'f32' like the elements it reads, but got 'i32'}}
  poly.compute @c domain [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>]
      reads(%A[affine_map<(i)[N] -> (i)>] : memref<?xf32>)
      writes(%B[affine_map<(i)[N] -> (i)>] : memref<?xf32>) {
  ^bb0(%i: i32):
    %a = arith.constant 0.0 : f32
    poly.yield %a : f32
  }
}

// -----

// ComputeOp C6
poly.kernel @k(%A: memref<?xf32>, %B: memref<?xf32>, %N: index) {
  
  poly.compute @c domain [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>]
      reads(%A[affine_map<(i)[N] -> (i)>] : memref<?xf32>)
      writes(%B[affine_map<(i)[N] -> (i)>] : memref<?xf32>) {
  ^bb0(%a: f32):
    // expected-error @below {{expects one value per write, 1, but got 2}}
    poly.yield %a, %a : f32, f32
  }
}

// -----

// ComputeOp C6
poly.kernel @k(%A: memref<?xf32>, %B: memref<?xf32>, %N: index) {
  
  poly.compute @c domain [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>]
      reads(%A[affine_map<(i)[N] -> (i)>] : memref<?xf32>)
      writes(%B[affine_map<(i)[N] -> (i)>] : memref<?xf32>) {
  ^bb0(%a: f32):
    %i = poly.index 0
    // expected-error @below {{expects value #0 to be 'f32' like the elements it writes, but got 'index'}}
    poly.yield %i : index
  }
}

// -----

// ComputeOp C6
poly.kernel @k(%A: memref<?xf32>, %B: memref<?xf32>, %N: index) {
  // expected-error @below {{expects a body that ends in poly.yield}}
  poly.compute @c domain [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>]
      reads(%A[affine_map<(i)[N] -> (i)>] : memref<?xf32>)
      writes(%B[affine_map<(i)[N] -> (i)>] : memref<?xf32>) {
  ^bb0(%a: f32):
    llvm.unreachable
  }
}

// -----

// ComputeOp C7
poly.kernel @k(%A: memref<?xf32>, %B: memref<?xf32>, %N: index) {
  // expected-error @below {{expects write #0 to be indexed by integers with a sign and at most 64 bits, but read #0 is 'f32'}}
  poly.compute @c domain [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>]
      reads(%A[affine_map<(i)[N] -> (i)>] : memref<?xf32>)
      writes(%B[affine_map<(i)[N, r] -> (r)>] : memref<?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}

// -----

// ComputeOp C8
poly.kernel @k(%A: memref<?xf32>, %B: memref<?xf32>, %N: index) {
  
  poly.compute @c domain [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>]
      reads(%A[affine_map<(i)[N] -> (i)>] : memref<?xf32>)
      writes(%B[affine_map<(i)[N] -> (i)>] : memref<?xf32>) {
  ^bb0(%a: f32):
    // expected-error @below {{expects to be outside poly.compute, which holds operations of arith and math on numbers}}
    %v = memref.load %A[%N] : memref<?xf32>
    poly.yield %v : f32
  }
}

// -----

// ComputeOp C8: vectors come with the schedule.
poly.kernel @k(%A: memref<?xf32>, %B: memref<?xf32>, %N: index) {
  poly.compute @c domain [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>]
      reads(%A[affine_map<(i)[N] -> (i)>] : memref<?xf32>)
      writes(%B[affine_map<(i)[N] -> (i)>] : memref<?xf32>) {
  ^bb0(%a: f32):
    // expected-error @below {{expects to be outside poly.compute, which holds operations of arith and math on numbers}}
    %ones = arith.constant dense<1.0> : vector<4xf32>
    poly.yield %a : f32
  }
}

// -----

// ComputeOp C9
poly.kernel @k(%A: memref<?xf32>, %B: memref<?xf32>, %N: index) {
  // expected-error @below {{expects a reduction to read an element that it writes}}
  poly.compute @c domain [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>]
      reads(%A[affine_map<(i)[N] -> (i)>] : memref<?xf32>)
      writes(%B[affine_map<(i)[N] -> (i)>] : memref<?xf32>) reduction add {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}

// -----

// ComputeOp C10
poly.kernel @k(%A: memref<?xf32>, %B: memref<?xf32>, %N: index) {
  %C = memref.alloc(%N) : memref<?xf32>
  // expected-error @below {{expects read #0 to be of an argument or array of the kernel}}
  poly.compute @c domain [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>]
      reads(%C[affine_map<(i)[N] -> (i)>] : memref<?xf32>)
      writes(%B[affine_map<(i)[N] -> (i)>] : memref<?xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}

// -----

// ComputeOp C11
poly.kernel @k(%A: memref<?xf32>, %B: memref<?xf32>, %N: index) {
  // expected-error @below {{expects a computation before it to be interleaved with}}
  poly.compute @c domain [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>]
      reads(%A[affine_map<(i)[N] -> (i)>] : memref<?xf32>)
      writes(%B[affine_map<(i)[N] -> (i)>] : memref<?xf32>) interleaved 1 {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}

// -----

// ComputeOp C11
poly.kernel @k(%A: memref<f32>, %B: memref<?xf32>) {
  poly.compute @c domain [affine_set<() : (0 == 0)>] reads() writes(%A[affine_map<() -> ()>] : memref<f32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  // expected-error @below {{expects to be interleaved in at most 0 dimensions, but got 1}}
  poly.compute @d domain [affine_set<(i) : (i >= 0)>] reads() writes(%B[affine_map<(i) -> (i)>] : memref<?xf32>) interleaved 1 {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// -----

// ComputeOp C12
poly.kernel @k(%A: memref<?x?xf32>, %N: index) {
  // expected-error @below {{expects a different name for each of 2 dimensions, but got ["i", "i"]}}
  poly.compute @a dims ["i", "i"] domain [affine_set<(i, j)[N] : (i >= 0, j >= 0)>] reads()
      writes(%A[affine_map<(i, j)[N] -> (i, j)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// -----

// IndexOp C1
poly.kernel @k(%A: memref<?xf32>, %B: memref<?xf32>, %N: index) {
  
  poly.compute @c domain [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>]
      reads(%A[affine_map<(i)[N] -> (i)>] : memref<?xf32>)
      writes(%B[affine_map<(i)[N] -> (i)>] : memref<?xf32>) {
  ^bb0(%a: f32):
    // expected-error @below {{expects a dimension below 1, but got 1}}
    %i = poly.index 1
    poly.yield %a : f32
  }
}

// -----

// CallOp C1
func.func @k(%A: memref<?xf32>) {
  // expected-error @below {{expects the name of a poly.kernel, but got @k}}
  poly.call @k(%A) : memref<?xf32>
  return
}

// -----

// CallOp C2
// expected-note @below {{the kernel has type '(memref<?xf32>, index) -> ()'}}
poly.kernel @k(%A: memref<?xf32>, %N: index) {
}
func.func @main(%A: memref<?xf32>) {
  // expected-error @below {{expects the arguments of @k}}
  poly.call @k(%A) : memref<?xf32>
  return
}

// -----

// LoopAttr
// expected-error @below {{expects sequential, parallel, vector(W) or unroll, but got serial}}
#loop = #poly.loop<serial>

// -----

// LoopAttr
// expected-error @below {{expects a vector width between 1 and 1024, but got 0}}
#loop = #poly.loop<vector(0)>

// -----

// LoopAttr
// expected-error @below {{expects a vector width between 1 and 1024, but got 9223372036854775807}}
#loop = #poly.loop<vector(9223372036854775807)>

// -----

// TargetAttr
// expected-error @below {{expects registers between 1 and 2^40, but got 0}}
#target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 0, l1 = 1, l2 = 1, l3 = 1, cores = 1>

// -----

// TargetAttr
// expected-error @below {{expects the name of a processor, but got none}}
#target = #poly.target<cpu = "", features = "", vector_bits = 512, registers = 1, l1 = 1, l2 = 1, l3 = 1, cores = 1>
