module @incomplete {
  func.func private @nowhere(f32) -> f32
  func.func @k(%x: memref<2xf32>, %r: memref<2xf32>) {
    affine.for %i = 0 to 2 {
      %0 = memref.load %x[%i] : memref<2xf32>
      %1 = func.call @nowhere(%0) : (f32) -> f32
      memref.store %1, %r[%i] : memref<2xf32>
    }
    return
  }
  func.func @main(%x: memref<2xf32>, %r: memref<2xf32>) attributes {espalier.num_inputs = 1 : i64} {
    call @k(%x, %r) : (memref<2xf32>, memref<2xf32>) -> ()
    return
  }
  func.func @main_plan(%0: index) -> index {
    %c2 = arith.constant 2 : index
    return %c2 : index
  }
}
