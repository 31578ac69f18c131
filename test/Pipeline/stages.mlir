// RUN: espalier-opt %s --espalier-compile=to=graph | FileCheck %s --check-prefix=LOOPS
// RUN: espalier-opt %s --espalier-compile=to=loops | FileCheck %s --check-prefix=LOOPS
// RUN: espalier-opt %s --espalier-compile=to=program | FileCheck %s --check-prefix=PROGRAM
// RUN: espalier-opt %s --espalier-program | FileCheck %s --check-prefix=PROGRAM
// RUN: espalier-opt %s --espalier-program --espalier-llvm | FileCheck %s --check-prefix=LLVM
// RUN: espalier-opt %s --espalier-compile | FileCheck %s --check-prefix=LLVM
// RUN: espalier-opt %s --espalier-compile | espalier-opt --espalier-compile | FileCheck %s --check-prefix=LLVM
// RUN: espalier-opt %s --espalier-compile=threads=false | FileCheck %s --check-prefix=SEQUENTIAL
// RUN: not espalier-opt %s --espalier-compile=to=nowhere 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: sed 's/@stages {/attributes {espalier.stage = "loop"} {/' %s | not espalier-opt --espalier-compile 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NO-STAGE
// RUN: sed 's/@stages {/attributes {espalier.stage = 3} {/' %s | not espalier-opt --espalier-compile=to=graph 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NO-WORD
// RUN: espalier-opt %s --espalier-compile=to=program | espalier-opt --program-add-entry-points \
// RUN:   | FileCheck %s --check-prefix=BY-HAND
// RUN: not espalier-opt %s --pass-pipeline='builtin.module(espalier-llvm{threads=false})' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OPTIONS

// A module that is at a stage or beyond stays as it is.
// LOOPS: scf.parallel
// LOOPS: memref.alloc
// PROGRAM: scf.parallel
// PROGRAM: memref.view
// LLVM: omp.parallel
// LLVM: llvm.func @_espalier_stages_run
// SEQUENTIAL-NOT: omp.parallel
// SEQUENTIAL: llvm.func @_espalier_stages_run
// UNKNOWN: error: expects one of the stages graph, statements, poly, scheduled, loops, program, llvm, but got 'nowhere'
// NO-STAGE: error: expects 'espalier.stage' to be one of the stages graph, statements, poly, scheduled, loops, program, llvm, but got "loop"
// NO-WORD: error: expects 'espalier.stage' to be one of the stages {{.*}}, but got 3
// A pass that leads on takes the stage away.
// BY-HAND-NOT: espalier.stage
// BY-HAND: func.func
// OPTIONS: expects no options, but got 'threads=false'

// Equal kernels are one: @k_again goes.
// PROGRAM-NOT: @k_again
// LLVM-NOT: @_espalier_stages_fn_k_again
module @stages {
  func.func @k(%x: memref<4xf32>, %y: memref<4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
      %0 = memref.load %x[%i] : memref<4xf32>
      memref.store %0, %y[%i] : memref<4xf32>
      scf.reduce
    }
    return
  }
  func.func @k_again(%x: memref<4xf32>, %y: memref<4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
      %0 = memref.load %x[%i] : memref<4xf32>
      memref.store %0, %y[%i] : memref<4xf32>
      scf.reduce
    }
    return
  }
  func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {espalier.num_inputs = 1 : i64} {
    %a = memref.alloc() : memref<4xf32>
    call @k(%x, %a) : (memref<4xf32>, memref<4xf32>) -> ()
    call @k_again(%a, %y) : (memref<4xf32>, memref<4xf32>) -> ()
    return
  }
  func.func @main_plan(%n: index) -> index {
    return %n : index
  }
}
