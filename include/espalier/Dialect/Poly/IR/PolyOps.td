//===- PolyOps.td - Kernels, computations and schedules ----*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_POLY_IR_POLYOPS_TD
#define ESPALIER_DIALECT_POLY_IR_POLYOPS_TD

include "espalier/Dialect/Poly/IR/PolyAttributes.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Poly_ElementType : AnyTypeOf<[AnyInteger, Index, AnyFloat]>;
def Poly_MemRef : MemRefOf<[Poly_ElementType]>;
def Poly_IntegerSetArrayAttr
    : TypedArrayAttrBase<IntegerSetAttr, "array of integer sets">;
def Poly_LoopArrayAttr
    : TypedArrayAttrBase<Poly_LoopKindAttrInterface, "array of loop kinds">;

def Poly_KernelOp : Poly_Op<"kernel", [
    FunctionOpInterface, IsolatedFromAbove, SymbolTable, SingleBlock,
    NoTerminator]> {
  let summary = "computations and the order in which they run";
  let description = [{
    Runs the points of its `poly.compute`s. The order that defines the meaning is
    the program order: computation after computation, each over its domain in
    lexicographic order, but for computations that are `interleaved`. A
    `poly.schedule`, if there is one, gives another order with the same effect.

    The arguments of type `index` are the parameters, taken as nonnegative. They
    are, in this order, the first symbols of every set and map of the kernel.
    The attribute `poly.shape` of an argument states its extents in terms of them,
    `poly.assumptions` of the kernel what else may be taken to hold for them.

    What an array of indices holds can be stated too: with `poly.bounded_by`, a map
    from the parameters to a number, all its values are from 0 to less than that;
    with `poly.injective`, no value occurs twice; with `poly.monotonic`, none is
    less than the one before it. Whatever else holds of values beside each other
    or their indices, a `poly.given` states. All proofs about the kernel use that,
    and callers of a program get an error where it does not hold.

    Constraints:
    - (C1) it has a body and no results.
    - (C2) arguments are memrefs of integers, floats or `index`, or scalars of
      these types.
    - (C3) the body holds `poly.array`, `poly.given`, `poly.compute` and at most
      one `poly.schedule`, nothing else.
    - (C4) `poly.shape` maps the parameters, as symbols, to the extents of a
      memref; it has a constant where the type has.
    - (C5) `poly.assumptions` is a set without dimensions, with the parameters as
      symbols.
    - (C6) `poly.bounded_by` maps the parameters, as symbols, to a constant, or
      to one of them plus a constant.
    - (C7) `poly.injective` is a unit attribute of an argument that is also
      `poly.bounded_by`.
    - (C8) what has such an attribute is a memref of integers that no computation
      writes, and has a sign: no truth values, and no `espalier.dtype` without.
    - (C9) `poly.monotonic` is a unit attribute of a memref with one dimension.
    - (C10) arrays on the stack and in registers have static extents, and take at
      most 2^20 bytes together.

    Example:
    ```mlir
    poly.kernel @zero(%C: memref<?xf32> {poly.shape = affine_map<()[N] -> (N)>},
                      %N: index) {
      poly.compute @init domain [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>]
          reads() writes(%C[affine_map<(i)[N] -> (i)>] : memref<?xf32>) {
        %z = arith.constant 0.0 : f32
        poly.yield %z : f32
      }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<StrAttr>:$sym_visibility,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name,
                                 "::mlir::TypeRange":$argumentTypes)>];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The attribute of an argument that states its extents.
    static constexpr ::llvm::StringLiteral getShapeAttrName() {
      return "poly.shape";
    }
    /// What is known of the values of an argument.
    static constexpr ::llvm::StringLiteral getBoundAttrName() {
      return "poly.bounded_by";
    }
    static constexpr ::llvm::StringLiteral getInjectiveAttrName() {
      return "poly.injective";
    }
    static constexpr ::llvm::StringLiteral getMonotonicAttrName() {
      return "poly.monotonic";
    }
    /// What holds for the parameters beyond being nonnegative; or null.
    ::mlir::IntegerSet getAssumptions();
    /// What arrays on the stack and in registers take at most.
    static constexpr int64_t kMaxStackBytes = 1 << 20;
    static constexpr ::llvm::StringLiteral getAssumptionsAttrName() {
      return "poly.assumptions";
    }
    /// The name of an argument: its attribute espalier.name, or `arg<number>`.
    std::string getArgumentName(unsigned number);
    /// The index-typed arguments, in order.
    ::llvm::SmallVector<::mlir::BlockArgument> getParameters();
    unsigned getNumParameters();
    ::llvm::SmallVector<ComputeOp> getComputes();
    ComputeOp lookupCompute(::llvm::StringRef name);
    ::llvm::SmallVector<GivenOp> getGivens();
    ::llvm::SmallVector<ArrayOp> getArrays();
    /// The schedule, or null for program order.
    ScheduleOp getSchedule();

    // FunctionOpInterface
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() {
      return getFunctionType().getInputs();
    }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() {
      return getFunctionType().getResults();
    }
  }];
}

def Poly_ArrayOp : Poly_Op<"array", [
    HasParent<"KernelOp">,
    MemoryEffects<[MemAlloc<DefaultResource>]>]> {
  let summary = "memory that lives while the kernel runs";
  let description = [{
    Elements are undefined until a computation writes them. `heap` memory is
    allocated per call; `stack` and `register` take small, static extents.
    Where code cannot tell which element in registers is meant, for a loop that is
    not unrolled, they are on the stack.

    With `storage`, element `x` lies at `storage(x)` of memory of the type that
    follows: that of a tile, say, instead of the whole array. If elements share
    places, each iteration of a parallel loop in which all happens that happens
    to an element has memory of its own. The accesses stay those of the array.
    `extents` gives the dynamic extents of the memory, from the parameters.

    Messages call an array by its attribute `espalier.name`, if it has one.

    Constraints:
    - (C1) there is one size for each dynamic extent; with `storage`, there may
      be none, and the indices have no bounds.
    - (C2) sizes are parameters of the kernel.
    - (C3) `storage` maps the array's indices to those of the memory.
    - (C4) `extents` maps the parameters to the dynamic extents of the memory;
      without it, such an extent is that of one of the array's dimensions, which
      `storage` passes on as it is.
    - (C5) `storage` is affine, with positive divisors and numbers of at most 2^31
      in size.

    Example:
    ```mlir
    %all = poly.array heap(%N) : memref<?xf32>
    %acc = poly.array register(%N) : memref<?x32xf32>
        storage affine_map<(i, j) -> (i mod 14, j)> as memref<14x32xf32>
    %panels = poly.array : memref<?x?xf32>
        storage affine_map<(i, j) -> (j floordiv 32, i, j mod 32)>
        as memref<?x?x32xf32> extents affine_map<()[M, N] -> (N ceildiv 32, M)>
    ```
  }];
  let arguments = (ins Variadic<Index>:$sizes,
      DefaultValuedAttr<Poly_MemorySpaceAttr,
                        "::espalier::poly::Placement::Heap">:$placement,
      OptionalAttr<AffineMapAttr>:$storage,
      OptionalAttr<TypeAttrOf<Poly_MemRef>>:$storage_type,
      OptionalAttr<AffineMapAttr>:$extents);
  let results = (outs Poly_MemRef:$array);
  let assemblyFormat = [{
    (custom<OptionalMemorySpace>($placement)^)? (`(` $sizes^ `)`)? attr-dict `:` type($array)
    (`storage` $storage^ `as` $storage_type (`extents` $extents^)?)?
  }];
  let extraClassDeclaration = [{
    /// Whether this is where the array lives.
    bool isIn(Placement placement) {
      auto own = ::llvm::dyn_cast<PlacementAttr>(getPlacement());
      return own && own.getValue() == placement;
    }
    /// The type of the memory behind the array.
    ::mlir::MemRefType getMemoryType() {
      return ::llvm::cast<::mlir::MemRefType>(
          getStorageType().value_or(getArray().getType()));
    }
  }];
  let hasVerifier = 1;
}

include "espalier/Dialect/Poly/IR/PolyGivenOps.td"

def Poly_ComputeOp : Poly_PointsOp<"compute", [
    SingleBlock, AttrSizedOperandSegments, RecursiveMemoryEffects]> {
  let summary = "a scalar function, evaluated at each point of an integer set";
  let description = [{
    At each point of `domain` (the union of the sets) it reads one element per
    read access, evaluates the body on these values, and stores what the body
    yields, one element per write access.

    The kernel's parameters are the first symbols of every set and map. A read
    map may use one more symbol for each read before it: the value that this read
    has at the point (an indirect access). A write map may use one for each read.

    With `where`, it does so only at those points at which values that it reads
    allow it: the set may use the value of each read as one more symbol. So a loop
    runs over a row of a sparse matrix, `rowptr[n] <= j < rowptr[n + 1]`. What it
    reads for that, it reads at all points of the domain.

    With `interleaved n`, its first n dimensions run together with those of the
    computation before it: for each value of them both run, one after the other.
    So do the steps of a recurrence over time, which read one another's results
    of the time before.

    The dimensions may have names, `dims`: the loops of a schedule that starts
    from program order are called so.

    The body may also use `poly.index`, and the kernel's scalar arguments. It is
    total: the quotient and the remainder of an integer by zero are 0, and the
    least number by -1 is itself, with a remainder of 0.

    With `reduction`, the update may be applied to an element in any order; the
    element is that of the write, whose access is also a read.

    Constraints:
    - (C1) the domain has at least one set; all have the same dimensions.
    - (C2) the sets' symbols are the kernel's parameters.
    - (C3) there is one map per access, from the domain's dimensions to as many
      indices as the memref has dimensions.
    - (C4) read map q has the parameters as symbols, or these and q more; a write
      map has the parameters, or these and one for each read.
    - (C5) the body has one argument per read, of the memref's element type.
    - (C6) the body yields one value per write, of the memref's element type.
    - (C7) a symbol of a read's value is of integers as those of (C15).
    - (C8) the body holds operations of `arith` and `math`, and `poly.index`.
    - (C9) a reduction has one write, whose memref and indices are those of
      exactly one read. They may depend on data.
    - (C10) accesses are to arguments or arrays of the kernel.
    - (C11) it is interleaved with a computation before it, in at most all
      dimensions of both.
    - (C12) there are no names, or a different one for each dimension.
    - (C13) a reduction uses the element that it updates for nothing but this: its
      body combines it with values that do not depend on it, as the reduction
      says.
    - (C14) `where` has the domain's dimensions; its symbols are the parameters
      and at most one for each read.
    - (C15) a read that `where` uses is of integers with a sign, of at most 64
      bits, at a place that depends on no other read.
    - (C16) the domain is affine, with positive divisors and numbers of at most
      2^31 in size.
    - (C17) divisors in accesses and in `where` are positive numbers, or depend on
      parameters alone; numbers are at most 2^31 in size.

    Example:
    ```mlir
    poly.compute @acc dims ["i", "k"] domain [affine_set<(i, k)[N] : (i >= 0, N - 1 - i >= 0,
                                                      k >= 0, N - 1 - k >= 0)>]
        reads(%A[affine_map<(i, k)[N] -> (i, k)>],
              %s[affine_map<(i, k)[N] -> (i)>] : memref<?x?xf32>, memref<?xf32>)
        writes(%s[affine_map<(i, k)[N] -> (i)>] : memref<?xf32>)
        reduction add {
    ^bb0(%a: f32, %s0: f32):
      %s1 = arith.addf %s0, %a : f32
      poly.yield %s1 : f32
    }
    poly.compute @clear dims ["n", "j"] domain [affine_set<(n, j)[N, E] : (n >= 0, N - 1 - n >= 0,
                                                      j >= 0, E - 1 - j >= 0)>]
        where affine_set<(n, j)[N, E, b, e] : (j - b >= 0, e - 1 - j >= 0)>
        reads(%rowptr[affine_map<(n, j)[N, E] -> (n)>],
              %rowptr[affine_map<(n, j)[N, E] -> (n + 1)>] : memref<?xi32>, memref<?xi32>)
        writes(%values[affine_map<(n, j)[N, E] -> (j)>] : memref<?xf32>) {
    ^bb0(%begin: i32, %end: i32):
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       OptionalAttr<StrArrayAttr>:$dims,
                       Poly_IntegerSetArrayAttr:$domain,
                       OptionalAttr<IntegerSetAttr>:$where,
                       Variadic<Poly_MemRef>:$reads,
                       Variadic<Poly_MemRef>:$writes,
                       AffineMapArrayAttr:$read_maps,
                       AffineMapArrayAttr:$write_maps,
                       OptionalAttr<Poly_ReductionAttr>:$reduction,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:
                           $interleaved);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name (`dims` $dims^)? `domain` $domain (`where` $where^)?
    `reads` `` custom<Accesses>($reads, type($reads), $read_maps)
    `writes` `` custom<Accesses>($writes, type($writes), $write_maps)
    (`reduction` $reduction^)? (`interleaved` $interleaved^)?
    attr-dict-with-keyword $body
  }];
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name,
      "::llvm::ArrayRef<::mlir::IntegerSet>":$domain,
      "::llvm::ArrayRef<ComputeAccess>":$reads,
      "::llvm::ArrayRef<ComputeAccess>":$writes,
      "::std::optional<Reduction>":$reduction,
      "::llvm::function_ref<void(::mlir::OpBuilder &, ::mlir::Location, "
          "::mlir::ValueRange)>":$buildBody)>];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = pointsDeclaration # [{
    /// Whether `where` depends on the value of read `number`.
    bool isConditionedOn(unsigned number);
    ::llvm::SmallVector<ComputeAccess> getReadAccesses();
    ::llvm::SmallVector<ComputeAccess> getWriteAccesses();
    YieldOp getYield();
  }];
}

def Poly_IndexOp : Poly_Op<"index", [Pure, ParentOneOf<["ComputeOp"]>]> {
  let summary = "a coordinate of the point that is computed";
  let description = [{
    Constraints:
    - (C1) `dim` is a dimension of the computation.

    Example:
    ```mlir
    %i = poly.index 0
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$dim attr-dict";
  let hasVerifier = 1;
}

def Poly_YieldOp : Poly_Op<"yield", [
    Pure, Terminator, HasParent<"ComputeOp">]> {
  let summary = "the values that a computation stores";
  let description = [{
    Example:
    ```mlir
    poly.yield %a, %b : f32, i64
    ```
  }];
  let arguments = (ins Variadic<Poly_ElementType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Poly_CallOp : Poly_Op<"call", [
    CallOpInterface,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs a kernel";
  let description = [{
    The memrefs must not overlap one another where one of them is written.

    Constraints:
    - (C1) the callee is a `poly.kernel`.
    - (C2) the operands have the types of the kernel's arguments.

    Example:
    ```mlir
    poly.call @matmul(%a, %b, %c, %m) : memref<?x?xf32>, memref<?x?xf32>,
                                        memref<?x?xf32>, index
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee,
                       Variadic<AnyType>:$arguments,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let assemblyFormat = [{
    $callee `(` $arguments `)` attr-dict (`:` type($arguments)^)?
  }];
  let builders = [OpBuilder<(ins "KernelOp":$kernel,
                                 "::mlir::ValueRange":$arguments)>];
  let extraClassDeclaration = [{
    ::mlir::CallInterfaceCallable getCallableForCallee() {
      return getCalleeAttr();
    }
    void setCalleeFromCallable(::mlir::CallInterfaceCallable callee) {
      setCalleeAttr(::mlir::cast<::mlir::FlatSymbolRefAttr>(
          ::mlir::cast<::mlir::SymbolRefAttr>(callee)));
    }
    ::mlir::Operation::operand_range getArgOperands() { return getArguments(); }
    ::mlir::MutableOperandRange getArgOperandsMutable() {
      return getArgumentsMutable();
    }
  }];
}

include "espalier/Dialect/Poly/IR/PolyScheduleOps.td"

#endif // ESPALIER_DIALECT_POLY_IR_POLYOPS_TD
