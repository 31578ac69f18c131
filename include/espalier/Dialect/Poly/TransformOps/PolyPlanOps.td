//===- PolyPlanOps.td - Schedules as a few decisions -------*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYPLANOPS_TD
#define ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYPLANOPS_TD

include "espalier/Dialect/Poly/IR/PolyAttributes.td"
include "espalier/Dialect/Poly/TransformOps/PolyTransformBase.td"

/// Lists of names.
def Poly_NamesArrayAttr : TypedArrayAttrBase<StrArrayAttr, "lists of names">;

def PlanOp : PolyCommandOp<"plan",
    ["shared", "inside", "window", "parallel", "around_rest", "by", "width",
     "block_size", "terms", "own_vectors", "ahead"]> {
  let summary = "gives computations tile loops, and each a part of the tile";
  let description = [{
    The target and `others` run one after the other in each tile of loops that
    they share: over their first `shared` dimensions, which are called as the
    target calls them. What the compiler does by itself is a list of such
    commands, which it prints; change a number, and the rest follows.

    - `loops` are those over tiles, outermost first; the first of them are
      `parallel`. Loops over `inside` dimensions are there already.
    - `tile` names dimensions along which a tile has several points, and `by` how
      many. `lanes` is the one that is vectors of `width`; all other points are
      written out. Where tiles do not divide an extent, the rest has the same
      tree with a smaller tile: of the size that is left, or of one point or
      vector where that is not known; a single vector is masked instead, and
      rows of a sum have code for each number that may be left. The
      first `around_rest` loops are around both.
    - `window` dimensions follow the shared ones, and are written out as well.
    - `own` has, for each computation, its other dimensions, outermost first;
      the order of its text if not given. Without shared `lanes`, `own_lanes`
      names one for each computation, or none (""), with `own_vectors` side by
      side inside the loops that follow it, or partial results side by side of
      a dimension that is reduced. `own_unrolled` names loops that are
      written out.
    - `block`: the loop that runs over blocks, of `block_size` points, first;
      where `loops` has it again, over the tiles of one.
    - `inside_sum`: loops over tiles that are inside parts of a sum, of at most so
      many `terms`: the innermost loops that have no more pass completely in a
      part, the one around them is cut. The results wait in memory.
    - `keep` names computations whose results in local arrays have a place for
      one tile only: in registers if they can, on the stack if that is small.
    - `fetch`: each step of the sum with the most loops fetches what it needs
      `ahead` terms later (`terms`), its share of the panel of lanes so many tiles
      later (`panel`) or of the rows that pass the panels (`rows`), or what a copy
      will read so many iterations of the loop around later (`copies`). Without a
      sum, `rows` are those that a map reads by their numbers, so many iterations
      of the last shared loop later.
    - `fetch_results`: each row of a tile, when its sums start, fetches what the
      tile will write of the kernel's arguments, where that lies along the lanes.

    #### Return modes

    - Silenceable failure: there is no such computation or dimension, or it is
      listed twice; a size does not fit; something runs between computations, or
      around them what `inside` does not say; an array cannot be kept, or nothing
      fetched; a dependence would be broken.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.plan %init with ["acc", "store"] shared 2
        loops ["j", "i"] parallel 1 tile ["i", "j"] by [14, 32]
        lanes "j" width 16 keep ["init"] fetch panel : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       Optional<Poly_NumberParam>:$open_shared,
                       Optional<Poly_NumberParam>:$open_inside,
                       Optional<Poly_NumberParam>:$open_window,
                       Optional<Poly_NumberParam>:$open_parallel,
                       Optional<Poly_NumberParam>:$open_around_rest,
                       Variadic<Poly_NumberParam>:$open_by,
                       Optional<Poly_NumberParam>:$open_width,
                       Optional<Poly_NumberParam>:$open_block_size,
                       Optional<Poly_NumberParam>:$open_terms,
                       Variadic<Poly_NumberParam>:$open_own_vectors,
                       Optional<Poly_NumberParam>:$open_ahead,
                       I64Attr:$shared,
                       OptionalAttr<StrArrayAttr>:$others,
                       DefaultValuedAttr<I64Attr, "0">:$inside,
                       DefaultValuedAttr<I64Attr, "0">:$window,
                       OptionalAttr<StrArrayAttr>:$loops,
                       DefaultValuedAttr<I64Attr, "0">:$parallel,
                       DefaultValuedAttr<I64Attr, "0">:$around_rest,
                       OptionalAttr<StrArrayAttr>:$tile,
                       OptionalAttr<DenseI64ArrayAttr>:$by,
                       OptionalAttr<StrAttr>:$lanes,
                       DefaultValuedAttr<I64Attr, "1">:$width,
                       OptionalAttr<StrAttr>:$blocked,
                       OptionalAttr<I64Attr>:$block_size,
                       OptionalAttr<StrArrayAttr>:$inside_sum,
                       OptionalAttr<I64Attr>:$terms,
                       UnitAttr:$unroll_terms,
                       OptionalAttr<Poly_NamesArrayAttr>:$own,
                       OptionalAttr<StrArrayAttr>:$own_lanes,
                       OptionalAttr<DenseI64ArrayAttr>:$own_vectors,
                       OptionalAttr<StrArrayAttr>:$own_unrolled,
                       OptionalAttr<StrArrayAttr>:$keep,
                       DefaultValuedAttr<Poly_FetchAttr, "Fetch::None">:$fetch,
                       DefaultValuedAttr<I64Attr, "1">:$ahead,
                       UnitAttr:$fetch_results);
  let assemblyFormat = [{
    $target (`with` $others^)? `shared` custom<Number>($open_shared, $shared)
    (`inside` custom<Number>($open_inside, $inside)^)?
    (`window` custom<Number>($open_window, $window)^)? (`loops` $loops^)?
    (`parallel` custom<Number>($open_parallel, $parallel)^)?
    (`around_rest` custom<Number>($open_around_rest, $around_rest)^)?
    (`tile` $tile^)? (`by` custom<Numbers>($open_by, $by)^)? (`lanes` $lanes^)?
    (`width` custom<Number>($open_width, $width)^)? (`block` $blocked^)?
    (`block_size` custom<Number>($open_block_size, $block_size)^)?
    (`inside_sum` $inside_sum^)? (`terms` custom<Number>($open_terms, $terms)^)?
    (`unroll_terms` $unroll_terms^)? (`own` $own^)? (`own_lanes` $own_lanes^)?
    (`own_vectors` custom<Numbers>($open_own_vectors, $own_vectors)^)?
    (`own_unrolled` $own_unrolled^)? (`keep` $keep^)? (`fetch` $fetch^)?
    (`ahead` custom<Number>($open_ahead, $ahead)^)?
    (`fetch_results` $fetch_results^)? attr-dict `:` type($target)
  }];
}

#endif // ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYPLANOPS_TD
