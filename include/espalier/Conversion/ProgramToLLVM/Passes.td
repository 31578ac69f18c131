//===- Passes.td - Passes from program to LLVM -------------*- tablegen -*-===//

#ifndef ESPALIER_CONVERSION_PROGRAMTOLLVM_PASSES_TD
#define ESPALIER_CONVERSION_PROGRAMTOLLVM_PASSES_TD

include "mlir/Pass/PassBase.td"

def ProgramAddEntryPointsPass : Pass<"program-add-entry-points", "mlir::ModuleOp"> {
  let summary = "wraps @main and @main_plan in functions of the C ABI";
  let description = [{
    Adds the two functions through which the runtime calls a program called
    `p` (`espalier_program` in `espalier-c/Runtime.h`):

    ```mlir
    func.func @_espalier_p_plan(%input_extents: !llvm.ptr, %result: !llvm.ptr)
    func.func @_espalier_p_run(%data: !llvm.ptr, %extents: !llvm.ptr,
                               %arena: !llvm.ptr, %constants: !llvm.ptr)
    ```

    and the attribute `espalier.signature` of the module, which keeps what later
    stages cannot see in lowered types. Other functions become private and are
    renamed to `_espalier_p_fn_<name>`: a kernel called `exp` is not the one of
    the C library.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::arith::ArithDialect"];
}

def ProgramMarkNoWrapPass : Pass<"program-mark-no-wrap", "mlir::func::FuncOp"> {
  let summary = "marks address arithmetic of kernels as free of overflow";
  let description = [{
    Adds `overflow<nsw>` to additions, subtractions and multiplications of type
    `index` whose operands follow from loop counters, sizes and constants:
    `@main_plan` has checked that the sizes of a program, and so the positions
    inside its arrays, fit into 63 bits. Arithmetic on values that were read from
    memory is left alone, since nobody checked those, and so is that of the plan,
    which looks for overflow.
  }];
}

def ProgramApproximateMathPass : Pass<"program-approximate-math"> {
  let summary = "replaces functions on f32 by polynomials without calls";
  let description = [{
    Replaces `exp`, `expm1`, `log`, `log2`, `log1p`, `erf`, and hyperbolic and
    inverse trigonometric functions of f32 scalars and vectors by polynomials,
    which take some tenths of a nanosecond per element in vectors of 16. The
    error of `log`, `log2`, `tanh` and `erf` is at most 5 units in the last
    place, that of the others 2.5; results of `exp` below 1.7e-38 are zero, and
    subnormal arguments of `log` count as the smallest normal number. `sin`,
    `cos` and `tan` of vectors of f32 become polynomials with an error of at
    most 2.5 units unless a lane is too large for that: then all lanes are
    computed by the library, in f64. MLIR's own lose all digits of large
    arguments. Functions of f16 and bf16 are computed in f32. Where the result
    of `erf`, or what numbers make of that of `exp`, such as `1 / (1 + exp(x))`,
    is rounded to 16 bits, they have fewer terms, and an error of at most 0.51
    units in the last place of f16. A quotient of f16 and a number becomes a
    product if it is rounded to the same f16 for all operands. Powers with a
    small constant exponent become products. `tanh` of f64 has an error of at
    most 3 units. All other functions, and f64, are left to the library `libm`.

    Vectors of integers of up to 32 bits are divided as f32 or f64, whose
    quotients have digits enough for the same result, and remainders of vectors
    of f32 and f64 are what is left of an exact product, unless a quotient has
    more digits than the type: then the library finds those of all lanes.

    The maximum or minimum of a value and a number, such as relu, becomes a
    comparison and a selection that keeps NaN, which is one instruction on x86.
    That of two other values keeps NaN, too, but does not order the zeros, and
    that of a vector's lanes is the one that x86 has unless a lane is NaN.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect",
                           "mlir::LLVM::LLVMDialect", "mlir::math::MathDialect",
                           "mlir::scf::SCFDialect", "mlir::vector::VectorDialect"];
}

def ProgramSplitMasksPass : Pass<"program-split-masks", "mlir::func::FuncOp"> {
  let summary = "splits masked accesses where the machine has no masks";
  let description = [{
    Where the target has no registers for masks, replaces a `vector.maskedstore`
    whose mask is known, such as that of the last vector of a row, by stores of
    parts that are powers of two:

    ```mlir
    %mask = vector.constant_mask [7] : vector<8xi1>
    vector.maskedstore %x[%i], %mask, %value
    // becomes stores of
    vector<4xf32>, vector<2xf32>, vector<1xf32>
    ```

    A `vector.maskedload` becomes loads of parts if no instruction of the target
    masks elements of that size.
  }];
  // The target is an attribute of `poly`, also that of the host.
  let dependentDialects = ["espalier::poly::PolyDialect",
                           "mlir::arith::ArithDialect",
                           "mlir::vector::VectorDialect"];
}

def ProgramJoinSumsPass : Pass<"program-join-sums", "mlir::func::FuncOp"> {
  let summary = "computes short sums side by side";
  let description = [{
    Each step of a sum in registers waits for the one before. Where two sums
    follow each other, have the same iterations and few accumulators, and
    neither needs what the other makes, they become one loop; each adds the same
    terms in the same order as before. A loop of few iterations with one such
    sum in each is unrolled first.

    ```mlir
    %a = scf.for %k = ... iter_args(%s = %zero) { A }
    %b = scf.for %k = ... iter_args(%t = %zero) { B }
    // becomes
    %a, %b = scf.for %k = ... iter_args(%s = %zero, %t = %zero) { A; B }
    ```

    Buffers are told apart by the arguments and allocations that they are views
    of.
  }];
  let statistics = [
    Statistic<"numJoined", "num-joined", "Sums joined to the ones before">
  ];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect"];
}

def ProgramPairProductsPass : Pass<"program-pair-products", "mlir::func::FuncOp"> {
  let summary = "sums products of bf16 by the instruction for two of them";
  let description = [{
    Where the target has `avx512bf16`, replaces two updates of a sum in f32 by
    products of bf16 by `x86vector.avx512.dot`, if what they read lies in pairs:

    ```mlir
    %b0 = vector.shuffle %b, %b [0, 2, .., 30] : vector<32xbf16>, vector<32xbf16>
    %b1 = vector.shuffle %b, %b [1, 3, .., 31] : vector<32xbf16>, vector<32xbf16>
    %p = mulf(broadcast(extf %x0), extf %b0)
    %q = mulf(broadcast(extf %x1), extf %b1)
    %s = arith.addf %sum, %p fastmath<reassoc> : vector<16xf32>
    %t = arith.addf %s, %q fastmath<reassoc> : vector<16xf32>
    // becomes
    %t = x86vector.avx512.dot %sum, %xs, %b : vector<32xbf16> -> vector<16xf32>
    ```

    where `%xs` has `%x0` and `%x1` in turns. A product of two bf16 is exact in
    f32, and the instruction rounds after each of the two sums, so the result is
    that of the updates in one of their orders, but that subnormal operands and
    results are zero.
  }];
  let statistics = [
    Statistic<"numPaired", "num-paired", "Pairs of updates that are one">
  ];
  // The target is an attribute of `poly`, also that of the host.
  let dependentDialects = ["espalier::poly::PolyDialect",
                           "mlir::arith::ArithDialect",
                           "mlir::vector::VectorDialect",
                           "mlir::x86vector::X86VectorDialect"];
}

def ProgramSequentializePass : Pass<"program-sequentialize", "mlir::func::FuncOp"> {
  let summary = "turns parallel loops that start no threads into sequential ones";
  let description = [{
    Replaces an `scf.parallel` without reductions inside another `scf.parallel`
    by `scf.for`s: the threads are busy with the outer one. With `all`, replaces
    the outermost ones, too.
  }];
  let options = [
    Option<"all", "all", "bool", /*default=*/"false",
           "Replace outermost loops, too">
  ];
  let dependentDialects = ["mlir::scf::SCFDialect"];
}

def ProgramHoistBuffersPass : Pass<"program-hoist-buffers", "mlir::func::FuncOp"> {
  let summary = "allocates the local buffers of a kernel once per thread";
  let description = [{
    Moves allocations of static size out of loops, to the start of the enclosing
    parallel region (`omp.parallel`) or function, and frees them at its end. A
    buffer of at most `max-stack-bytes` is placed on the stack. Kernels do not
    return buffers, so a missing deallocation is added, and the contents of a
    buffer are not expected to be fresh.
  }];
  let options = [
    Option<"maxStackBytes", "max-stack-bytes", "uint64_t", /*default=*/"16384",
           "Largest buffer that is placed on the stack">
  ];
  let dependentDialects = ["mlir::memref::MemRefDialect"];
}

def ProgramMergeParallelPass : Pass<"program-merge-parallel", "mlir::func::FuncOp"> {
  let summary = "makes one parallel region of neighbouring ones";
  let description = [{
    Starting threads costs more than a barrier between them. Where only
    computations without effects lie between two `omp.parallel` in a block, and
    loads from arguments that the function does not write, the second moves into
    the first, after it; the `omp.wsloop` of the first ends in a barrier. A
    sequential loop that contains nothing but one `omp.parallel` and such
    operations moves into it, so that every thread runs the loop, and so does a
    condition in a loop:

    ```mlir
    scf.for %k = ... { omp.parallel { A } }
    // becomes
    omp.parallel { scf.for %k = ... { A } }
    ```
  }];
  let statistics = [
    Statistic<"numMerged", "num-merged", "Parallel regions merged into others">
  ];
}

def ProgramShareLoopsPass : Pass<"program-share-loops", "mlir::ModuleOp"> {
  let summary = "gives each thread its part of a parallel loop";
  let description = [{
    Replaces an `omp.wsloop` over indices by a loop over the iterations that a
    thread executes, in contiguous parts of equal size, as OpenMP's static
    schedule does by a call that allocates memory in each step of a recurrence:

    ```mlir
    omp.wsloop { omp.loop_nest (%i) : index = (%a) to (%b) step (%c) { A } }
    // becomes
    %thread = call @__kmpc_bound_thread_num(%null)
    %threads = call @__kmpc_bound_num_threads(%null)
    scf.for %k = %first to %end step %c1 { %i = ... A }
    scf.if %several { omp.barrier }
    ```

    Inside of a sequential loop, such as that over the steps of a recurrence, a
    thread's iterations run backwards every second time. Then weights that its
    cache does not hold as a whole are there in part: what was read last is read
    first.

    Loops with reductions or a schedule of their own stay.
  }];
  let statistics = [
    Statistic<"numShared", "num-shared", "Parallel loops shared by arithmetic">
  ];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::func::FuncDialect",
                           "mlir::LLVM::LLVMDialect", "mlir::scf::SCFDialect"];
}

def ProgramAnnotateAliasesPass : Pass<"program-annotate-aliases", "mlir::LLVM::LLVMFuncOp"> {
  let summary = "states that distinct buffers of a kernel do not overlap";
  let description = [{
    Each pointer argument of a kernel is a buffer of its own, as is each of its
    allocations; the memory planner and the checks at the boundary see to that.
    This pass traces every load and store to the buffer that it accesses and
    attaches alias scopes. Unlike `noalias` on arguments these survive the
    outlining of parallel regions. Accesses that cannot be traced stay as they
    are.
  }];
}

#endif // ESPALIER_CONVERSION_PROGRAMTOLLVM_PASSES_TD
