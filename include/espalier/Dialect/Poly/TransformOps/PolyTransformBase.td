//===- PolyTransformBase.td - What all commands share ------*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYTRANSFORMBASE_TD
#define ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYTRANSFORMBASE_TD

include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// A command for computations. It reads its handle, which stays valid: a
/// command edits the schedule, in place. What it refuses is a silenceable
/// failure that leaves the payload as it was; a target of another kind is a
/// definite failure. A subclass declares `$target` first.
///
/// The method `command` of the op is all that it has to define.
class PolyCommandOp<string mnemonic, list<Trait> traits = []>
    : Op<Transform_Dialect, "poly." # mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        TransformOpInterface, TransformEachOpTrait,
        ReportTrackingListenerFailuresOpTrait])> {
  let cppNamespace = "::espalier::poly";
  let extraClassDeclaration = [{
    /// Applies the command to one computation.
    ::llvm::Error command(::espalier::poly::ComputeTarget compute);
    ::mlir::DiagnosedSilenceableFailure applyToOne(
        ::mlir::transform::TransformRewriter &rewriter,
        ::mlir::Operation *target,
        ::mlir::transform::ApplyToEachResultList &results,
        ::mlir::transform::TransformState &state);
  }];
  let extraClassDefinition = [{
    ::mlir::DiagnosedSilenceableFailure $cppClass::applyToOne(
        ::mlir::transform::TransformRewriter &, ::mlir::Operation *target,
        ::mlir::transform::ApplyToEachResultList &,
        ::mlir::transform::TransformState &state) {
      return ::espalier::poly::applyCommand(getOperation(), target, state,
          [&](::espalier::poly::ComputeTarget compute) {
            return command(compute);
          });
    }
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::MemoryEffects::EffectInstance>
            &effects) {
      ::mlir::transform::onlyReadsHandle(getTargetMutable(), effects);
      ::mlir::transform::modifiesPayload(effects);
    }
  }];
}

/// A command for two computations of one kernel, each the only one of its
/// handle; `$target` and `$other` are declared first. For the rest like
/// `PolyCommandOp`.
class PolyPairCommandOp<string mnemonic, list<Trait> traits = []>
    : Op<Transform_Dialect, "poly." # mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<TransformOpInterface>,
        ReportTrackingListenerFailuresOpTrait])> {
  let cppNamespace = "::espalier::poly";
  let extraClassDeclaration = [{
    /// Applies the command to two computations.
    ::llvm::Error command(::espalier::poly::ComputeTarget target,
                          ::espalier::poly::ComputeOp other);
  }];
  let extraClassDefinition = [{
    ::mlir::DiagnosedSilenceableFailure $cppClass::apply(
        ::mlir::transform::TransformRewriter &,
        ::mlir::transform::TransformResults &,
        ::mlir::transform::TransformState &state) {
      return ::espalier::poly::applyPairCommand(
          getOperation(), ::llvm::to_vector(state.getPayloadOps(getTarget())),
          ::llvm::to_vector(state.getPayloadOps(getOther())), state,
          [&](::espalier::poly::ComputeTarget target,
              ::espalier::poly::ComputeOp other) {
            return command(target, other);
          });
    }
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::MemoryEffects::EffectInstance>
            &effects) {
      ::mlir::transform::onlyReadsHandle(getTargetMutable(), effects);
      ::mlir::transform::onlyReadsHandle(getOtherMutable(), effects);
      ::mlir::transform::modifiesPayload(effects);
    }
  }];
}

#endif // ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYTRANSFORMBASE_TD
