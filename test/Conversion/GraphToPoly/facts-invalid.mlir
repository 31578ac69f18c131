// RUN: espalier-opt %s -split-input-file -verify-diagnostics -poly-apply-layouts

// What stands in attributes between the steps is checked.

#box = affine_set<(i, j) : (i >= 0, 3 - i >= 0, j >= 0, 7 - j >= 0)>
#id = affine_map<(i, j) -> (i, j)>
poly.kernel private @k(%x: memref<4x8xf32>, %y: memref<4x8xf32>) attributes {poly.shared_dims = 2 : i64} {
  poly.compute @s domain [#box] reads(%x[#id] : memref<4x8xf32>) writes(%y[#id] : memref<4x8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
func.func @main(%x: memref<4x8xf32>, %y: memref<4x8xf32>) attributes {espalier.num_inputs = 1 : i64} {
  // expected-error @below {{expects poly.layout to map the indices of the array}}
  %z = memref.alloc() {poly.layout = affine_map<(i) -> (i)>} : memref<4x8xf32>
  poly.call @k(%x, %z) : memref<4x8xf32>, memref<4x8xf32>
  poly.call @k(%z, %y) : memref<4x8xf32>, memref<4x8xf32>
  return
}
func.func @main_plan(%m: index, %n: index) -> (index, index) {
  return %m, %n : index, index
}

// -----

#box = affine_set<(i, j) : (i >= 0, 3 - i >= 0, j >= 0, 7 - j >= 0)>
#id = affine_map<(i, j) -> (i, j)>
poly.kernel private @k(%x: memref<4x8xf32>, %y: memref<4x8xf32>) attributes {poly.shared_dims = 2 : i64} {
  poly.compute @s domain [#box] reads(%x[#id] : memref<4x8xf32>) writes(%y[#id] : memref<4x8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
func.func @main(%x: memref<4x8xf32>, %y: memref<4x8xf32>) attributes {espalier.num_inputs = 1 : i64} {
  // expected-error @below {{expects poly.layout of indices, and their quotients and remainders by positive numbers}}
  %z = memref.alloc() {poly.layout = affine_map<(i, j) -> (i + j, j)>} : memref<4x8xf32>
  poly.call @k(%x, %z) : memref<4x8xf32>, memref<4x8xf32>
  poly.call @k(%z, %y) : memref<4x8xf32>, memref<4x8xf32>
  return
}
func.func @main_plan(%m: index, %n: index) -> (index, index) {
  return %m, %n : index, index
}

// -----

#box = affine_set<(i, j) : (i >= 0, 3 - i >= 0, j >= 0, 7 - j >= 0)>
#id = affine_map<(i, j) -> (i, j)>
poly.kernel private @k(%x: memref<4x8xf32>, %y: memref<4x8xf32>) attributes {poly.shared_dims = 2 : i64} {
  poly.compute @s domain [#box] reads(%x[#id] : memref<4x8xf32>) writes(%y[#id] : memref<4x8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
func.func @main(%x: memref<4x8xf32>, %y: memref<4x8xf32>) attributes {espalier.num_inputs = 1 : i64} {
  // expected-error @below {{expects poly.layout to give each element a place of its own}}
  %z = memref.alloc() {poly.layout = affine_map<(i, j) -> (i, j floordiv 4, j mod 2)>} : memref<4x8xf32>
  poly.call @k(%x, %z) : memref<4x8xf32>, memref<4x8xf32>
  poly.call @k(%z, %y) : memref<4x8xf32>, memref<4x8xf32>
  return
}
func.func @main_plan(%m: index, %n: index) -> (index, index) {
  return %m, %n : index, index
}

// -----

#box = affine_set<(i, j) : (i >= 0, 3 - i >= 0, j >= 0, 7 - j >= 0)>
#id = affine_map<(i, j) -> (i, j)>
poly.kernel private @k(%x: memref<4x8xf32>, %y: memref<4x8xf32>) attributes {poly.shared_dims = 2 : i64} {
  poly.compute @s domain [#box] reads(%x[#id] : memref<4x8xf32>) writes(%y[#id] : memref<4x8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
func.func @main(%x: memref<4x8xf32>, %y: memref<4x8xf32>) attributes {espalier.num_inputs = 1 : i64} {
  // expected-error @below {{expects poly.padding beside poly.layout}}
  %z = memref.alloc() {poly.padding = array<i64: 0, 1>} : memref<4x8xf32>
  poly.call @k(%x, %z) : memref<4x8xf32>, memref<4x8xf32>
  poly.call @k(%z, %y) : memref<4x8xf32>, memref<4x8xf32>
  return
}
func.func @main_plan(%m: index, %n: index) -> (index, index) {
  return %m, %n : index, index
}

// -----

#box = affine_set<(i, j) : (i >= 0, 3 - i >= 0, j >= 0, 7 - j >= 0)>
#id = affine_map<(i, j) -> (i, j)>
poly.kernel private @k(%x: memref<4x8xf32>, %y: memref<4x8xf32>) attributes {poly.shared_dims = 2 : i64} {
  poly.compute @s domain [#box] reads(%x[#id] : memref<4x8xf32>) writes(%y[#id] : memref<4x8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
func.func @main(%x: memref<4x8xf32>, %y: memref<4x8xf32>) attributes {espalier.num_inputs = 1 : i64} {
  // expected-error @below {{expects poly.padding to have a number from 0 to 2^31 for each index of the memory}}
  %z = memref.alloc() {poly.layout = affine_map<(i, j) -> (i, j)>, poly.padding = array<i64: 0, -1>} : memref<4x8xf32>
  poly.call @k(%x, %z) : memref<4x8xf32>, memref<4x8xf32>
  poly.call @k(%z, %y) : memref<4x8xf32>, memref<4x8xf32>
  return
}
func.func @main_plan(%m: index, %n: index) -> (index, index) {
  return %m, %n : index, index
}

// -----

#box = affine_set<(i, j) : (i >= 0, 3 - i >= 0, j >= 0, 7 - j >= 0)>
#id = affine_map<(i, j) -> (i, j)>
poly.kernel private @k(%x: memref<4x8xf32>, %y: memref<4x8xf32>) attributes {poly.shared_dims = 2 : i64} {
  poly.compute @s domain [#box] reads(%x[#id] : memref<4x8xf32>) writes(%y[#id] : memref<4x8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
func.func @main(%x: memref<4x8xf32>, %y: memref<4x8xf32>) attributes {espalier.num_inputs = 1 : i64} {
  // expected-error @below {{expects poly.order to be the array's indices in some order}}
  %z = memref.alloc() {poly.order = array<i64: 0, 0>} : memref<4x8xf32>
  poly.call @k(%x, %z) : memref<4x8xf32>, memref<4x8xf32>
  poly.call @k(%z, %y) : memref<4x8xf32>, memref<4x8xf32>
  return
}
func.func @main_plan(%m: index, %n: index) -> (index, index) {
  return %m, %n : index, index
}

// -----

#box = affine_set<(i, j) : (i >= 0, 3 - i >= 0, j >= 0, 7 - j >= 0)>
#id = affine_map<(i, j) -> (i, j)>
poly.kernel private @k(%x: memref<4x8xf32>, %y: memref<4x8xf32>) attributes {poly.shared_dims = 2 : i64} {
  poly.compute @s domain [#box] reads(%x[#id] : memref<4x8xf32>) writes(%y[#id] : memref<4x8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
func.func @main(%x: memref<4x8xf32>, %y: memref<4x8xf32>) attributes {espalier.num_inputs = 1 : i64} {
  // expected-error @below {{expects poly.fusion to be "separate" or "fused", but got 2 : i64}}
  %z = memref.alloc() {poly.fusion = 2} : memref<4x8xf32>
  poly.call @k(%x, %z) : memref<4x8xf32>, memref<4x8xf32>
  poly.call @k(%z, %y) : memref<4x8xf32>, memref<4x8xf32>
  return
}
func.func @main_plan(%m: index, %n: index) -> (index, index) {
  return %m, %n : index, index
}

// -----

// Steps were told otherwise after they had formed kernels.
#box = affine_set<(i, j) : (i >= 0, 3 - i >= 0, j >= 0, 7 - j >= 0)>
#id = affine_map<(i, j) -> (i, j)>
poly.kernel private @k(%x: memref<4x8xf32>, %y: memref<4x8xf32>) attributes {poly.shared_dims = 2 : i64} {
  poly.compute @s domain [#box] reads(%x[#id] : memref<4x8xf32>) writes(%y[#id] : memref<4x8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
func.func @main(%x: memref<4x8xf32>, %y: memref<4x8xf32>) attributes {espalier.num_inputs = 1 : i64} {
  // expected-error @below {{expects a result that is read in the kernel that computes it (fused), at the indices of loops that both share and whose iterations fit in the cache, but another kernel reads it}}
  %z = memref.alloc() {poly.fusion = "fused"} : memref<4x8xf32>
  poly.call @k(%x, %z) : memref<4x8xf32>, memref<4x8xf32>
  poly.call @k(%z, %y) : memref<4x8xf32>, memref<4x8xf32>
  return
}
func.func @main_plan(%m: index, %n: index) -> (index, index) {
  return %m, %n : index, index
}

// -----

#box = affine_set<(i, j) : (i >= 0, 3 - i >= 0, j >= 0, 7 - j >= 0)>
#id = affine_map<(i, j) -> (i, j)>
// expected-error @below {{expects poly.shared_dims of at most 2, but got 3}}
poly.kernel private @k(%x: memref<4x8xf32>, %y: memref<4x8xf32>) attributes {poly.shared_dims = 3 : i64} {
  poly.compute @s domain [#box] reads(%x[#id] : memref<4x8xf32>) writes(%y[#id] : memref<4x8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
func.func @main(%x: memref<4x8xf32>, %y: memref<4x8xf32>) attributes {espalier.num_inputs = 1 : i64} {
  %z = memref.alloc() {} : memref<4x8xf32>
  poly.call @k(%x, %z) : memref<4x8xf32>, memref<4x8xf32>
  poly.call @k(%z, %y) : memref<4x8xf32>, memref<4x8xf32>
  return
}
func.func @main_plan(%m: index, %n: index) -> (index, index) {
  return %m, %n : index, index
}

// -----

#box = affine_set<(i, j) : (i >= 0, 3 - i >= 0, j >= 0, 7 - j >= 0)>
#id = affine_map<(i, j) -> (i, j)>
poly.kernel private @k(%x: memref<4x8xf32>, %y: memref<4x8xf32>) attributes {poly.shared_dims = 2 : i64} {
  // expected-error @below {{expects poly.algorithm to be "direct" or "winograd"}}
  poly.compute @s domain [#box] reads(%x[#id] : memref<4x8xf32>) writes(%y[#id] : memref<4x8xf32>) attributes {poly.algorithm = "quick"} {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
func.func @main(%x: memref<4x8xf32>, %y: memref<4x8xf32>) attributes {espalier.num_inputs = 1 : i64} {
  poly.call @k(%x, %y) : memref<4x8xf32>, memref<4x8xf32>
  return
}
func.func @main_plan(%m: index, %n: index) -> (index, index) {
  return %m, %n : index, index
}

// -----

#box = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#id = affine_map<(i) -> (i)>
poly.kernel private @k(%x: memref<8xf32>, %y: memref<8xf32>) attributes {poly.shared_dims = 1 : i64} {
  // expected-error @below {{expects poly.recurrence to be a 64-bit integer, but got "i"}}
  poly.compute @s domain [#box] reads(%x[#id] : memref<8xf32>) writes(%y[#id] : memref<8xf32>) attributes {poly.recurrence = "i"} {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) attributes {espalier.num_inputs = 1 : i64} {
  poly.call @k(%x, %y) : memref<8xf32>, memref<8xf32>
  return
}
func.func @main_plan(%n: index) -> index {
  return %n : index
}

// -----

#box = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#id = affine_map<(i) -> (i)>
poly.kernel private @k(%x: memref<8xf32>, %y: memref<8xf32>) attributes {poly.shared_dims = 1 : i64} {
  // expected-error @below {{expects poly.keeps_row_major without a value, but got false}}
  poly.compute @s domain [#box] reads(%x[#id] : memref<8xf32>) writes(%y[#id] : memref<8xf32>) attributes {poly.keeps_row_major = false} {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) attributes {espalier.num_inputs = 1 : i64} {
  poly.call @k(%x, %y) : memref<8xf32>, memref<8xf32>
  return
}
func.func @main_plan(%n: index) -> index {
  return %n : index
}

// -----

#box = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#id = affine_map<(i) -> (i)>
// expected-error @below {{expects poly.shared_dims to be a 64-bit integer, but got 1 : i8}}
poly.kernel private @k(%x: memref<8xf32>, %y: memref<8xf32>) attributes {poly.shared_dims = 1 : i8} {
  poly.compute @s domain [#box] reads(%x[#id] : memref<8xf32>) writes(%y[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) attributes {espalier.num_inputs = 1 : i64} {
  poly.call @k(%x, %y) : memref<8xf32>, memref<8xf32>
  return
}
func.func @main_plan(%n: index) -> index {
  return %n : index
}

// -----

// What is read along the other dimension was computed before, too.

#id = affine_map<(i, j) -> (i, j)>
#before = affine_map<(i, j) -> (i, j - 1)>
poly.kernel private @k(%x: memref<4x8xf32>, %y: memref<4x8xf32>) attributes {poly.shared_dims = 1 : i64} {
  // expected-error @below {{expects poly.recurrence to be a dimension along which it reads what was computed before, but it reads what @s computes at (d0, d1) -> (d0, d1 - 1)}}
  poly.compute @s domain [affine_set<(i, j) : (i >= 0, 3 - i >= 0, j >= 0, 7 - j >= 0)>] reads(%x[#id], %y[#before] : memref<4x8xf32>, memref<4x8xf32>) writes(%y[#id] : memref<4x8xf32>) attributes {poly.recurrence = 0 : i64} {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    poly.yield %c : f32
  }
}
func.func @main(%x: memref<4x8xf32>, %y: memref<4x8xf32>) attributes {espalier.num_inputs = 1 : i64} {
  poly.call @k(%x, %y) : memref<4x8xf32>, memref<4x8xf32>
  return
}
func.func @main_plan(%m: index, %n: index) -> (index, index) {
  return %m, %n : index, index
}

// -----

// The second runs after all of the first, of which it reads a later element.

#box = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#id = affine_map<(i) -> (i)>
poly.kernel private @k(%x: memref<8xf32>, %y: memref<8xf32>) attributes {poly.shared_dims = 1 : i64} {
  %t = poly.array : memref<8xf32>
  poly.compute @s domain [#box] reads(%x[#id] : memref<8xf32>) writes(%t[#id] : memref<8xf32>) attributes {poly.recurrence = 0 : i64} {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  // expected-error @below {{expects the computations of a recurrence to run together along poly.recurrence}}
  poly.compute @t domain [#box] reads(%t[affine_map<(i) -> (7 - i)>] : memref<8xf32>) writes(%y[#id] : memref<8xf32>) attributes {poly.recurrence = 0 : i64} {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) attributes {espalier.num_inputs = 1 : i64} {
  poly.call @k(%x, %y) : memref<8xf32>, memref<8xf32>
  return
}
func.func @main_plan(%n: index) -> index {
  return %n : index
}

// -----

// It runs together with the first, whose later elements are not there yet.

#box = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#id = affine_map<(i) -> (i)>
poly.kernel private @k(%x: memref<8xf32>, %y: memref<8xf32>) attributes {poly.shared_dims = 1 : i64} {
  %t = poly.array : memref<8xf32>
  poly.compute @s domain [#box] reads(%x[#id] : memref<8xf32>) writes(%t[#id] : memref<8xf32>) attributes {poly.recurrence = 0 : i64} {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  // expected-error @below {{expects poly.recurrence to be a dimension along which it reads what was computed before, but it reads what @s computes at (d0) -> (-d0 + 7)}}
  poly.compute @t domain [#box] reads(%t[affine_map<(i) -> (7 - i)>] : memref<8xf32>) writes(%y[#id] : memref<8xf32>) interleaved 1 attributes {poly.recurrence = 0 : i64} {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) attributes {espalier.num_inputs = 1 : i64} {
  poly.call @k(%x, %y) : memref<8xf32>, memref<8xf32>
  return
}
func.func @main_plan(%n: index) -> index {
  return %n : index
}
