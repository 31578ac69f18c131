// RUN: not espalier-opt %s -transform-interpreter=entry-point=decompose_init 2>&1 | FileCheck %s --check-prefix=DECOMPOSE-INIT
// RUN: not espalier-opt %s -transform-interpreter=entry-point=contract_order 2>&1 | FileCheck %s --check-prefix=CONTRACT-ORDER
// RUN: not espalier-opt %s -transform-interpreter=entry-point=layout_twice 2>&1 | FileCheck %s --check-prefix=LAYOUT-TWICE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=layout_negative 2>&1 | FileCheck %s --check-prefix=LAYOUT-NEGATIVE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=layout_rank 2>&1 | FileCheck %s --check-prefix=LAYOUT-RANK
// RUN: not espalier-opt %s -transform-interpreter=entry-point=layout_padding 2>&1 | FileCheck %s --check-prefix=LAYOUT-PADDING
// RUN: not espalier-opt %s -transform-interpreter=entry-point=layout_multiples 2>&1 | FileCheck %s --check-prefix=LAYOUT-MULTIPLES
// RUN: not espalier-opt %s -transform-interpreter=entry-point=pack_blocks 2>&1 | FileCheck %s --check-prefix=PACK-BLOCKS
// RUN: not espalier-opt %s -transform-interpreter=entry-point=pack_rank 2>&1 | FileCheck %s --check-prefix=PACK-RANK
// RUN: not espalier-opt %s -transform-interpreter=entry-point=pack_order 2>&1 | FileCheck %s --check-prefix=PACK-ORDER
// RUN: not espalier-opt %s -transform-interpreter=entry-point=pack_read 2>&1 | FileCheck %s --check-prefix=PACK-READ
// RUN: not espalier-opt %s -transform-interpreter=entry-point=contract_write 2>&1 | FileCheck %s --check-prefix=CONTRACT-WRITE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=contract_loop 2>&1 | FileCheck %s --check-prefix=CONTRACT-LOOP
// RUN: not espalier-opt %s -transform-interpreter=entry-point=contract_argument 2>&1 | FileCheck %s --check-prefix=CONTRACT-ARGUMENT
// RUN: not espalier-opt %s -transform-interpreter=entry-point=contract_outside 2>&1 | FileCheck %s --check-prefix=CONTRACT-OUTSIDE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=contract_read 2>&1 | FileCheck %s --check-prefix=CONTRACT-READ
// RUN: not espalier-opt %s -transform-interpreter=entry-point=decompose_loop 2>&1 | FileCheck %s --check-prefix=DECOMPOSE-LOOP
// RUN: not espalier-opt %s -transform-interpreter=entry-point=decompose_update 2>&1 | FileCheck %s --check-prefix=DECOMPOSE-UPDATE
// RUN: not espalier-opt %s -transform-interpreter=entry-point=register_sizes 2>&1 | FileCheck %s --check-prefix=REGISTER-SIZES
// RUN: not espalier-opt %s -transform-interpreter=entry-point=register_width 2>&1 | FileCheck %s --check-prefix=REGISTER-WIDTH
// RUN: not espalier-opt %s -transform-interpreter=entry-point=register_illegal 2>&1 | FileCheck %s --check-prefix=REGISTER-ILLEGAL

// Why arrays stay as they are. Each case is an entry point.

#i = affine_map<(i)[N] -> (i)>
#zero = affine_map<(i)[N] -> (0)>
#west = affine_map<(i)[N] -> (i - 1)>
#all = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#inner = affine_set<(i)[N] : (i - 1 >= 0, N - 1 - i >= 0)>
#square = affine_set<(i, j)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, N - 1 - j >= 0)>
#first = affine_map<(i, j)[N] -> (i)>
#second = affine_map<(i, j)[N] -> (j)>
!v = memref<?xf32>

module attributes {transform.with_named_sequence} {
poly.kernel @k(%A: !v, %B: !v, %C: !v, %N: index) {
  %t = poly.array(%N) : !v
  %u = poly.array(%N) : !v
  %one = poly.array : memref<1xf32>
  poly.compute @make dims ["i"] domain [#all] reads(%A[#i] : !v) writes(%t[#i] : !v) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @use dims ["i"] domain [#inner] reads(%t[#i], %t[#west] : !v, !v) writes(%B[#i] : !v) interleaved 1 {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    poly.yield %s : f32
  }
  poly.compute @alone dims ["i"] domain [#all] reads(%A[#i] : !v) writes(%u[#i] : !v) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @other dims ["i"] domain [#all] reads(%u[#i] : !v) writes(%C[#i] : !v) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @set dims ["i"] domain [#all] reads(%A[#i] : !v) writes(%one[#zero] : memref<1xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @get dims ["i"] domain [#all] reads(%one[#zero] : memref<1xf32>) writes(%B[#i] : !v) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @acc dims ["i", "j"] domain [#square] reads(%A[#second], %C[#first] : !v, !v) writes(%C[#first] : !v) reduction add {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %c, %a : f32
    poly.yield %s : f32
  }
  poly.compute @early dims ["i", "j"] domain [#square] reads(%A[#second], %B[#first] : !v, !v) writes(%B[#first] : !v) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.subf %a, %c : f32
    poly.yield %s : f32
  }
  poly.schedule {
    poly.sequence {
      poly.filter [@make, @use] {
        poly.band [@make, @use] maps [#i, #i] loops [sequential] names ["i"] {
          poly.sequence {
            poly.filter [@make]
            poly.filter [@use]
          }
        }
      }
      poly.filter [@alone] { poly.band [@alone] maps [#i] loops [sequential] names ["i"] }
      poly.filter [@other] { poly.band [@other] maps [#i] loops [sequential] names ["i"] }
      poly.filter [@set, @get] {
        poly.sequence {
          poly.filter [@set] { poly.band [@set] maps [#i] loops [sequential] names ["i"] }
          poly.filter [@get] { poly.band [@get] maps [#i] loops [sequential] names ["i"] }
        }
      }
      poly.filter [@acc] { poly.band [@acc] maps [affine_map<(i, j)[N] -> (i, j)>] loops [sequential, sequential] names ["i", "j"] }
      poly.filter [@early] { poly.band [@early] maps [affine_map<(i, j)[N] -> (i, j)>] loops [sequential, sequential] names ["i", "j"] }
    }
  }
}
// All of @set comes before all of @get: the last element set is what they get.
poly.kernel @shared(%A: !v, %B: !v, %N: index) {
  %one = poly.array : memref<1xf32>
  poly.compute @set dims ["i"] domain [#all] reads(%A[#i] : !v) writes(%one[#zero] : memref<1xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.compute @get dims ["i"] domain [#all] reads(%one[#zero], %B[#i] : memref<1xf32>, !v) writes(%B[#i] : !v) reduction add {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %b, %a : f32
    poly.yield %s : f32
  }
  poly.schedule {
    poly.band [@set, @get] maps [#i, #i] loops [sequential] names ["i"] {
      poly.sequence {
        poly.filter [@set]
        poly.filter [@get]
      }
    }
  }
}

// LAYOUT-TWICE: error: 'transform.poly.layout' op expects a layout that gives each element a place of its own, but got (d0) -> (d0 floordiv 2)
transform.named_sequence @layout_twice(%module: !transform.any_op {transform.readonly}) {
  %x = transform.poly.computation @k::@make of %module : (!transform.any_op) -> !transform.any_op
  %a = transform.poly.written_array of %x : (!transform.any_op) -> !transform.any_op
  transform.poly.layout %a by affine_map<(i) -> (i floordiv 2)> : !transform.any_op
  transform.yield
}

// LAYOUT-NEGATIVE: error: 'transform.poly.layout' op expects a layout whose indices start at 0, but got (d0) -> (d0 - 1)
transform.named_sequence @layout_negative(%module: !transform.any_op {transform.readonly}) {
  %x = transform.poly.computation @k::@make of %module : (!transform.any_op) -> !transform.any_op
  %a = transform.poly.written_array of %x : (!transform.any_op) -> !transform.any_op
  transform.poly.layout %a by affine_map<(i) -> (i - 1)> : !transform.any_op
  transform.yield
}

// LAYOUT-RANK: error: 'transform.poly.layout' op expects a layout from 1 indices, but got (d0, d1) -> (d0, d1)
transform.named_sequence @layout_rank(%module: !transform.any_op {transform.readonly}) {
  %x = transform.poly.computation @k::@make of %module : (!transform.any_op) -> !transform.any_op
  %a = transform.poly.written_array of %x : (!transform.any_op) -> !transform.any_op
  transform.poly.layout %a by affine_map<(i, j) -> (i, j)> : !transform.any_op
  transform.yield
}

// LAYOUT-PADDING: error: 'transform.poly.layout' op expects padding for 1 extents, but got 2 numbers
transform.named_sequence @layout_padding(%module: !transform.any_op {transform.readonly}) {
  %x = transform.poly.computation @k::@make of %module : (!transform.any_op) -> !transform.any_op
  %a = transform.poly.written_array of %x : (!transform.any_op) -> !transform.any_op
  transform.poly.layout %a by affine_map<(i) -> (i)> padding [1, 2] : !transform.any_op
  transform.yield
}

// LAYOUT-MULTIPLES: error: 'transform.poly.layout' op expects multiples from 1 to 2^30, but got 0
transform.named_sequence @layout_multiples(%module: !transform.any_op {transform.readonly}) {
  %x = transform.poly.computation @k::@make of %module : (!transform.any_op) -> !transform.any_op
  %a = transform.poly.written_array of %x : (!transform.any_op) -> !transform.any_op
  transform.poly.layout %a by affine_map<(i) -> (i)> multiples [0] : !transform.any_op
  transform.yield
}

// PACK-BLOCKS: error: 'transform.poly.pack' op expects blocks of 2 to 2^30 elements, or 0 for none, but got 1
transform.named_sequence @pack_blocks(%module: !transform.any_op {transform.readonly}) {
  %x = transform.poly.computation @k::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.pack %x read 0 blocks [1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}

// PACK-RANK: error: 'transform.poly.pack' op expects a size of blocks, or 0, for each of the 1 indices, but got 2
transform.named_sequence @pack_rank(%module: !transform.any_op {transform.readonly}) {
  %x = transform.poly.computation @k::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.pack %x read 0 blocks [2, 2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}

// PACK-ORDER: error: 'transform.poly.pack' op expects an order of the 2 indices of blocks and in blocks, but got [0, 2]
transform.named_sequence @pack_order(%module: !transform.any_op {transform.readonly}) {
  %x = transform.poly.computation @k::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.pack %x read 0 blocks [2] order [0, 2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}

// PACK-READ: error: 'transform.poly.pack' op expects a read of @use, one of [read 0 (array #0), read 1 (array #0)], but got 7
transform.named_sequence @pack_read(%module: !transform.any_op {transform.readonly}) {
  %x = transform.poly.computation @k::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.pack %x read 7 blocks [2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}

// CONTRACT-WRITE: error: 'transform.poly.privatize' op expects one of the 1 writes of @make, but got 1
transform.named_sequence @contract_write(%module: !transform.any_op {transform.readonly}) {
  %x = transform.poly.computation @k::@make of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.privatize %x write 1 loop "i" : !transform.any_op
  transform.yield
}

// CONTRACT-LOOP: error: 'transform.poly.privatize' op expects a loop of @make, one of ["i"], but got "x"
transform.named_sequence @contract_loop(%module: !transform.any_op {transform.readonly}) {
  %x = transform.poly.computation @k::@make of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.privatize %x loop "x" : !transform.any_op
  transform.yield
}

// CONTRACT-ARGUMENT: error: 'transform.poly.privatize' op expects an array of the kernel, which nobody else sees, but argument #1 is an argument
transform.named_sequence @contract_argument(%module: !transform.any_op {transform.readonly}) {
  %x = transform.poly.computation @k::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.privatize %x loop "i" : !transform.any_op
  transform.yield
}

// CONTRACT-OUTSIDE: error: 'transform.poly.privatize' op expects all uses of array #1 in "i", but @other is outside
transform.named_sequence @contract_outside(%module: !transform.any_op {transform.readonly}) {
  %x = transform.poly.computation @k::@alone of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.privatize %x loop "i" : !transform.any_op
  transform.yield
}

// CONTRACT-READ: error: 'transform.poly.privatize' op expects each iteration of "i" to write what it reads of array #0 before, but read 1 of @use takes what others wrote
transform.named_sequence @contract_read(%module: !transform.any_op {transform.readonly}) {
  %x = transform.poly.computation @k::@make of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.privatize %x loop "i" : !transform.any_op
  transform.yield
}

// DECOMPOSE-LOOP: error: 'transform.poly.decompose' op expects a loop of @acc, one of ["i", "j"], but got "x"
transform.named_sequence @decompose_loop(%module: !transform.any_op {transform.readonly}) {
  %x = transform.poly.computation @k::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.decompose %x loop "x" : !transform.any_op
  transform.yield
}

// DECOMPOSE-UPDATE: error: 'transform.poly.decompose' op expects a computation that updates one array, but @use does not
transform.named_sequence @decompose_update(%module: !transform.any_op {transform.readonly}) {
  %x = transform.poly.computation @k::@use of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.decompose %x loop "i" : !transform.any_op
  transform.yield
}

// REGISTER-SIZES: error: 'transform.poly.register_block' op expects a size for each of at least one loop, but got 2 sizes for 1 loops
transform.named_sequence @register_sizes(%module: !transform.any_op {transform.readonly}) {
  %x = transform.poly.computation @k::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.register_block %x loops ["i"] sizes [4, 4] width 4 : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.yield
}

// REGISTER-WIDTH: error: 'transform.poly.register_block' op expects a number of lanes that divides the last size, 6, but got 4
transform.named_sequence @register_width(%module: !transform.any_op {transform.readonly}) {
  %x = transform.poly.computation @k::@acc of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.register_block %x loops ["i"] sizes [6] width 4 : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.yield
}

// REGISTER-ILLEGAL: error: 'transform.poly.register_block' op expects the vector(4) loop "j.1" to carry no dependence, but got the flow dependence from @early(0, 0) to @early(0, 1), distance (0, 1), on argument #1
transform.named_sequence @register_illegal(%module: !transform.any_op {transform.readonly}) {
  %x = transform.poly.computation @k::@early of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.register_block %x loops ["j"] sizes [4] width 4 : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.yield
}

// CONTRACT-ORDER: error: 'transform.poly.privatize' op expects iterations of "i" that use the same elements of array #0 to come one after the other in program order
transform.named_sequence @contract_order(%module: !transform.any_op {transform.readonly}) {
  %x = transform.poly.computation @shared::@set of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.privatize %x loop "i" : !transform.any_op
  transform.yield
}

// DECOMPOSE-INIT: error: 'transform.poly.decompose' op expects a computation before @get that writes argument #1, and nothing else, without reading it
transform.named_sequence @decompose_init(%module: !transform.any_op {transform.readonly}) {
  %x = transform.poly.computation @shared::@get of %module : (!transform.any_op) -> !transform.any_op
  transform.poly.decompose %x loop "i" : !transform.any_op
  transform.yield
}
}
