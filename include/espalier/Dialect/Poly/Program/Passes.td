//===- Passes.td - Kernels that work together --------------*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_POLY_PROGRAM_PASSES_TD
#define ESPALIER_DIALECT_POLY_PROGRAM_PASSES_TD

include "mlir/Pass/PassBase.td"

def PolyPushReductionsPass
    : Pass<"poly-push-reductions", "::espalier::poly::KernelOp"> {
  let summary = "updates the elements that values name, and looks for none";
  let description = [{
    A reduction over the points whose value is the index of its element meets each
    point once for each element. Each point updates the element that it names
    instead:

    ```mlir
    poly.compute @f  domain (i, m)  reads(%I[m], %V[m], %A[i])  writes(%A[i]) reduction add {
      // %A[i] + (%I[m] == i ? %V[m] : 0)
    // becomes
    poly.compute @f  domain (m) where (0 <= I[m] < N)
        reads(%I[m], %V[m], %A[I[m]])  writes(%A[I[m]]) reduction add {
      // %A[I[m]] + %V[m]
    ```

    What the domain said of `i`, it says of the value: points that name no element
    are left out. The equation is one of the terms of the condition under which
    a point has a value other than the neutral one; several dimensions may be
    values. This is done in private kernels without a schedule.

    Points that name one of few elements stay as they are, since all of these are
    updated in few vectors. So do a few points for an element of type `index`, which
    says what is read: it is found and used in registers then.
  }];
  let options = [
    Option<"minPoints", "min-points", "int64_t", /*default=*/"32",
           "Elements that a point may name, at least">,
    Option<"minUpdates", "min-updates", "int64_t", /*default=*/"16",
           "Points that may name an element of type index, at least">
  ];
  let statistics = [
    Statistic<"numPushed", "num-pushed", "Reductions over fewer dimensions">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PolyPushUpdatesPass : Pass<"poly-push-updates", "::mlir::ModuleOp"> {
  let summary = "replaces the elements that values name, the last one at last";
  let description = [{
    What replaces an element is found as the greatest number of a point that names
    it, `L[i] = max(m | I[m] == i) m`, where there is one:

    ```mlir
    R[i] = L[i] >= 0 ? V[L[i]] : X[i]
    // becomes
    R[i] = X[i];  R[I[m]] = V[m] for all m, in their order
    ```

    So `L` is gone, with the kernel that computes it for the other one. This is
    done where `L` has all dimensions of `R` and no other readers, and numbers are
    those of one dimension, in private kernels without parameters and schedules.
  }];
  let options = [
    Option<"minPoints", "min-points", "int64_t", /*default=*/"32",
           "Elements that a point may name, at least">
  ];
  let statistics = [
    Statistic<"numPushed", "num-pushed", "Arrays of numbers that are gone">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PolyStoreInPlacePass
    : Pass<"poly-store-in-place", "::mlir::ModuleOp"> {
  let summary = "computes arrays in the larger ones that they are copied to";
  let description = [{
    A padded copy, or a concatenation, moves all of an array into a part of
    another one. The array is computed there in the first place, its readers find
    it there, and the copy is gone, with its kernel if that has nothing else to
    do:

    ```mlir
    poly.compute @f  ... writes(%X[(i) -> (i)])                     // 0 <= i < N
    poly.compute @in ... reads(%X[(i) -> (i)]) writes(%P[(i) -> (i + 1)])
    // becomes
    poly.compute @f  ... writes(%P[(i) -> (i + 1)])
    ```

    This is done for an array that `memref.alloc` or `poly.array` makes, that one
    kernel computes without reading it again, and that private kernels without a
    schedule use, called once each. That the copy moves all of the array, that
    nobody else writes the part that it moves it to, and that nobody reads this
    part before, is decided exactly; what cannot be decided stays as it is.
  }];
  let statistics = [
    Statistic<"numStored", "num-stored", "Copies that are gone">
  ];
}

def PolyCollapseDimensionsPass
    : Pass<"poly-collapse-dimensions", "::mlir::ModuleOp"> {
  let summary = "makes one dimension of those that are walked as one";
  let description = [{
    Two dimensions of a computation become one where all of its accesses use them
    as they lie in memory, one after the other: rows and columns of a 1x1
    convolution, all dimensions of a function of each element.

    ```mlir
    poly.compute @f  domain (c, y, x)  reads(%X[(c, y, x) -> (c, y, x)] : memref<8x7x7xf32>)
    // becomes
    poly.compute @f  domain (c, p)     reads(%X[(c, p) -> (c, p)] : memref<8x49xf32>)
    ```

    Lanes then run over the ends of rows, and a register tile has rows of several.
    The array has one dimension for the two, too, for all computations of the
    kernel; the program passes a view of it, `memref.collapse_shape`.

    This is done in private kernels without a schedule, called once, for
    dimensions with fixed extents and no other inside of them in memory, or one,
    its lanes, for those of a sum. Those that data or other dimensions bound, or
    whose index is a value, stay as they are.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
  let statistics = [
    Statistic<"numCollapsed", "num-collapsed", "Dimensions that are gone">
  ];
}

def PolyOverlapCallsPass : Pass<"poly-overlap-calls", "::mlir::ModuleOp"> {
  let summary = "runs recurrences that feed one another side by side";
  let description = [{
    Layers over a sequence run as a pipeline, block of steps by block of steps,
    each on a thread of its own:

    ```mlir
    poly.call @a(%x, %h, %T)  // h[t] = f(h[t - 1], x[t])
    poly.call @b(%h, %g, %T)  // g[t] = f(g[t - 1], h[t])
    // becomes
    scf.for %d = ... {
      scf.parallel (%s) = (0) to (2) {      // block %d - %s of stage %s
        scf.if ... { poly.call @a_block(%x, %h, %T, %first, %count) }
        scf.if ... { poly.call @b_block(%h, %g, %T, %first, %count) }
      }
    }
    ```

    Kernels of a pipeline are private, have no schedule, state nothing of data
    (what checks that is for one thread), and all their computations have a
    first dimension of one extent. What one of them writes it and the others use
    at a row that is that dimension and a number, and nobody uses a row before it
    is written: the numbers say so. A stage ends with a recurrence. What stands
    between and is no part of it runs after it.

    It is for steps that are too short for threads to share, where extents that
    are not known count as small, and for targets with several cores.
  }];
  let options = [
    Option<"maxStepPoints", "max-step-points", "int64_t",
           /*default=*/"(1 << 17) - 1",
           "Points of a step, at most: of more, threads share each step">
  ];
  let statistics = [
    Statistic<"numOverlapped", "num-overlapped", "Recurrences in pipelines">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def PolyNameKernelsPass : Pass<"poly-name-kernels", "::mlir::ModuleOp"> {
  let summary = "names kernels after what they do, and keeps equal ones once";
  let description = [{
    A schedule script finds kernels by name. So a name depends on nothing but the
    kernel: on the operators that it is made of, for people, and on a hash of its
    text. What is added elsewhere in a model changes none. Of kernels that differ
    in nothing but their locations, the first is called wherever one of them was;
    so arguments that a kernel does not use, which tell some apart, are removed.

    Only private kernels are named, whose computations say what operator they are
    of (`getOrigin`).
  }];
  let options = [
    Option<"merge", "merge", "bool", /*default=*/"true",
           "Keep equal kernels once; otherwise they are numbered">
  ];
  let statistics = [
    Statistic<"numMerged", "num-merged", "Kernels equal to one before">
  ];
}

#endif // ESPALIER_DIALECT_POLY_PROGRAM_PASSES_TD
