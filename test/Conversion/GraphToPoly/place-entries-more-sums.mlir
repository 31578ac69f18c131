// RUN: espalier-opt %s -poly-group-entries -remarks-filter=poly-group-entries 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t

// Entries stay as they are where a sum runs over more than them.
// CHECK: poly.kernel private @{{.*}}(%{{.*}}: memref<1x4x3x3xf32>, %{{.*}}: memref<16xi32> {{.*}}, %{{.*}}: memref<16xi32> {{.*}}, %{{.*}}: memref<16xi32> {{.*}}, %{{.*}}: memref<16xf32>, %{{.*}}: memref<3xf32>
// CHECK: poly.compute @s0 dims ["n", "o", "y", "x", "r", "e"]
// REMARK-NOT: Blocks
// REMARK: Reason="sums that others see before they are whole"
#point = affine_map<(n, o, y, x) -> (n, o, y, x)>
#begin = affine_map<(n, o, y, x, r, e) -> (o)>
#end = affine_map<(n, o, y, x, r, e) -> (o + 1)>
#entry = affine_map<(n, o, y, x, r, e) -> (e)>
#factor = affine_map<(n, o, y, x, r, e) -> (r)>
#image = affine_map<(n, o, y, x, r, e)[b, f, k, i, j] -> (n, k, y + i, x + j)>
#sum = affine_map<(n, o, y, x, r, e) -> (n, o, y, x)>
#points = affine_set<(n, o, y, x) : (n >= 0, -n >= 0, o >= 0, -o >= 0, y >= 0, 1 - y >= 0, x >= 0, 1 - x >= 0)>
#terms = affine_set<(n, o, y, x, r, e) : (n >= 0, -n >= 0, o >= 0, -o >= 0, y >= 0, 1 - y >= 0, x >= 0, 1 - x >= 0, r >= 0, 2 - r >= 0, e >= 0, 15 - e >= 0)>
#row = affine_set<(n, o, y, x, r, e)[b, f] : (e - b >= 0, f - 1 - e >= 0)>
#target = #poly.target<cpu = "znver3", features = "", vector_bits = 256, registers = 16, l1 = 64, l2 = 524288, l3 = 33554432, cores = 1>
module attributes {poly.target = #target} {
  memref.global "private" constant @k : memref<16xi32> = dense<[0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]>
  memref.global "private" constant @i : memref<16xi32> = dense<[0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1]>
  memref.global "private" constant @j : memref<16xi32> = dense<[0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]>
  memref.global "private" constant @w : memref<16xf32> = dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]>
  memref.global "private" constant @starts : memref<2xi32> = dense<[0, 16]>
  poly.kernel private @filter(%x: memref<1x4x3x3xf32>, %k: memref<16xi32> {poly.bounded_by = affine_map<() -> (4)>}, %i: memref<16xi32> {poly.bounded_by = affine_map<() -> (2)>}, %j: memref<16xi32> {poly.bounded_by = affine_map<() -> (2)>}, %w: memref<16xf32>, %v: memref<3xf32>, %starts: memref<2xi32> {poly.bounded_by = affine_map<() -> (17)>, poly.monotonic}, %y: memref<1x1x2x2xf32>) attributes {poly.shared_dims = 4 : i64} {
    poly.compute @init dims ["n", "o", "y", "x"] domain [#points] reads() writes(%y[#point] : memref<1x1x2x2xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @sum dims ["n", "o", "y", "x", "r", "e"] domain [#terms] where #row reads(%starts[#begin], %starts[#end], %k[#entry], %i[#entry], %j[#entry], %x[#image], %w[#entry], %v[#factor], %y[#sum] : memref<2xi32>, memref<2xi32>, memref<16xi32>, memref<16xi32>, memref<16xi32>, memref<1x4x3x3xf32>, memref<16xf32>, memref<3xf32>, memref<1x1x2x2xf32>) writes(%y[#sum] : memref<1x1x2x2xf32>) reduction add {
    ^bb0(%b: i32, %f: i32, %0: i32, %1: i32, %2: i32, %3: f32, %4: f32, %5: f32, %6: f32):
      %7 = arith.mulf %3, %4 : f32
      %8 = arith.mulf %7, %5 : f32
      %9 = arith.addf %6, %8 : f32
      poly.yield %9 : f32
    }
  }
  func.func @main(%x: memref<1x4x3x3xf32>, %v: memref<3xf32>, %y: memref<1x1x2x2xf32>) attributes {espalier.num_inputs = 2 : i64} {
    %k = memref.get_global @k : memref<16xi32>
    %i = memref.get_global @i : memref<16xi32>
    %j = memref.get_global @j : memref<16xi32>
    %w = memref.get_global @w : memref<16xf32>
    %starts = memref.get_global @starts : memref<2xi32>
    poly.call @filter(%x, %k, %i, %j, %w, %v, %starts, %y) : memref<1x4x3x3xf32>, memref<16xi32>, memref<16xi32>, memref<16xi32>, memref<16xf32>, memref<3xf32>, memref<2xi32>, memref<1x1x2x2xf32>
    return
  }
  func.func @main_plan(%n: index, %c: index, %h: index, %width: index, %r: index) -> (index, index, index, index) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    return %c1, %c1, %c2, %c2 : index, index, index, index
  }
}
