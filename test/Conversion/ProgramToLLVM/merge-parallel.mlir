// RUN: espalier-opt %s -program-merge-parallel | FileCheck %s

// CHECK-LABEL: func.func @neighbours
//       CHECK:   %[[M:.*]] = arith.addi
//       CHECK:   omp.parallel {
//       CHECK:     omp.wsloop {
//       CHECK:       memref.store
//       CHECK:     omp.wsloop nowait {
//       CHECK:       omp.loop_nest (%{{.*}}) : index = (%{{.*}}) to (%[[M]])
//   CHECK-NOT:   omp.parallel
//       CHECK:   return
func.func @neighbours(%x: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  omp.parallel {
    omp.wsloop {
      omp.loop_nest (%i) : index = (%c0) to (%n) step (%c1) {
        memref.store %one, %x[%i] : memref<?xf32>
        omp.yield
      }
    }
    omp.terminator
  }
  %m = arith.addi %n, %c1 : index
  omp.parallel {
    omp.wsloop {
      omp.loop_nest (%i) : index = (%c0) to (%m) step (%c1) {
        memref.store %one, %x[%i] : memref<?xf32>
        omp.yield
      }
    }
    omp.terminator
  }
  return
}

// The store happens once, after the first loop and before the second.
// CHECK-LABEL: func.func @effect_between
//       CHECK:   omp.parallel
//       CHECK:   memref.store
//       CHECK:   omp.parallel
func.func @effect_between(%x: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  omp.parallel {
    omp.barrier
    omp.terminator
  }
  memref.store %one, %x[%c0] : memref<?xf32>
  omp.parallel {
    omp.barrier
    omp.terminator
  }
  return
}

// CHECK-LABEL: func.func @loop_moves_inside
//       CHECK:   omp.parallel {
//  CHECK-NEXT:     scf.for
//       CHECK:       omp.wsloop {
//       CHECK:       omp.wsloop {
//   CHECK-NOT:   omp.parallel
//       CHECK:   return
func.func @loop_moves_inside(%x: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  scf.for %k = %c0 to %n step %c1 {
    omp.parallel {
      omp.wsloop {
        omp.loop_nest (%i) : index = (%c0) to (%n) step (%c1) {
          memref.store %one, %x[%i] : memref<?xf32>
          omp.yield
        }
      }
      omp.terminator
    }
    omp.parallel {
      omp.wsloop {
        omp.loop_nest (%i) : index = (%c0) to (%k) step (%c1) {
          memref.store %one, %x[%i] : memref<?xf32>
          omp.yield
        }
      }
      omp.terminator
    }
  }
  return
}

// Every thread would run the accumulation.
// CHECK-LABEL: func.func @loop_with_results_stays
//       CHECK:   scf.for
//       CHECK:     omp.parallel
func.func @loop_with_results_stays(%n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %c0) -> index {
    omp.parallel {
      omp.barrier
      omp.terminator
    }
    %next = arith.addi %sum, %k : index
    scf.yield %next : index
  }
  return %r : index
}

// Bounds that are read, in an array that nobody writes, are read by each thread;
// and so is a condition.
// CHECK-LABEL: func.func @read_bounds
//       CHECK:   omp.parallel {
//  CHECK-NEXT:     scf.for
//       CHECK:       scf.if
//       CHECK:         memref.load
//       CHECK:         memref.load
//       CHECK:         omp.wsloop {
//       CHECK:         omp.wsloop {
//   CHECK-NOT:   omp.parallel
//       CHECK:   return
func.func @read_bounds(%starts: memref<?xindex>, %x: memref<?xf32>, %n: index, %some: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  scf.for %k = %c0 to %n step %c1 {
    scf.if %some {
      %b = memref.load %starts[%k] : memref<?xindex>
      omp.parallel {
        omp.wsloop {
          omp.loop_nest (%i) : index = (%c0) to (%b) step (%c1) {
            memref.store %one, %x[%i] : memref<?xf32>
            omp.yield
          }
        }
        omp.terminator
      }
      %e = memref.load %starts[%k] : memref<?xindex>
      omp.parallel {
        omp.wsloop {
          omp.loop_nest (%i) : index = (%c0) to (%e) step (%c1) {
            memref.store %one, %x[%i] : memref<?xf32>
            omp.yield
          }
        }
        omp.terminator
      }
    }
  }
  return
}

// All threads take the same of two ways, and of a way in it.
// CHECK-LABEL: func.func @either_way
//       CHECK:   omp.parallel {
//  CHECK-NEXT:     scf.for
//       CHECK:       scf.if
//       CHECK:         omp.wsloop {
//       CHECK:       else
//       CHECK:         scf.if
//       CHECK:           omp.wsloop {
//       CHECK:       omp.wsloop {
//   CHECK-NOT:   omp.parallel
//       CHECK:   return
func.func @either_way(%x: memref<?xf32>, %n: index, %one_way: i1, %some: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  scf.for %k = %c0 to %n step %c1 {
    scf.if %one_way {
      omp.parallel {
        omp.wsloop {
          omp.loop_nest (%i) : index = (%c0) to (%n) step (%c1) {
            memref.store %one, %x[%i] : memref<?xf32>
            omp.yield
          }
        }
        omp.terminator
      }
    } else {
      scf.if %some {
        omp.parallel {
          omp.wsloop {
            omp.loop_nest (%i) : index = (%c0) to (%k) step (%c1) {
              memref.store %one, %x[%i] : memref<?xf32>
              omp.yield
            }
          }
          omp.terminator
        }
      }
    }
    omp.parallel {
      omp.wsloop {
        omp.loop_nest (%i) : index = (%c0) to (%n) step (%c1) {
          memref.store %one, %x[%i] : memref<?xf32>
          omp.yield
        }
      }
      omp.terminator
    }
  }
  return
}

// The way that writes something once keeps what all threads do apart from it.
// CHECK-LABEL: func.func @other_way_writes
//       CHECK:   scf.if
//       CHECK:     omp.parallel {
//       CHECK:   else
//       CHECK:     memref.store
func.func @other_way_writes(%x: memref<?xf32>, %n: index, %one_way: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  scf.for %k = %c0 to %n step %c1 {
    scf.if %one_way {
      omp.parallel {
        omp.wsloop {
          omp.loop_nest (%i) : index = (%c0) to (%n) step (%c1) {
            memref.store %one, %x[%i] : memref<?xf32>
            omp.yield
          }
        }
        omp.terminator
      }
    } else {
      memref.store %one, %x[%k] : memref<?xf32>
    }
  }
  return
}

// What the first region writes, the second would read too early.
// CHECK-LABEL: func.func @written_bounds_stay
//       CHECK:   scf.for
//       CHECK:     omp.parallel
//       CHECK:     omp.parallel
func.func @written_bounds_stay(%starts: memref<?xindex>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    omp.parallel {
      omp.wsloop {
        omp.loop_nest (%i) : index = (%c0) to (%n) step (%c1) {
          memref.store %k, %starts[%i] : memref<?xindex>
          omp.yield
        }
      }
      omp.terminator
    }
    %e = memref.load %starts[%k] : memref<?xindex>
    omp.parallel {
      omp.wsloop {
        omp.loop_nest (%i) : index = (%c0) to (%e) step (%c1) {
          memref.store %i, %starts[%i] : memref<?xindex>
          omp.yield
        }
      }
      omp.terminator
    }
  }
  return
}

// Without a loop around it, a condition may be false, and no thread is needed.
// CHECK-LABEL: func.func @condition_stays
//       CHECK:   scf.if
//       CHECK:     omp.parallel
func.func @condition_stays(%some: i1) {
  scf.if %some {
    omp.parallel {
      omp.barrier
      omp.terminator
    }
  }
  return
}
