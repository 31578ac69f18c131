//===- PolyOrderOps.td - Commands that change the order ----*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYORDEROPS_TD
#define ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYORDEROPS_TD

include "espalier/Dialect/Poly/TransformOps/PolyTransformBase.td"

def SplitOp : PolyCommandOp<"split", ["factors"]> {
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
                       Variadic<Poly_NumberParam>:$open_factors,
                       StrAttr:$loop,
                       DenseI64ArrayAttr:$factors,
                       OptionalAttr<StrArrayAttr>:$into);
  let assemblyFormat = [{
    $target `loop` $loop `factors` custom<Numbers>($open_factors, $factors)
    (`into` $into^)? attr-dict `:` type($target)
  }];
}

def RebaseOp : PolyCommandOp<"rebase"> {
  let summary = "counts a loop from a bound that is read";
  let description = [{
    For a loop over a row of a sparse matrix, or over the nodes of a level: `j`
    runs from `starts[n]` on, which `where` says. Then it runs from 0 on, as do
    the loops that are made of it, and what was read at `j` is read at
    `starts[n] + j`. So tiles, lanes and unrolled copies begin where the row does,
    and the first of them are full. Where the loop is shared, it is rebased for
    all of its computations, each by its own bound.

    Dependences are as exact as before: a row's elements are different, and those
    of different rows are if `poly.monotonic` says that rows do not overlap.

    #### Return modes

    - Silenceable failure: there is no such loop, or it does not run over one
      dimension of each of its computations; the dimension has no lower bound
      that is read, or not at a place that the dimensions before it decide, or
      the array is written; the values have no `poly.bounded_by`; other
      computations are interleaved in the dimension; a read at `j` comes before
      that of the bound, or decides what runs; a reduction updates an element at
      `j`; an array whose elements share places is used at `j`; there is a
      prefetch; a dependence would be broken.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.rebase %acc loop "j" : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$loop);
  let assemblyFormat = "$target `loop` $loop attr-dict `:` type($target)";
}

def TileOp : PolyCommandOp<"tile", ["sizes"]> {
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
                       Variadic<Poly_NumberParam>:$open_sizes,
                       StrArrayAttr:$loops,
                       TypedArrayAttrBase<I64ArrayAttr, "sizes">:$sizes);
  let assemblyFormat = [{
    $target `loops` $loops `sizes` custom<NumberLists>($open_sizes, $sizes)
    attr-dict `:` type($target)
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

def SkewOp : PolyCommandOp<"skew", ["factors"]> {
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
  let arguments = (ins TransformHandleTypeInterface:$target,
                       Variadic<Poly_NumberParam>:$open_factors,
                       StrAttr:$loop,
                       DenseI64ArrayAttr:$factors, StrArrayAttr:$others);
  let assemblyFormat = [{
    $target `loop` $loop `by` custom<Numbers>($open_factors, $factors) `of`
    $others attr-dict `:` type($target)
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

def ShiftOp : PolyCommandOp<"shift", ["amount"]> {
  let summary = "adds an expression of the parameters to a loop";
  let description = [{
    Only for the target: where several computations share the loop, they move
    against one another. The amount is a number, or a map from the kernel's
    parameters.

    Constraints:
    - (C1) the amount is a map from symbols to one result.

    #### Return modes

    - Silenceable failure: there is no such loop; the amount is not affine, or
      has other symbols than the parameters; a dependence would be broken.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.shift %use loop "i" by 2 : !transform.any_op
    transform.poly.shift %use loop "i" by affine_map<()[N] -> (N + 1)>
        : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       Optional<Poly_NumberParam>:$open_amount,
                       StrAttr:$loop,
                       AffineMapAttr:$amount);
  let assemblyFormat = [{
    $target `loop` $loop `by` custom<Amount>($open_amount, $amount) attr-dict
    `:` type($target)
  }];
  let hasVerifier = 1;
}

def RemapOp : PolyCommandOp<"remap"> {
  let summary = "replaces loops of a nest by affine functions of them";
  let description = [{
    The map goes from the loops, in the order in which they are listed, and the
    kernel's parameters as symbols, to the new loops. These take the places of
    the old ones, and are called like them or as `into` says. They are
    sequential, but for those that are one of the old ones. The map may lose
    information; what it leaves equal runs in program order, if nothing below
    orders it.

    #### Return modes

    - Silenceable failure: there are no such loops, or they are not in one nest;
      the map is not affine, or does not fit the loops and the parameters; there
      is not one name for each result; a dependence would be broken.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.remap %step loops ["t", "i"]
        by affine_map<(t, i)[T, N] -> (2 * t + i, t)> into ["wave", "t"]
        : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       StrArrayAttr:$loops, AffineMapAttr:$map,
                       OptionalAttr<StrArrayAttr>:$into);
  let assemblyFormat = [{
    $target `loops` $loops `by` $map (`into` $into^)?
    attr-dict `:` type($target)
  }];
}

def WavefrontOp : PolyCommandOp<"wavefront", ["factors"]> {
  let summary = "runs a nest in parallel along diagonals";
  let description = [{
    The first of the loops becomes the sum of all, each times its factor (or 1).
    The others run in parallel inside, in the order in which they are listed.

    #### Return modes

    - Silenceable failure: there are no such loops, fewer than two, or they are
      not in one nest; there is not one positive factor for each; a diagonal
      would have to wait for itself. The message then says which factors are
      legal, if there are any.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.wavefront %step loops ["t.0", "i.0"] factors [2, 1]
        : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       Variadic<Poly_NumberParam>:$open_factors,
                       StrArrayAttr:$loops,
                       OptionalAttr<DenseI64ArrayAttr>:$factors);
  let assemblyFormat = [{
    $target `loops` $loops
    (`factors` custom<Numbers>($open_factors, $factors)^)? attr-dict `:`
    type($target)
  }];
}

#endif // ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYORDEROPS_TD
