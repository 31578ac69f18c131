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
    /// Whether one of these attributes says something of an argument.
    bool hasKnownValues(unsigned number);
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

include "espalier/Dialect/Poly/IR/PolyComputeOps.td"

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
