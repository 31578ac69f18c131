// y = tanh(x * w + b) * 2, in three kernels over buffers of n x 32.
module @mlp {
  memref.global "private" constant @w : memref<4x32xf32> = dense<0.25>
  memref.global "private" constant @b : memref<32xf32> = dense<0.5>
  memref.global "private" constant @b_again : memref<32xf32> = dense<0.5>

  func.func @product(%x: memref<?x4xf32>, %w: memref<4x32xf32>, %r: memref<?x32xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant dense<0.0> : vector<16xf32>
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      scf.for %j = %c0 to %c32 step %c16 {
        %acc = scf.for %k = %c0 to %c4 step %c1 iter_args(%a = %zero) -> (vector<16xf32>) {
          %xs = memref.load %x[%i, %k] : memref<?x4xf32>
          %xv = vector.broadcast %xs : f32 to vector<16xf32>
          %wv = vector.load %w[%k, %j] : memref<4x32xf32>, vector<16xf32>
          %f = vector.fma %xv, %wv, %a : vector<16xf32>
          scf.yield %f : vector<16xf32>
        }
        vector.store %acc, %r[%i, %j] : memref<?x32xf32>, vector<16xf32>
      }
      scf.reduce
    }
    return
  }

  func.func @bias(%x: memref<?x32xf32>, %b: memref<32xf32>, %b2: memref<32xf32>, %r: memref<?x32xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c32) step (%c1, %c1) {
      %0 = memref.load %x[%i, %j] : memref<?x32xf32>
      %1 = memref.load %b[%j] : memref<32xf32>
      %2 = arith.addf %0, %1 : f32
      memref.store %2, %r[%i, %j] : memref<?x32xf32>
      scf.reduce
    }
    return
  }

  func.func @activation(%x: memref<?x32xf32>, %r: memref<?x32xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %two = arith.constant dense<2.0> : vector<16xf32>
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      %t = memref.alloc() : memref<32xf32>
      scf.for %j = %c0 to %c32 step %c16 {
        %0 = vector.load %x[%i, %j] : memref<?x32xf32>, vector<16xf32>
        %1 = math.tanh %0 : vector<16xf32>
        vector.store %1, %t[%j] : memref<32xf32>, vector<16xf32>
      }
      scf.for %j = %c0 to %c32 step %c16 {
        %0 = vector.load %t[%j] : memref<32xf32>, vector<16xf32>
        %1 = arith.mulf %0, %two : vector<16xf32>
        vector.store %1, %r[%i, %j] : memref<?x32xf32>, vector<16xf32>
      }
      scf.reduce
    }
    return
  }

  func.func @main(%x: memref<?x4xf32> {espalier.name = "x", espalier.dims = ["n", ""]},
                  %y: memref<?x32xf32> {espalier.name = "y", espalier.dims = ["n", ""]})
      attributes {espalier.num_inputs = 1 : i64} {
    %c0 = arith.constant 0 : index
    %n = memref.dim %x, %c0 : memref<?x4xf32>
    %w = memref.get_global @w : memref<4x32xf32>
    %b = memref.get_global @b : memref<32xf32>
    %b2 = memref.get_global @b_again : memref<32xf32>
    %0 = memref.alloc(%n) : memref<?x32xf32>
    func.call @product(%x, %w, %0, %n) : (memref<?x4xf32>, memref<4x32xf32>, memref<?x32xf32>, index) -> ()
    %1 = memref.alloc(%n) : memref<?x32xf32>
    func.call @bias(%0, %b, %b2, %1, %n) : (memref<?x32xf32>, memref<32xf32>, memref<32xf32>, memref<?x32xf32>, index) -> ()
    memref.dealloc %0 : memref<?x32xf32>
    func.call @activation(%1, %y, %n) : (memref<?x32xf32>, memref<?x32xf32>, index) -> ()
    memref.dealloc %1 : memref<?x32xf32>
    return
  }

  func.func @main_plan(%n: index, %four: index) -> (index, index) {
    %c32 = arith.constant 32 : index
    return %n, %c32 : index, index
  }
}
