//===- PolyTransformOps.td - Scheduling commands -----------*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYTRANSFORMOPS_TD
#define ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYTRANSFORMOPS_TD

include "espalier/Dialect/Poly/TransformOps/PolyTransformBase.td"
include "espalier/Dialect/Poly/TransformOps/PolyArrayOps.td"
include "espalier/Dialect/Poly/TransformOps/PolyDataOps.td"
include "espalier/Dialect/Poly/TransformOps/PolyExecutionOps.td"
include "espalier/Dialect/Poly/TransformOps/PolyKernelOps.td"
include "espalier/Dialect/Poly/TransformOps/PolyOrderOps.td"
include "espalier/Dialect/Poly/TransformOps/PolyPlanOps.td"
include "espalier/Dialect/Poly/TransformOps/PolyStructureOps.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/SymbolInterfaces.td"

def ComputationOp : Op<Transform_Dialect, "poly.computation",
    [DeclareOpInterfaceMethods<TransformOpInterface>,
     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let cppNamespace = "::espalier::poly";
  let summary = "finds a computation by its name";
  let description = [{
    Looks up `name` from the single op that `root` is: `@kernel::@computation`
    from a module, `@computation` from a `poly.kernel`.

    #### Return modes

    Reads `root`; returns a handle to the computation.
    - Silenceable failure: there is none; the message lists those there are.
    - Definite failure: `root` is not one module or kernel.

    Example:
    ```mlir
    %acc = transform.poly.computation @matmul::@acc of %module
        : (!transform.any_op) -> !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$root,
                       SymbolRefAttr:$name);
  let results = (outs TransformHandleTypeInterface:$computation);
  let assemblyFormat =
      "$name `of` $root attr-dict `:` functional-type(operands, results)";
}

def WrittenArrayOp : Op<Transform_Dialect, "poly.written_array",
    [DeclareOpInterfaceMethods<TransformOpInterface>,
     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let cppNamespace = "::espalier::poly";
  let summary = "finds an array of the kernel by what writes it";
  let description = [{
    Looks up the `poly.array` that a computation writes: with its first write,
    or with write `number`.

    #### Return modes

    Reads `computation`; returns a handle to the array.
    - Silenceable failure: there is no such write, or it is to an argument.
    - Definite failure: `computation` is not one computation.

    Example:
    ```mlir
    %sum = transform.poly.written_array of %init
        : (!transform.any_op) -> !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$computation,
      DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$number);
  let results = (outs TransformHandleTypeInterface:$array);
  let assemblyFormat = [{
    (`write` $number^)? `of` $computation attr-dict
    `:` functional-type(operands, results)
  }];
}

#endif // ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYTRANSFORMOPS_TD
