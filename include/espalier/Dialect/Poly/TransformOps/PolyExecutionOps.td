//===- PolyExecutionOps.td - Commands for how loops run ----*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYEXECUTIONOPS_TD
#define ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYEXECUTIONOPS_TD

include "espalier/Dialect/Poly/TransformOps/PolyTransformBase.td"

def ParallelizeOp : PolyCommandOp<"parallelize"> {
  let summary = "runs the iterations of a loop on different threads";
  let description = [{
    With `as`, the loop is of a parallel kind of another target than a CPU: an
    attribute that implements `LoopKindAttrInterface`.

    With `atomic`, the target is a reduction whose updates memory makes at once,
    so that threads may meet in an element: `h[index[i]] += v[i]` without copies
    of `h`. Sums of floats are then added up in another order in each run, and
    so are not the same bit by bit; a remark says so. Loops inside have no
    lanes for it.

    #### Return modes

    - Silenceable failure: there is no such loop, or it carries a dependence;
      `atomic`, and the target is no reduction that memory makes at once;
      `as` is not a kind of parallel loop, or one of fewer iterations.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.parallelize %acc loop "i.0" : !transform.any_op
    transform.poly.parallelize %count loop "i" atomic : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$loop,
                       OptionalAttr<Poly_LoopKindAttrInterface>:$kind,
                       UnitAttr:$atomic);
  let assemblyFormat = [{
    $target `loop` $loop (`as` custom<LoopKind>($kind)^)? (`atomic` $atomic^)?
    attr-dict `:` type($target)
  }];
}

def SerializeOp : PolyCommandOp<"serialize"> {
  let summary = "runs the iterations of a loop one after the other";
  let description = [{
    #### Return modes

    - Silenceable failure: there is no such loop.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.serialize %acc loop "i.0" : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$loop);
  let assemblyFormat = "$target `loop` $loop attr-dict `:` type($target)";
}

def VectorizeOp : PolyCommandOp<"vectorize", ["width"]> {
  let summary = "runs iterations of a loop as the lanes of a vector";
  let description = [{
    A loop of more than `width` iterations is cut into `i.0` and the lanes
    `i.1`. The lanes move inside all other loops of the nest. Those beyond the
    end of the loop are masked; with `peel_tail`, full vectors have code of
    their own, without masks.

    #### Return modes

    - Silenceable failure: there is no such loop; a sequence or a mark is below
      its nest; the width is below 2 or above 1024; lanes depend on one another,
      other than in the updates of a reduction.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.vectorize %acc loop "j" width 16 peel_tail
        : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       Optional<Poly_NumberParam>:$open_width,
                       StrAttr:$loop,
                       I64Attr:$width, UnitAttr:$peel_tail);
  let assemblyFormat = [{
    $target `loop` $loop `width` custom<Number>($open_width, $width)
    (`peel_tail` $peel_tail^)? attr-dict `:` type($target)
  }];
}

def UnrollOp : PolyCommandOp<"unroll", ["factor"]> {
  let summary = "makes copies of a loop's body";
  let description = [{
    Without a factor, one copy for each iteration, of which there is a constant
    number at most. With one, a loop of more iterations is cut into `i.0` and the
    copies `i.1`; what is left over runs in a loop of its own.

    #### Return modes

    - Silenceable failure: there is no such loop; no factor is given, and no
      constant bounds the loop; there would be no copy, or more than 1024.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.unroll %acc loop "k" factor 4 : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       Optional<Poly_NumberParam>:$open_factor,
                       StrAttr:$loop,
                       OptionalAttr<I64Attr>:$factor);
  let assemblyFormat = [{
    $target `loop` $loop (`factor` custom<Number>($open_factor, $factor)^)?
    attr-dict `:` type($target)
  }];
}

def UnrollAndJamOp : PolyCommandOp<"unroll_and_jam", ["factor"]> {
  let summary = "makes copies of a loop's body inside the loops below it";
  let description = [{
    Like `transform.poly.unroll`, and moves the copies inside all other loops of
    the nest.

    #### Return modes

    - Silenceable failure: there is no such loop; a sequence or a mark is below
      its nest; there would be no copy, or more than 1024; the order would break
      a dependence.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.unroll_and_jam %acc loop "i" factor 4 : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       Optional<Poly_NumberParam>:$open_factor,
                       StrAttr:$loop,
                       I64Attr:$factor);
  let assemblyFormat = [{
    $target `loop` $loop `factor` custom<Number>($open_factor, $factor)
    attr-dict `:` type($target)
  }];
}

def PrefetchCommandOp : PolyCommandOp<"prefetch", ["distance", "bytes"]> {
  let summary = "fetches what later iterations of a loop read or write";
  let description = [{
    In each iteration of the loop, fetches what the read with this number needs
    `distance` iterations later at the first point of the loops inside, and what
    follows it within `bytes` (64 if not given). A `poly.prefetch` in the schedule
    says so; loops on both sides of it do not change places any more.

    With `write`, it is the write with this number, whose elements are fetched to
    be written.

    Instead of a distance, `at` says where: a map from the first point inside the
    loop, over the kernel's parameters, to the point whose access it is. It need not
    be in the domain, and it may be one `of` another computation: so each
    step of a tile can fetch its share of the next panel, or what a copy will need
    in the next iteration of the loops around.

    Where the place depends on an index that is read, such as `x[col[k]]` or
    `x[col[starts[n] + k]]`, the index is read ahead, as far as its array goes.

    #### Return modes

    - Silenceable failure: there is no such loop, it is a vector or inside one, or
      without `at` it does not run over one dimension or tiles of it; there is no
      such computation, read or write, or its place depends on an index that the kernel
      writes; the distance is not positive; the map is
      not between the dimensions of the two, or not affine; the bytes are not
      between 1 and 4096; there is neither a distance nor a map, or both.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.prefetch %acc read 1 loop "k" distance 8 bytes 128
        : !transform.any_op
    transform.poly.prefetch %acc read 1 loop "k"
        at affine_map<(i, j, k) -> (i, j + 32, (i floordiv 6) * 8 + k floordiv 4)>
        : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       Optional<Poly_NumberParam>:$open_distance,
                       Optional<Poly_NumberParam>:$open_bytes,
                       I64Attr:$number,
                       StrAttr:$loop, OptionalAttr<I64Attr>:$distance,
                       DefaultValuedAttr<I64Attr, "64">:$bytes,
                       OptionalAttr<AffineMapAttr>:$at,
                       OptionalAttr<FlatSymbolRefAttr>:$of,
                       UnitAttr:$is_write);
  let assemblyFormat = [{
    $target (`write` $is_write^) : (`read`)? $number (`of` $of^)? `loop` $loop
    (`distance` custom<Number>($open_distance, $distance)^)? (`at` $at^)?
    (`bytes` custom<Number>($open_bytes, $bytes)^)? attr-dict `:` type($target)
  }];
}

#endif // ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYEXECUTIONOPS_TD
