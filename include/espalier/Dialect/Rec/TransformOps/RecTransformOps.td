//===- RecTransformOps.td - Commands for recursive models --*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_REC_TRANSFORMOPS_RECTRANSFORMOPS_TD
#define ESPALIER_DIALECT_REC_TRANSFORMOPS_RECTRANSFORMOPS_TD

include "espalier/Dialect/Rec/IR/RecAttributes.td"
include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class RecCommandOp<string mnemonic, list<Trait> traits = []>
    : Op<Transform_Dialect, "rec." # mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        TransformOpInterface, TransformEachOpTrait,
        ReportTrackingListenerFailuresOpTrait])> {
  let cppNamespace = "::espalier::rec";
  code applyToOne = [{
    ::mlir::DiagnosedSilenceableFailure applyToOne(
        ::mlir::transform::TransformRewriter &rewriter,
        ::mlir::Operation *target,
        ::mlir::transform::ApplyToEachResultList &results,
        ::mlir::transform::TransformState &state);
  }];
  let extraClassDeclaration = applyToOne;
}

def ConfigureOp : RecCommandOp<"configure"> {
  let summary = "says how the nodes of a model are computed";
  let description = [{
    Sets the attributes of the model that are given; `rec.model` describes them.

    #### Return modes

    Reads `target`, which stays valid.
    - Definite failure: the target is not a model.

    Example:
    ```mlir
    transform.rec.configure %model {hoist = false} : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       OptionalAttr<BoolAttr>:$hoist,
                       OptionalAttr<BoolAttr>:$specialize,
                       OptionalAttr<Rec_BatchingAttr>:$batching);
  let assemblyFormat = "$target attr-dict `:` type($target)";
}

def RefactorOp : RecCommandOp<"refactor"> {
  let summary = "moves a term of one child to the child's cell";
  let description = [{
    The operator becomes a further result of the model, which the child computes,
    with what it needs; `rec-refactor` shows an example. The results are the same.

    Of a model, or an operation that models are in, all is moved that this pass
    moves, which may be nothing.

    #### Return modes

    Consumes `target`.
    - Silenceable failure: the target is no operator with one result in a cell;
      it depends on no child, on several, or on features of the node; other
      children have no such term; an extent of its result is not known.

    Example:
    ```mlir
    transform.rec.refactor %product : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target);
  let assemblyFormat = "$target attr-dict `:` type($target)";
}

#endif // ESPALIER_DIALECT_REC_TRANSFORMOPS_RECTRANSFORMOPS_TD
