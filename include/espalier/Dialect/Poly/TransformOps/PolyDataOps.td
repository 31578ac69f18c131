//===- PolyDataOps.td - Commands on data and reductions ----*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYDATAOPS_TD
#define ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYDATAOPS_TD

include "espalier/Dialect/Poly/IR/PolyAttributes.td"
include "espalier/Dialect/Poly/TransformOps/PolyTransformBase.td"

/// A command that edits arrays or computations. It takes one op of kind
/// `targetOp` per handle element, edits it in place and returns handles to what
/// it made. What it refuses is a silenceable failure that leaves the payload as
/// it was; a target of another kind is a definite failure.
///
/// The method `command` of the op is all that it has to define: one op for each
/// result, null for an empty handle.
class PolyDataOp<string mnemonic, string targetOp, list<string> numbers = [],
                 list<Trait> traits = []>
    : Op<Transform_Dialect, "poly." # mnemonic, !listconcat(traits,
        NumberAttributes<numbers>.traits, [
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<TransformOpInterface>,
        ReportTrackingListenerFailuresOpTrait])> {
  let cppNamespace = "::espalier::poly";
  let extraClassDeclaration = [{
    /// Applies the command to one op; returns the ops of the results.
    ::llvm::Expected<::llvm::SmallVector<::mlir::Operation *>>
    command(::espalier::poly::InScript<}] # targetOp # [{> target);
  }] # NumberAttributes<numbers>.declaration;
  let extraClassDefinition = [{
    ::mlir::DiagnosedSilenceableFailure $cppClass::apply(
        ::mlir::transform::TransformRewriter &,
        ::mlir::transform::TransformResults &results,
        ::mlir::transform::TransformState &state) {
      return ::espalier::poly::applyClosed(*this, state,
          [&]($cppClass closed) {
            return ::espalier::poly::applyDataCommand<}] # targetOp # [{>(
                getOperation(), getTarget(), results, state,
                [&](::espalier::poly::InScript<}] # targetOp # [{> target) {
                  return closed.command(target);
                });
          });
    }
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::MemoryEffects::EffectInstance>
            &effects) {
      ::mlir::transform::onlyReadsHandle(getOperation()->getOpOperands(),
                                         effects);
      ::mlir::transform::producesHandle(getOperation()->getOpResults(),
                                        effects);
      ::mlir::transform::modifiesPayload(effects);
    }
  }];
}

class PolyComputeDataOp<string mnemonic, list<string> numbers = []>
    : PolyDataOp<mnemonic, "::espalier::poly::ComputeOp", numbers>;
class PolyArrayDataOp<string mnemonic, list<string> numbers = []>
    : PolyDataOp<mnemonic, "::espalier::poly::ArrayOp", numbers>;

def CacheReadOp : PolyComputeDataOp<"cache_read"> {
  let summary = "copies what a tile reads to a local array";
  let description = [{
    What one iteration of `loop` (of the whole kernel, without a loop) reads of
    the array of read `read` goes to a local array first; all computations in
    the loop read that. The array has the size of the box around these elements,
    halo included, which is constant for tiles of constant size; it is on the
    stack if it is small, or where `place` says.

    With `layout`, element x of the box lies at `layout(x)`: packing. The map
    goes from the box's indices and has to be one to one.

    #### Return modes

    Returns handles to the array and to the computation that copies. Its loops
    are called `e0`, `e1`, ... Reads the handle of the target, which stays valid.
    - Silenceable failure: there is no such read or loop; an access is not
      affine or the elements have no bounds; the array is written between the
      copy and its uses; the layout does not suit; the schedule would break a
      dependence.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    %panel, %pack = transform.poly.cache_read %acc read 0 at "k.0"
        layout affine_map<(i, k) -> (i floordiv 16, k, i mod 16)> place stack
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$read,
                       OptionalAttr<StrAttr>:$loop,
                       OptionalAttr<AffineMapAttr>:$layout,
                       OptionalAttr<Poly_MemorySpaceAttr>:$placement);
  let results = (outs TransformHandleTypeInterface:$array,
                      TransformHandleTypeInterface:$copy);
  let assemblyFormat = [{
    $target `read` $read (`at` $loop^)? (`layout` $layout^)?
    (`place` custom<MemorySpace>($placement)^)? attr-dict `:` functional-type(operands, results)
  }];
}

def CacheWriteOp : PolyComputeDataOp<"cache_write"> {
  let summary = "keeps what a tile writes in a local array";
  let description = [{
    All computations in one iteration of `loop` (in the whole kernel, without a
    loop) use a local array in place of the array of write `write`. What they
    have written is copied back after them; what they read before they write it
    is copied in before them.

    An element that several iterations use has to be updated by a reduction, and
    by nothing else in the loop. Each iteration then starts with neutral
    elements, and combines them with those of the array at its end.

    `layout` and `place` as for `transform.poly.cache_read`.

    #### Return modes

    Returns handles to the array, to the computation before (an empty handle if
    there is none) and to that after. Reads the handle of the target, which
    stays valid.
    - Silenceable failure: there is no such write or loop; an access is not
      affine or the elements have no bounds; several iterations use an element,
      other than in a reduction; a computation outside of the loop uses elements
      before they are copied back; the layout does not suit; the schedule would
      break a dependence.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    %tile, %init, %store = transform.poly.cache_write %acc write 0 at "j.0"
        place register
        : (!transform.any_op)
        -> (!transform.any_op, !transform.any_op, !transform.any_op)
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$write,
                       OptionalAttr<StrAttr>:$loop,
                       OptionalAttr<AffineMapAttr>:$layout,
                       OptionalAttr<Poly_MemorySpaceAttr>:$placement);
  let results = (outs TransformHandleTypeInterface:$array,
                      TransformHandleTypeInterface:$before,
                      TransformHandleTypeInterface:$after);
  let assemblyFormat = [{
    $target `write` $write (`at` $loop^)? (`layout` $layout^)?
    (`place` custom<MemorySpace>($placement)^)? attr-dict `:` functional-type(operands, results)
  }];
}

def InlineOp : Op<Transform_Dialect, "poly.inline", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    TransformOpInterface, TransformEachOpTrait,
    ReportTrackingListenerFailuresOpTrait]> {
  let cppNamespace = "::espalier::poly";
  let summary = "computes a value where it is used";
  let description = [{
    The bodies of all computations that read what the target writes compute it
    themselves; the target and its array are gone. Where values that are read
    decide which elements are meant, as in `t[v - level[l]]`, or which points run,
    a consumer has to read the same values at the same places.

    #### Return modes

    Consumes the handle of the target.
    - Silenceable failure: the target is a reduction, or not the only one to
      write its array, which has to be a `poly.array`, each element once; it
      does not write all that is read; the point that a read needs is not an
      affine function of the point that reads; a value is used as an index;
      something that the target reads is written before the value is used; where
      data decides, the target may write an element again before that.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.inline %producer : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target);
  let assemblyFormat = "$target attr-dict `:` type($target)";
  let extraClassDeclaration = [{
    ::mlir::DiagnosedSilenceableFailure applyToOne(
        ::mlir::transform::TransformRewriter &rewriter,
        ::mlir::Operation *target,
        ::mlir::transform::ApplyToEachResultList &results,
        ::mlir::transform::TransformState &state);
  }];
}

def ComputeAtOp : PolyPairCommandOp<"compute_at"> {
  let summary = "computes an array in the loop that uses it";
  let description = [{
    Each iteration of `loop`, one of `other`'s, computes what is read in it of
    the array that the target writes, directly before its uses. All computations
    that write the array move there: initializations, updates and what changes
    it in place. Their first dimensions are then the loops down to `loop`; those
    inside are in program order, and called as before or, if a loop `i` or `i.0`
    is above, `i.sum` for a computation `@sum`.

    Each iteration has an array of its own, with the size of the box around what
    it reads, on the stack if that is small, or as `layout` and `place` say.
    Elements that several iterations read are computed in each of them: tiles of
    a stencil overlap.

    An array that is an argument, or is read outside of the loop, or that `other`
    writes too, stays as it is. The target then moves alone, without
    recomputation: each point to the first iteration that uses what it writes,
    which has to be an affine function of it.

    #### Return modes

    Reads the handles, which stay valid.
    - Silenceable failure: there is no such loop, or no use in it; the target
      writes several arrays; a computation that writes the array comes after one
      that reads it, writes something else too, is interleaved with others, or
      reads elements of it that the iteration does not make; something that they
      read is written before the uses; an access to the array is not affine, or
      its elements have no bounds; there is no such first iteration for an
      element of an array that stays; the schedule would break a dependence.
    - Definite failure: a handle is not one computation.

    Example:
    ```mlir
    transform.poly.compute_at %blur_x in %blur_y loop "y.0" place stack
        : !transform.any_op, !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       TransformHandleTypeInterface:$other, StrAttr:$loop,
                       OptionalAttr<AffineMapAttr>:$layout,
                       OptionalAttr<Poly_MemorySpaceAttr>:$placement);
  let assemblyFormat = [{
    $target `in` $other `loop` $loop (`layout` $layout^)?
    (`place` custom<MemorySpace>($placement)^)? attr-dict `:` type($target) `,` type($other)
  }];
}

def RfactorOp : PolyComputeDataOp<"rfactor"> {
  let summary = "gives the iterations of a loop partial results of their own";
  let description = [{
    The reduction accumulates into a local array that has the loop as its first
    dimension. A computation before it makes the parts neutral, one after it
    combines them with the elements. Both are around the outermost loop that
    runs over updates of an element. Their loops are called like the factored
    one, and `e0`, `e1`, ... for the indices of the element.

    Then `loop` carries no dependence but those of the parts: its iterations may
    be the lanes of a vector or different threads.

    Where data indexes the element, as in a histogram, each part has all
    elements along that dimension, and those that nobody updates stay neutral.
    Its iterations may be different threads, each with a copy of its own; lanes
    may meet in an element, so they run one after the other.

    #### Return modes

    Returns handles to the array and to the two computations. Reads the handle
    of the target, which stays valid.
    - Silenceable failure: there is no such loop; the target is not marked as a
      reduction, writes other elements, or is interleaved with computations that
      use the array; one iteration of the loop has all updates of an element;
      data indexes a dimension whose extent nothing states.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    %parts, %init, %combine = transform.poly.rfactor %dot loop "k.1" place stack
        : (!transform.any_op)
        -> (!transform.any_op, !transform.any_op, !transform.any_op)
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$loop,
                       OptionalAttr<Poly_MemorySpaceAttr>:$placement);
  let results = (outs TransformHandleTypeInterface:$array,
                      TransformHandleTypeInterface:$init,
                      TransformHandleTypeInterface:$combine);
  let assemblyFormat = [{
    $target `loop` $loop (`place` custom<MemorySpace>($placement)^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def DecomposeOp : PolyCommandOp<"decompose"> {
  let summary = "initializes what a reduction updates before one of its loops";
  let description = [{
    The computation that initializes the elements which the target updates, the
    last before it that writes them without reading them, runs directly before
    `loop` in each iteration of the loops around it: for the elements that are
    updated there. Where several of these iterations update an element, it is in
    the first.

    #### Return modes

    - Silenceable failure: there is no such loop; the target does not update one
      array; there is no such computation before it; the first iteration that
      updates an element is not an affine function of it; the schedule would
      break a dependence.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.decompose %acc loop "k" : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$loop);
  let assemblyFormat = "$target `loop` $loop attr-dict `:` type($target)";
}

def RegisterBlockOp : PolyComputeDataOp<"register_block", ["sizes", "width"]> {
  let summary = "keeps blocks of a reduction's results in registers";
  let description = [{
    Splits each loop `i` of `loops` into `i.0`, over blocks, and `i.1`, over the
    iterations of one block, as many as `sizes` says. The other loops of the nest,
    from the first of these on, run in between; so a block is loaded, updated by
    all of their iterations, and stored. The last loop runs in lanes of `width`
    unless that is 1, all others in a block are unrolled. Blocks that no domain cuts get code of
    their own. This is `split`, `interchange`, `separate_full_tiles`, `vectorize`,
    `unroll` and `cache_write` to registers in one.

    #### Return modes

    Returns handles to the array, to the computation that loads a block (an empty
    handle if there is none) and to that which stores it. Reads the handle of the
    target, which stays valid.
    - Silenceable failure: there is not a size for each loop; `width` does not
      divide the last; one of these commands is refused.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    %c, %load, %store = transform.poly.register_block %acc loops ["i", "j"]
        sizes [6, 32] width 16
        : (!transform.any_op)
        -> (!transform.any_op, !transform.any_op, !transform.any_op)
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       Variadic<Poly_NumberParam>:$open_sizes,
                       Optional<Poly_NumberParam>:$open_width,
                       StrArrayAttr:$loops, DenseI64ArrayAttr:$sizes,
                       I64Attr:$width);
  let results = (outs TransformHandleTypeInterface:$array,
                      TransformHandleTypeInterface:$before,
                      TransformHandleTypeInterface:$after);
  let assemblyFormat = [{
    $target `loops` $loops `sizes` custom<Numbers>($open_sizes, $sizes) `width`
    custom<Number>($open_width, $width) attr-dict `:` functional-type($target,
    results)
  }];
}

def PlaceOp : PolyArrayDataOp<"place"> {
  let summary = "says where an array lives";
  let description = [{
    #### Return modes

    - Silenceable failure: the memory has a dynamic size, and is not to be on
      the heap; iterations of a parallel loop share a register.
    - Definite failure: the target is not a `poly.array`.

    Example:
    ```mlir
    transform.poly.place %acc register : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       Poly_MemorySpaceAttr:$placement);
  let assemblyFormat = "$target custom<MemorySpace>($placement) attr-dict `:` type($target)";
}

#endif // ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYDATAOPS_TD
