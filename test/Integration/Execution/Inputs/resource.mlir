module @resource {
  memref.global "private" constant @w : memref<1xf32> = dense_resource<w>
  func.func @k(%w: memref<1xf32>, %y: memref<1xf32>) {
    %c0 = arith.constant 0 : index
    %0 = memref.load %w[%c0] : memref<1xf32>
    memref.store %0, %y[%c0] : memref<1xf32>
    return
  }
  func.func @main(%x: memref<2x4xf32>, %y: memref<1xf32>) attributes {espalier.num_inputs = 1 : i64} {
    %w = memref.get_global @w : memref<1xf32>
    func.call @k(%w, %y) : (memref<1xf32>, memref<1xf32>) -> ()
    return
  }
  func.func @main_plan(%0: index, %1: index) -> index {
    %c1 = arith.constant 1 : index
    return %c1 : index
  }
}

{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F"
    }
  }
#-}
