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

def LocalizeOp : PolyProgramOp<"localize"> {
  let summary = "makes a buffer of the program an array of the kernel";
  let description = [{
    The argument that the target writes, with write `write`, becomes a
    `poly.array`: nobody else sees it, so commands may shrink it (`contract`,
    `fold`), compute it where it is used (`compute_at`) or remove it (`inline`).

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
  let extraClassDefinition = [{
    ::mlir::DiagnosedSilenceableFailure $cppClass::apply(
        ::mlir::transform::TransformRewriter &rewriter,
        ::mlir::transform::TransformResults &,
        ::mlir::transform::TransformState &state) {
      return ::espalier::poly::applyToEach(getOperation(),
          ::llvm::to_vector(state.getPayloadOps(getTarget())), state,
          [&](::espalier::poly::ComputeTarget compute) {
            return ::espalier::poly::localize(compute, getNumber(),
                [&](::mlir::Operation *op) { rewriter.eraseOp(op); });
          });
    }
  }] # effects;
}

#endif // ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYKERNELOPS_TD
