// RUN: espalier-opt %s -program-join-sums -canonicalize -cse | FileCheck %s

!v = vector<8xf32>

// Both sums read the same panel. What stores them is behind both.
// CHECK-LABEL: func.func @neighbours
// CHECK: %[[SUMS:.*]]:2 = scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>) {
// CHECK-COUNT-3: load
// CHECK-NOT: load
// CHECK: }
// CHECK: vector.store %[[SUMS]]#0
// CHECK: vector.store %[[SUMS]]#1
// CHECK-NOT: scf.for
// CHECK: return
func.func @neighbours(%x: memref<64xf32>, %w: memref<512xf32>, %to: memref<32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : !v
  %a = scf.for %k = %c0 to %c32 step %c1 iter_args(%s = %zero) -> (!v) {
    %e = memref.load %x[%k] : memref<64xf32>
    %b = vector.broadcast %e : f32 to !v
    %at = arith.muli %k, %c8 : index
    %p = vector.load %w[%at] : memref<512xf32>, !v
    %n = vector.fma %b, %p, %s : !v
    scf.yield %n : !v
  }
  vector.store %a, %to[%c0] : memref<32xf32>, !v
  vector.store %zero, %to[%c8] : memref<32xf32>, !v
  %d = scf.for %k = %c0 to %c32 step %c1 iter_args(%s = %zero) -> (!v) {
    %far = arith.addi %k, %c32 : index
    %e = memref.load %x[%far] : memref<64xf32>
    %b = vector.broadcast %e : f32 to !v
    %at = arith.muli %k, %c8 : index
    %p = vector.load %w[%at] : memref<512xf32>, !v
    %n = vector.fma %b, %p, %s : !v
    scf.yield %n : !v
  }
  vector.store %d, %to[%c8] : memref<32xf32>, !v
  return
}

// The panels of a pair, one in each iteration.
// CHECK-LABEL: func.func @repeated
// CHECK: %[[SUMS:.*]]:2 = scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>) {
// CHECK: }
// CHECK: vector.store %[[SUMS]]#0, %{{.*}}[%c0]
// CHECK: vector.store %[[SUMS]]#1, %{{.*}}[%c8]
// CHECK-NOT: scf.for
// CHECK: return
func.func @repeated(%w: memref<512xf32>, %to: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : !v
  scf.for %half = %c0 to %c2 step %c1 {
    %first = arith.muli %half, %c8 : index
    %a = scf.for %k = %c0 to %c32 step %c1 iter_args(%s = %zero) -> (!v) {
      %at = arith.muli %k, %c8 : index
      %in = arith.addi %at, %first : index
      %p = vector.load %w[%in] : memref<512xf32>, !v
      %n = arith.addf %p, %s : !v
      scf.yield %n : !v
    }
    vector.store %a, %to[%first] : memref<16xf32>, !v
  }
  return
}

// The second needs what the first has stored, also through a view.
// CHECK-LABEL: func.func @dependent
// CHECK-COUNT-2: scf.for
// CHECK-LABEL: func.func @through_a_view
// CHECK-COUNT-2: scf.for
func.func @dependent(%w: memref<512xf32>, %to: memref<32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant dense<0.0> : !v
  %a = scf.for %k = %c0 to %c8 step %c1 iter_args(%s = %zero) -> (!v) {
    %p = vector.load %w[%k] : memref<512xf32>, !v
    %n = arith.addf %p, %s : !v
    scf.yield %n : !v
  }
  %d = scf.for %k = %c0 to %c8 step %c1 iter_args(%s = %zero) -> (!v) {
    %n = arith.addf %a, %s : !v
    scf.yield %n : !v
  }
  vector.store %d, %to[%c8] : memref<32xf32>, !v
  return
}
func.func @through_a_view(%w: memref<4x8xf32>, %to: memref<32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant dense<0.0> : !v
  %rows = memref.collapse_shape %w [[0, 1]] : memref<4x8xf32> into memref<32xf32>
  %a = scf.for %k = %c0 to %c8 step %c1 iter_args(%s = %zero) -> (!v) {
    %p = vector.load %rows[%k] : memref<32xf32>, !v
    %n = arith.addf %p, %s : !v
    scf.yield %n : !v
  }
  vector.store %a, %w[%c1, %c0] : memref<4x8xf32>, !v
  %d = scf.for %k = %c0 to %c8 step %c1 iter_args(%s = %zero) -> (!v) {
    %p = vector.load %rows[%k] : memref<32xf32>, !v
    %n = arith.addf %p, %s : !v
    scf.yield %n : !v
  }
  vector.store %d, %to[%c8] : memref<32xf32>, !v
  return
}

// Nobody knows which buffers the memory of a choice is.
// CHECK-LABEL: func.func @unknown_buffer
// CHECK-COUNT-2: scf.for
func.func @unknown_buffer(%which: i1, %w: memref<32xf32>, %to: memref<32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant dense<0.0> : !v
  %some = arith.select %which, %w, %to : memref<32xf32>
  %a = scf.for %k = %c0 to %c8 step %c1 iter_args(%s = %zero) -> (!v) {
    %p = vector.load %w[%k] : memref<32xf32>, !v
    %n = arith.addf %p, %s : !v
    scf.yield %n : !v
  }
  vector.store %a, %some[%c8] : memref<32xf32>, !v
  %d = scf.for %k = %c0 to %c8 step %c1 iter_args(%s = %zero) -> (!v) {
    %p = vector.load %w[%k] : memref<32xf32>, !v
    %n = arith.addf %p, %s : !v
    scf.yield %n : !v
  }
  vector.store %d, %to[%c0] : memref<32xf32>, !v
  return
}

// CHECK-LABEL: func.func @other_iterations
// CHECK-COUNT-2: scf.for
func.func @other_iterations(%w: memref<512xf32>, %to: memref<32xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant dense<0.0> : !v
  %a = scf.for %k = %c0 to %c8 step %c1 iter_args(%s = %zero) -> (!v) {
    %p = vector.load %w[%k] : memref<512xf32>, !v
    %m = arith.addf %p, %s : !v
    scf.yield %m : !v
  }
  %d = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (!v) {
    %p = vector.load %w[%k] : memref<512xf32>, !v
    %m = arith.addf %p, %s : !v
    scf.yield %m : !v
  }
  vector.store %a, %to[%c0] : memref<32xf32>, !v
  vector.store %d, %to[%c8] : memref<32xf32>, !v
  return
}

// More than eight accumulators take the registers of what is added, and sums
// that write memory or are no vectors stay what they are.
// CHECK-LABEL: func.func @many_accumulators
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK: scf.for {{.*}} -> (f32)
// CHECK: scf.for {{.*}} -> (f32)
func.func @many_accumulators(%w: memref<512xf32>, %x: memref<512xf32>) -> (!v, !v, f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant dense<0.0> : !v
  %one = arith.constant 1.0 : f32
  %a:5 = scf.for %k = %c0 to %c8 step %c1 iter_args(%s = %zero, %t = %zero, %u = %zero, %r = %zero, %q = %zero) -> (!v, !v, !v, !v, !v) {
    %p = vector.load %w[%k] : memref<512xf32>, !v
    %m = arith.addf %p, %s : !v
    scf.yield %t, %u, %r, %q, %m : !v, !v, !v, !v, !v
  }
  %d:4 = scf.for %k = %c0 to %c8 step %c1 iter_args(%s = %zero, %t = %zero, %u = %zero, %r = %zero) -> (!v, !v, !v, !v) {
    %p = vector.load %w[%k] : memref<512xf32>, !v
    %m = arith.addf %p, %s : !v
    scf.yield %t, %u, %r, %m : !v, !v, !v, !v
  }
  %e = scf.for %k = %c0 to %c8 step %c1 iter_args(%s = %one) -> (f32) {
    %p = memref.load %w[%k] : memref<512xf32>
    %m = arith.mulf %p, %s : f32
    scf.yield %m : f32
  }
  %f = scf.for %k = %c0 to %c8 step %c1 iter_args(%s = %one) -> (f32) {
    %p = memref.load %x[%k] : memref<512xf32>
    %m = arith.mulf %p, %s : f32
    scf.yield %m : f32
  }
  return %a#0, %d#0, %e, %f : !v, !v, f32, f32
}
