//===- PolyKernelOps.td - Commands on a program's kernels --*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYKERNELOPS_TD
#define ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYKERNELOPS_TD

include "espalier/Dialect/Poly/TransformOps/PolyTransformBase.td"

/// A command for kernels and what calls them. It may erase operations, handles
/// to which are then empty; those to computations stay valid.
class PolyProgramOp<string mnemonic>
    : Op<Transform_Dialect, "poly." # mnemonic, [
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<TransformOpInterface>,
        ReportTrackingListenerFailuresOpTrait]> {
  let cppNamespace = "::espalier::poly";
  code effects = [{
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::MemoryEffects::EffectInstance>
            &effects) {
      ::mlir::transform::onlyReadsHandle(getOperation()->getOpOperands(),
                                         effects);
      ::mlir::transform::modifiesPayload(effects);
    }
  }];
}

/// Such a command for one computation after the other: a call of a function
/// with the arguments `arguments` after `compute`.
class PolyProgramCallOp<string mnemonic, string function, string values>
    : PolyProgramOp<mnemonic> {
  let extraClassDefinition = [{
    ::mlir::DiagnosedSilenceableFailure $cppClass::apply(
        ::mlir::transform::TransformRewriter &rewriter,
        ::mlir::transform::TransformResults &,
        ::mlir::transform::TransformState &state) {
      return ::espalier::poly::applyToEach(getOperation(),
          ::llvm::to_vector(state.getPayloadOps(getTarget())), state,
          [&](::espalier::poly::ComputeTarget compute) {
            return ::espalier::poly::}] # function # "(compute, " # values # [{);
          });
    }
  }] # effects;
}

/// Such a command that may erase operations.
class PolyProgramComputeOp<string mnemonic, string function, string argument>
    : PolyProgramCallOp<mnemonic, function,
        argument # ", [&](::mlir::Operation *op) { rewriter.eraseOp(op); }">;

def MergeOp : PolyProgramOp<"merge"> {
  let summary = "makes one kernel of two";
  let description = [{
    The kernel of `target` also runs what that of `other` does, after its own
    computations, and is called once, where the other was. What both calls pass
    is one argument, so that dependences go through it, and commands such as
    `fuse` and `compute_at` work on both. The computations keep their names, or
    get a number where a name is taken; the other kernel is gone.

    #### Return modes

    - Silenceable failure: the computations are of one kernel; a kernel is not
      called exactly once, or the first not before the second in one block;
      something between the calls depends on what the first does; the calls pass
      overlapping buffers in different ways; the kernel would not be valid.
    - Definite failure: a handle is not one computation.

    Example:
    ```mlir
    transform.poly.merge %a with %b : !transform.any_op, !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       TransformHandleTypeInterface:$other);
  let assemblyFormat = [{
    $target `with` $other attr-dict `:` type($target) `,` type($other)
  }];
  let extraClassDefinition = [{
    ::mlir::DiagnosedSilenceableFailure $cppClass::apply(
        ::mlir::transform::TransformRewriter &rewriter,
        ::mlir::transform::TransformResults &,
        ::mlir::transform::TransformState &state) {
      return ::espalier::poly::applyPairCommand(getOperation(),
          ::llvm::to_vector(state.getPayloadOps(getTarget())),
          ::llvm::to_vector(state.getPayloadOps(getOther())), state,
          [&](::espalier::poly::ComputeTarget target,
              ::espalier::poly::ComputeOp other) {
            return ::espalier::poly::mergeKernels(target, other,
                [&](::mlir::Operation *op) { rewriter.eraseOp(op); });
          });
    }
  }] # effects;
}

def LocalizeOp : PolyProgramComputeOp<"localize", "localize", "getNumber()"> {
  let summary = "makes a buffer of the program an array of the kernel";
  let description = [{
    The argument that the target writes, with write `write`, becomes a
    `poly.array`: nobody else sees it, so commands may shrink it (`privatize`,
    `fold_storage`), compute it where it is used (`compute_at`) or remove it
    (`inline`).

    #### Return modes

    - Silenceable failure: there is no such write, or it is to an array of the
      kernel; the kernel is not called exactly once; the program does not
      allocate the buffer, or uses it elsewhere; its sizes are not parameters of
      the kernel.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.localize %a : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
      DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$number);
  let assemblyFormat = [{
    $target (`write` $number^)? attr-dict `:` type($target)
  }];
}

def ExternalizeOp
    : PolyProgramComputeOp<"externalize", "externalize", "getNumber()"> {
  let summary = "makes an array of the kernel a buffer of the program";
  let description = [{
    The array that the target writes, with write `write`, becomes an argument,
    which the program allocates for the call: the reverse of
    `transform.poly.localize`. So kernels that share it may be parted.

    #### Return modes

    - Silenceable failure: there is no such write, or it is to an argument; the
      array is not on the heap, or its elements lie elsewhere than the indices
      say; the kernel is not called exactly once.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.externalize %a : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
      DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$number);
  let assemblyFormat = [{
    $target (`write` $number^)? attr-dict `:` type($target)
  }];
}

def DetachOp : PolyProgramComputeOp<"detach", "detach", "getName()"> {
  let summary = "makes two kernels of one";
  let description = [{
    The target and the computations behind it, in program order, go to a kernel
    of their own, called `into`; it is called right after the kernel that had
    them: the reverse of `transform.poly.merge`. Each part keeps its schedule.

    #### Return modes

    - Silenceable failure: the target is the first computation, or interleaved
      with what is before it; the kernel is not called exactly once; the name is
      taken; both parts use an array of the kernel; the schedule does not run one
      part after the other.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.detach %b into "second" : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$name);
  let assemblyFormat = "$target `into` $name attr-dict `:` type($target)";
}

def AlgorithmOp
    : PolyProgramCallOp<"algorithm", "chooseAlgorithm", "getAlgorithm()"> {
  let summary = "says how a sum is computed";
  let description = [{
    A convolution is computed `direct`, as its definition says, or by the
    algorithm of `winograd` (see `poly-winograd`), whatever the default is. This
    is for modules at stage `statements`; where kernels are formed, a sum that
    Winograd's algorithm is not for is an error.

    #### Return modes

    - Silenceable failure: the module is at another stage; the target is not a
      sum.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.algorithm %conv direct : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       Poly_AlgorithmAttr:$algorithm);
  let assemblyFormat = "$target $algorithm attr-dict `:` type($target)";
}

def FusionOp : PolyProgramCallOp<"fusion", "chooseFusion",
                "getFused() ? Fusion::Fused : Fusion::Separate"> {
  let summary = "says whether a result is read in the kernel that computes it";
  let description = [{
    With `separate`, the result of the target is stored in memory, and those that
    read it are in other kernels than the one that computes it: they are split
    there. With `fused`, all that read it are in its kernel, whether that pays or
    not. In both cases it is computed once, not again by each that reads it. This
    is for modules at stage `statements`; where kernels are formed, a result that
    cannot be read in its kernel is an error with `fused`.

    #### Return modes

    - Silenceable failure: the module is at another stage; the result is an array
      of the kernel, or the caller's; a computation of the kernel itself reads
      it; the kernel is not called exactly once.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.fusion %conv separate : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, UnitAttr:$fused);
  let assemblyFormat = [{
    $target (`fused` $fused^):(`separate`)? attr-dict `:` type($target)
  }];
}

def BufferLayoutOp
    : PolyProgramCallOp<"buffer_layout", "chooseLayout",
                        "getNumber(), getLayout()"> {
  let summary = "says how a buffer of the program, or a constant, is stored";
  let description = [{
    The buffer that the target writes, or that of its read `read`, lies as
    `layout` says, from its indices to those of the memory; a constant is packed
    so when compiling. The identity is a choice, too: row by row. This is for
    modules at stage `statements`; a buffer that is gone where kernels are
    formed, since nobody but one kernel needs it, is not stored at all.

    #### Return modes

    - Silenceable failure: the module is at another stage; there is no such read;
      the array is one of the kernel, or the caller's, or is seen in another
      shape; the kernel is not called exactly once; the layout has other results
      than indices and their quotients and remainders by positive numbers, or
      elements would share a place; elements that the kernel states to be in
      order (`poly.monotonic`) would have several indices.
    - Definite failure: the target is not a computation.

    Example:
    ```mlir
    transform.poly.buffer_layout %product read 1
        affine_map<(k, j) -> (j floordiv 16, k, j mod 16)> : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
      AffineMapAttr:$layout,
      OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$number);
  let assemblyFormat = [{
    $target (`read` $number^)? $layout attr-dict `:` type($target)
  }];
}

#endif // ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYKERNELOPS_TD
