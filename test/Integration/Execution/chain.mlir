// y = (x + 1) * 2 + x over buffers of n * m elements in the arena, whose groups
// are 4 bytes * n * m, 4 * n and 4; z = the sums of the rows of x.
// RUN: espalier-run %s --input 2x3xf32=iota | FileCheck %s
// RUN: espalier-run %s --input 2x3xf32=iota --num-threads 1 | FileCheck %s
// RUN: espalier-run %s --input 2x3xf32=iota --num-threads 2 --jobs 1 | FileCheck %s
// RUN: espalier-run %s --input 2x3xf32=iota -O0 | FileCheck %s
//      CHECK: y: 2x3xf32 = {{\[\[}}2, 5, 8], [11, 14, 17]]
// CHECK-NEXT: z: 2xf32 = [3, 12]
//
// RUN: espalier-run %s --input 1x1xf32=-1 | FileCheck %s --check-prefix=ONE
//      ONE: y: 1x1xf32 = {{\[\[}}-1]]
// ONE-NEXT: z: 1xf32 = [-1]
//
// RUN: espalier-run %s --input 0x7xf32 | FileCheck %s --check-prefix=EMPTY
//      EMPTY: y: 0x7xf32 = []
// EMPTY-NEXT: z: 0xf32 = []
//
// RUN: espalier-run %s --input 3x0xf32 | FileCheck %s --check-prefix=EMPTY-ROWS
//      EMPTY-ROWS: y: 3x0xf32 = {{\[\[}}], [], []]
// EMPTY-ROWS-NEXT: z: 3xf32 = [0, 0, 0]
//
// Many lines of the arena, and more rows than threads.
// RUN: espalier-run %s --input 37x101xf32=1 --num-threads 2 | FileCheck %s --check-prefix=LARGE
//      LARGE: y: 37x101xf32 =
//  LARGE-NOT: {{[ \[]}}[0-46-9]
//      LARGE: z: 37xf32 = [101, 101,
module @chain {
  memref.global "private" constant @one : memref<1xf32> = dense<1.0>

  func.func @add(%x: memref<?x?xf32>, %one: memref<1xf32>, %r: memref<?x?xf32>, %n: index, %m: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
      %0 = memref.load %x[%i, %j] : memref<?x?xf32>
      %1 = memref.load %one[%c0] : memref<1xf32>
      %2 = arith.addf %0, %1 : f32
      memref.store %2, %r[%i, %j] : memref<?x?xf32>
      scf.reduce
    }
    return
  }

  // Two parallel loops, of which the second needs the first complete.
  func.func @double_and_sum(%x: memref<?x?xf32>, %r: memref<?x?xf32>, %sums: memref<?xf32>, %n: index, %m: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      scf.for %j = %c0 to %m step %c1 {
        %0 = memref.load %x[%i, %j] : memref<?x?xf32>
        %1 = arith.addf %0, %0 : f32
        memref.store %1, %r[%i, %j] : memref<?x?xf32>
      }
      scf.reduce
    }
    %last = arith.subi %n, %c1 : index
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      // Row n - 1 - i: another thread has written it.
      %row = arith.subi %last, %i : index
      %s = scf.for %j = %c0 to %m step %c1 iter_args(%sum = %zero) -> f32 {
        %0 = memref.load %r[%row, %j] : memref<?x?xf32>
        %1 = arith.addf %sum, %0 : f32
        scf.yield %1 : f32
      }
      memref.store %s, %sums[%row] : memref<?xf32>
      scf.reduce
    }
    return
  }

  // y = a + x, z = s / 2 - m: the sums of x again.
  func.func @finish(%a: memref<?x?xf32>, %x: memref<?x?xf32>, %s: memref<?xf32>,
                    %y: memref<?x?xf32>, %z: memref<?xf32>, %n: index, %m: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %half = arith.constant 0.5 : f32
    %mi = arith.index_cast %m : index to i32
    %mf = arith.sitofp %mi : i32 to f32
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      scf.for %j = %c0 to %m step %c1 {
        %0 = memref.load %a[%i, %j] : memref<?x?xf32>
        %1 = memref.load %x[%i, %j] : memref<?x?xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %y[%i, %j] : memref<?x?xf32>
      }
      %3 = memref.load %s[%i] : memref<?xf32>
      %4 = arith.mulf %3, %half : f32
      %5 = arith.subf %4, %mf : f32
      memref.store %5, %z[%i] : memref<?xf32>
      scf.reduce
    }
    return
  }

  func.func @main(%x: memref<?x?xf32> {espalier.name = "x"}, %y: memref<?x?xf32> {espalier.name = "y"},
                  %z: memref<?xf32> {espalier.name = "z"}) attributes {espalier.num_inputs = 1 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = memref.dim %x, %c0 : memref<?x?xf32>
    %m = memref.dim %x, %c1 : memref<?x?xf32>
    %one = memref.get_global @one : memref<1xf32>
    %a = memref.alloc(%n, %m) : memref<?x?xf32>
    func.call @add(%x, %one, %a, %n, %m) : (memref<?x?xf32>, memref<1xf32>, memref<?x?xf32>, index, index) -> ()
    %b = memref.alloc(%n, %m) : memref<?x?xf32>
    %s = memref.alloc(%n) : memref<?xf32>
    func.call @double_and_sum(%a, %b, %s, %n, %m) : (memref<?x?xf32>, memref<?x?xf32>, memref<?xf32>, index, index) -> ()
    func.call @finish(%b, %x, %s, %y, %z, %n, %m)
        : (memref<?x?xf32>, memref<?x?xf32>, memref<?xf32>, memref<?x?xf32>, memref<?xf32>, index, index) -> ()
    return
  }

  func.func @main_plan(%n: index, %m: index) -> (index, index, index) {
    return %n, %m, %n : index, index, index
  }
}
