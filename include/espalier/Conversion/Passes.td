//===- Passes.td - Lowerings between levels ----------------*- tablegen -*-===//

#ifndef ESPALIER_CONVERSION_PASSES_TD
#define ESPALIER_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertGraphToPolyPass
    : Pass<"convert-graph-to-poly", "::mlir::ModuleOp"> {
  let summary = "writes a graph of operators as kernels";
  let description = [{
    Instantiates every operator's definition: each equation becomes a kernel that
    computes one array, with affine accesses that are in bounds; a recurrence
    becomes one kernel. The function becomes one on memrefs that receives the
    inputs, then the outputs, and calls the kernels; a second function, named
    with the suffix `_plan`, computes the extents of the outputs from those of
    the inputs. What operators require of extents that are only known when the
    program runs, and that do not follow from each other, is asserted before the
    first call. What computes with constants alone is evaluated.

    Loops are called as in the operators' definitions, or `d0`, `d1` and so on
    where these have no name for them; the operators that a computation is of are
    in its location, and `poly-name-kernels` names kernels after them.

    What makes fast kernels of these is `poly-form-kernels`.

    ```mlir
    func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %r = graph.relu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
      return %r : tensor<4x8xf32>
    }
    // becomes
    poly.kernel private @kernel_0(%x: memref<4x8xf32>, %r: memref<4x8xf32>) {...}
    func.func @main(%x: memref<4x8xf32>, %r: memref<4x8xf32>) {
      poly.call @kernel_0(%x, %r) : memref<4x8xf32>, memref<4x8xf32>
      return
    }
    ```

    A function may choose between two versions of itself, by one `scf.if` with
    a condition on the sizes of its arguments; the sizes of its results are
    those of the second one.

    Sums of products with a constant whose type has an encoding of the
    `sparse_tensor` dialect run over its entries, row by row, where that can be:
    products with zero are left out then. Other tensors have all their elements;
    an encoding of their types is an error.
  }];
  let dependentDialects = [
    "::espalier::poly::PolyDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::func::FuncDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"
  ];
  let options = [
    Option<"fold", "fold", "bool", /*default=*/"true",
           "Evaluate what computes with constants alone">,
    Option<"entries", "entries", "bool", /*default=*/"true",
           "Run over entries of constants; without, encodings change nothing">
  ];
  let statistics = [
    Statistic<"numStatements", "num-statements", "Statements written">,
    Statistic<"numFolded", "num-folded", "Statements evaluated">,
    Statistic<"numSparse", "num-sparse", "Sums over entries of constants">
  ];
}

/// Of passes between kernels.
defvar kernelDialects = [
  "::espalier::poly::PolyDialect", "::mlir::arith::ArithDialect",
  "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect"
];

def PolyFormKernelsPass : Pass<"poly-form-kernels", "::mlir::ModuleOp"> {
  let summary = "fuses, lays out and rewrites the kernels of a program";
  let description = [{
    Reads the private kernels that a program calls as statements on arrays,
    decides which of them share a kernel, in which order elements lie and by which
    algorithm they are computed, and writes the kernels that follow. It does not
    matter what the kernels were made of. A program with kernels that say more
    than statements can (a schedule, places of arrays, what holds of values), that
    write an input, or of which it is not known that elements are written before
    they are read, stays as it is, and a remark says why.

    This is done in steps. Each is for speed alone, and a pass of its own:

    | Step | Pass | What it does |
    |---|---|---|
    | `inline-maps` | `poly-inline-maps` | writes a map into its readers |
    | `fold-constants` | `poly-fold-constants` | evaluates what depends on constants alone |
    | `forward-taps` | `poly-forward-taps` | walks windows forwards |
    | `keep-row-major` | `poly-keep-row-major` | keeps a contraction's lanes along the caller's rows |
    | `separate-groups` | `poly-separate-groups` | gives grouped convolutions a dimension of groups |
    | `assign-layouts` | `poly-assign-layouts` | chooses where elements lie, and packs operands |
    | `widen-operands` | `poly-widen-operands` | holds short numbers that are read often as f32 |
    | `pad-rows` | `poly-pad-rows` | lets the rows of a tile fall into different sets of the cache |
    | `separate-interpolation` | `poly-separate-interpolation` | interpolates, or takes maxima, index by index |
    | `drop-points` | `poly-drop-points` | leaves out dimensions with one point |
    | `share-sums` | `poly-share-sums` | cuts long sums into parts for threads |
    | `align-outputs` | `poly-align-outputs` | stores results in the order of the contraction |
    | `fuse-kernels` | `poly-fuse-kernels` | makes one kernel of statements that share loops |
    | `separate-accumulators` | `poly-separate-accumulators` | sums in arrays of a kernel's own |
    | `decompose-phases` | `poly-decompose-phases` | gives each phase of a transposed convolution its sum |
    | `group-entries` | `poly-group-entries` | sums the rows of a sparse constant in groups |
    | `fuse-windows` | `poly-fuse-windows` | pools in the kernel that computes the image |
    | `fuse-products` | `poly-fuse-products` | two products and the rows between them, block by block |
    | `winograd` | `poly-winograd` | computes 3x3 convolutions with fewer products |
    | `trim-windows` | `poly-trim-windows` | leaves out what windows read of a border |
    | `fuse-copies` | `poly-fuse-copies` | rearranges the operands of a batch one by one |

    `poly-apply-layouts` comes last. This pass does what all of them do, one after
    the other, but reads and writes the kernels once.
  }];
  let dependentDialects = kernelDialects;
  let options = [
    ListOption<"skip", "skip", "std::string",
               "Steps that are left out. Without `winograd`, all elements that "
               "are not finite are treated as in the definition: the algorithm "
               "makes the results of the tiles that such an element is in not a "
               "number">,
    Option<"stopAfter", "stop-after", "std::string", /*default=*/"",
           "The last step">
  ];
  let statistics = [
    Statistic<"numKernels", "num-kernels", "Kernels formed">,
    Statistic<"numFolded", "num-folded", "Statements evaluated">,
    Statistic<"numWinograd", "num-winograd", "Convolutions with fewer products">
  ];
}

class Poly_StepPass<string step, string what>
    : Pass<"poly-" # step, "::mlir::ModuleOp"> {
  let summary = what;
  let description = [{
    One of the steps of `poly-form-kernels`, which says what they have in common.
    What the step decides stands in attributes until `poly-apply-layouts`, and can
    be changed there: `poly.layout`, `poly.padding` and `poly.order` of a buffer,
    `poly.shared_dims` of a kernel, `poly.keeps_row_major` of a computation. Layouts,
    `poly.fusion` of a buffer and `poly.algorithm` that are there before are kept.
  }];
  let dependentDialects = kernelDialects;
}

def PolyInlineMapsPass
    : Poly_StepPass<"inline-maps", "writes a map into its readers">;
def PolyFoldConstantsPass
    : Poly_StepPass<"fold-constants",
                    "evaluates what depends on constants alone">;
def PolyForwardTapsPass
    : Poly_StepPass<"forward-taps", "walks windows forwards">;
def PolyKeepRowMajorPass
    : Poly_StepPass<"keep-row-major",
                    "keeps a contraction's lanes along the caller's rows">;
def PolySeparateGroupsPass
    : Poly_StepPass<"separate-groups",
                    "gives grouped convolutions a dimension of groups">;
def PolyAssignLayoutsPass
    : Poly_StepPass<"assign-layouts",
                    "chooses where elements lie, and packs operands">;
def PolyWidenOperandsPass
    : Poly_StepPass<"widen-operands",
                    "holds short numbers that are read often as f32">;
def PolyPadRowsPass
    : Poly_StepPass<"pad-rows", "lets the rows of a tile fall into different "
                                "sets of the cache">;
def PolySeparateInterpolationPass
    : Poly_StepPass<"separate-interpolation",
                    "interpolates, or takes maxima, index by index">;
def PolyDropPointsPass
    : Poly_StepPass<"drop-points", "leaves out dimensions with one point">;
def PolyShareSumsPass
    : Poly_StepPass<"share-sums", "cuts long sums into parts for threads">;
def PolyAlignOutputsPass
    : Poly_StepPass<"align-outputs",
                    "stores results in the order of the contraction">;
def PolyFuseKernelsPass
    : Poly_StepPass<"fuse-kernels",
                    "makes one kernel of statements that share loops">;
def PolySeparateAccumulatorsPass
    : Poly_StepPass<"separate-accumulators",
                    "sums in arrays of a kernel's own">;
def PolyDecomposePhasesPass
    : Poly_StepPass<"decompose-phases",
                    "gives each phase of a transposed convolution its sum">;
def PolyGroupEntriesPass
    : Poly_StepPass<"group-entries",
                    "sums the rows of a sparse constant in groups">;
def PolyFuseWindowsPass
    : Poly_StepPass<"fuse-windows",
                    "pools in the kernel that computes the image">;
def PolyFuseProductsPass
    : Poly_StepPass<"fuse-products",
                    "two products and the rows between them, block by block">;
def PolyWinogradPass
    : Poly_StepPass<"winograd",
                    "computes 3x3 convolutions with fewer products">;
def PolyTrimWindowsPass
    : Poly_StepPass<"trim-windows",
                    "leaves out what windows read of a border">;
def PolyFuseCopiesPass
    : Poly_StepPass<"fuse-copies",
                    "rearranges the operands of a batch one by one">;

def PolyApplyLayoutsPass : Pass<"poly-apply-layouts", "::mlir::ModuleOp"> {
  let summary = "lets kernels access memory under the layouts of arrays";
  let description = [{
    Composes the accesses of kernels with the layouts that arrays have in
    attributes, packs constants, and removes the attributes of the steps of
    `poly-form-kernels`.

    ```mlir
    %w = memref.get_global @w {poly.layout = affine_map<(i, j) -> (j, i)>} : memref<4x8xf32>
    // becomes, with the elements in this order,
    %w = memref.get_global @w : memref<8x4xf32>
    ```
  }];
  let dependentDialects = kernelDialects;
}

def PolyAddMainPass : Pass<"poly-add-main", "::mlir::ModuleOp"> {
  let summary = "makes a program of a module that is one kernel";
  let description = [{
    Adds `@main`, which calls the kernel, and `@main_plan`, if the module has one
    `poly.kernel` and neither `@main` nor a call. The arrays that the kernel
    writes are the program's outputs, updated in place; what it only reads are
    inputs, and so are scalars, as arrays of rank 0. A parameter is the extent of
    an input without elements, so that everything that depends on it can be
    planned:

    ```mlir
    poly.kernel @scale(%x: memref<?xf32> {espalier.name = "x", poly.shape = affine_map<()[n] -> (n + 1)>},
                       %by: f32 {espalier.name = "by"}, %n: index {espalier.name = "n"}) {...}
    // becomes
    func.func @main(%by: memref<f32> {espalier.name = "by"},
                    %n: memref<?x0xi8> {espalier.name = "n", espalier.dims = ["n", ""]},
                    %x: memref<?xf32> {espalier.name = "x", espalier.dims = [""]})
    func.func @main_plan(%n: index, %zero: index) -> index   // n + 1
    ```

    `poly.shape` gives the extents of an array in terms of the parameters. Those
    of an input are checked against it, and the sizes against
    `poly.assumptions`. Where an output has none, its extents are
    inputs as well, called `x.0` for the first one of `x`.

    The program also checks that no access leaves its array where
    `poly-verify-accesses` does not look: at extents that nothing states, exactly;
    at indices and extents that are not affine, by their least and greatest values,
    as if the variables in them did not depend on each other. Where that cannot be
    told from sizes, or values that nothing bounds decide, it is an error.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect"
  ];
}

def PolyCheckGivensPass : Pass<"poly-check-givens", "::mlir::ModuleOp"> {
  let summary = "sees to it that what kernels state of data holds";
  let description = [{
    Each `poly.given` of a kernel that is called is one of these:

    - about constants: it is evaluated, and an error if it does not hold;
    - about inputs of the program: `@main_check` gets loops over its points, made
      from the statement, which run before the program does;
    - about arrays that the program makes: it runs the same loops before the call,
      when the arrays are complete, and makes the call only if nothing is wrong.

    So are `poly.bounded_by`, `poly.monotonic` and `poly.injective` of arguments for
    which a call passes what the program makes; of inputs, the runtime sees to them.
    Such calls get `poly.checked`, the numbers of these operands, which nobody else
    may set. The program has one more argument then, a record behind the outputs:

    ```mlir
    poly.call @use(%table, %y, %n) : memref<?xi32>, memref<?xf32>, index
    // becomes, with %none = record[0] == 0, loaded before each condition
    scf.if %none { poly.call @check_use_table(%table, %m, %n, %record) : ... }
    scf.if %none { poly.call @use(%table, %y, %n) {poly.checked = array<i64: 0>} : ... }
    ```

    A call that is not made by `@main` is an error: nobody would check it. So is a
    statement that reads outside its arrays. `@main_check` has a call of a kernel for each statement. It
    writes the number of a message, `espalier.check_messages`, counted from 1,
    then the point and the values to the record, its last argument:

    ```mlir
    func.func @main_check(%child: memref<?xi32>, %n: memref<?x0xi8>, %record: memref<32xi64>)
        attributes {espalier.check_messages = ["expects @child to hold, but got n = %, child[n] = %"]}
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::espalier::poly::PolyDialect",
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"
  ];
}

def PolyProfileCallsPass : Pass<"poly-profile-calls", "::mlir::ModuleOp"> {
  let summary = "lets a program time its kernels";
  let description = [{
    Adds an output `kernel_profile` to `@main`, with a row for each `poly.call`: the
    nanoseconds that it took, the floating-point operations of its computations, and
    the bytes of the arrays that it passes. Operations count as one each, `exp` too,
    at the points of the least box around a domain; they are -1 where values that
    the kernel reads decide which points run.

    ```mlir
    %begin = call @read_clock() : () -> i64
    poly.call @matmul(%a, %b, %c)
    %end = call @read_clock() : () -> i64
    %ns = arith.subi %end, %begin : i64
    memref.store %ns, %kernel_profile[%c0, %c0] : memref<1x3xi64>
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect"
  ];
}

def ConvertPolyToLoopsPass
    : Pass<"convert-poly-to-loops", "::mlir::ModuleOp"> {
  let summary = "generates the loops of scheduled kernels";
  let description = [{
    Replaces every `poly.kernel` by a function that executes it in the order of
    its schedule: loops as `scf.for` and `scf.parallel`, the lanes of vector
    loops as `vector` operations, masked where a loop may end early, and arrays
    placed in registers as SSA values that loops carry.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def ConvertLinalgToPolyPass
    : Pass<"convert-linalg-to-poly", "::mlir::ModuleOp"> {
  let summary = "forms kernels from structured operations on tensors";
  let description = [{
    Turns every function on tensors that has `linalg` operations into stage
    `poly`: a function on memrefs that receives the inputs, then the outputs, and
    calls one kernel per operation; element-wise operations join the operation
    that they continue. Beside them the function may have constants, shapes,
    reshapes and scalars. A second function, named with the suffix `_plan`,
    computes the extents of the outputs. Other functions stay as they are.

    A reduction that begins with `linalg.fill` or another tensor accumulates in
    a local array:

    ```mlir
    %r = linalg.matmul ins(%a, %b : ...) outs(%zeros : ...) -> tensor<4x8xf32>
    // becomes
    poly.kernel private @kernel_0(%a: memref<4x6xf32>, ...) {
      %acc = poly.array : memref<4x8xf32>
      poly.compute @s0_init ...  poly.compute @s0 ... reduction add
      poly.compute @s0_store ... }
    ```

    Run `linalg-fuse-elementwise-ops` before it for larger kernels. An operation
    of another dialect, and a body with operations outside `arith` and `math`,
    are errors.
  }];
  let dependentDialects = [
    "::espalier::poly::PolyDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect"
  ];
  let statistics = [Statistic<"numKernels", "num-kernels", "Kernels formed">];
}

def ConvertPolyToLinalgPass
    : Pass<"convert-poly-to-linalg", "::mlir::ModuleOp"> {
  let summary = "turns kernels of one computation into linalg.generic";
  let description = [{
    Replaces a `poly.kernel` with one computation by a function with one
    `linalg.generic` on memrefs, and calls of the one by calls of the other. A
    schedule is dropped. Where a memref is larger than the domain, or its extent
    is not known to be that of the domain, the operation works on a view.

    ```mlir
    poly.kernel @double(%x: memref<8xf32>, %r: memref<8xf32>) {
      poly.compute @s domain [...] reads(%x[...]) writes(%r[...]) { ... } }
    // becomes
    func.func @double(%x: memref<8xf32>, %r: memref<8xf32>) {
      linalg.generic {...} ins(%x) outs(%r) { ... } return }
    ```

    Kernels that have no such form stay, with a remark that says why: several
    computations, a domain that is not a box, accesses through parameters or
    data, results that depend on the order of the points.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect"
  ];
  let statistics = [
    Statistic<"numConverted", "num-converted", "Kernels converted">
  ];
}

#endif // ESPALIER_CONVERSION_PASSES_TD
