// RUN: espalier-opt %s -convert-poly-to-loops -canonicalize -cse -split-input-file | FileCheck %s

// Eight entries at a time, whose places are loaded two by two; then those that
// are left, or all of a row of fewer. All of each row if there are fewer than 12
// for each place in the array of ends.
#all = affine_set<(n, e)[N, E] : (n >= 0, N - 1 - n >= 0, e >= 0, E - 1 - e >= 0)>
#row = affine_set<(n, e)[N, E, b, f] : (e - b >= 0, f - 1 - e >= 0)>
#n = affine_map<(n, e)[N, E] -> (n)>
#e = affine_map<(n, e)[N, E] -> (e)>
// CHECK-LABEL: func.func @look_up(
// CHECK:         %[[OLD:.*]] = memref.load %arg4
// CHECK:         %[[COUNT:.*]] = arith.subi
// CHECK:         %[[IS_LONG:.*]] = arith.cmpi sge, %[[COUNT]], %c8
// CHECK:         %[[ENDS:.*]] = memref.dim %arg0
// CHECK:         %[[FEW:.*]] = arith.muli %[[ENDS]], %c12
// CHECK:         %[[ARE_MANY:.*]] = arith.cmpi sge, %arg6, %[[FEW]]
// CHECK:         %[[TAKES_LANES:.*]] = arith.andi %[[ARE_MANY]], %[[IS_LONG]]
// CHECK:         %[[LEFT:.*]] = arith.remui %[[COUNT]], %c8
// CHECK:         arith.select %[[TAKES_LANES]], %[[LEFT]], %[[COUNT]]
// CHECK:         %[[HEAD:.*]] = scf.if %[[TAKES_LANES]] -> (f32) {
// CHECK:           %[[LANES:.*]] = scf.for {{.*}} step %c8 iter_args({{.*}}) -> (vector<8xf32>) {
// CHECK:             %[[PAIR:.*]] = vector.load %arg1{{.*}} vector<2xi32>
// CHECK:             %[[WORD:.*]] = vector.bitcast %[[PAIR]] : vector<2xi32> to vector<1xi64>
// CHECK:             %[[BOTH:.*]] = vector.extract %[[WORD]][0]
// CHECK:             %[[FIRST:.*]] = arith.trunci %[[BOTH]] : i64 to i32
// CHECK:             %[[SECOND:.*]] = arith.shrui %[[BOTH]], %c32_i64
// CHECK-COUNT-3:     vector.load %arg1{{.*}} vector<2xi32>
// CHECK-NOT:         vector.load %arg1
// CHECK:             vector.from_elements
// CHECK:             scf.yield
// CHECK:           vector.reduction <add>, %[[LANES]], %[[OLD]] fastmath<reassoc>
// CHECK:         } else {
// CHECK-NEXT:      scf.yield %[[OLD]]
// CHECK:         %[[SUM:.*]] = scf.for {{.*}} step %c1 iter_args(%{{.*}} = %[[HEAD]]) -> (f32) {
// CHECK:         } {loop_annotation = #{{.*}}}
// CHECK:         memref.store %[[SUM]]
module attributes {poly.target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 1>} {
poly.kernel @look_up(%starts: memref<?xi32>, %at: memref<?xi32>, %a: memref<?xf32>, %x: memref<?xf32>, %y: memref<?xf32>, %N: index, %E: index) {
  poly.compute @acc dims ["n", "e"] domain [#all] where #row
      reads(%starts[#n], %starts[affine_map<(n, e)[N, E] -> (n + 1)>], %at[#e], %a[#e],
            %x[affine_map<(n, e)[N, E, b, f, at, v] -> (at)>], %y[#n]
            : memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?xf32>, memref<?xf32>, memref<?xf32>)
      writes(%y[#n] : memref<?xf32>) reduction add {
  ^bb0(%b: i32, %f: i32, %at_e: i32, %v: f32, %xv: f32, %s: f32):
    %p = arith.mulf %v, %xv : f32
    %r = arith.addf %s, %p : f32
    poly.yield %r : f32
  }
  poly.schedule {
    poly.band [@acc] maps [affine_map<(n, e)[N, E] -> (n, e)>] loops [sequential, sequential]
  }
}
}

// -----

// What lies side by side LLVM adds up itself.
#all = affine_set<(n, e)[N, E] : (n >= 0, N - 1 - n >= 0, e >= 0, E - 1 - e >= 0)>
#row = affine_set<(n, e)[N, E, b, f] : (e - b >= 0, f - 1 - e >= 0)>
#n = affine_map<(n, e)[N, E] -> (n)>
#e = affine_map<(n, e)[N, E] -> (e)>
// CHECK-LABEL: func.func @side_by_side(
// CHECK-NOT:     vector
// CHECK:         return
module attributes {poly.target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 1>} {
poly.kernel @side_by_side(%starts: memref<?xi32>, %a: memref<?xf32>, %y: memref<?xf32>, %N: index, %E: index) {
  poly.compute @acc dims ["n", "e"] domain [#all] where #row
      reads(%starts[#n], %starts[affine_map<(n, e)[N, E] -> (n + 1)>], %a[#e], %y[#n]
            : memref<?xi32>, memref<?xi32>, memref<?xf32>, memref<?xf32>)
      writes(%y[#n] : memref<?xf32>) reduction add {
  ^bb0(%b: i32, %f: i32, %v: f32, %s: f32):
    %r = arith.addf %s, %v : f32
    poly.yield %r : f32
  }
  poly.schedule {
    poly.band [@acc] maps [affine_map<(n, e)[N, E] -> (n, e)>] loops [sequential, sequential]
  }
}
}

// -----

// A machine that gathers fast: LLVM's vectors will do.
#all = affine_set<(n, e)[N, E] : (n >= 0, N - 1 - n >= 0, e >= 0, E - 1 - e >= 0)>
#row = affine_set<(n, e)[N, E, b, f] : (e - b >= 0, f - 1 - e >= 0)>
#n = affine_map<(n, e)[N, E] -> (n)>
#e = affine_map<(n, e)[N, E] -> (e)>
// CHECK-LABEL: func.func @gathers(
// CHECK-NOT:     vector
// CHECK:         return
module attributes {poly.target = #poly.target<cpu = "sapphirerapids", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 2097152, l3 = 33554432, cores = 1>} {
poly.kernel @gathers(%starts: memref<?xi32>, %at: memref<?xi32>, %x: memref<?xf32>, %y: memref<?xf32>, %N: index, %E: index) {
  poly.compute @acc dims ["n", "e"] domain [#all] where #row
      reads(%starts[#n], %starts[affine_map<(n, e)[N, E] -> (n + 1)>], %at[#e],
            %x[affine_map<(n, e)[N, E, b, f, at] -> (at)>], %y[#n]
            : memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?xf32>, memref<?xf32>)
      writes(%y[#n] : memref<?xf32>) reduction add {
  ^bb0(%b: i32, %f: i32, %at_e: i32, %xv: f32, %s: f32):
    %r = arith.addf %s, %xv : f32
    poly.yield %r : f32
  }
  poly.schedule {
    poly.band [@acc] maps [affine_map<(n, e)[N, E] -> (n, e)>] loops [sequential, sequential]
  }
}
}
