//===- IndexData.cpp - Values of arrays that expressions use --------------===//

#include "espalier/Dialect/Poly/IR/IndexData.h"
#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;

std::string espalier::poly::describeOtherData(Value array) {
  if (auto argument = dyn_cast<BlockArgument>(array))
    if (auto kernel = dyn_cast<KernelOp>(argument.getOwner()->getParentOp()))
      if (auto dtype = kernel.getArgAttrOfType<StringAttr>(
              argument.getArgNumber(), "espalier.dtype"))
        if (dtype.getValue().starts_with("u"))
          return "holds " + dtype.getValue().str();
  Type type = cast<MemRefType>(array.getType()).getElementType();
  if (type.isInteger(1))
    return "holds truth values";
  if (type.isIndex() ||
      (type.isSignlessInteger() && type.getIntOrFloatBitWidth() <= 64))
    return "";
  return "is '" + debugString(type) + "'";
}
