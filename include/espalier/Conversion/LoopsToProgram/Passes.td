//===- Passes.td - Passes from loops to program ------------*- tablegen -*-===//

#ifndef ESPALIER_CONVERSION_LOOPSTOPROGRAM_PASSES_TD
#define ESPALIER_CONVERSION_LOOPSTOPROGRAM_PASSES_TD

include "mlir/Pass/PassBase.td"

def ProgramVerifyLoopsPass : Pass<"program-verify-loops", "mlir::ModuleOp"> {
  let summary = "checks that a module describes a whole program";
  let description = [{
    A module of stage `loops` holds `@main` and `@main_plan`:

    ```mlir
    func.func @main(%x: memref<?x4xf32> {espalier.name = "x", espalier.dims = ["n", ""]},
                    %y: memref<?xf32> {espalier.name = "y"})
        attributes {espalier.num_inputs = 1 : i64}
    func.func @main_plan(%n: index, %four: index) -> index
    ```

    `@main` takes the inputs, then the outputs, and returns nothing;
    `espalier.num_inputs` says how many arguments are inputs. `@main_plan` maps
    the extents of all inputs to the extents of all outputs. Both have one
    block. Arguments of `@main` are memrefs of rank 15 at most with the identity
    layout and an element type of the table in `espalier-c/Runtime.h`.
    Nothing is changed.
  }];
}

def ProgramHoistScratchPass : Pass<"program-hoist-scratch", "mlir::ModuleOp"> {
  let summary = "lets @main allocate the buffers of kernels";
  let description = [{
    Allocating in every run of a kernel costs page faults. A buffer that a kernel
    allocates outside of parallel loops becomes an argument, and `@main`
    allocates it, so that -program-plan-memory gives it a place in the arena for
    the time of the call:

    ```mlir
    func.func @k(%x: memref<?xf32>, %n: index) { %a = memref.alloc(%n) : memref<?xf32> ... }
    call @k(%x, %n)
    // becomes
    func.func @k(%x: memref<?xf32>, %n: index, %a: memref<?xf32>) { ... }
    %a = memref.alloc(%n) : memref<?xf32>
    call @k(%x, %n, %a)
    ```

    Buffers that each thread has for itself, buffers whose size changes inside
    the kernel, and static ones below `min-bytes`, which fit on the stack, stay.
    For one of the first kind whose size only the run knows, `@main` allocates
    another that nobody uses: so the plan checks the size, and that there is memory
    for one thread, before a kernel runs, which has no way to fail.
  }];
  let options = [
    Option<"minBytes", "min-bytes", "uint64_t", /*default=*/"16384",
           "Smallest static buffer to hoist">
  ];
  let statistics = [
    Statistic<"numHoisted", "num-hoisted", "Buffers moved to @main">
  ];
  let dependentDialects = ["mlir::memref::MemRefDialect"];
}

def ProgramShareKernelsPass : Pass<"program-share-kernels", "mlir::ModuleOp"> {
  let summary = "makes one function of kernels that store at other places";
  let description = [{
    Functions that are equal but for numbers which say where results are stored,
    and for the shapes of arrays that are only used as arrays of one dimension,
    become one, which takes the numbers as arguments:

    ```mlir
    func.func private @a(%s: f32, %i: index, %y: memref<4x352xf32>) {
      %c320 = arith.constant 320 : index
      %c352 = arith.constant 352 : index
      %row = arith.muli %i, %c352 : index
      %place = arith.addi %row, %c320 : index
      %m = memref.collapse_shape %y [[0, 1]] : memref<4x352xf32> into memref<1408xf32>
      memref.store %s, %m[%place] : memref<1408xf32>
      ...
    // and @b with 384 and 352 in place of 352 and 320 become
    func.func private @a(%s: f32, %i: index, %m: memref<?xf32>, %p: index, %q: index) {
      %row = arith.muli %i, %p : index
      %place = arith.addi %row, %q : index
      memref.store %s, %m[%place] : memref<?xf32>
      ...
    ```

    Numbers that are used otherwise stay, and functions that differ in them stay
    apart: bounds of loops, places of what is read. So do functions that
    somebody else could call, and those that do more than to be called.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect"];
  let statistics = [
    Statistic<"numShared", "num-shared", "Functions that became another">
  ];
}

def ProgramPlanMemoryPass : Pass<"program-plan-memory", "mlir::ModuleOp"> {
  let summary = "places the intermediate buffers of @main in one arena";
  let description = [{
    Replaces every `memref.alloc` of `@main` by a `memref.view` of one new
    argument, `%arena`, and adds the number of bytes that the arena needs to the
    results of `@main_plan`:

    ```mlir
    %a = memref.alloc() : memref<4x4xf32>
    // becomes
    %c0 = arith.constant 0 : index
    %a = memref.view %arena[%c0][] : memref<?xi8> to memref<4x4xf32>
    ```

    Buffers whose lifetimes do not meet may share bytes. A buffer lives from its
    first to its last use in `@main`, uses through views included. Offsets are
    multiples of 64 bytes. Buffers are placed in groups of equal symbolic size:
    a buffer of `4 * n * 7 * 7` elements belongs to the group `n`, and one of
    static size to the group of the empty product. Within a group the greedy
    best fit works on static multiples of the group's run-time unit, so sharing
    is as good for dynamic sizes as for static ones; the groups follow each
    other.

    Sizes have to be computable from the extents of the inputs and outputs
    alone; that none is negative becomes a `cf.assert` in `@main_plan`. If
    `@main` chooses between two versions by an `scf.if`, each has an arena of
    its own, and `@main_plan` makes the same choice. What `@main` asserts,
    `@main_plan` asserts too, in the same version.
    Deallocations in `@main` are erased. Allocations in kernels stay.

    With `separate`, buffers stay allocations, freed at the end of their block: an
    access outside of one is then seen by tools that watch the heap. The sizes are
    planned and checked all the same.
  }];
  let options = [
    Option<"separate", "separate", "bool", /*default=*/"false",
           "Leave buffers allocations of their own">
  ];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::cf::ControlFlowDialect",
                           "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numBuffers", "num-buffers", "Buffers placed in the arena">
  ];
}

def ProgramPackConstantsPass : Pass<"program-pack-constants", "mlir::ModuleOp"> {
  let summary = "moves the constants that @main reads into one blob";
  let description = [{
    Replaces every `memref.get_global` of a constant in `@main` by a
    `memref.view` of one new argument, `%constants`. The values move, uncopied,
    into two attributes of the module, from which `espalier::writeConstants`
    lays out the blob when the program is stored:

    ```mlir
    module attributes {espalier.constants = [dense_resource<w> : tensor<8x8xf32>],
                       espalier.constant_offsets = array<i64: 0>}
    ```

    Offsets are multiples of 64 bytes. Constants with identical bytes share one
    place. Mutable globals, and globals that kernels read directly, stay.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect"];
  let statistics = [
    Statistic<"numConstants", "num-constants", "Constants in the blob">,
    Statistic<"numShared", "num-shared", "Constants that share another's bytes">
  ];
}

def ProgramCheckSizesPass : Pass<"program-check-sizes", "mlir::ModuleOp"> {
  let summary = "makes @main_plan report sizes that are out of range";
  let description = [{
    Replaces additions, subtractions, multiplications and divisions of
    `@main_plan` by checked ones, and removes its `cf.assert`s. When a check
    fails, the last result, the arena's number of bytes, becomes `-k`, where
    message number `k - 1` of the attribute `espalier.plan_messages` says what
    was wrong, and two further results are the numbers that replace the `%` of
    the message: the sizes that an assertion has compared. The same `cf.assert`s are removed from `@main`, which only runs
    after a plan that succeeded.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect"];
}

def ProgramVerifyPlannedPass : Pass<"program-verify-planned", "mlir::ModuleOp"> {
  let summary = "checks that a module is of stage program";
  let description = [{
    `@main` has the arguments marked `espalier.arena` and `espalier.constants`
    at its end and allocates nothing, and `@main_plan` has the arena's size as
    its last result but those that messages take. No kernel gets one buffer for two arguments of which it
    writes one: code generation takes the buffers of a kernel to be disjoint.
    Nothing is changed.
  }];
}

#endif // ESPALIER_CONVERSION_LOOPSTOPROGRAM_PASSES_TD
