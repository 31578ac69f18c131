//===- PolyTransformBase.td - What all commands share ------*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYTRANSFORMBASE_TD
#define ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYTRANSFORMBASE_TD

include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// What may stand for a number of a command: sizes and factors stay open, as
/// `transform.tune.knob` leaves them, until a script is applied.
def Poly_NumberParam
    : Type<CPred<"$_self == ::espalier::poly::getNumberParamType("
                 "$_self.getContext())">,
           "parameter in place of a number", "::mlir::transform::ParamType">,
      BuildableType<"::espalier::poly::getNumberParamType("
                    "$_builder.getContext())">;

/// Each open number of the operation has a parameter.
def OpenNumbers : NativeOpTrait<"OpenNumbers"> {
  let cppNamespace = "::espalier::poly";
}

/// The attributes `names` of a command hold numbers, in which `kDynamic` stands
/// for the next parameter of the operand group with the same position after the
/// first `numHandles` operands. Declared as `open_factors` for `factors`.
class NumberAttributes<list<string> names, int numHandles = 1> {
  list<Trait> traits = !listconcat(
      !if(!gt(!size(names), 1), [AttrSizedOperandSegments], []<Trait>),
      !if(!empty(names), []<Trait>, [OpenNumbers]));
  string groups = !interleave(
      !foreach(n, !range(!size(names)),
               "::espalier::poly::OpenNumber{\"" # names[n]
                   # "\", getODSOperands(" # !add(n, numHandles) # ")}"),
      ", ");
  code declaration = [{
    /// The attributes with numbers, and what stands for those that are open.
    ::llvm::SmallVector<::espalier::poly::OpenNumber> getOpenNumbers() {
      return }] # "{" # groups # "};" # [{
    }
  }];
}

/// A command for computations. It reads its handle, which stays valid: a
/// command edits the schedule, in place. What it refuses is a silenceable
/// failure that leaves the payload as it was; a target of another kind is a
/// definite failure. A subclass declares `$target` first.
///
/// The method `command` of the op is all that it has to define; it runs with
/// the values of parameters in place of open `numbers`.
class PolyCommandOp<string mnemonic, list<string> numbers = [],
                    list<Trait> traits = []>
    : Op<Transform_Dialect, "poly." # mnemonic, !listconcat(traits,
        NumberAttributes<numbers>.traits, [
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<TransformOpInterface>,
        ReportTrackingListenerFailuresOpTrait])> {
  let cppNamespace = "::espalier::poly";
  let extraClassDeclaration = [{
    /// Applies the command to one computation.
    ::llvm::Error command(::espalier::poly::ComputeTarget compute);
  }] # NumberAttributes<numbers>.declaration;
  let extraClassDefinition = [{
    ::mlir::DiagnosedSilenceableFailure $cppClass::apply(
        ::mlir::transform::TransformRewriter &,
        ::mlir::transform::TransformResults &,
        ::mlir::transform::TransformState &state) {
      return ::espalier::poly::applyClosed(*this, state,
          [&]($cppClass closed) {
            return ::espalier::poly::applyToEach(getOperation(),
                ::llvm::to_vector(state.getPayloadOps(getTarget())), state,
                [&](::espalier::poly::ComputeTarget compute) {
                  return closed.command(compute);
                });
          });
    }
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::MemoryEffects::EffectInstance>
            &effects) {
      ::mlir::transform::onlyReadsHandle(getOperation()->getOpOperands(),
                                         effects);
      ::mlir::transform::modifiesPayload(effects);
    }
  }];
}

/// A command for two computations of one kernel, each the only one of its
/// handle; `$target` and `$other` are declared first. For the rest like
/// `PolyCommandOp`.
class PolyPairCommandOp<string mnemonic, list<string> numbers = [],
                        list<Trait> traits = []>
    : Op<Transform_Dialect, "poly." # mnemonic, !listconcat(traits,
        NumberAttributes<numbers, 2>.traits, [
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<TransformOpInterface>,
        ReportTrackingListenerFailuresOpTrait])> {
  let cppNamespace = "::espalier::poly";
  let extraClassDeclaration = [{
    /// Applies the command to two computations.
    ::llvm::Error command(::espalier::poly::ComputeTarget target,
                          ::espalier::poly::ComputeOp other);
  }] # NumberAttributes<numbers, 2>.declaration;
  let extraClassDefinition = [{
    ::mlir::DiagnosedSilenceableFailure $cppClass::apply(
        ::mlir::transform::TransformRewriter &,
        ::mlir::transform::TransformResults &,
        ::mlir::transform::TransformState &state) {
      return ::espalier::poly::applyClosed(*this, state,
          [&]($cppClass closed) {
            return ::espalier::poly::applyPairCommand(getOperation(),
                ::llvm::to_vector(state.getPayloadOps(getTarget())),
                ::llvm::to_vector(state.getPayloadOps(getOther())), state,
                [&](::espalier::poly::ComputeTarget target,
                    ::espalier::poly::ComputeOp other) {
                  return closed.command(target, other);
                });
          });
    }
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::MemoryEffects::EffectInstance>
            &effects) {
      ::mlir::transform::onlyReadsHandle(getOperation()->getOpOperands(),
                                         effects);
      ::mlir::transform::modifiesPayload(effects);
    }
  }];
}

#endif // ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYTRANSFORMBASE_TD
