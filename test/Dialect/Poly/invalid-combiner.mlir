// RUN: espalier-opt %s -split-input-file -verify-diagnostics

// CombinerOp C1
poly.kernel @k(%x: memref<?xf32>, %B: memref<f32>, %P: memref<i32>, %N: index) {
  // expected-error @below {{expects at least one neutral value}}
  poly.combiner @c commutative neutral [] {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    poly.yield %r : f32
  }
}

// -----

// CombinerOp C1: a text is no number.
poly.kernel @k(%x: memref<?xf32>, %B: memref<f32>, %P: memref<i32>, %N: index) {
  // expected-error @below {{expects neutral values that are numbers, but #0 is "zero"}}
  poly.combiner @c commutative neutral ["zero"] {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    poly.yield %r : f32
  }
}

// -----

// CombinerOp C1
poly.kernel @k(%x: memref<?xf32>, %B: memref<f32>, %P: memref<i32>, %N: index) {
  // expected-error @below {{expects the block to end in poly.yield of a value for each neutral one, (f32, i32), but got (f32)}}
  poly.combiner @c commutative neutral [0.0 : f32, 1 : i32] {
  ^bb0(%a: f32, %i: i32, %b: f32, %j: i32):
    poly.yield %a : f32
  }
}

// -----

// CombinerOp C2
poly.kernel @k(%x: memref<?xf32>, %B: memref<f32>, %P: memref<i32>, %N: index) {
  // expected-error @below {{expects operations of arith and math on numbers, but got memref.load}}
  poly.combiner @c commutative neutral [0.0 : f32] {
  ^bb0(%a: f32, %b: f32):
    %i = memref.load %P[] : memref<i32>
    %r = arith.addf %a, %b : f32
    poly.yield %r : f32
  }
}

// -----

// CombinerOp C2: nothing is known of a law about vectors.
poly.kernel @k(%x: memref<?xf32>, %B: memref<f32>, %P: memref<i32>, %N: index) {
  // expected-error @below {{expects operations of arith and math on numbers, but got arith.constant}}
  poly.combiner @c commutative neutral [0.0 : f32] {
  ^bb0(%a: f32, %b: f32):
    %ones = arith.constant dense<1.0> : vector<4xf32>
    %r = arith.addf %a, %b : f32
    poly.yield %r : f32
  }
}

// -----

// CombinerOp C2
poly.kernel @k(%s: f32, %N: index) {
  // expected-error @below {{expects to use nothing from outside of its block, but arith.addf does}}
  poly.combiner @c commutative neutral [0.0 : f32] {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %s : f32
    poly.yield %r : f32
  }
}

// -----

// CombinerOp C3
poly.kernel @k(%x: memref<?xf32>, %B: memref<f32>, %P: memref<i32>, %N: index) {
  // expected-error @below {{expects neutral values combined with themselves to be [1.000000e+00 : f32], but got [2.000000e+00 : f32]}}
  poly.combiner @c commutative neutral [1.0 : f32] {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    poly.yield %r : f32
  }
}

// -----

// CombinerOp C3: what starts from 7 is not found in an array without numbers
// above minus infinity.
poly.kernel @k(%x: memref<?xf32>, %B: memref<f32>, %P: memref<i32>, %N: index) {
  // expected-error @below {{expects combine(a, neutral) = a, but this does not hold for a =}}
  poly.combiner @c commutative neutral [0xFF800000 : f32, 7 : i32] {
  ^bb0(%v: f32, %i: i32, %w: f32, %j: i32):
    %more = arith.cmpf ogt, %w, %v : f32
    %equal = arith.cmpf oeq, %w, %v : f32
    %before = arith.cmpi slt, %j, %i : i32
    %tie = arith.andi %equal, %before : i1
    %second = arith.ori %more, %tie : i1
    %value = arith.select %second, %w, %v : f32
    %index = arith.select %second, %j, %i : i32
    poly.yield %value, %index : f32, i32
  }
}

// -----

// CombinerOp C3: minus infinity less minus infinity is no number.
poly.kernel @k(%x: memref<?xf32>, %B: memref<f32>, %P: memref<i32>, %N: index) {
  // expected-error @below {{expects neutral values combined with themselves to be [0xFF800000 : f32, 0.000000e+00 : f32], but got [0xFF800000 : f32, 0x7FC00000 : f32]}}
  poly.combiner @c commutative neutral [0xFF800000 : f32, 0.0 : f32] {
  ^bb0(%m: f32, %s: f32, %n: f32, %t: f32):
    %top = arith.maximumf %m, %n : f32
    %dm = arith.subf %m, %top : f32
    %em = math.exp %dm : f32
    %dn = arith.subf %n, %top : f32
    %en = math.exp %dn : f32
    %a = arith.mulf %s, %em : f32
    %b = arith.mulf %t, %en : f32
    %sum = arith.addf %a, %b : f32
    poly.yield %top, %sum : f32, f32
  }
}

// -----

// CombinerOp C4: the mean of means is not that of all.
poly.kernel @k(%x: memref<?xf32>, %B: memref<f32>, %P: memref<i32>, %N: index) {
  // expected-error @below {{expects combine(combine(a, b), c) = combine(a, combine(b, c)), but this does not hold for a =}}
  poly.combiner @c neutral [0.0 : f32, 0.0 : f32] {
  ^bb0(%n: f32, %a: f32, %m: f32, %b: f32):
    %zero = arith.constant 0.0 : f32
    %half = arith.constant 0.5 : f32
    %nm = arith.addf %n, %m : f32
    %ab = arith.addf %a, %b : f32
    %mean = arith.mulf %half, %ab : f32
    %none = arith.cmpf oeq, %m, %zero : f32
    %r = arith.select %none, %a, %mean : f32
    %s = arith.select %none, %n, %nm : f32
    poly.yield %s, %r : f32, f32
  }
}

// -----

// CombinerOp C4: counts may be negative, and then add up to zero.
poly.kernel @k(%x: memref<?xf32>, %B: memref<f32>, %P: memref<i32>, %N: index) {
  // expected-error @below {{expects combine(combine(a, b), c) = combine(a, combine(b, c)), but this may not hold for a =}}
  poly.combiner @c neutral [0.0 : f32, 0.0 : f32] {
  ^bb0(%n: f32, %a: f32, %m: f32, %b: f32):
    %zero = arith.constant 0.0 : f32
    %nm = arith.addf %n, %m : f32
    %an = arith.mulf %a, %n : f32
    %bm = arith.mulf %b, %m : f32
    %sum = arith.addf %an, %bm : f32
    %mean = arith.divf %sum, %nm : f32
    %none = arith.cmpf oeq, %m, %zero : f32
    %r = arith.select %none, %a, %mean : f32
    poly.yield %nm, %r : f32, f32
  }
}

// -----

// CombinerOp C4: either one would do, but the carry says which.
poly.kernel @k(%x: memref<?xf32>, %B: memref<f32>, %P: memref<i32>, %N: index) {
  // expected-error @below {{expects combine(combine(a, b), c) = combine(a, combine(b, c)), but this may not hold for a =}}
  poly.combiner @c neutral [0 : i8] {
  ^bb0(%a: i8, %b: i8):
    %zero = arith.constant 0 : i8
    %sum, %carry = arith.addui_extended %a, %b : i8, i1
    %either = arith.select %carry, %a, %b : i8
    %no_a = arith.cmpi eq, %a, %zero : i8
    %no_b = arith.cmpi eq, %b, %zero : i8
    %r = arith.select %no_a, %b, %either : i8
    %s = arith.select %no_b, %a, %r : i8
    poly.yield %s : i8
  }
}

// -----

// CombinerOp C5: the first one that is met is not the same from either side.
poly.kernel @k(%x: memref<?xf32>, %B: memref<f32>, %P: memref<i32>, %N: index) {
  // expected-error @below {{expects combine(a, b) = combine(b, a), but this does not hold for a =}}
  poly.combiner @c commutative neutral [0xFF800000 : f32, 0x7FFFFFFF : i32] {
  ^bb0(%v: f32, %i: i32, %w: f32, %j: i32):
    %second = arith.cmpf ogt, %w, %v : f32
    %value = arith.select %second, %w, %v : f32
    %index = arith.select %second, %j, %i : i32
    poly.yield %value, %index : f32, i32
  }
}

// -----

#all = affine_set<(k)[N] : (k >= 0, N - 1 - k >= 0)>
#at = affine_map<(k)[N] -> (k)>
#one = affine_map<(k)[N] -> ()>

// ComputeOp C18
poly.kernel @k(%x: memref<?xf32>, %B: memref<f32>, %P: memref<i32>, %N: index) {
  // expected-error @below {{expects the name of a poly.combiner of the kernel, but got @first}}
  poly.compute @pick dims ["k"] domain [#all]
      reads(%x[#at], %B[#one], %P[#one] : memref<?xf32>, memref<f32>, memref<i32>)
      writes(%B[#one], %P[#one] : memref<f32>, memref<i32>) combiner @first {
  ^bb0(%w: f32, %v: f32, %i: i32):
    %k = poly.index 0
    %j = arith.index_cast %k : index to i32
    %more = arith.cmpf ogt, %w, %v : f32
    %equal = arith.cmpf oeq, %w, %v : f32
    %before = arith.cmpi slt, %j, %i : i32
    %tie = arith.andi %equal, %before : i1
    %second = arith.ori %more, %tie : i1
    %value = arith.select %second, %w, %v : f32
    %index = arith.select %second, %j, %i : i32
    poly.yield %value, %index : f32, i32
  }
}

// -----

#all = affine_set<(k)[N] : (k >= 0, N - 1 - k >= 0)>
#at = affine_map<(k)[N] -> (k)>
#one = affine_map<(k)[N] -> ()>

// ComputeOp C18
poly.kernel @k(%x: memref<?xf32>, %B: memref<f32>, %P: memref<i32>, %N: index) {
  poly.combiner @first commutative neutral [0xFF800000 : f32, 0x7FFFFFFF : i32] {
  ^bb0(%v: f32, %i: i32, %w: f32, %j: i32):
    %more = arith.cmpf ogt, %w, %v : f32
    %equal = arith.cmpf oeq, %w, %v : f32
    %before = arith.cmpi slt, %j, %i : i32
    %tie = arith.andi %equal, %before : i1
    %second = arith.ori %more, %tie : i1
    %value = arith.select %second, %w, %v : f32
    %index = arith.select %second, %j, %i : i32
    poly.yield %value, %index : f32, i32
  }
  // expected-error @below {{expects a reduction or a combiner, but got both}}
  poly.compute @pick dims ["k"] domain [#all]
      reads(%x[#at], %B[#one], %P[#one] : memref<?xf32>, memref<f32>, memref<i32>)
      writes(%B[#one], %P[#one] : memref<f32>, memref<i32>) reduction max combiner @first {
  ^bb0(%w: f32, %v: f32, %i: i32):
    %k = poly.index 0
    %j = arith.index_cast %k : index to i32
    %more = arith.cmpf ogt, %w, %v : f32
    %equal = arith.cmpf oeq, %w, %v : f32
    %before = arith.cmpi slt, %j, %i : i32
    %tie = arith.andi %equal, %before : i1
    %second = arith.ori %more, %tie : i1
    %value = arith.select %second, %w, %v : f32
    %index = arith.select %second, %j, %i : i32
    poly.yield %value, %index : f32, i32
  }
}

// -----

#all = affine_set<(k)[N] : (k >= 0, N - 1 - k >= 0)>
#at = affine_map<(k)[N] -> (k)>
#one = affine_map<(k)[N] -> ()>

// ComputeOp C19
poly.kernel @k(%x: memref<?xf32>, %B: memref<f32>, %P: memref<i32>, %N: index) {
  // expected-note @below {{its values are [0xFF800000 : f32, 2147483647 : i32]}}
  poly.combiner @first commutative neutral [0xFF800000 : f32, 0x7FFFFFFF : i32] {
  ^bb0(%v: f32, %i: i32, %w: f32, %j: i32):
    %more = arith.cmpf ogt, %w, %v : f32
    %equal = arith.cmpf oeq, %w, %v : f32
    %before = arith.cmpi slt, %j, %i : i32
    %tie = arith.andi %equal, %before : i1
    %second = arith.ori %more, %tie : i1
    %value = arith.select %second, %w, %v : f32
    %index = arith.select %second, %j, %i : i32
    poly.yield %value, %index : f32, i32
  }
  // expected-error @below {{expects one write for each value of @first, but has 1 writes, of ('f32')}}
  poly.compute @pick dims ["k"] domain [#all]
      reads(%x[#at], %B[#one], %P[#one] : memref<?xf32>, memref<f32>, memref<i32>)
      writes(%B[#one] : memref<f32>) combiner @first {
  ^bb0(%w: f32, %v: f32, %i: i32):
    poly.yield %v : f32
  }
}

// -----

#all = affine_set<(k)[N] : (k >= 0, N - 1 - k >= 0)>
#at = affine_map<(k)[N] -> (k)>
#one = affine_map<(k)[N] -> ()>

// ComputeOp C19: twice the same array.
poly.kernel @k(%x: memref<?xf32>, %B: memref<f32>, %y: memref<?xf32>, %z: memref<?xf32>, %N: index) {
  poly.combiner @two commutative neutral [-0.0 : f32, -0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %r = arith.addf %a, %c : f32
    %s = arith.addf %b, %d : f32
    poly.yield %r, %s : f32, f32
  }
  // expected-error @below {{expects writes of different arrays with a combiner, but write #0 is of that of another one}}
  poly.compute @pick dims ["k"] domain [#all]
      reads(%x[#at], %B[#one], %B[#one] : memref<?xf32>, memref<f32>, memref<f32>)
      writes(%B[#one], %B[#one] : memref<f32>, memref<f32>) combiner @two {
  ^bb0(%u: f32, %c: f32, %d: f32):
    %r = arith.addf %c, %u : f32
    %s = arith.addf %d, %u : f32
    poly.yield %r, %s : f32, f32
  }
}

// -----

#all = affine_set<(k)[N] : (k >= 0, N - 1 - k >= 0)>
#at = affine_map<(k)[N] -> (k)>

// ComputeOp C19: a sum and many.
poly.kernel @k(%x: memref<?xf32>, %B: memref<f32>, %y: memref<?xf32>, %z: memref<?xf32>, %N: index) {
  poly.combiner @two commutative neutral [-0.0 : f32, -0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %r = arith.addf %a, %c : f32
    %s = arith.addf %b, %d : f32
    poly.yield %r, %s : f32, f32
  }
  // expected-error @below {{expects writes at the same indices with a combiner, but write #1 is at affine_map<(d0)[s0] -> (d0)>}}
  poly.compute @pick dims ["k"] domain [#all]
      reads(%x[#at], %y[affine_map<(k)[N] -> (0)>], %z[#at] : memref<?xf32>, memref<?xf32>, memref<?xf32>)
      writes(%y[affine_map<(k)[N] -> (0)>], %z[#at] : memref<?xf32>, memref<?xf32>) combiner @two {
  ^bb0(%u: f32, %c: f32, %d: f32):
    %r = arith.addf %c, %u : f32
    %s = arith.addf %d, %u : f32
    poly.yield %r, %s : f32, f32
  }
}

// -----

#all = affine_set<(k)[N] : (k >= 0, N - 1 - k >= 0)>
#at = affine_map<(k)[N] -> (k)>

// ComputeOp C19: it reads one of its two elements.
poly.kernel @k(%x: memref<?xf32>, %B: memref<f32>, %y: memref<?xf32>, %z: memref<?xf32>, %N: index) {
  poly.combiner @two commutative neutral [-0.0 : f32, -0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %r = arith.addf %a, %c : f32
    %s = arith.addf %b, %d : f32
    poly.yield %r, %s : f32, f32
  }
  // expected-error @below {{expects to read each element that a combiner is for once, and to use its value for nothing but the body}}
  poly.compute @pick dims ["k"] domain [#all]
      reads(%x[#at], %y[#at], %x[#at] : memref<?xf32>, memref<?xf32>, memref<?xf32>)
      writes(%y[#at], %z[#at] : memref<?xf32>, memref<?xf32>) combiner @two {
  ^bb0(%u: f32, %c: f32, %d: f32):
    %r = arith.addf %c, %u : f32
    %s = arith.addf %d, %u : f32
    poly.yield %r, %s : f32, f32
  }
}

// -----

#all = affine_set<(k)[N] : (k >= 0, N - 1 - k >= 0)>
#at = affine_map<(k)[N] -> (k)>
#one = affine_map<(k)[N] -> ()>

// ComputeOp C20: of equal elements the first is kept, which is not always that
// with the lower index.
poly.kernel @k(%x: memref<?xf32>, %B: memref<f32>, %P: memref<i32>, %N: index) {
  poly.combiner @first commutative neutral [0xFF800000 : f32, 0x7FFFFFFF : i32] {
  ^bb0(%v: f32, %i: i32, %w: f32, %j: i32):
    %more = arith.cmpf ogt, %w, %v : f32
    %equal = arith.cmpf oeq, %w, %v : f32
    %before = arith.cmpi slt, %j, %i : i32
    %tie = arith.andi %equal, %before : i1
    %second = arith.ori %more, %tie : i1
    %value = arith.select %second, %w, %v : f32
    %index = arith.select %second, %j, %i : i32
    poly.yield %value, %index : f32, i32
  }
  // expected-error @below {{expects a body f with f(a, x) = @first(a, f(neutral, x)), but this does not hold for a =}}
  poly.compute @pick dims ["k"] domain [#all]
      reads(%x[#at], %B[#one], %P[#one] : memref<?xf32>, memref<f32>, memref<i32>)
      writes(%B[#one], %P[#one] : memref<f32>, memref<i32>) combiner @first {
  ^bb0(%w: f32, %v: f32, %i: i32):
    %k = poly.index 0
    %j = arith.index_cast %k : index to i32
    %second = arith.cmpf ogt, %w, %v : f32
    %value = arith.select %second, %w, %v : f32
    %index = arith.select %second, %j, %i : i32
    poly.yield %value, %index : f32, i32
  }
}
