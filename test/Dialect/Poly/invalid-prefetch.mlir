// RUN: espalier-opt %s -split-input-file -verify-diagnostics

// MarkOp C1
poly.kernel @k(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8x8xf32>) {
  poly.compute @copy domain [affine_set<(i) : (i >= 0, 7 - i >= 0)>]
      reads(%x[affine_map<(i) -> (i)>] : memref<8xf32>) writes(%y[affine_map<(i) -> (i)>] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @fill domain [affine_set<(i, j) : (i >= 0, 7 - i >= 0, j >= 0, 7 - j >= 0)>]
      reads() writes(%z[affine_map<(i, j) -> (i, j)>] : memref<8x8xf32>) {
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
  poly.schedule {
    poly.sequence {
      poly.filter [@copy] {
        // expected-error @below {{expects another name than "prefetch": what is fetched ahead is said by poly.prefetch @computation read N at MAP bytes N, or write N}}
        poly.mark "prefetch" attributes {computation = @copy, number = 0 : i64, at = affine_map<(i) -> (i)>, bytes = 64 : i64}
      }
      poly.filter [@fill]
    }
  }
}

// -----

// PrefetchOp C1
poly.kernel @k(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8x8xf32>) {
  poly.compute @copy domain [affine_set<(i) : (i >= 0, 7 - i >= 0)>]
      reads(%x[affine_map<(i) -> (i)>] : memref<8xf32>) writes(%y[affine_map<(i) -> (i)>] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @fill domain [affine_set<(i, j) : (i >= 0, 7 - i >= 0, j >= 0, 7 - j >= 0)>]
      reads() writes(%z[affine_map<(i, j) -> (i, j)>] : memref<8x8xf32>) {
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
  poly.schedule {
    poly.sequence {
      poly.filter [@copy] {
        // expected-error @below {{expects one of the computations that reach it, [@copy], but got @fill}}
        poly.prefetch @fill read 0 of @copy at affine_map<(i, j) -> (i)> bytes 64
      }
      poly.filter [@fill]
    }
  }
}

// -----

// PrefetchOp C2
poly.kernel @k(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8x8xf32>) {
  poly.compute @copy domain [affine_set<(i) : (i >= 0, 7 - i >= 0)>]
      reads(%x[affine_map<(i) -> (i)>] : memref<8xf32>) writes(%y[affine_map<(i) -> (i)>] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @fill domain [affine_set<(i, j) : (i >= 0, 7 - i >= 0, j >= 0, 7 - j >= 0)>]
      reads() writes(%z[affine_map<(i, j) -> (i, j)>] : memref<8x8xf32>) {
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
  poly.schedule {
    poly.sequence {
      poly.filter [@copy] {
        // expected-error @below {{expects an access of one out of [@copy, @fill], but got @nobody}}
        poly.prefetch @copy read 0 of @nobody at affine_map<(i) -> (i)> bytes 64
      }
      poly.filter [@fill]
    }
  }
}

// -----

// PrefetchOp C2
poly.kernel @k(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8x8xf32>) {
  poly.compute @copy domain [affine_set<(i) : (i >= 0, 7 - i >= 0)>]
      reads(%x[affine_map<(i) -> (i)>] : memref<8xf32>) writes(%y[affine_map<(i) -> (i)>] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @fill domain [affine_set<(i, j) : (i >= 0, 7 - i >= 0, j >= 0, 7 - j >= 0)>]
      reads() writes(%z[affine_map<(i, j) -> (i, j)>] : memref<8x8xf32>) {
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
  poly.schedule {
    poly.sequence {
      poly.filter [@copy] {
        // expected-error @below {{expects one of the 1 reads of @copy, but got #1}}
        poly.prefetch @copy read 1 at affine_map<(i) -> (i)> bytes 64
      }
      poly.filter [@fill]
    }
  }
}

// -----

// PrefetchOp C2
poly.kernel @k(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8x8xf32>) {
  poly.compute @copy domain [affine_set<(i) : (i >= 0, 7 - i >= 0)>]
      reads(%x[affine_map<(i) -> (i)>] : memref<8xf32>) writes(%y[affine_map<(i) -> (i)>] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @fill domain [affine_set<(i, j) : (i >= 0, 7 - i >= 0, j >= 0, 7 - j >= 0)>]
      reads() writes(%z[affine_map<(i, j) -> (i, j)>] : memref<8x8xf32>) {
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
  poly.schedule {
    poly.sequence {
      poly.filter [@copy] {
        // expected-error @below {{expects one of the 1 writes of @copy, but got #1}}
        poly.prefetch @copy write 1 at affine_map<(i) -> (i)> bytes 64
      }
      poly.filter [@fill]
    }
  }
}

// -----

// PrefetchOp C2
poly.kernel @k(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8x8xf32>) {
  poly.compute @copy domain [affine_set<(i) : (i >= 0, 7 - i >= 0)>]
      reads(%x[affine_map<(i) -> (i)>] : memref<8xf32>) writes(%y[affine_map<(i) -> (i)>] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @fill domain [affine_set<(i, j) : (i >= 0, 7 - i >= 0, j >= 0, 7 - j >= 0)>]
      reads() writes(%z[affine_map<(i, j) -> (i, j)>] : memref<8x8xf32>) {
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
  poly.schedule {
    poly.sequence {
      poly.filter [@copy] {
        // expected-error @below {{expects one of the 0 reads of @fill, but got #0}}
        poly.prefetch @copy read 0 of @fill at affine_map<(i) -> (i, i)> bytes 64
      }
      poly.filter [@fill]
    }
  }
}

// -----

// PrefetchOp C2
poly.kernel @k(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8x8xf32>) {
  poly.compute @copy domain [affine_set<(i) : (i >= 0, 7 - i >= 0)>]
      reads(%x[affine_map<(i) -> (i)>] : memref<8xf32>) writes(%y[affine_map<(i) -> (i)>] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @fill domain [affine_set<(i, j) : (i >= 0, 7 - i >= 0, j >= 0, 7 - j >= 0)>]
      reads() writes(%z[affine_map<(i, j) -> (i, j)>] : memref<8x8xf32>) {
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
  poly.schedule {
    poly.sequence {
      poly.filter [@copy] {
        // expected-error @below {{expects one of the 1 reads of @copy, but got #-1}}
        poly.prefetch @copy read -1 at affine_map<(i) -> (i)> bytes 64
      }
      poly.filter [@fill]
    }
  }
}

// -----

// PrefetchOp C3
poly.kernel @k(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8x8xf32>) {
  poly.compute @copy domain [affine_set<(i) : (i >= 0, 7 - i >= 0)>]
      reads(%x[affine_map<(i) -> (i)>] : memref<8xf32>) writes(%y[affine_map<(i) -> (i)>] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @fill domain [affine_set<(i, j) : (i >= 0, 7 - i >= 0, j >= 0, 7 - j >= 0)>]
      reads() writes(%z[affine_map<(i, j) -> (i, j)>] : memref<8x8xf32>) {
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
  poly.schedule {
    poly.sequence {
      poly.filter [@copy] {
        // expected-error @below {{expects a map from 1 dimensions and 0 parameters to the 1 dimensions of @copy, but got affine_map<(d0) -> (d0, d0)>}}
        poly.prefetch @copy read 0 at affine_map<(i) -> (i, i)> bytes 64
      }
      poly.filter [@fill]
    }
  }
}

// -----

// PrefetchOp C3
poly.kernel @k(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8x8xf32>) {
  poly.compute @copy domain [affine_set<(i) : (i >= 0, 7 - i >= 0)>]
      reads(%x[affine_map<(i) -> (i)>] : memref<8xf32>) writes(%y[affine_map<(i) -> (i)>] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @fill domain [affine_set<(i, j) : (i >= 0, 7 - i >= 0, j >= 0, 7 - j >= 0)>]
      reads() writes(%z[affine_map<(i, j) -> (i, j)>] : memref<8x8xf32>) {
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
  poly.schedule {
    poly.sequence {
      poly.filter [@copy] {
        // expected-error @below {{expects a place by numbers of at most 2^31, but got 4294967296 in d0 + 4294967296}}
        poly.prefetch @copy read 0 at affine_map<(i) -> (i + 4294967296)> bytes 64
      }
      poly.filter [@fill]
    }
  }
}

// -----

// PrefetchOp C4
poly.kernel @k(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8x8xf32>) {
  poly.compute @copy domain [affine_set<(i) : (i >= 0, 7 - i >= 0)>]
      reads(%x[affine_map<(i) -> (i)>] : memref<8xf32>) writes(%y[affine_map<(i) -> (i)>] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @fill domain [affine_set<(i, j) : (i >= 0, 7 - i >= 0, j >= 0, 7 - j >= 0)>]
      reads() writes(%z[affine_map<(i, j) -> (i, j)>] : memref<8x8xf32>) {
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
  poly.schedule {
    poly.sequence {
      poly.filter [@copy] {
        // expected-error @below {{expects between 1 and 4096 bytes, but got 8192}}
        poly.prefetch @copy read 0 at affine_map<(i) -> (i)> bytes 8192
      }
      poly.filter [@fill]
    }
  }
}

// -----

// PrefetchOp C5
poly.kernel @k(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8x8xf32>) {
  poly.compute @copy domain [affine_set<(i) : (i >= 0, 7 - i >= 0)>]
      reads(%x[affine_map<(i) -> (i)>] : memref<8xf32>) writes(%y[affine_map<(i) -> (i)>] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @fill domain [affine_set<(i, j) : (i >= 0, 7 - i >= 0, j >= 0, 7 - j >= 0)>]
      reads() writes(%z[affine_map<(i, j) -> (i, j)>] : memref<8x8xf32>) {
    %zero = arith.constant 0.0 : f32
    poly.yield %zero : f32
  }
  poly.schedule {
    poly.sequence {
      poly.filter [@copy] {
        poly.band [@copy] maps [affine_map<(i) -> (i)>] loops [vector(8)] {
          // expected-error @below {{expects no vector loop around it, but got #poly.loop<vector(8)>}}
          poly.prefetch @copy read 0 at affine_map<(i) -> (i)> bytes 64
        }
      }
      poly.filter [@fill]
    }
  }
}
