// RUN: espalier-opt %s -poly-store-in-place -split-input-file | FileCheck %s

// Whatever is between a copy and its place stays as it is.

// Half of the array is copied.
// CHECK-LABEL: poly.kernel private @half
// CHECK:         poly.compute @copy
#all = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#id = affine_map<(i) -> (i)>
poly.kernel private @make(%x: memref<8xf32>, %y: memref<8xf32>) {
  poly.compute @s0 domain [#all] reads(%x[#id] : memref<8xf32>) writes(%y[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    %r = arith.negf %a : f32
    poly.yield %r : f32
  }
}
poly.kernel private @half(%y: memref<8xf32>, %z: memref<9xf32>) {
  poly.compute @copy domain [affine_set<(i) : (i >= 0, 6 - i >= 0)>] reads(%y[#id] : memref<8xf32>) writes(%z[#id] : memref<9xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
func.func @main(%x: memref<8xf32>, %z: memref<9xf32>) {
  %y = memref.alloc() : memref<8xf32>
  poly.call @make(%x, %y) : memref<8xf32>, memref<8xf32>
  poly.call @half(%y, %z) : memref<8xf32>, memref<9xf32>
  return
}

// -----

// All of the host is cleared before: the copy would be lost.
// CHECK-LABEL: poly.kernel private @cleared
// CHECK:         poly.compute @copy
#all = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#id = affine_map<(i) -> (i)>
poly.kernel private @make(%x: memref<8xf32>, %y: memref<8xf32>) {
  poly.compute @s0 domain [#all] reads(%x[#id] : memref<8xf32>) writes(%y[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    %r = arith.negf %a : f32
    poly.yield %r : f32
  }
}
poly.kernel private @cleared(%y: memref<8xf32>, %z: memref<9xf32>) {
  poly.compute @clear domain [affine_set<(i) : (i >= 0, 8 - i >= 0)>] reads() writes(%z[#id] : memref<9xf32>) {
    %c = arith.constant 0.0 : f32
    poly.yield %c : f32
  }
  poly.compute @copy domain [#all] reads(%y[#id] : memref<8xf32>) writes(%z[affine_map<(i) -> (i + 1)>] : memref<9xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
func.func @main(%x: memref<8xf32>, %z: memref<9xf32>) {
  %y = memref.alloc() : memref<8xf32>
  poly.call @make(%x, %y) : memref<8xf32>, memref<8xf32>
  poly.call @cleared(%y, %z) : memref<8xf32>, memref<9xf32>
  return
}

// -----

// The place is read before the copy, for what it held then.
// CHECK-LABEL: poly.kernel private @later
// CHECK:         poly.compute @copy
#all = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#id = affine_map<(i) -> (i)>
poly.kernel private @make(%x: memref<8xf32>, %y: memref<8xf32>) {
  poly.compute @s0 domain [#all] reads(%x[#id] : memref<8xf32>) writes(%y[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    %r = arith.negf %a : f32
    poly.yield %r : f32
  }
}
poly.kernel private @look(%z: memref<8xf32>, %o: memref<8xf32>) {
  poly.compute @s0 domain [#all] reads(%z[#id] : memref<8xf32>) writes(%o[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
poly.kernel private @later(%y: memref<8xf32>, %z: memref<8xf32>) {
  poly.compute @copy domain [#all] reads(%y[#id] : memref<8xf32>) writes(%z[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
func.func @main(%x: memref<8xf32>, %z: memref<8xf32>, %o: memref<8xf32>) {
  %y = memref.alloc() : memref<8xf32>
  poly.call @make(%x, %y) : memref<8xf32>, memref<8xf32>
  poly.call @look(%z, %o) : memref<8xf32>, memref<8xf32>
  poly.call @later(%y, %z) : memref<8xf32>, memref<8xf32>
  return
}

// -----

// A kernel that is called twice, and one that people call.
// CHECK-LABEL: poly.kernel private @twice
// CHECK:         poly.compute @copy
// CHECK-LABEL: poly.kernel @public
// CHECK:         poly.compute @copy
#all = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#id = affine_map<(i) -> (i)>
poly.kernel private @make(%x: memref<8xf32>, %y: memref<8xf32>) {
  poly.compute @s0 domain [#all] reads(%x[#id] : memref<8xf32>) writes(%y[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    %r = arith.negf %a : f32
    poly.yield %r : f32
  }
}
poly.kernel private @twice(%y: memref<8xf32>, %z: memref<8xf32>) {
  poly.compute @copy domain [#all] reads(%y[#id] : memref<8xf32>) writes(%z[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
poly.kernel @public(%y: memref<8xf32>, %z: memref<8xf32>) {
  poly.compute @copy domain [#all] reads(%y[#id] : memref<8xf32>) writes(%z[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
func.func @main(%x: memref<8xf32>, %z: memref<8xf32>, %o: memref<8xf32>, %q: memref<8xf32>) {
  %y = memref.alloc() : memref<8xf32>
  poly.call @make(%x, %y) : memref<8xf32>, memref<8xf32>
  poly.call @twice(%y, %z) : memref<8xf32>, memref<8xf32>
  poly.call @twice(%x, %o) : memref<8xf32>, memref<8xf32>
  poly.call @public(%y, %q) : memref<8xf32>, memref<8xf32>
  return
}

// -----

// The memory is seen in another way before, and what the copy reads is shared
// with loops that read it.
// CHECK-LABEL: poly.kernel private @seen
// CHECK:         poly.compute @copy
// CHECK-LABEL: poly.kernel private @shared
// CHECK:         poly.compute @copy
#all = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#id = affine_map<(i) -> (i)>
poly.kernel private @make(%x: memref<8xf32>, %y: memref<8xf32>) {
  poly.compute @s0 domain [#all] reads(%x[#id] : memref<8xf32>) writes(%y[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    %r = arith.negf %a : f32
    poly.yield %r : f32
  }
}
poly.kernel private @fill(%z: memref<2x4xf32>) {
  poly.compute @s0 domain [affine_set<(i, j) : (i >= 0, 1 - i >= 0, j >= 0, 3 - j >= 0)>] reads() writes(%z[affine_map<(i, j) -> (i, j)>] : memref<2x4xf32>) {
    %c = arith.constant 0.0 : f32
    poly.yield %c : f32
  }
}
poly.kernel private @seen(%y: memref<8xf32>, %z: memref<8xf32>) {
  poly.compute @copy domain [#all] reads(%y[#id] : memref<8xf32>) writes(%z[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
poly.kernel private @shared(%x: memref<8xf32>, %z: memref<8xf32>, %o: memref<8xf32>) {
  %y = poly.array : memref<8xf32>
  poly.compute @s0 domain [#all] reads(%x[#id] : memref<8xf32>) writes(%y[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    %r = arith.negf %a : f32
    poly.yield %r : f32
  }
  poly.compute @copy domain [#all] reads(%y[#id] : memref<8xf32>) writes(%z[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @s1 domain [#all] reads(%y[#id] : memref<8xf32>) writes(%o[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    %r = arith.negf %a : f32
    poly.yield %r : f32
  }
}
func.func @main(%x: memref<8xf32>, %z: memref<8xf32>, %o: memref<8xf32>, %q: memref<8xf32>) {
  %y = memref.alloc() : memref<8xf32>
  poly.call @make(%x, %y) : memref<8xf32>, memref<8xf32>
  %v = memref.reinterpret_cast %z to offset: [0], sizes: [2, 4], strides: [4, 1] : memref<8xf32> to memref<2x4xf32>
  poly.call @fill(%v) : memref<2x4xf32>
  poly.call @seen(%y, %z) : memref<8xf32>, memref<8xf32>
  poly.call @shared(%x, %o, %q) : memref<8xf32>, memref<8xf32>, memref<8xf32>
  return
}

// -----

// How far the copy goes is read.
// CHECK-LABEL: poly.kernel private @scattered
// CHECK:         poly.compute @copy
#all = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#id = affine_map<(i) -> (i)>
poly.kernel private @make(%x: memref<8xi64>, %y: memref<8xi64>) {
  poly.compute @s0 domain [#all] reads(%x[#id] : memref<8xi64>) writes(%y[#id] : memref<8xi64>) {
  ^bb0(%a: i64):
    %r = arith.addi %a, %a : i64
    poly.yield %r : i64
  }
}
poly.kernel private @scattered(%y: memref<8xi64>, %z: memref<99xi64>) {
  poly.compute @copy domain [#all] reads(%y[#id] : memref<8xi64>) writes(%z[affine_map<(i)[v] -> (i + v)>] : memref<99xi64>) {
  ^bb0(%a: i64):
    poly.yield %a : i64
  }
}
func.func @main(%x: memref<8xi64>, %z: memref<99xi64>) {
  %y = memref.alloc() : memref<8xi64>
  poly.call @make(%x, %y) : memref<8xi64>, memref<8xi64>
  poly.call @scattered(%y, %z) : memref<8xi64>, memref<99xi64>
  return
}

// -----

// Others see the array under another shape.
// CHECK-LABEL: poly.kernel private @inside
// CHECK:         poly.compute @copy
#all = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#id = affine_map<(i) -> (i)>
poly.kernel private @make(%x: memref<8xf32>, %y: memref<8xf32>) {
  poly.compute @s0 domain [#all] reads(%x[#id] : memref<8xf32>) writes(%y[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    %r = arith.negf %a : f32
    poly.yield %r : f32
  }
}
poly.kernel private @inside(%y: memref<8xf32>, %z: memref<9xf32>) {
  poly.compute @copy domain [#all] reads(%y[#id] : memref<8xf32>) writes(%z[affine_map<(i) -> (i + 1)>] : memref<9xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
poly.kernel private @look(%y: memref<2x4xf32>, %o: memref<2x4xf32>) {
  poly.compute @s0 domain [affine_set<(i, j) : (i >= 0, 1 - i >= 0, j >= 0, 3 - j >= 0)>] reads(%y[affine_map<(i, j) -> (i, j)>] : memref<2x4xf32>) writes(%o[affine_map<(i, j) -> (i, j)>] : memref<2x4xf32>) {
  ^bb0(%a: f32):
    %r = arith.negf %a : f32
    poly.yield %r : f32
  }
}
func.func @main(%x: memref<8xf32>, %z: memref<9xf32>, %o: memref<2x4xf32>) {
  %y = memref.alloc() : memref<8xf32>
  poly.call @make(%x, %y) : memref<8xf32>, memref<8xf32>
  poly.call @inside(%y, %z) : memref<8xf32>, memref<9xf32>
  %v = memref.reinterpret_cast %y to offset: [0], sizes: [2, 4], strides: [4, 1] : memref<8xf32> to memref<2x4xf32>
  poly.call @look(%v, %o) : memref<2x4xf32>, memref<2x4xf32>
  return
}
