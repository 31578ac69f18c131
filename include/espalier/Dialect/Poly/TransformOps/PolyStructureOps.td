//===- PolyStructureOps.td - Commands for the tree ---------*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYSTRUCTUREOPS_TD
#define ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYSTRUCTUREOPS_TD

include "espalier/Dialect/Poly/TransformOps/PolyTransformBase.td"

def FuseOp : PolyPairCommandOp<"fuse", ["loops"]> {
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
                       Optional<Poly_NumberParam>:$open_loops,
                       I64Attr:$loops);
  let assemblyFormat = [{
    $target `with` $other `loops` custom<Number>($open_loops, $loops) attr-dict
    `:` type($target) `,` type($other)
  }];
}

def FissionOp : PolyCommandOp<"fission", ["at"]> {
  let summary = "gives the parts of a sequence loops of their own";
  let description = [{
    Distributes the loop, and those of its nest inside, over the parts of the
    sequence below the nest: each part gets loops of its own or, with `at`, the
    first `at` parts get some together, and all others together.

    #### Return modes

    - Silenceable failure: there is no such loop; there is no sequence below its
      nest; `at` leaves no part on one side; a computation has parts on both; a
      dependence would be broken.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.fission %acc loop "i" : !transform.any_op
    transform.poly.fission %acc loop "i" at 2 : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       Optional<Poly_NumberParam>:$open_at,
                       StrAttr:$loop,
                       OptionalAttr<I64Attr>:$at);
  let assemblyFormat = [{
    $target `loop` $loop (`at` custom<Number>($open_at, $at)^)? attr-dict `:`
    type($target)
  }];
}

def MoveOp : PolyPairCommandOp<"move"> {
  let summary = "moves a part of a sequence";
  let description = [{
    The part that runs `target` moves to directly before the one that runs
    `other`.

    #### Return modes

    - Silenceable failure: they are not in different parts of a sequence; a
      dependence would be broken.
    - Definite failure: a handle is not one computation.

    Example:
    ```mlir
    transform.poly.move %b before %a : !transform.any_op, !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       TransformHandleTypeInterface:$other);
  let assemblyFormat = [{
    $target `before` $other attr-dict `:` type($target) `,` type($other)
  }];
}

def ArrangeOp : PolyCommandOp<"arrange"> {
  let summary = "gives several computations a new nest";
  let description = [{
    The target and `others`, which are all computations of a part of a sequence
    or of the kernel, lose their loops. Each gets those that one of `maps`, in
    the same order, computes from its dimensions and the kernel's parameters. The
    first of them are shared, and are called `into`. Inside, one computation runs
    after the other, the target first. For an order that no legal step leads to.

    With `at`, the part is the innermost around this loop of the target: such as
    that which `peel`, `specialize` or `retile` made for some of the points.

    #### Return modes

    - Silenceable failure: a computation is missing, listed twice or not of the
      kernel; there is no such loop; there is not one map for each; a map is not affine, does not fit
      the dimensions, or has fewer results than there are shared loops; a
      dependence would be broken.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.arrange %divide with ["update"]
        by [affine_map<(i, j) -> (i, j)>, affine_map<(i, j, k) -> (i, k, j)>]
        into ["i", "k"] : !transform.any_op
    transform.poly.arrange %acc with []
        by [affine_map<(i, k) -> (k, i)>] into ["k", "i"] at "i.peel"
        : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       StrArrayAttr:$others, AffineMapArrayAttr:$maps,
                       StrArrayAttr:$into, OptionalAttr<StrAttr>:$loop);
  let assemblyFormat = [{
    $target `with` $others `by` $maps `into` $into (`at` $loop^)? attr-dict `:`
    type($target)
  }];
}

def SeparateFullTilesOp : PolyCommandOp<"separate_full_tiles"> {
  let summary = "gives tiles that no domain cuts code of their own";
  let description = [{
    `loops`, of one nest, run over the tiles. The loops inside full tiles have
    constant bounds then; the others run in a second copy of the code.

    #### Return modes

    - Silenceable failure: there are no such loops, or they are not in one nest.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.separate_full_tiles %acc loops ["i.0", "j.0"]
        : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       StrArrayAttr:$loops);
  let assemblyFormat = "$target `loops` $loops attr-dict `:` type($target)";
}

def PeelOp : PolyCommandOp<"peel", ["first", "last", "at"]> {
  let summary = "runs some iterations of a loop in a copy of its body";
  let description = [{
    The iterations are the `first` or `last` so many, for each iteration of the
    loops around; or all from `at` on, a number or a map from the kernel's
    parameters and from the loops `of`, which are around it. The loops of the copy are called `i.peel` for a loop `i`.

    Constraints:
    - (C1) there is one of `first`, `last` and `at`.
    - (C2) `at` is a map from `of` and symbols to one result.

    #### Return modes

    - Silenceable failure: there is no such loop; the number of iterations is not
      positive; no single expression says where the loop begins or ends; `at` is
      not affine, or has other symbols than the parameters; a loop of `of` is not
      around this one.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.peel %acc loop "k" first 1 : !transform.any_op
    transform.poly.peel %acc loop "i" at affine_map<()[M, K] -> (M - 4)>
        : !transform.any_op
    transform.poly.peel %acc loop "j" at affine_map<(k) -> (k + 1)> of ["k"]
        : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       Optional<Poly_NumberParam>:$open_first,
                       Optional<Poly_NumberParam>:$open_last,
                       Optional<Poly_NumberParam>:$open_at,
                       StrAttr:$loop,
                       OptionalAttr<I64Attr>:$first,
                       OptionalAttr<I64Attr>:$last,
                       OptionalAttr<AffineMapAttr>:$at,
                       OptionalAttr<StrArrayAttr>:$of);
  let assemblyFormat = [{
    $target `loop` $loop (`first` custom<Number>($open_first, $first)^)?
    (`last` custom<Number>($open_last, $last)^)?
    (`at` custom<Amount>($open_at, $at)^)? (`of` $of^)? attr-dict `:`
    type($target)
  }];
  let hasVerifier = 1;
}

def SpecializeOp : PolyCommandOp<"specialize", ["extents"]> {
  let summary = "gives some extents or sizes code of their own";
  let description = [{
    The loop and the tree below it run in a copy of their own: one for each of
    `extents`, the numbers of iterations that the loop may have for given values
    of the loops around it, or one for sizes `when` a set over the kernel's
    parameters holds them. Which copy runs is decided outside the loop, and what
    that says simplifies the copy: bounds become numbers, lanes need no masks.
    The loops of a copy are called `i.is4` for a loop `i` and the extent 4, and
    `i.when`. All other extents and sizes keep the tree, and the names, that they
    have.

    Constraints:
    - (C1) there is one of `extents` and `when`.
    - (C2) `when` is a set without dimensions.

    #### Return modes

    - Silenceable failure: there is no such loop; extents are not different
      positive numbers; no single expression says where the loop begins or ends;
      the loop never has that extent; no sizes, or all, meet the condition; it is
      not affine, or has other symbols than the parameters.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.specialize %acc loop "i.1" extents [1, 2, 3]
        : !transform.any_op
    transform.poly.specialize %acc loop "i.0"
        when affine_set<()[M, K] : (M mod 16 == 0)> : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       Variadic<Poly_NumberParam>:$open_extents,
                       StrAttr:$loop,
                       OptionalAttr<DenseI64ArrayAttr>:$extents,
                       OptionalAttr<IntegerSetAttr>:$when);
  let assemblyFormat = [{
    $target `loop` $loop
    (`extents` custom<Numbers>($open_extents, $extents)^)? (`when` $when^)?
    attr-dict `:` type($target)
  }];
  let hasVerifier = 1;
}

def BranchOp : PolyCommandOp<"branch"> {
  let summary = "gives sizes computations of their own";
  let description = [{
    For sizes in each of the sets `when`, over the kernel's parameters, all
    computations and arrays of the kernel have a copy, which the commands that
    follow schedule as a kernel of its own: a large tile for many rows, and a
    small one for few. The first set that holds counts. The copy of `s` that is
    called `few` is `s.few`; sizes in none of the sets keep what there is. A copy
    runs as its original did until then.

    Constraints:
    - (C1) there is a name for each set, and one set or more.
    - (C2) sets have no dimensions.

    #### Return modes

    - Silenceable failure: the kernel has no parameters; no sizes meet a set and
      none before it, or all meet one; a set is not affine, or has other symbols
      than the parameters; there are more than eight; a name is empty or taken.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.branch %acc when [affine_set<()[n] : (16 - n >= 0)>]
        as ["few"] : !transform.any_op
    %few = transform.poly.computation @matmul::@acc.few of %module
        : (!transform.any_op) -> !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       TypedArrayAttrBase<IntegerSetAttr,
                                          "array of integer sets">:$when,
                       StrArrayAttr:$names);
  let assemblyFormat = [{
    $target `when` $when `as` $names attr-dict `:` type($target)
  }];
  let hasVerifier = 1;
}

def RetileOp : PolyCommandOp<"retile", ["by"]> {
  let summary = "gives what whole tiles leave smaller tiles";
  let description = [{
    For a loop over tiles, `i.0` of `i floordiv 14`. What lies behind the last
    whole tile runs in a copy of the loop with all that is below it, in which
    tiles have `by` iterations, counted from there; by default all that are left,
    if their number is known. So a rest has the same arrangement as whole tiles
    have: the same loops inside, written out and in lanes, but of a smaller tile.
    The loops of the copy are called `i.0.rest` and so on; `i.0.rest` may be
    retiled again. Lanes of the tile are at most `by`.

    #### Return modes

    - Silenceable failure: there is no such loop, or it does not run over tiles,
      `x floordiv n` for one `n`, of all of its computations, as for a copy whose
      dimensions are the tiles themselves; no single expression says where `x` ends; all
      tiles are whole; `by` is not positive or not smaller than the tiles, or
      missing where the extent is not a number.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.tile %acc loops ["i", "j"] sizes [[14, 32]] : !transform.any_op
    transform.poly.retile %acc loop "i.0" by 4 : !transform.any_op
    transform.poly.retile %acc loop "i.0.rest" by 1 : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       Optional<Poly_NumberParam>:$open_by,
                       StrAttr:$loop,
                       OptionalAttr<I64Attr>:$by);
  let assemblyFormat = [{
    $target `loop` $loop (`by` custom<Number>($open_by, $by)^)? attr-dict `:`
    type($target)
  }];
}

def MarkCommandOp : PolyCommandOp<"mark"> {
  let summary = "puts a mark above a loop";
  let description = [{
    #### Return modes

    - Silenceable failure: there is no such loop; the name is "prefetch".
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.mark %acc loop "i.1" as "micro_kernel" : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$loop,
                       StrAttr:$name);
  let assemblyFormat = "$target `loop` $loop `as` $name attr-dict `:` type($target)";
}

#endif // ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYSTRUCTUREOPS_TD
