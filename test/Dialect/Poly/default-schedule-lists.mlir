// RUN: espalier-opt %s -pass-pipeline='builtin.module(poly.kernel(poly-default-schedule,poly-verify-schedule))' | FileCheck %s

#start = affine_map<(t, i, e)[T] -> (i)>
#end = affine_map<(t, i, e)[T] -> (i + 1)>
#entry = affine_map<(t, i, e)[T] -> (e)>
#before = affine_map<(t, i, e)[T, b, l, c, v] -> (t - 1, c)>
#after = affine_map<(t, i, e)[T] -> (t, i)>
#own = affine_map<(t, i)[T] -> (t, i)>
#points = affine_set<(t, i)[T] : (t - 1 >= 0, T - 1 - t >= 0, i >= 0, 1023 - i >= 0)>
#inRow = affine_set<(t, i, e)[T, b, l, c] : (e - b >= 0, l - 1 - e >= 0)>
module attributes {poly.target = #poly.target<cpu = "znver5", features = "", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {

// The rows of a step have parts of one list, which is long: threads share them.
// CHECK-LABEL: poly.kernel @long_lists
// CHECK: poly.band [@init, @sum] maps {{.*}} loops [sequential]
// CHECK: poly.band [@init, @sum] maps {{.*}} loops [parallel]
poly.kernel @long_lists(%starts: memref<1025xi32> {poly.monotonic, poly.bounded_by = affine_map<()[T] -> (100001)>},
    %column: memref<100000xi32> {poly.bounded_by = affine_map<()[T] -> (1024)>}, %value: memref<100000xf32>, %H: memref<?x1024xf32>, %T: index) {
  poly.compute @init dims ["t", "i"] domain [#points] reads() writes(%H[#own] : memref<?x1024xf32>) {
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
  poly.compute @sum dims ["t", "i", "e"] domain [affine_set<(t, i, e)[T] : (t - 1 >= 0, T - 1 - t >= 0, i >= 0, 1023 - i >= 0, e >= 0, 99999 - e >= 0)>] where #inRow
      reads(%starts[#start], %starts[#end], %column[#entry], %value[#entry], %H[#before], %H[#after]
            : memref<1025xi32>, memref<1025xi32>, memref<100000xi32>, memref<100000xf32>, memref<?x1024xf32>, memref<?x1024xf32>)
      writes(%H[#after] : memref<?x1024xf32>) reduction add interleaved 1 {
  ^bb0(%b: i32, %l: i32, %c: i32, %v: f32, %h: f32, %s: f32):
    %p = arith.mulf %v, %h : f32
    %r = arith.addf %s, %p : f32
    poly.yield %r : f32
  }
}

// These are too short to wake threads for in each step.
// CHECK-LABEL: poly.kernel @short_lists
// CHECK-NOT: parallel
poly.kernel @short_lists(%starts: memref<1025xi32> {poly.monotonic, poly.bounded_by = affine_map<()[T] -> (10001)>},
    %column: memref<10000xi32> {poly.bounded_by = affine_map<()[T] -> (1024)>}, %value: memref<10000xf32>, %H: memref<?x1024xf32>, %T: index) {
  poly.compute @init dims ["t", "i"] domain [#points] reads() writes(%H[#own] : memref<?x1024xf32>) {
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
  poly.compute @sum dims ["t", "i", "e"] domain [affine_set<(t, i, e)[T] : (t - 1 >= 0, T - 1 - t >= 0, i >= 0, 1023 - i >= 0, e >= 0, 9999 - e >= 0)>] where #inRow
      reads(%starts[#start], %starts[#end], %column[#entry], %value[#entry], %H[#before], %H[#after]
            : memref<1025xi32>, memref<1025xi32>, memref<10000xi32>, memref<10000xf32>, memref<?x1024xf32>, memref<?x1024xf32>)
      writes(%H[#after] : memref<?x1024xf32>) reduction add interleaved 1 {
  ^bb0(%b: i32, %l: i32, %c: i32, %v: f32, %h: f32, %s: f32):
    %p = arith.mulf %v, %h : f32
    %r = arith.addf %s, %p : f32
    poly.yield %r : f32
  }
}

// Nothing is known of the starts: a row might have no more than a few.
// CHECK-LABEL: poly.kernel @starts_in_no_order
// CHECK-NOT: parallel
poly.kernel @starts_in_no_order(%starts: memref<1025xi32> {poly.bounded_by = affine_map<()[T] -> (100001)>},
    %column: memref<100000xi32> {poly.bounded_by = affine_map<()[T] -> (1024)>}, %value: memref<100000xf32>, %H: memref<?x1024xf32>, %T: index) {
  poly.compute @init dims ["t", "i"] domain [#points] reads() writes(%H[#own] : memref<?x1024xf32>) {
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
  poly.compute @sum dims ["t", "i", "e"] domain [affine_set<(t, i, e)[T] : (t - 1 >= 0, T - 1 - t >= 0, i >= 0, 1023 - i >= 0, e >= 0, 99999 - e >= 0)>] where #inRow
      reads(%starts[#start], %starts[#end], %column[#entry], %value[#entry], %H[#before], %H[#after]
            : memref<1025xi32>, memref<1025xi32>, memref<100000xi32>, memref<100000xf32>, memref<?x1024xf32>, memref<?x1024xf32>)
      writes(%H[#after] : memref<?x1024xf32>) reduction add interleaved 1 {
  ^bb0(%b: i32, %l: i32, %c: i32, %v: f32, %h: f32, %s: f32):
    %p = arith.mulf %v, %h : f32
    %r = arith.addf %s, %p : f32
    poly.yield %r : f32
  }
}

// What is computed for each entry of a row (SDDMM): no other row has it.
// CHECK-LABEL: poly.kernel @results_of_entries
// CHECK: poly.band [@zero, @acc] maps {{.*}} loops [parallel, sequential]
poly.kernel @results_of_entries(%starts: memref<?xi32> {poly.monotonic, poly.bounded_by = affine_map<()[N, E] -> (E + 1)>},
    %x: memref<?x64xf32>, %y: memref<?xf32>, %N: index, %E: index) {
  poly.compute @zero dims ["i", "e"] domain [affine_set<(i, e)[N, E] : (i >= 0, N - 1 - i >= 0, e >= 0, E - 1 - e >= 0)>]
      where affine_set<(i, e)[N, E, b, l] : (e - b >= 0, l - 1 - e >= 0)>
      reads(%starts[affine_map<(i, e)[N, E] -> (i)>], %starts[affine_map<(i, e)[N, E] -> (i + 1)>] : memref<?xi32>, memref<?xi32>)
      writes(%y[affine_map<(i, e)[N, E] -> (e)>] : memref<?xf32>) {
  ^bb0(%b: i32, %l: i32):
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
  poly.compute @acc dims ["i", "e", "k"] domain [affine_set<(i, e, k)[N, E] : (i >= 0, N - 1 - i >= 0, e >= 0, E - 1 - e >= 0, k >= 0, 63 - k >= 0)>]
      where affine_set<(i, e, k)[N, E, b, l] : (e - b >= 0, l - 1 - e >= 0)>
      reads(%starts[affine_map<(i, e, k)[N, E] -> (i)>], %starts[affine_map<(i, e, k)[N, E] -> (i + 1)>], %x[affine_map<(i, e, k)[N, E] -> (i, k)>],
            %y[affine_map<(i, e, k)[N, E] -> (e)>] : memref<?xi32>, memref<?xi32>, memref<?x64xf32>, memref<?xf32>)
      writes(%y[affine_map<(i, e, k)[N, E] -> (e)>] : memref<?xf32>) reduction add interleaved 2 {
  ^bb0(%b: i32, %l: i32, %v: f32, %s: f32):
    %r = arith.addf %s, %v : f32
    poly.yield %r : f32
  }
}

// Every row adds to the same numbers: their order stays.
// CHECK-LABEL: poly.kernel @results_of_all_rows
// CHECK: poly.band [@zero, @acc] maps {{.*}} loops [sequential, sequential]
poly.kernel @results_of_all_rows(%length: memref<?xi32> {poly.bounded_by = affine_map<()[N, E] -> (E + 1)>},
    %x: memref<?x64xf32>, %y: memref<?xf32>, %N: index, %E: index) {
  poly.compute @zero dims ["i", "e"] domain [affine_set<(i, e)[N, E] : (i >= 0, N - 1 - i >= 0, e >= 0, E - 1 - e >= 0)>]
      where affine_set<(i, e)[N, E, l] : (l - 1 - e >= 0)>
      reads(%length[affine_map<(i, e)[N, E] -> (i)>] : memref<?xi32>)
      writes(%y[affine_map<(i, e)[N, E] -> (e)>] : memref<?xf32>) {
  ^bb0(%l: i32):
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
  poly.compute @acc dims ["i", "e", "k"] domain [affine_set<(i, e, k)[N, E] : (i >= 0, N - 1 - i >= 0, e >= 0, E - 1 - e >= 0, k >= 0, 63 - k >= 0)>]
      where affine_set<(i, e, k)[N, E, l] : (l - 1 - e >= 0)>
      reads(%length[affine_map<(i, e, k)[N, E] -> (i)>], %x[affine_map<(i, e, k)[N, E] -> (i, k)>],
            %y[affine_map<(i, e, k)[N, E] -> (e)>] : memref<?xi32>, memref<?x64xf32>, memref<?xf32>)
      writes(%y[affine_map<(i, e, k)[N, E] -> (e)>] : memref<?xf32>) reduction add interleaved 2 {
  ^bb0(%l: i32, %v: f32, %s: f32):
    %r = arith.addf %s, %v : f32
    poly.yield %r : f32
  }
}
}
