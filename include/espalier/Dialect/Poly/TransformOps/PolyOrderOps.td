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

def TileOp : PolyCommandOp<"tile"> {
  let summary = "tiles loops of a nest";
  let description = [{
    `sizes` has one list for each level of tiles, outermost first: the
    iterations of each loop in one tile. The loops `i.0` over the tiles take the
    places of the loops, in the order in which they are listed; those inside,
    `i.1` and so on, follow the last.

    #### Return modes

    - Silenceable failure: there are no such loops, or they are not in one nest;
      a size is not positive, larger than the loop's extent or no multiple of
      that of the level below; the order would break a dependence. The message
      then says which skew would make it legal, if there is one.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.tile %acc loops ["i", "j"] sizes [[64, 64], [4, 16]]
        : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       StrArrayAttr:$loops,
                       TypedArrayAttrBase<I64ArrayAttr, "sizes">:$sizes);
  let assemblyFormat = [{
    $target `loops` $loops `sizes` $sizes attr-dict `:` type($target)
  }];
}

def InterchangeOp : PolyCommandOp<"interchange"> {
  let summary = "puts loops of a nest in another order";
  let description = [{
    Names all loops whose order is to change, outermost first; the others stay
    where they are. Directly nested bands become one.

    #### Return modes

    - Silenceable failure: there are no such loops, or they are not in one nest;
      the order would break a dependence. The message then says which skew would
      make it legal, if there is one.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.interchange %acc loops ["k", "i"] : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       StrArrayAttr:$loops);
  let assemblyFormat =
      "$target `loops` $loops attr-dict `:` type($target)";
}

def SkewOp : PolyCommandOp<"skew"> {
  let summary = "adds multiples of other loops to a loop";
  let description = [{
    With the loop `i` skewed by 2 of `t`, what ran in iteration `i` runs in
    iteration `i + 2 * t`.

    #### Return modes

    - Silenceable failure: there are no such loops, not one factor for each, or
      a computation of the band does not run one of them; a dependence would be
      broken.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.skew %step loop "j" by [2, 1] of ["t", "i"]
        : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$loop,
                       DenseI64ArrayAttr:$factors, StrArrayAttr:$others);
  let assemblyFormat = [{
    $target `loop` $loop `by` $factors `of` $others attr-dict `:` type($target)
  }];
}

def ReverseOp : PolyCommandOp<"reverse"> {
  let summary = "runs a loop from its end";
  let description = [{
    #### Return modes

    - Silenceable failure: there is no such loop, or it carries a dependence.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.reverse %step loop "i" : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$loop);
  let assemblyFormat = "$target `loop` $loop attr-dict `:` type($target)";
}

#endif // ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYORDEROPS_TD
