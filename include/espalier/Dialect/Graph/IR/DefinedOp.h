//===- DefinedOp.h - Operators given by definitions -------------*- C++ -*-===//
//
// What graph operators derive from their definitions: verification, result
// types, and result shapes as values.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_DIALECT_GRAPH_IR_DEFINEDOP_H
#define ESPALIER_DIALECT_GRAPH_IR_DEFINEDOP_H

#include "espalier/Definition/Definition.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

namespace espalier::graph {

/// Receives the reason why an operator has no definition, in the form
/// `expects <rule>, but got <value>`.
using DefinitionError = llvm::function_ref<void(const llvm::Twine &)>;

class DefinedOpInterface;

namespace detail {

/// The operands that are tensors.
llvm::SmallVector<mlir::Value> getTensors(mlir::ValueRange operands);
/// Their types.
llvm::SmallVector<mlir::RankedTensorType>
getTensorTypes(mlir::ValueRange operands);
/// The operands of type `index`.
llvm::SmallVector<mlir::Value> getParameters(mlir::ValueRange operands);

definition::Definition getVerifiedDefinition(mlir::Operation *op);
/// Checks that `op` has a definition, and results as it says; one that uses
/// symbols calls `verifyResultTypes` itself when it verifies their uses.
mlir::LogicalResult verifyDefinition(mlir::Operation *op);
mlir::LogicalResult verifyResultTypes(mlir::Operation *op);
bool areCompatible(mlir::TypeRange inferred, mlir::TypeRange actual);
mlir::LogicalResult
reifyResultShapes(mlir::Operation *op, mlir::OpBuilder &builder,
                  mlir::ReifiedRankedShapedTypeDims &shapes);

/// Instantiates a definition in the index notation. Attributes become numbers,
/// functions (activations) or the result's element type (a type attribute).
mlir::FailureOr<definition::Definition>
defineFromText(llvm::StringRef text, llvm::ArrayRef<llvm::StringRef> names,
               mlir::ValueRange operands, mlir::DictionaryAttr attributes,
               DefinitionError error);

/// Checks what `define` relies on where no verifier has run yet.
mlir::LogicalResult checkOperands(mlir::ValueRange operands,
                                  llvm::ArrayRef<llvm::StringRef> names,
                                  unsigned numVariadic, DefinitionError error);

mlir::LogicalResult inferReturnTypes(
    llvm::StringRef operation, std::optional<mlir::Location> location,
    mlir::ValueRange operands,
    llvm::function_ref<mlir::FailureOr<definition::Definition>(DefinitionError)>
        define,
    llvm::SmallVectorImpl<mlir::Type> &inferred);

template <typename OpTy>
mlir::FailureOr<definition::Definition>
defineFromText(llvm::StringRef text, typename OpTy::Adaptor adaptor,
               DefinitionError error) {
  mlir::MLIRContext *context = adaptor.getOperands().front().getContext();
  mlir::DictionaryAttr attributes;
  if constexpr (!std::is_same_v<typename OpTy::Properties,
                                mlir::EmptyProperties>) {
    typename OpTy::Properties properties = adaptor.getProperties();
    OpTy::populateDefaultProperties(
        mlir::OperationName(OpTy::getOperationName(), context), properties);
    attributes = mlir::cast<mlir::DictionaryAttr>(
        OpTy::getPropertiesAsAttr(context, properties));
  }
  return defineFromText(text, OpTy::getOperandNames(), adaptor.getOperands(),
                        attributes, error);
}

template <typename OpTy>
mlir::LogicalResult
inferReturnTypes(mlir::MLIRContext *context,
                 std::optional<mlir::Location> location,
                 typename OpTy::Adaptor adaptor,
                 llvm::SmallVectorImpl<mlir::Type> &inferred) {
  if (failed(adaptor.verify(location.value_or(mlir::UnknownLoc::get(context)))))
    return mlir::failure();
  return inferReturnTypes(
      OpTy::getOperationName(), location, adaptor.getOperands(),
      [&](DefinitionError error) -> mlir::FailureOr<definition::Definition> {
        if (failed(checkOperands(adaptor.getOperands(), OpTy::getOperandNames(),
                                 OpTy::numVariadicOperands, error)))
          return mlir::failure();
        return OpTy::define(adaptor, error);
      },
      inferred);
}

} // namespace detail
} // namespace espalier::graph

#endif // ESPALIER_DIALECT_GRAPH_IR_DEFINEDOP_H
