//===- GraphInterfaces.td - Interfaces of graph operators --*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_GRAPH_IR_GRAPHINTERFACES_TD
#define ESPALIER_DIALECT_GRAPH_IR_GRAPHINTERFACES_TD

include "mlir/IR/OpBase.td"

def DefinedOpInterface : OpInterface<"DefinedOpInterface"> {
  let cppNamespace = "::espalier::graph";
  let description = [{
    An operator whose meaning is a `definition::Definition`. Its tensor operands,
    in order, are the definition's operands; its operands of type `index`, in
    order, are the definition's parameters.
  }];
  let methods = [
    InterfaceMethod<
      /*desc=*/[{
        Builds the definition. On a fault, calls `error` with the reason and
        fails; this cannot happen to a verified operation.
      }],
      "::mlir::FailureOr<::espalier::definition::Definition>", "getDefinition",
      (ins "::espalier::graph::DefinitionError":$error)>,
  ];
  let extraSharedClassDeclaration = [{
    /// Returns the definition of a verified operation.
    ::espalier::definition::Definition getVerifiedDefinition() {
      return ::espalier::graph::detail::getVerifiedDefinition(
          $_op.getOperation());
    }
    /// Returns the operands that are tensors.
    ::llvm::SmallVector<::mlir::Value> getTensorOperands() {
      return ::espalier::graph::detail::getTensors($_op->getOperands());
    }
    /// Returns the types of the operands that are tensors.
    ::llvm::SmallVector<::mlir::RankedTensorType> getTensorOperandTypes() {
      return ::espalier::graph::detail::getTensorTypes($_op->getOperands());
    }
    /// Returns the operands of type `index`.
    ::llvm::SmallVector<::mlir::Value> getParameterOperands() {
      return ::espalier::graph::detail::getParameters($_op->getOperands());
    }
  }];
  let verify = [{
    return ::espalier::graph::detail::verifyDefinition($_op);
  }];
  // A definition may consist of those of operators in a body.
  let verifyWithRegions = 1;
}

#endif // ESPALIER_DIALECT_GRAPH_IR_GRAPHINTERFACES_TD
