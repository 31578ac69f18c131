// RUN: espalier-opt %s -program-share-loops | FileCheck %s

// CHECK-DAG: func.func private @__kmpc_bound_thread_num(!llvm.ptr) -> i32
// CHECK-DAG: func.func private @__kmpc_bound_num_threads(!llvm.ptr) -> i32

// Of n iterations, each thread executes floor(n / T), and the first n mod T
// threads one more.
// CHECK-LABEL: func.func @one_loop(
//       CHECK:   omp.parallel {
//       CHECK:     %[[I:.*]] = func.call @__kmpc_bound_thread_num
//       CHECK:     %[[THREAD:.*]] = arith.index_cast %[[I]]
//       CHECK:     %[[C:.*]] = func.call @__kmpc_bound_num_threads
//       CHECK:     %[[COUNT:.*]] = arith.index_cast %[[C]]
//   CHECK-NOT:     omp.wsloop
//       CHECK:     %[[LEAST:.*]] = arith.divui %[[TOTAL:.*]], %[[COUNT]]
//       CHECK:     %[[REST:.*]] = arith.remui %[[TOTAL]], %[[COUNT]]
//       CHECK:     %[[BEFORE:.*]] = arith.muli %[[LEAST]], %[[THREAD]]
//       CHECK:     %[[MORE:.*]] = arith.minui %[[THREAD]], %[[REST]]
//       CHECK:     %[[FIRST:.*]] = arith.addi %[[BEFORE]], %[[MORE]]
//       CHECK:     scf.for %[[K:.*]] = %[[FIRST]] to
//       CHECK:       %[[STEPS:.*]] = arith.muli %[[K]], %{{.*}}
//       CHECK:       %[[AT:.*]] = arith.addi %[[STEPS]], %{{.*}}
//       CHECK:       memref.store %{{.*}}, %{{.*}}[%[[AT]]]
// All threads wait, unless there is one.
//       CHECK:     scf.if
//       CHECK:       omp.barrier
func.func @one_loop(%x: memref<?xf32>, %n: index) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %one = arith.constant 1.0 : f32
  omp.parallel {
    omp.wsloop {
      omp.loop_nest (%i) : index = (%c1) to (%n) step (%c3) {
        memref.store %one, %x[%i] : memref<?xf32>
        omp.yield
      }
    }
    omp.terminator
  }
  return
}

// The last counter runs fastest, from where the thread's part of a row begins to
// where it ends; nobody waits at the end of the region.
// CHECK-LABEL: func.func @two_loops_without_a_barrier(
//       CHECK:   %[[LENGTH:.*]] = arith.maxui
//       CHECK:   %[[FIRST:.*]] = arith.divui %[[BEGIN:.*]], %[[LENGTH]]
//       CHECK:   %[[LAST:.*]] = arith.ceildivui %[[END:.*]], %[[LENGTH]]
//       CHECK:   scf.for %[[I:.*]] = %[[FIRST]] to %[[LAST]] step
//       CHECK:     %[[ROW:.*]] = arith.muli %[[I]], %[[LENGTH]]
//       CHECK:     %[[BEFORE:.*]] = arith.subi %[[BEGIN]], %[[ROW]]
//       CHECK:     %[[FROM:.*]] = arith.maxsi %[[BEFORE]], %{{.*}}
//       CHECK:     %[[AFTER:.*]] = arith.subi %[[END]], %[[ROW]]
//       CHECK:     %[[TO:.*]] = arith.minsi %[[AFTER]], %[[LENGTH]]
//       CHECK:     scf.for %{{.*}} = %[[FROM]] to %[[TO]] step
//   CHECK-NOT:       arith.divui
//   CHECK-NOT:       arith.remui
//       CHECK:       memref.store
//   CHECK-NOT:   omp.barrier
//       CHECK:   return
func.func @two_loops_without_a_barrier(%x: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  omp.parallel {
    omp.wsloop nowait {
      omp.loop_nest (%i, %j) : index = (%c0, %c0) to (%n, %n) step (%c1, %c1) collapse(2) {
        memref.store %one, %x[%i, %j] : memref<?x?xf32>
        omp.yield
      }
    }
    omp.terminator
  }
  return
}

// A schedule of its own is what somebody wanted.
// CHECK-LABEL: func.func @a_schedule_stays(
//       CHECK:   omp.wsloop schedule(dynamic)
func.func @a_schedule_stays(%x: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  omp.parallel {
    omp.wsloop schedule(dynamic) {
      omp.loop_nest (%i) : index = (%c0) to (%n) step (%c1) {
        memref.store %one, %x[%i] : memref<?xf32>
        omp.yield
      }
    }
    omp.terminator
  }
  return
}

// What an odd step reads first is what the step before read last.
// CHECK-LABEL: func.func @repeated_loops_turn_around(
//       CHECK:   scf.for %[[STEP:.*]] =
//       CHECK:     %[[ODD:.*]] = arith.andi %[[STEP]], %{{.*}}
//       CHECK:     %[[BACK:.*]] = arith.index_castui %[[ODD]] : index to i1
//       CHECK:     scf.for %[[K:.*]] = %[[FIRST:.*]] to %[[END:.*]] step
//       CHECK:       %[[SUM:.*]] = arith.addi %[[FIRST]], %[[END]]
//       CHECK:       %[[LAST:.*]] = arith.subi %[[SUM]], %{{.*}}
//       CHECK:       %[[MIRRORED:.*]] = arith.subi %[[LAST]], %[[K]]
//       CHECK:       arith.select %[[BACK]], %[[MIRRORED]], %[[K]]
func.func @repeated_loops_turn_around(%x: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  omp.parallel {
    scf.for %t = %c0 to %n step %c1 {
      omp.wsloop {
        omp.loop_nest (%i) : index = (%c0) to (%n) step (%c1) {
          memref.store %one, %x[%i] : memref<?xf32>
          omp.yield
        }
      }
    }
    omp.terminator
  }
  return
}

// The counter of the loop around has the same parity in all iterations.
// CHECK-LABEL: func.func @even_steps_do_not_tell(
//   CHECK-NOT:   arith.select
//       CHECK:   return
func.func @even_steps_do_not_tell(%x: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant 1.0 : f32
  omp.parallel {
    scf.for %t = %c0 to %n step %c2 {
      omp.wsloop {
        omp.loop_nest (%i) : index = (%c0) to (%n) step (%c1) {
          memref.store %one, %x[%i] : memref<?xf32>
          omp.yield
        }
      }
    }
    omp.terminator
  }
  return
}

// How far the loop goes is another number each time, and so is what it reads.
// CHECK-LABEL: func.func @other_points_stay_in_order(
//   CHECK-NOT:   arith.select
//       CHECK:   return
func.func @other_points_stay_in_order(%x: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  omp.parallel {
    scf.for %t = %c0 to %n step %c1 {
      %end = arith.addi %t, %n : index
      omp.wsloop {
        omp.loop_nest (%i) : index = (%c0) to (%end) step (%c1) {
          memref.store %one, %x[%i] : memref<?xf32>
          omp.yield
        }
      }
    }
    omp.terminator
  }
  return
}

// Where the next panel is fetched, the one before is not what comes next; where
// later terms of the same panel are, any panel may.
// CHECK-LABEL: func.func @next_panels_stay_in_order(
//   CHECK-NOT:   arith.select
//       CHECK:   return
func.func @next_panels_stay_in_order(%x: memref<4096xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c512 = arith.constant 512 : index
  omp.parallel {
    scf.for %t = %c0 to %n step %c1 {
      omp.wsloop {
        omp.loop_nest (%i) : index = (%c0) to (%c8) step (%c1) {
          %panel = arith.muli %i, %c512 : index
          %next = arith.addi %panel, %c512 : index
          memref.prefetch %x[%next], read, locality<2>, data : memref<4096xf32>
          omp.yield
        }
      }
    }
    omp.terminator
  }
  return
}

// CHECK-LABEL: func.func @next_terms_turn_around(
//       CHECK:   arith.select
func.func @next_terms_turn_around(%x: memref<4096xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c256 = arith.constant 256 : index
  %c512 = arith.constant 512 : index
  omp.parallel {
    scf.for %t = %c0 to %n step %c1 {
      omp.wsloop {
        omp.loop_nest (%i) : index = (%c0) to (%c8) step (%c1) {
          %panel = arith.muli %i, %c512 : index
          %next = arith.addi %panel, %c256 : index
          memref.prefetch %x[%next], read, locality<2>, data : memref<4096xf32>
          omp.yield
        }
      }
    }
    omp.terminator
  }
  return
}
