// The output has n / m elements, the intermediate 3 - m, and another one n to
// the power of 4.
module @sizes {
  func.func @k(%x: memref<?xf32>, %a: memref<?xf32>, %b: memref<?x?x?x?xf32>, %y: memref<?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = memref.dim %y, %c0 : memref<?xf32>
    scf.for %i = %c0 to %n step %c1 {
      %0 = memref.load %x[%i] : memref<?xf32>
      memref.store %0, %y[%i] : memref<?xf32>
    }
    return
  }
  func.func @main(%x: memref<?xf32>, %z: memref<?xi64>, %y: memref<?xf32>) attributes {espalier.num_inputs = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %n = memref.dim %x, %c0 : memref<?xf32>
    %m = memref.dim %z, %c0 : memref<?xi64>
    %rest = arith.subi %c3, %m : index
    %a = memref.alloc(%rest) : memref<?xf32>
    %b = memref.alloc(%n, %n, %n, %n) : memref<?x?x?x?xf32>
    func.call @k(%x, %a, %b, %y) : (memref<?xf32>, memref<?xf32>, memref<?x?x?x?xf32>, memref<?xf32>) -> ()
    return
  }
  func.func @main_plan(%n: index, %m: index) -> index {
    %c0 = arith.constant 0 : index
    %quotient = arith.divsi %n, %m : index
    %rest = arith.remsi %n, %m : index
    %fits = arith.cmpi eq, %rest, %c0 : index
    cf.assert %fits, "expects n to be a multiple of m"
    return %quotient : index
  }
}
