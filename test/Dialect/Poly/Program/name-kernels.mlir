// RUN: espalier-opt %s -poly-name-kernels | FileCheck %s

// CHECK:      poly.kernel private @neg_[[HASH:[0-9a-f]{8}]](
// CHECK-NOT:  poly.kernel private @neg
// CHECK:      poly.kernel private @by_hand(
// CHECK:      poly.kernel private @neg_relu_{{[0-9a-f]+}}(
// CHECK:      poly.kernel @public(
// CHECK:      poly.call @neg_[[HASH]](%arg0, %arg1)
// CHECK-NEXT: poly.call @neg_[[HASH]](%arg1, %arg0)
// CHECK-NEXT: poly.call @by_hand(%arg0, %arg1)
// CHECK-NEXT: poly.call @neg_relu_{{[0-9a-f]+}}(%arg0, %arg1)
// CHECK-NEXT: poly.call @public(%arg0, %arg1)
// CHECK-NEXT: poly.call @exp_[[EXP:[0-9a-f]{8}]](%arg0, %arg1, %arg3)
// CHECK-NEXT: poly.call @exp_[[EXP]](%arg1, %arg0, %arg2)
// CHECK-NEXT: poly.call @exp_[[EXP]](%arg1, %arg0, %arg2)
#all = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#id = affine_map<(i) -> (i)>
poly.kernel private @kernel_0(%x: memref<8xf32>, %y: memref<8xf32>) {
  poly.compute @s0 domain [#all] reads(%x[#id] : memref<8xf32>) writes(%y[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    %r = arith.negf %a : f32
    poly.yield %r : f32
  } loc(fused<"neg">["model":1:1])
}
// The same operator of another layer.
poly.kernel private @kernel_1(%x: memref<8xf32>, %y: memref<8xf32>) {
  poly.compute @s0 domain [#all] reads(%x[#id] : memref<8xf32>) writes(%y[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    %r = arith.negf %a : f32
    poly.yield %r : f32
  } loc(fused<"neg">["model":2:1])
}
poly.kernel private @by_hand(%x: memref<8xf32>, %y: memref<8xf32>) {
  poly.compute @s0 domain [#all] reads(%x[#id] : memref<8xf32>) writes(%y[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    %r = arith.negf %a : f32
    poly.yield %r : f32
  }
}
// What is only moved for others is not in the name.
poly.kernel private @kernel_2(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = poly.array : memref<8xf32>
  %u = poly.array : memref<8xf32>
  poly.compute @s0 domain [#all] reads(%x[#id] : memref<8xf32>) writes(%t[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  } loc(fused<"copy">["model":3:1])
  poly.compute @s1 domain [#all] reads(%t[#id] : memref<8xf32>) writes(%u[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    %r = arith.negf %a : f32
    poly.yield %r : f32
  } loc(fused<"neg">["model":3:1])
  poly.compute @s2 domain [#all] reads(%u[#id] : memref<8xf32>) writes(%y[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    %c = arith.constant 0.0 : f32
    %r = arith.maximumf %a, %c : f32
    poly.yield %r : f32
  } loc(fused<"relu">["model":4:1])
}
poly.kernel @public(%x: memref<8xf32>, %y: memref<8xf32>) {
  poly.compute @s0 domain [#all] reads(%x[#id] : memref<8xf32>) writes(%y[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    %r = arith.negf %a : f32
    poly.yield %r : f32
  } loc(fused<"neg">["model":5:1])
}
// Sizes that are not used, as those that another is computed of, make no kernel
// different: the loop's extent is the second parameter here, the first there.
#first = affine_set<(i)[p] : (i >= 0, p - 1 - i >= 0, 7 - i >= 0)>
#second = affine_set<(i)[p, q] : (i >= 0, q - 1 - i >= 0, 7 - i >= 0)>
#id1 = affine_map<(i)[p] -> (i)>
#id2 = affine_map<(i)[p, q] -> (i)>
poly.kernel private @kernel_3(%x: memref<8xf32>, %y: memref<8xf32>, %p: index, %q: index) {
  poly.compute @s0 domain [#second] reads(%x[#id2] : memref<8xf32>) writes(%y[#id2] : memref<8xf32>) {
  ^bb0(%a: f32):
    %r = math.exp %a : f32
    poly.yield %r : f32
  } loc(fused<"exp">["model":6:1])
  poly.schedule {
    poly.band [@s0] maps [#id2] loops [sequential] {
    }
  }
}
poly.kernel private @kernel_4(%x: memref<8xf32>, %y: memref<8xf32>, %p: index, %z: memref<8xf32>) {
  poly.compute @s0 domain [#first] reads(%x[#id1] : memref<8xf32>) writes(%y[#id1] : memref<8xf32>) {
  ^bb0(%a: f32):
    %r = math.exp %a : f32
    poly.yield %r : f32
  } loc(fused<"exp">["model":7:1])
  poly.schedule {
    poly.band [@s0] maps [#id1] loops [sequential] {
    }
  }
}
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>, %p: index, %q: index) {
  poly.call @kernel_0(%x, %y) : memref<8xf32>, memref<8xf32>
  poly.call @kernel_1(%y, %x) : memref<8xf32>, memref<8xf32>
  poly.call @by_hand(%x, %y) : memref<8xf32>, memref<8xf32>
  poly.call @kernel_2(%x, %y) : memref<8xf32>, memref<8xf32>
  poly.call @public(%x, %y) : memref<8xf32>, memref<8xf32>
  poly.call @kernel_3(%x, %y, %p, %q) : memref<8xf32>, memref<8xf32>, index, index
  poly.call @kernel_4(%y, %x, %p, %x) : memref<8xf32>, memref<8xf32>, index, memref<8xf32>
  poly.call @kernel_4(%y, %x, %p, %y) : memref<8xf32>, memref<8xf32>, index, memref<8xf32>
  return
}
