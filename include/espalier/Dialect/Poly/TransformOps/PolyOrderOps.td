//===- PolyOrderOps.td - Commands that change the order ----*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYORDEROPS_TD
#define ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYORDEROPS_TD

include "espalier/Dialect/Poly/TransformOps/PolyTransformBase.td"

def SplitOp : PolyCommandOp<"split"> {
  let summary = "splits a loop into nested ones";
  let description = [{
    Makes one loop more than there are factors; the last factor is the number of
    iterations of the innermost. They are called `i.0`, `i.1`, ... for a loop
    `i`, or as `into` says. The last iteration of each may be partial.

    #### Return modes

    - Silenceable failure: there is no such loop; a factor is not positive, or
      their product larger than the loop's extent; the number of names is wrong.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.split %acc loop "i" factors [4, 8] : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       StrAttr:$loop,
                       DenseI64ArrayAttr:$factors,
                       OptionalAttr<StrArrayAttr>:$into);
  let assemblyFormat = [{
    $target `loop` $loop `factors` $factors (`into` $into^)?
    attr-dict `:` type($target)
  }];
}

def ParallelizeOp : PolyCommandOp<"parallelize"> {
  let summary = "runs the iterations of a loop on different threads";
  let description = [{
    #### Return modes

    - Silenceable failure: there is no such loop, or it carries a dependence.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.parallelize %acc loop "i.0" : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$loop);
  let assemblyFormat = "$target `loop` $loop attr-dict `:` type($target)";
}

#endif // ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYORDEROPS_TD
