// RUN: espalier-opt %s -convert-poly-to-loops -split-input-file | FileCheck %s

// Copies of a loop read neighbours of what the lanes read: a vector for each
// lane, transposed in two rounds.
// CHECK-LABEL: func.func @read_rows
// CHECK-COUNT-4: vector.load %{{.*}} : memref<64xf32>, vector<4xf32>
// CHECK-COUNT-4: vector.shuffle %{{.*}} [{{0, 4, 1, 5|2, 6, 3, 7}}]
// CHECK-COUNT-4: vector.shuffle %{{.*}} [{{0, 1, 4, 5|2, 3, 6, 7}}]
// CHECK-NOT:     vector.shuffle
// CHECK-NOT:     vector.gather
// CHECK-COUNT-4: vector.store
#square = affine_map<(i, j) -> (i floordiv 4, j floordiv 4, j mod 4, i mod 4)>
#all = affine_set<(i, j) : (i >= 0, 7 - i >= 0, j >= 0, 7 - j >= 0)>
poly.kernel @read_rows(%x: memref<8x8xf32>, %y: memref<8x8xf32>) {
  poly.compute @s domain [#all] reads(%x[affine_map<(i, j) -> (i, j)>] : memref<8x8xf32>)
      writes(%y[affine_map<(i, j) -> (j, i)>] : memref<8x8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.schedule {
    poly.band [@s] maps [#square] loops [sequential, sequential, unroll, vector(4)]
  }
}

// -----

// Lanes along the rows that are read: what is written is transposed.
// CHECK-LABEL: func.func @write_rows
// CHECK-COUNT-4: vector.load
// CHECK-COUNT-8: vector.shuffle
// CHECK-NOT:     vector.scatter
// CHECK-COUNT-4: vector.store %{{.*}} : memref<64xf32>, vector<4xf32>
#square = affine_map<(i, j) -> (i floordiv 4, j floordiv 4, i mod 4, j mod 4)>
#all = affine_set<(i, j) : (i >= 0, 7 - i >= 0, j >= 0, 7 - j >= 0)>
poly.kernel @write_rows(%x: memref<8x8xf32>, %y: memref<8x8xf32>) {
  poly.compute @s domain [#all] reads(%x[affine_map<(i, j) -> (i, j)>] : memref<8x8xf32>)
      writes(%y[affine_map<(i, j) -> (j, i)>] : memref<8x8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.schedule {
    poly.band [@s] maps [#square] loops [sequential, sequential, unroll, vector(4)]
  }
}

// -----

// Three copies for three active lanes: nothing is read or written beside them.
// CHECK-LABEL: func.func @rest
// CHECK:         %[[THREE:.*]] = arith.constant dense<[true, true, true, false]>
// CHECK-COUNT-3: vector.maskedload
// CHECK-NOT:     vector.maskedload
// CHECK-COUNT-8: vector.shuffle
// CHECK-COUNT-3: vector.maskedstore
// CHECK-NOT:     vector.maskedstore
#square = affine_map<(i, j) -> (j, i)>
#all = affine_set<(i, j) : (i >= 0, 2 - i >= 0, j >= 0, 2 - j >= 0)>
poly.kernel @rest(%x: memref<3x8xf32>, %y: memref<3x3xf32>) {
  poly.compute @s domain [#all] reads(%x[affine_map<(i, j) -> (i, j)>] : memref<3x8xf32>)
      writes(%y[affine_map<(i, j) -> (j, i)>] : memref<3x3xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.schedule {
    poly.band [@s] maps [#square] loops [unroll, vector(4)]
  }
}

// -----

// In a triangle, copies have different lanes: a vector of a row would reach
// beyond the points that there are.
// CHECK-LABEL: func.func @triangle
// CHECK-NOT:     vector.shuffle
// CHECK:         vector.gather
#square = affine_map<(i, j) -> (j, i)>
#some = affine_set<(i, j) : (i >= 0, 3 - i >= 0, j >= 0, i - j >= 0)>
poly.kernel @triangle(%x: memref<4x8xf32>, %y: memref<8x4xf32>) {
  poly.compute @s domain [#some] reads(%x[affine_map<(i, j) -> (i, j)>] : memref<4x8xf32>)
      writes(%y[affine_map<(i, j) -> (j, i)>] : memref<8x4xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.schedule {
    poly.band [@s] maps [#square] loops [unroll, vector(4)]
  }
}

// -----

// A later copy reads what an earlier one writes, so each writes at once.
// CHECK-LABEL: func.func @in_place
// CHECK-NOT:     vector.shuffle
// CHECK-COUNT-4: vector.scatter
#square = affine_map<(i, j) -> (j, i)>
#all = affine_set<(i, j) : (i >= 0, 3 - i >= 0, j >= 1, 4 - j >= 0)>
poly.kernel @in_place(%x: memref<4x8xf32>) {
  poly.compute @s domain [#all] reads(%x[affine_map<(i, j) -> (i, j - 1)>] : memref<4x8xf32>)
      writes(%x[affine_map<(i, j) -> (i, j)>] : memref<4x8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.schedule {
    poly.band [@s] maps [#square] loops [unroll, vector(4)]
  }
}

// -----

// Every other element of a row: spread over it, and stored under a mask.
// CHECK-LABEL: func.func @every_other
// CHECK:         %[[ROW:.*]] = vector.shuffle %{{.*}} [0, 0, 1, 0]
// CHECK:         %[[EVEN:.*]] = arith.constant dense<[true, false, true, false]>
// CHECK-NOT:     vector.scatter
// CHECK:         vector.maskedstore %{{.*}}, %[[EVEN]], %[[ROW]]
#square = affine_map<(i, j) -> (j, i)>
#all = affine_set<(i, j) : (i >= 0, 3 - i >= 0, j >= 0, 3 - j >= 0)>
poly.kernel @every_other(%x: memref<4x4xf32>, %y: memref<4x8xf32>) {
  poly.compute @s domain [#all] reads(%x[affine_map<(i, j) -> (j, i)>] : memref<4x4xf32>)
      writes(%y[affine_map<(i, j) -> (i, 2 * j)>] : memref<4x8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.schedule {
    poly.band [@s] maps [#square] loops [unroll, vector(4)]
  }
}

// -----

// CHECK-LABEL: func.func @read_index
// CHECK-COUNT-8: vector.shuffle %{{.*}} : vector<4xindex>
// CHECK-NOT:     vector.shuffle
#square = affine_map<(i, j) -> (i floordiv 4, j floordiv 4, j mod 4, i mod 4)>
#all = affine_set<(i, j) : (i >= 0, 7 - i >= 0, j >= 0, 7 - j >= 0)>
poly.kernel @read_index(%x: memref<8x8xindex>, %y: memref<8x8xindex>) {
  poly.compute @s domain [#all] reads(%x[affine_map<(i, j) -> (i, j)>] : memref<8x8xindex>)
      writes(%y[affine_map<(i, j) -> (j, i)>] : memref<8x8xindex>) {
  ^bb0(%a: index):
    poly.yield %a : index
  }
  poly.schedule {
    poly.band [@s] maps [#square] loops [sequential, sequential, unroll, vector(4)]
  }
}

// -----

// CHECK-LABEL: func.func @read_i256
// CHECK-COUNT-8: vector.shuffle %{{.*}} : vector<4xi256>
// CHECK-NOT:     vector.shuffle
#square = affine_map<(i, j) -> (i floordiv 4, j floordiv 4, j mod 4, i mod 4)>
#all = affine_set<(i, j) : (i >= 0, 7 - i >= 0, j >= 0, 7 - j >= 0)>
poly.kernel @read_i256(%x: memref<8x8xi256>, %y: memref<8x8xi256>) {
  poly.compute @s domain [#all] reads(%x[affine_map<(i, j) -> (i, j)>] : memref<8x8xi256>)
      writes(%y[affine_map<(i, j) -> (j, i)>] : memref<8x8xi256>) {
  ^bb0(%a: i256):
    poly.yield %a : i256
  }
  poly.schedule {
    poly.band [@s] maps [#square] loops [sequential, sequential, unroll, vector(4)]
  }
}

// -----

// The rows lie where a number says that all copies and lanes read.
// CHECK-LABEL: func.func @read_gathered_rows
// CHECK-COUNT-4: vector.load %{{.*}} : memref<?xf32>, vector<4xf32>
// CHECK-COUNT-8: vector.shuffle
// CHECK-NOT:     vector.gather
// CHECK-COUNT-4: vector.store
#square = affine_map<(n, i, j) -> (n, i floordiv 4, j floordiv 4, j mod 4, i mod 4)>
#all = affine_set<(n, i, j) : (n >= 0, 7 - n >= 0, i >= 0, 7 - i >= 0, j >= 0, 7 - j >= 0)>
poly.kernel @read_gathered_rows(%at: memref<8xindex>, %x: memref<?x8x8xf32>, %y: memref<8x8x8xf32>) {
  poly.compute @s domain [#all]
      reads(%at[affine_map<(n, i, j) -> (n)>], %x[affine_map<(n, i, j)[a] -> (a, i, j)>] : memref<8xindex>, memref<?x8x8xf32>)
      writes(%y[affine_map<(n, i, j) -> (n, j, i)>] : memref<8x8x8xf32>) {
  ^bb0(%p: index, %a: f32):
    poly.yield %a : f32
  }
  poly.schedule {
    poly.band [@s] maps [#square] loops [sequential, sequential, sequential, unroll, vector(4)]
  }
}

// -----

// Each copy has a number of its own.
// CHECK-LABEL: func.func @read_other_rows
// CHECK-NOT:     vector.shuffle
#square = affine_map<(n, i, j) -> (n, i floordiv 4, j floordiv 4, j mod 4, i mod 4)>
#all = affine_set<(n, i, j) : (n >= 0, 7 - n >= 0, i >= 0, 7 - i >= 0, j >= 0, 7 - j >= 0)>
poly.kernel @read_other_rows(%at: memref<8xindex>, %x: memref<?x8x8xf32>, %y: memref<8x8x8xf32>) {
  poly.compute @s domain [#all]
      reads(%at[affine_map<(n, i, j) -> (j)>], %x[affine_map<(n, i, j)[a] -> (a, i, j)>] : memref<8xindex>, memref<?x8x8xf32>)
      writes(%y[affine_map<(n, i, j) -> (n, j, i)>] : memref<8x8x8xf32>) {
  ^bb0(%p: index, %a: f32):
    poly.yield %a : f32
  }
  poly.schedule {
    poly.band [@s] maps [#square] loops [sequential, sequential, sequential, unroll, vector(4)]
  }
}

// -----

// Each copy of the loop inside has a number, and so rows, of its own.
// CHECK-LABEL: func.func @read_rows_of_two
// CHECK-COUNT-8: vector.load %{{.*}} : memref<?xf32>, vector<4xf32>
// CHECK-COUNT-7: vector.store
#square = affine_map<(n, i, j) -> (n floordiv 2, i floordiv 4, j floordiv 4, j mod 4, n mod 2, i mod 4)>
#all = affine_set<(n, i, j) : (n >= 0, 7 - n >= 0, i >= 0, 7 - i >= 0, j >= 0, 7 - j >= 0)>
poly.kernel @read_rows_of_two(%at: memref<8xindex>, %x: memref<?x8x8xf32>, %y: memref<8x8x8xf32>) {
  poly.compute @s domain [#all]
      reads(%at[affine_map<(n, i, j) -> (n)>], %x[affine_map<(n, i, j)[a] -> (a, i, j)>] : memref<8xindex>, memref<?x8x8xf32>)
      writes(%y[affine_map<(n, i, j) -> (n, j, i)>] : memref<8x8x8xf32>) {
  ^bb0(%p: index, %a: f32):
    poly.yield %a : f32
  }
  poly.schedule {
    poly.band [@s] maps [#square] loops [sequential, sequential, sequential, unroll, unroll, vector(4)]
  }
}

// -----

// Two copies read at one number, the next two at another.
// CHECK-LABEL: func.func @read_rows_of_pairs
// CHECK-NOT:     vector.shuffle
#square = affine_map<(n, i, j) -> (n, i floordiv 4, j floordiv 4, j mod 4, i mod 4)>
#all = affine_set<(n, i, j) : (n >= 0, 7 - n >= 0, i >= 0, 7 - i >= 0, j >= 0, 7 - j >= 0)>
poly.kernel @read_rows_of_pairs(%at: memref<8xindex>, %x: memref<?x8x8xf32>, %y: memref<8x8x8xf32>) {
  poly.compute @s domain [#all]
      reads(%at[affine_map<(n, i, j) -> (j floordiv 2)>], %x[affine_map<(n, i, j)[a] -> (a, i, j)>] : memref<8xindex>, memref<?x8x8xf32>)
      writes(%y[affine_map<(n, i, j) -> (n, j, i)>] : memref<8x8x8xf32>) {
  ^bb0(%p: index, %a: f32):
    poly.yield %a : f32
  }
  poly.schedule {
    poly.band [@s] maps [#square] loops [sequential, sequential, sequential, unroll, vector(4)]
  }
}
