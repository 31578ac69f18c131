// RUN: espalier-opt %s -split-input-file -verify-diagnostics

// ArrayOp C4
poly.kernel @extents_of_other_dimensions(%M: index, %N: index) {
  // expected-error @below {{expects extents that map the kernel's 2 parameters to the 1 dynamic extents of the storage, but got affine_map<()[s0] -> (s0)>}}
  %a = poly.array : memref<?xf32> storage affine_map<(i) -> (i floordiv 8, i mod 8)> as memref<?x8xf32>
      extents affine_map<()[N] -> (N)>
}

// -----

// ArrayOp C4
poly.kernel @unbounded_indices_give_no_extent(%N: index) {
  // expected-error @below {{expects a dynamic extent of the storage to be that of a dynamic dimension, but got affine_map<(d0) -> (d0)> to 'memref<?xf32>'}}
  %a = poly.array : memref<?xf32> storage affine_map<(i) -> (i)> as memref<?xf32>
}

// -----

#points = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#element = affine_map<(i) -> ()>
#i = affine_map<(i) -> (i)>

// ComputeOp C13
poly.kernel @another_operation(%x: memref<8xf32>, %s: memref<f32>) {
  // expected-error @below {{expects a body that combines the element that it updates with other values by 'max' alone}}
  poly.compute @sum domain [#points] reads(%s[#element], %x[#i] : memref<f32>, memref<8xf32>) writes(%s[#element] : memref<f32>) reduction max {
  ^bb0(%before: f32, %a: f32):
    %after = arith.addf %before, %a : f32
    poly.yield %after : f32
  }
}

// -----

#points = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#element = affine_map<(i) -> ()>
#i = affine_map<(i) -> (i)>

// ComputeOp C9: the second read is no sum of a part.
poly.kernel @read_twice(%x: memref<8xf32>, %s: memref<f32>) {
  // expected-error @below {{expects a reduction to read the element that it updates once, but reads #0 and #2 are of it, at affine_map<(d0) -> ()>}}
  poly.compute @sum domain [#points] reads(%s[#element], %x[#i], %s[#element] : memref<f32>, memref<8xf32>, memref<f32>) writes(%s[#element] : memref<f32>) reduction add {
  ^bb0(%before: f32, %a: f32, %again: f32):
    %scaled = arith.mulf %a, %again : f32
    %after = arith.addf %before, %scaled : f32
    poly.yield %after : f32
  }
}

// -----

#points = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#element = affine_map<(i) -> ()>
#i = affine_map<(i) -> (i)>

// ComputeOp C9: the running sums depend on the order.
poly.kernel @two_writes(%x: memref<8xf32>, %s: memref<f32>) {
  // expected-error @below {{expects a reduction to write one element, but got 2 writes}}
  poly.compute @sum domain [#points] reads(%s[#element] : memref<f32>) writes(%s[#element], %x[#i] : memref<f32>, memref<8xf32>) reduction add {
  ^bb0(%before: f32):
    %one = arith.constant 1.0 : f32
    %after = arith.addf %before, %one : f32
    poly.yield %after, %one : f32, f32
  }
}

// -----

#points = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#element = affine_map<(i) -> ()>
#i = affine_map<(i) -> (i)>

// ComputeOp C13: the count so far is an index.
poly.kernel @used_as_index(%x: memref<8xi32>, %s: memref<i32>) {
  // expected-error @below {{expects a body that combines the element that it updates with other values by 'add' alone}}
  poly.compute @count domain [#points] reads(%s[#element], %x[affine_map<(i)[s] -> (s)>] : memref<i32>, memref<8xi32>) writes(%s[#element] : memref<i32>) reduction add {
  ^bb0(%before: i32, %a: i32):
    %after = arith.addi %before, %a : i32
    poly.yield %after : i32
  }
}

// -----

#points = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#element = affine_map<(i) -> ()>
#i = affine_map<(i) -> (i)>

// ComputeOp C13: the sum is scaled at each step.
poly.kernel @another_operation_besides(%x: memref<8xf32>, %s: memref<f32>) {
  // expected-error @below {{expects a body that combines the element that it updates with other values by 'add' alone}}
  poly.compute @sum domain [#points] reads(%s[#element], %x[#i] : memref<f32>, memref<8xf32>) writes(%s[#element] : memref<f32>) reduction add {
  ^bb0(%before: f32, %a: f32):
    %scaled = arith.mulf %before, %a : f32
    %after = arith.addf %scaled, %a : f32
    poly.yield %after : f32
  }
}

// -----

#points = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#element = affine_map<(i) -> ()>
#i = affine_map<(i) -> (i)>

// ComputeOp C13: what is added depends on the sum.
poly.kernel @a_value_of_the_element(%x: memref<8xf32>, %s: memref<f32>) {
  // expected-error @below {{expects a body that combines the element that it updates with other values by 'add' alone}}
  poly.compute @sum domain [#points] reads(%s[#element], %x[#i] : memref<f32>, memref<8xf32>) writes(%s[#element] : memref<f32>) reduction add {
  ^bb0(%before: f32, %a: f32):
    %more = arith.maximumf %before, %a : f32
    %after = arith.addf %before, %more : f32
    poly.yield %after : f32
  }
}

// -----

#points = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#element = affine_map<(i) -> ()>
#i = affine_map<(i) -> (i)>

// ComputeOp C13: the difference changes its sign at each step.
poly.kernel @subtracted_from(%x: memref<8xf32>, %s: memref<f32>) {
  // expected-error @below {{expects a body that combines the element that it updates with other values by 'add' alone}}
  poly.compute @sum domain [#points] reads(%s[#element], %x[#i] : memref<f32>, memref<8xf32>) writes(%s[#element] : memref<f32>) reduction add {
  ^bb0(%before: f32, %a: f32):
    %after = arith.subf %a, %before : f32
    poly.yield %after : f32
  }
}

// -----

#all = affine_set<(n, j)[E] : (n >= 0, 3 - n >= 0, j >= 0, E - 1 - j >= 0)>
#n = affine_map<(n, j)[E] -> (n)>
poly.kernel @k(%P: memref<?xi32>, %x: memref<?xf32>, %E: index) {
  // ComputeOp C5
  // expected-error @below {{expects one argument per read, 1, but got 0}}
  poly.compute @a domain [#all] where affine_set<(n, j)[E, b] : (j - b >= 0)>
      reads(%P[#n] : memref<?xi32>) writes(%x[#n] : memref<?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// -----

#all = affine_set<(n, j)[E] : (n >= 0, 3 - n >= 0, j >= 0, E - 1 - j >= 0)>
poly.kernel @k(%P: memref<?xi32>, %x: memref<?xf32>, %E: index) {
  // ComputeOp C14
  // expected-error @below {{expects 'where' to have 2 dimensions, with 1 parameters and at most 1 values of reads as symbols, but got 2 dimensions and 3 symbols}}
  poly.compute @a domain [#all] where affine_set<(n, j)[E, b, e] : (j - b >= 0, e - 1 - j >= 0)>
      reads(%P[affine_map<(n, j)[E] -> (n)>] : memref<?xi32>) writes(%x[affine_map<(n, j)[E] -> (j)>] : memref<?xf32>) {
  ^bb0(%b: i32):
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// -----

#all = affine_set<(n, j)[E] : (n >= 0, 3 - n >= 0, j >= 0, E - 1 - j >= 0)>
poly.kernel @k(%P: memref<?xf32>, %x: memref<?xf32>, %E: index) {
  // ComputeOp C15
  // expected-error @below {{expects 'where' to depend on integers with a sign and at most 64 bits, but read #0 is 'f32'}}
  poly.compute @a domain [#all] where affine_set<(n, j)[E, b] : (j - b >= 0)>
      reads(%P[affine_map<(n, j)[E] -> (n)>] : memref<?xf32>) writes(%x[affine_map<(n, j)[E] -> (j)>] : memref<?xf32>) {
  ^bb0(%b: f32):
    poly.yield %b : f32
  }
}

// -----

#all = affine_set<(n, j)[E] : (n >= 0, 3 - n >= 0, j >= 0, E - 1 - j >= 0)>
poly.kernel @k(%P: memref<?xi32>, %x: memref<?xf32>, %E: index) {
  // ComputeOp C15
  // expected-error @below {{expects 'where' to depend on reads at places that no other read decides, but read #1 uses the value of read #0}}
  poly.compute @a domain [#all] where affine_set<(n, j)[E, r, b] : (j - b >= 0)>
      reads(%P[affine_map<(n, j)[E] -> (n)>], %P[affine_map<(n, j)[E, r] -> (r)>] : memref<?xi32>, memref<?xi32>)
      writes(%x[affine_map<(n, j)[E] -> (j)>] : memref<?xf32>) {
  ^bb0(%r: i32, %b: i32):
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// -----

#all = affine_set<(n)[E] : (n >= 0, E - 1 - n >= 0)>
poly.kernel @k(%c: memref<?xi8> {espalier.dtype = "u8"}, %x: memref<?xf32>, %E: index) {
  // ComputeOp C15
  // expected-error @below {{integers with a sign and at most 64 bits, but read #0 holds u8}}
  poly.compute @a domain [#all] where affine_set<(n)[E, c] : (c - 100 >= 0)>
      reads(%c[affine_map<(n)[E] -> (n)>] : memref<?xi8>) writes(%x[affine_map<(n)[E] -> (n)>] : memref<?xf32>) {
  ^bb0(%v: i8):
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// -----

#all = affine_set<(n)[E] : (n >= 0, E - 1 - n >= 0)>
poly.kernel @k(%c: memref<?xi1>, %x: memref<?xf32>, %E: index) {
  // ComputeOp C15
  // expected-error @below {{integers with a sign and at most 64 bits, but read #0 holds truth values}}
  poly.compute @a domain [#all] where affine_set<(n)[E, c] : (c - 100 >= 0)>
      reads(%c[affine_map<(n)[E] -> (n)>] : memref<?xi1>) writes(%x[affine_map<(n)[E] -> (n)>] : memref<?xf32>) {
  ^bb0(%v: i1):
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// -----

#all = affine_set<(n)[E] : (n >= 0, E - 1 - n >= 0)>
poly.kernel @k(%c: memref<?xui8>, %x: memref<?xf32>, %E: index) {
  // ComputeOp C15
  // expected-error @below {{integers with a sign and at most 64 bits, but read #0 is 'ui8'}}
  poly.compute @a domain [#all] where affine_set<(n)[E, c] : (c - 100 >= 0)>
      reads(%c[affine_map<(n)[E] -> (n)>] : memref<?xui8>) writes(%x[affine_map<(n)[E] -> (n)>] : memref<?xf32>) {
  ^bb0(%v: ui8):
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// -----

#all = affine_set<(n)[E] : (n >= 0, E - 1 - n >= 0)>
poly.kernel @k(%c: memref<?xi128>, %x: memref<?xf32>, %E: index) {
  // ComputeOp C15
  // expected-error @below {{integers with a sign and at most 64 bits, but read #0 is 'i128'}}
  poly.compute @a domain [#all] where affine_set<(n)[E, c] : (c - 100 >= 0)>
      reads(%c[affine_map<(n)[E] -> (n)>] : memref<?xi128>) writes(%x[affine_map<(n)[E] -> (n)>] : memref<?xf32>) {
  ^bb0(%v: i128):
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// -----

#all = affine_set<(n)[E] : (n >= 0, E - 1 - n >= 0)>
poly.kernel @k(%c: memref<?xi8> {espalier.dtype = "u8"}, %x: memref<?xf32>, %E: index) {
  // ComputeOp C7
  // expected-error @below {{expects write #0 to be indexed by integers with a sign and at most 64 bits, but read #0 holds u8}}
  poly.compute @a domain [#all]
      reads(%c[affine_map<(n)[E] -> (n)>] : memref<?xi8>) writes(%x[affine_map<(n)[E, c] -> (c)>] : memref<?xf32>) {
  ^bb0(%v: i8):
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}
