// RUN: espalier-opt %s -poly-store-in-place -split-input-file | FileCheck %s

#row = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#id = affine_map<(i)[N] -> (i)>

// The part of a concatenation whose place depends on a size, in a kernel that
// is not called with that size yet.
// CHECK-DAG:   #[[AFTER:.*]] = affine_map<(d0)[s0, s1] -> (d0 + s1)>
// CHECK-LABEL: poly.kernel private @negate(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?xf32>, %[[Y:[^:]*]]: memref<?xf32>, %{{.*}}: index, %{{.*}}: index)
// CHECK:         writes(%[[Y]][#[[AFTER]]]
poly.kernel private @negate(%x: memref<?xf32>, %y: memref<?xf32>, %N: index) {
  poly.compute @s0 domain [#row] reads(%x[#id] : memref<?xf32>) writes(%y[#id] : memref<?xf32>) {
  ^bb0(%a: f32):
    %r = arith.negf %a : f32
    poly.yield %r : f32
  }
}
// CHECK-LABEL: poly.kernel private @join(
// CHECK-SAME:    %[[A:[^:]*]]: memref<?xf32>, %[[C:[^:]*]]: memref<?xf32>, %{{.*}}: index)
// CHECK-COUNT-1: poly.compute
// CHECK-NOT:     poly.compute
// CHECK:       func.func
#first = affine_set<(i)[M, N] : (i >= 0, M - 1 - i >= 0)>
#second = affine_set<(i)[M, N] : (i - M >= 0, M + N - 1 - i >= 0)>
poly.kernel private @join(%a: memref<?xf32>, %b: memref<?xf32>, %c: memref<?xf32>, %M: index, %N: index) {
  poly.compute @s0 domain [#first] reads(%a[affine_map<(i)[M, N] -> (i)>] : memref<?xf32>) writes(%c[affine_map<(i)[M, N] -> (i)>] : memref<?xf32>) {
  ^bb0(%v: f32):
    poly.yield %v : f32
  }
  poly.compute @s1 domain [#second] reads(%b[affine_map<(i)[M, N] -> (i - M)>] : memref<?xf32>) writes(%c[affine_map<(i)[M, N] -> (i)>] : memref<?xf32>) {
  ^bb0(%v: f32):
    poly.yield %v : f32
  }
}
// CHECK:         %[[NN:.*]] = memref.dim %arg1
// CHECK:         %[[MM:.*]] = memref.dim %arg0
// CHECK-NOT:     memref.alloc
// CHECK:         poly.call @negate(%arg1, %arg2, %[[NN]], %[[MM]])
// CHECK:         poly.call @join(%arg0, %arg2, %[[MM]])
func.func @main(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %y, %c0 : memref<?xf32>
  %b = memref.alloc(%n) : memref<?xf32>
  poly.call @negate(%y, %b, %n) : memref<?xf32>, memref<?xf32>, index
  %m = memref.dim %x, %c0 : memref<?xf32>
  poly.call @join(%x, %b, %z, %m, %n) : memref<?xf32>, memref<?xf32>, memref<?xf32>, index, index
  return
}

// -----

// The host is an array of the reader's own, and becomes one of the caller's. A
// kernel that has nothing left to do is gone.
// CHECK-LABEL: poly.kernel private @produce(%{{[^:]*}}: memref<8xf32>, %{{[^:]*}}: memref<10xf32>)
#all = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#id = affine_map<(i) -> (i)>
#in = affine_map<(i) -> (i + 1)>
poly.kernel private @produce(%x: memref<8xf32>, %y: memref<8xf32>) {
  poly.compute @s0 domain [#all] reads(%x[#id] : memref<8xf32>) writes(%y[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    %r = arith.negf %a : f32
    poly.yield %r : f32
  }
}
// CHECK-LABEL: poly.kernel private @consume(%{{[^:]*}}: memref<8xf32>, %{{[^:]*}}: memref<10xf32>)
// CHECK-NOT:     poly.array
// CHECK:         poly.compute @border
// CHECK-NOT:     @inside
// CHECK:         poly.compute @use
poly.kernel private @consume(%y: memref<8xf32>, %z: memref<8xf32>) {
  %p = poly.array : memref<10xf32>
  poly.compute @border domain [affine_set<(i) : (i == 0)>, affine_set<(i) : (i - 9 == 0)>] reads() writes(%p[#id] : memref<10xf32>) {
    %c = arith.constant 0.0 : f32
    poly.yield %c : f32
  }
  poly.compute @inside domain [#all] reads(%y[#id] : memref<8xf32>) writes(%p[#in] : memref<10xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @use domain [#all] reads(%p[#id], %p[affine_map<(i) -> (i + 2)>] : memref<10xf32>, memref<10xf32>) writes(%z[#id] : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    poly.yield %r : f32
  }
}
// CHECK-NOT:   poly.kernel
poly.kernel private @copy(%z: memref<8xf32>, %r: memref<8xf32>) {
  poly.compute @s0 domain [#all] reads(%z[#id] : memref<8xf32>) writes(%r[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
// CHECK:       %[[P:.*]] = memref.alloc() {{.*}} : memref<10xf32>
// CHECK-NEXT:  poly.call @produce(%arg0, %[[P]])
// CHECK-NEXT:  poly.call @consume(%arg1, %[[P]])
// CHECK-NEXT:  return
func.func @main(%x: memref<8xf32>, %r: memref<8xf32>) {
  %y = memref.alloc() : memref<8xf32>
  poly.call @produce(%x, %y) : memref<8xf32>, memref<8xf32>
  %z = memref.alloc() : memref<8xf32>
  poly.call @consume(%y, %z) : memref<8xf32>, memref<8xf32>
  poly.call @copy(%z, %r) : memref<8xf32>, memref<8xf32>
  return
}
