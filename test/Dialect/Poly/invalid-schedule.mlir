// RUN: espalier-opt %s -split-input-file -verify-diagnostics

// ScheduleOp C1
poly.kernel @k(%A: memref<?x?xf32>, %N: index) {
  poly.compute @a domain [affine_set<(i, j)[N] : (i >= 0, j >= 0)>] reads()
      writes(%A[affine_map<(i, j)[N] -> (i, j)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @b domain [affine_set<(i)[N] : (i >= 0)>] reads()
      writes(%A[affine_map<(i)[N] -> (i, i)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  // expected-error @below {{expects at most one child, but got 2}}
  poly.schedule {
    poly.sequence {
      poly.filter [@a]
      poly.filter [@b]
    }
    poly.mark "second"
  }
}

// -----

// ScheduleOp C1
poly.kernel @k(%A: memref<?x?xf32>, %N: index) {
  poly.compute @a domain [affine_set<(i, j)[N] : (i >= 0, j >= 0)>] reads()
      writes(%A[affine_map<(i, j)[N] -> (i, j)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @b domain [affine_set<(i)[N] : (i >= 0)>] reads()
      writes(%A[affine_map<(i)[N] -> (i, i)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  // expected-error @below {{expects poly.band, poly.sequence, poly.mark or poly.prefetch as child, but got arith.constant}}
  poly.schedule {
    %c = arith.constant 0 : index
  }
}

// -----

// ScheduleOp C2
poly.kernel @k(%A: memref<?x?xf32>, %N: index) {
  poly.compute @a domain [affine_set<(i, j)[N] : (i >= 0, j >= 0)>] reads()
      writes(%A[affine_map<(i, j)[N] -> (i, j)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @b domain [affine_set<(i)[N] : (i >= 0)>] reads()
      writes(%A[affine_map<(i)[N] -> (i, i)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  // expected-error @below {{expects one computation to reach a leaf, but got [@a, @b]}}
  poly.schedule
}

// -----

// BandOp C1
poly.kernel @k(%A: memref<?x?xf32>, %N: index) {
  poly.compute @a domain [affine_set<(i, j)[N] : (i >= 0, j >= 0)>] reads()
      writes(%A[affine_map<(i, j)[N] -> (i, j)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @b domain [affine_set<(i)[N] : (i >= 0)>] reads()
      writes(%A[affine_map<(i)[N] -> (i, i)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.schedule {
    // expected-error @below {{expects the computations that reach it, [@a, @b], each once, but got [@a]}}
    poly.band [@a] maps [affine_map<(i, j)[N] -> (i)>] loops [sequential]
  }
}

// -----

// BandOp C1
poly.kernel @k(%A: memref<?x?xf32>, %N: index) {
  poly.compute @a domain [affine_set<(i, j)[N] : (i >= 0, j >= 0)>] reads()
      writes(%A[affine_map<(i, j)[N] -> (i, j)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @b domain [affine_set<(i)[N] : (i >= 0)>] reads()
      writes(%A[affine_map<(i)[N] -> (i, i)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.schedule {
    // expected-error @below {{expects the computations that reach it, [@a, @b], each once, but got [@a, @b, @a]}}
    poly.band [@a, @b, @a] maps [affine_map<(i, j)[N] -> (i)>, affine_map<(i)[N] -> (i)>, affine_map<(i, j)[N] -> (i)>] loops [sequential]
  }
}

// -----

// BandOp C2
poly.kernel @k(%A: memref<?x?xf32>, %N: index) {
  poly.compute @a domain [affine_set<(i, j)[N] : (i >= 0, j >= 0)>] reads()
      writes(%A[affine_map<(i, j)[N] -> (i, j)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @b domain [affine_set<(i)[N] : (i >= 0)>] reads()
      writes(%A[affine_map<(i)[N] -> (i, i)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.schedule {
    // expected-error @below {{expects one map per computation, but got 1 for 2}}
    poly.band [@a, @b] maps [affine_map<(i, j)[N] -> (i)>] loops [sequential]
  }
}

// -----

// BandOp C2
poly.kernel @k(%A: memref<?x?xf32>, %N: index) {
  poly.compute @a domain [affine_set<(i, j)[N] : (i >= 0, j >= 0)>] reads()
      writes(%A[affine_map<(i, j)[N] -> (i, j)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @b domain [affine_set<(i)[N] : (i >= 0)>] reads()
      writes(%A[affine_map<(i)[N] -> (i, i)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.schedule {
    // expected-error @below {{expects a map from 1 dimensions and 1 parameters to 1 loops for @b, but got affine_map<(d0, d1)[s0] -> (d0)>}}
    poly.band [@a, @b] maps [affine_map<(i, j)[N] -> (i)>, affine_map<(i, j)[N] -> (i)>] loops [sequential]
  }
}

// -----

// BandOp C2
poly.kernel @k(%A: memref<?x?xf32>, %N: index) {
  poly.compute @a domain [affine_set<(i, j)[N] : (i >= 0, j >= 0)>] reads()
      writes(%A[affine_map<(i, j)[N] -> (i, j)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @b domain [affine_set<(i)[N] : (i >= 0)>] reads()
      writes(%A[affine_map<(i)[N] -> (i, i)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.schedule {
    // expected-error @below {{expects a map from 2 dimensions and 1 parameters to 2 loops for @a, but got affine_map<(d0, d1)[s0] -> (d0)>}}
    poly.band [@a, @b] maps [affine_map<(i, j)[N] -> (i)>, affine_map<(i)[N] -> (i)>] loops [sequential, parallel]
  }
}

// -----

// BandOp C3
poly.kernel @k(%A: memref<?x?xf32>, %N: index) {
  poly.compute @a domain [affine_set<(i, j)[N] : (i >= 0, j >= 0)>] reads()
      writes(%A[affine_map<(i, j)[N] -> (i, j)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @b domain [affine_set<(i)[N] : (i >= 0)>] reads()
      writes(%A[affine_map<(i)[N] -> (i, i)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.schedule {
    // expected-error @below {{expects at least one loop}}
    poly.band [@a, @b] maps [affine_map<(i, j)[N] -> ()>, affine_map<(i)[N] -> ()>] loops []
  }
}

// -----

// BandOp C4
poly.kernel @k(%A: memref<?x?xf32>, %N: index) {
  poly.compute @a domain [affine_set<(i, j)[N] : (i >= 0, j >= 0)>] reads()
      writes(%A[affine_map<(i, j)[N] -> (i, j)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.schedule {
    // expected-error @below {{expects a name for each of 2 loops, but got ["i"]}}
    poly.band [@a] maps [affine_map<(i, j)[N] -> (i, j)>] loops [sequential, sequential] names ["i"]
  }
}

// -----

// BandOp C4
poly.kernel @k(%A: memref<?x?xf32>, %N: index) {
  poly.compute @a domain [affine_set<(i, j)[N] : (i >= 0, j >= 0)>] reads()
      writes(%A[affine_map<(i, j)[N] -> (i, j)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.schedule {
    poly.band [@a] maps [affine_map<(i, j)[N] -> (i)>] loops [sequential] names ["i"] {
      // expected-error @below {{expects the loops of @a to have different names, but two are "i"}}
      poly.band [@a] maps [affine_map<(i, j)[N] -> (j)>] loops [sequential] names ["i"]
    }
  }
}

// -----

// SequenceOp C1
poly.kernel @k(%A: memref<?x?xf32>, %N: index) {
  poly.compute @a domain [affine_set<(i, j)[N] : (i >= 0, j >= 0)>] reads()
      writes(%A[affine_map<(i, j)[N] -> (i, j)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @b domain [affine_set<(i)[N] : (i >= 0)>] reads()
      writes(%A[affine_map<(i)[N] -> (i, i)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.schedule {
    // expected-error @below {{expects at least one poly.filter}}
    poly.sequence {
    }
  }
}

// -----

// SequenceOp C1
poly.kernel @k(%A: memref<?x?xf32>, %N: index) {
  poly.compute @a domain [affine_set<(i, j)[N] : (i >= 0, j >= 0)>] reads()
      writes(%A[affine_map<(i, j)[N] -> (i, j)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @b domain [affine_set<(i)[N] : (i >= 0)>] reads()
      writes(%A[affine_map<(i)[N] -> (i, i)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.schedule {
    // expected-error @below {{expects poly.filter as children, but got poly.mark}}
    poly.sequence {
      poly.mark "no filter"
    }
  }
}

// -----

// SequenceOp C2
poly.kernel @k(%A: memref<?x?xf32>, %N: index) {
  poly.compute @a domain [affine_set<(i, j)[N] : (i >= 0, j >= 0)>] reads()
      writes(%A[affine_map<(i, j)[N] -> (i, j)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @b domain [affine_set<(i)[N] : (i >= 0)>] reads()
      writes(%A[affine_map<(i)[N] -> (i, i)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.schedule {
    poly.sequence {
      poly.filter [@a]
      // expected-error @below {{expects each computation in one filter, or in several that restrict it, but @a is in an earlier filter}}
      poly.filter [@a]
      poly.filter [@b]
    }
  }
}

// -----

// SequenceOp C2
poly.kernel @k(%A: memref<?x?xf32>, %N: index) {
  poly.compute @a domain [affine_set<(i, j)[N] : (i >= 0, j >= 0)>] reads()
      writes(%A[affine_map<(i, j)[N] -> (i, j)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @b domain [affine_set<(i)[N] : (i >= 0)>] reads()
      writes(%A[affine_map<(i)[N] -> (i, i)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.schedule {
    // expected-error @below {{expects a filter for each of [@a, @b], but none has @b}}
    poly.sequence {
      poly.filter [@a]
    }
  }
}

// -----

// FilterOp C1
poly.kernel @k(%A: memref<?x?xf32>, %N: index) {
  poly.compute @a domain [affine_set<(i, j)[N] : (i >= 0, j >= 0)>] reads()
      writes(%A[affine_map<(i, j)[N] -> (i, j)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @b domain [affine_set<(i)[N] : (i >= 0)>] reads()
      writes(%A[affine_map<(i)[N] -> (i, i)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.schedule {
    poly.sequence {
      // expected-error @below {{expects some of the computations that reach it, [@a, @b], each once, but got [@c]}}
      poly.filter [@c]
    }
  }
}

// -----

// FilterOp C1
poly.kernel @k(%A: memref<?x?xf32>, %N: index) {
  poly.compute @a domain [affine_set<(i, j)[N] : (i >= 0, j >= 0)>] reads()
      writes(%A[affine_map<(i, j)[N] -> (i, j)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @b domain [affine_set<(i)[N] : (i >= 0)>] reads()
      writes(%A[affine_map<(i)[N] -> (i, i)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.schedule {
    poly.sequence {
      // expected-error @below {{expects some of the computations that reach it, [@a, @b], each once, but got []}}
      poly.filter []
    }
  }
}

// -----

// FilterOp C2
poly.kernel @k(%A: memref<?x?xf32>, %N: index) {
  poly.compute @a domain [affine_set<(i, j)[N] : (i >= 0, j >= 0)>] reads()
      writes(%A[affine_map<(i, j)[N] -> (i, j)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @b domain [affine_set<(i)[N] : (i >= 0)>] reads()
      writes(%A[affine_map<(i)[N] -> (i, i)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.schedule {
    poly.sequence {
      // expected-error @below {{expects one set per computation, but got 0 for 1}}
      poly.filter [@a] where []
    }
  }
}

// -----

// FilterOp C2
poly.kernel @k(%A: memref<?x?xf32>, %N: index) {
  poly.compute @a domain [affine_set<(i, j)[N] : (i >= 0, j >= 0)>] reads()
      writes(%A[affine_map<(i, j)[N] -> (i, j)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.compute @b domain [affine_set<(i)[N] : (i >= 0)>] reads()
      writes(%A[affine_map<(i)[N] -> (i, i)>] : memref<?x?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
  poly.schedule {
    poly.sequence {
      // expected-error @below {{expects a set over 2 dimensions and 1 parameters for @a, but got affine_set<(d0)[s0] : (d0 >= 0)>}}
      poly.filter [@a] where [affine_set<(i)[N] : (i >= 0)>]
    }
  }
}

// -----

// A filter belongs into a sequence.
poly.kernel @k() {
  poly.schedule {
    // expected-error @below {{'poly.filter' op expects parent op 'poly.sequence'}}
    poly.filter [@a]
  }
}
