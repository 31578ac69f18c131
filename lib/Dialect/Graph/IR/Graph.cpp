//===- Graph.cpp - The graph dialect --------------------------------------===//

#include "espalier/Dialect/Graph/IR/Graph.h"
#include "espalier/Definition/Formulas.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::graph;

#include "espalier/Dialect/Graph/IR/GraphDialect.cpp.inc"
#include "espalier/Dialect/Graph/IR/GraphEnums.cpp.inc"

#include "espalier/Dialect/Graph/IR/GraphInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "espalier/Dialect/Graph/IR/GraphAttributes.cpp.inc"

void GraphDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "espalier/Dialect/Graph/IR/GraphOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "espalier/Dialect/Graph/IR/GraphAttributes.cpp.inc"
      >();
}

Operation *GraphDialect::materializeConstant(OpBuilder &builder,
                                             Attribute value, Type type,
                                             Location location) {
  if (auto elements = dyn_cast<ElementsAttr>(value);
      elements && elements.getType() == type)
    return ConstantOp::create(builder, location, elements);
  return arith::ConstantOp::materialize(builder, value, type, location);
}

LogicalResult GraphDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attribute) {
  if (attribute.getName() != getLayoutAttrName())
    return op->emitError("expects no attribute '")
           << attribute.getName().getValue() << "' of the graph dialect";
  auto order = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
  auto type = op->getNumResults() == 1
                  ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                  : RankedTensorType();
  if (!order || !type || order.size() != type.getRank() ||
      !isPermutationVector(order.asArrayRef()))
    return op->emitError("expects '")
           << getLayoutAttrName()
           << "' to be a permutation of the dimensions of the only result, but "
              "got "
           << attribute.getValue();
  return success();
}

definition::Expr graph::applyActivation(Activation activation,
                                        definition::Expr value) {
  switch (activation) {
  case Activation::None:
    return value;
  case Activation::Relu:
    return definition::relu(value);
  case Activation::Sigmoid:
    return definition::sigmoid(value);
  case Activation::Tanh:
    return definition::tanh(value);
  }
  llvm_unreachable("every activation is handled above");
}

#define GET_OP_CLASSES
#include "espalier/Dialect/Graph/IR/GraphOps.cpp.inc"
