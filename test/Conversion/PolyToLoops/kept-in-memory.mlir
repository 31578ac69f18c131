// RUN: espalier-opt %s -convert-poly-to-loops --remarks-filter="convert-poly-to-loops" 2>&1 | FileCheck %s

// Code cannot tell which element is meant where its loop is not unrolled: then
// the array is in memory.
// CHECK: remark: [Missed] KeptInMemory | Category:convert-poly-to-loops {{.*}}expects an element of an array in registers to be written, in the same iteration, before 'b' reads it, and its loops to be unrolled
// CHECK-LABEL: func.func @registers_need_unrolled_loops(
// CHECK:         %[[S:.*]] = memref.alloca() {{.*}}: memref<4xf32>
// CHECK:         scf.for
// CHECK:           memref.store %{{.*}}, %[[S]]
// CHECK:         scf.for
// CHECK:           memref.load %[[S]]
#i = affine_map<(i) -> (i)>
#points = affine_set<(i) : (i >= 0, 3 - i >= 0)>
poly.kernel @registers_need_unrolled_loops(%A: memref<4xf32>) {
  %s = poly.array register : memref<4xf32>
  poly.compute @a domain [#points] reads() writes(%s[#i] : memref<4xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @b domain [#points] reads(%s[#i] : memref<4xf32>) writes(%A[#i] : memref<4xf32>) {
  ^bb0(%x: f32):
    poly.yield %x : f32
  }
}
