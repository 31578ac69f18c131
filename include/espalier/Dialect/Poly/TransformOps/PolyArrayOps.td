//===- PolyArrayOps.td - Commands on the storage of arrays -*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYARRAYOPS_TD
#define ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYARRAYOPS_TD

include "espalier/Dialect/Poly/TransformOps/PolyDataOps.td"

def LayoutOp : PolyArrayDataOp<"layout", ["padding", "multiples"]> {
  let summary = "changes how an array lies in memory";
  let description = [{
    What lies at `x` of the array's memory then lies at `layout(x)`. Without
    storage of its own, the memory has the indices of the array: so rows become
    columns, or blocks. The memory has the extents that this takes, each `padding`
    larger and then rounded up to one of `multiples`; it starts at a multiple of
    64 bytes, so that with a suitable multiple all rows do.

    Arguments of the kernel stay as they are: `transform.poly.cache_read` and
    `cache_write` copy them to another layout.

    #### Return modes

    - Silenceable failure: two elements would lie at one place, or some at
      negative indices; there is not one padding or multiple for each extent, or
      it is not positive.
    - Definite failure: the target is not a `poly.array`.

    Example:
    ```mlir
    transform.poly.layout %t by affine_map<(i, j) -> (j floordiv 16, i, j mod 16)>
        padding [0, 1, 0] : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       Variadic<Poly_NumberParam>:$open_padding,
                       Variadic<Poly_NumberParam>:$open_multiples,
                       AffineMapAttr:$layout,
                       OptionalAttr<DenseI64ArrayAttr>:$padding,
                       OptionalAttr<DenseI64ArrayAttr>:$multiples);
  let assemblyFormat = [{
    $target `by` $layout (`padding` custom<Numbers>($open_padding, $padding)^)?
    (`multiples` custom<Numbers>($open_multiples, $multiples)^)? attr-dict `:`
    type($target)
  }];
}

def UnfoldOp : PolyArrayDataOp<"unfold"> {
  let summary = "gives each element of an array a place of its own";
  let description = [{
    The storage map of the array goes; its memory is as large as the box of all
    elements that are used. Then iterations that would have shared a place may
    run in any order. A scalar of a kernel that is written in Python is such an
    array, if each iteration of a loop writes it first: its elements are those of
    the iterations.

    #### Return modes

    - Silenceable failure: the array has no storage map; the elements that are
      used have no bounds that are affine in the parameters, or do not begin at
      numbers; an access is not affine.
    - Definite failure: the target is not a `poly.array`.

    Example:
    ```mlir
    transform.poly.unfold %acc : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target);
  let assemblyFormat = "$target attr-dict `:` type($target)";
}

/// `fold_storage`, under a name.
class PolyFoldStorageOp<string mnemonic>
    : PolyArrayDataOp<mnemonic, ["places"]> {
  let summary = "lets elements of an array take turns in memory";
  let description = [{
    What lies at `x` of the array's memory, along index number `index`, then lies
    at `x mod places`: the memory has that extent there. So of the rows that a
    stencil reads only as many are kept as are still needed, and of all steps in
    time the last two. Without storage of its own, the memory has the indices of
    the array. `transform.poly.unfold` is the reverse.

    The schedule decides what is legal, as it is then and after every later
    command: two elements of one place must not be in use at the same time.

    #### Return modes

    - Silenceable failure: there is no such index; the number of places is not
      positive, or larger than the extent; two elements of one place would be in
      use at the same time. The message then says how many places are legal, if
      64 are enough.
    - Definite failure: the target is not a `poly.array`.

    Example:
    ```mlir
    transform.poly.fuse %blur_x with %blur_y loops 1
        : !transform.any_op, !transform.any_op
    %rows = transform.poly.written_array of %blur_x
        : (!transform.any_op) -> !transform.any_op
    transform.poly.}] # mnemonic # [{ %rows index 0 places 3 : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       Optional<Poly_NumberParam>:$open_places,
                       I64Attr:$index,
                       I64Attr:$places);
  let assemblyFormat = [{
    $target `index` $index `places` custom<Number>($open_places, $places)
    attr-dict `:` type($target)
  }];
}

def FoldStorageOp : PolyFoldStorageOp<"fold_storage">;
def FoldOp : PolyFoldStorageOp<"fold"> {
  let summary = "what `transform.poly.fold_storage` was called";
}

def PackOp : PolyComputeDataOp<"pack", ["blocks"]> {
  let summary = "copies what a tile reads to blocks";
  let description = [{
    `transform.poly.cache_read` with a layout of blocks: index k is cut into
    blocks of `blocks[k]`, or not if that is 0. The indices of the blocks come
    first, then those inside blocks; `order` says otherwise: its entry p is the
    number, in that list, of what is index p of the memory.

    #### Return modes

    Returns handles to the array and to the computation that copies. Reads the
    handle of the target, which stays valid.
    - Silenceable failure: there are not as many sizes as indices, or one is 1 or
      negative; `order` is not a permutation; as for `cache_read`.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    // Panels of 16 columns: (k, j) -> (j floordiv 16, k, j mod 16)
    %panel, %copy = transform.poly.pack %acc read 1 blocks [0, 16] order [1, 0, 2]
        at "k.0" : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       Variadic<Poly_NumberParam>:$open_blocks,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$read,
                       DenseI64ArrayAttr:$blocks,
                       OptionalAttr<DenseI64ArrayAttr>:$order,
                       OptionalAttr<StrAttr>:$loop,
                       OptionalAttr<Poly_MemorySpaceAttr>:$placement);
  let results = (outs TransformHandleTypeInterface:$array,
                      TransformHandleTypeInterface:$copy);
  let assemblyFormat = [{
    $target `read` $read `blocks` custom<Numbers>($open_blocks, $blocks)
    (`order` $order^)? (`at` $loop^)? (`place` custom<MemorySpace>($placement)^)? attr-dict `:`
    functional-type($target, results)
  }];
}

/// `privatize`, under a name.
class PolyPrivatizeOp<string mnemonic> : PolyCommandOp<mnemonic> {
  let summary = "gives each iteration of a loop an array of its own";
  let description = [{
    The `poly.array` that the target writes, with write 0 or `write`, gets the
    size of the box of what one iteration of `loop` uses: a scalar, say, of an
    array over a time loop. Iterations no longer depend on one another through
    it. `layout` and `place` as for `transform.poly.cache_read`. Where values that
    are read decide which elements are used, as in `t[j - starts[n]]`, the box holds
    what may be used by what is stated of the values.

    #### Return modes

    - Silenceable failure: there is no such write or loop; it is to an argument;
      the array is used outside of the loop; an iteration reads what others have
      written; iterations that use the same elements are not one after the other
      in program order; an access is not affine, nor in values of arrays that nobody
      writes; the elements have no bounds.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.}] # mnemonic # [{ %row loop "i" place register : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$loop,
      DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$number,
      OptionalAttr<AffineMapAttr>:$layout,
      OptionalAttr<Poly_MemorySpaceAttr>:$placement);
  let assemblyFormat = [{
    $target (`write` $number^)? `loop` $loop (`layout` $layout^)?
    (`place` custom<MemorySpace>($placement)^)? attr-dict `:` type($target)
  }];
}

def PrivatizeOp : PolyPrivatizeOp<"privatize">;
def ContractOp : PolyPrivatizeOp<"contract"> {
  let summary = "what `transform.poly.privatize` was called";
}

def TensorizeOp : PolyCommandOp<"tensorize"> {
  let summary = "runs inner loops as a micro-kernel is scheduled";
  let description = [{
    The loops of the nest from `loop` inwards are those of the micro-kernel
    `kernel`, a `poly.kernel` of the module, on parts of the arrays: its schedule
    takes their place, below a mark with its name. That is so if in each iteration
    of the loops around them
    - they take the values of its domain,
    - each access is to an offset plus what it accesses, where indices that do not
      change may be missing in the micro-kernel,
    - and the bodies are equal.

    #### Return modes

    - Silenceable failure: there is no such loop or kernel; the kernel has
      several computations, arrays or parameters, or a schedule with sequences;
      there is more than loops inside `loop`; one of these conditions does not
      hold, and the message says which; the schedule would break a dependence.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.tensorize %acc loop "i.1" to @product_6x32 : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$loop,
                       FlatSymbolRefAttr:$kernel);
  let assemblyFormat =
      "$target `loop` $loop `to` $kernel attr-dict `:` type($target)";
}

#endif // ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYARRAYOPS_TD
