//===- PolyStructureOps.td - Commands for the tree ---------*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYSTRUCTUREOPS_TD
#define ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYSTRUCTUREOPS_TD

include "espalier/Dialect/Poly/TransformOps/PolyTransformBase.td"

def FuseOp : PolyPairCommandOp<"fuse"> {
  let summary = "lets two parts of a sequence share loops";
  let description = [{
    The part of a sequence that runs `other` joins the first `loops` loops of
    the part that runs `target`, which comes before it. In each iteration the
    target's part comes first. Where dependences ask for it, the other part is
    delayed, by as few iterations as possible; a remark `Fused` says by how many.
    The loops keep the names that they have for `target`.

    #### Return modes

    - Silenceable failure: `target` does not come before `other` in a sequence; a
      nest has fewer loops; the loops do not run alike; there is no delay with
      which all dependences are kept.
    - Definite failure: a handle is not one computation.

    Example:
    ```mlir
    transform.poly.fuse %producer with %consumer loops 2
        : !transform.any_op, !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       TransformHandleTypeInterface:$other,
                       I64Attr:$loops);
  let assemblyFormat = [{
    $target `with` $other `loops` $loops attr-dict
    `:` type($target) `,` type($other)
  }];
}

#endif // ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYSTRUCTUREOPS_TD
