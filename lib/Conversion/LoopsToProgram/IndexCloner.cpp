//===- IndexCloner.cpp - Sizes of @main in @main_plan ---------------------===//

#include "IndexCloner.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace espalier;

FailureOr<Value> IndexCloner::cloneDim(memref::DimOp op) {
  std::optional<int64_t> dim = op.getConstantIndex();
  Value source = op.getSource();
  while (auto cast = source.getDefiningOp<memref::CastOp>())
    source = cast.getSource();
  auto type = dyn_cast<MemRefType>(source.getType());
  if (!dim || !type || *dim < 0 || *dim >= type.getRank())
    return op.emitError("expects a constant dimension of a ranked memref");
  if (!type.isDynamicDim(*dim))
    return arith::ConstantIndexOp::create(builder, op.getLoc(),
                                          type.getDimSize(*dim))
        .getResult();
  if (auto argument = dyn_cast<BlockArgument>(source))
    return getExtent(argument, *dim);
  if (auto alloc = source.getDefiningOp<memref::AllocOp>())
    return clone(alloc.getDynamicSizes()[type.getDynamicDimIndex(*dim)]);
  return op.emitError("expects a size that follows from the extents of the "
                      "inputs, but got that of ")
         << source;
}

FailureOr<Value> IndexCloner::clone(Value value) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (auto dim = dyn_cast_if_present<memref::DimOp>(op)) {
    FailureOr<Value> result = cloneDim(dim);
    if (succeeded(result))
      mapping.map(value, *result);
    return result;
  }
  if (!op || op->getNumRegions() != 0 || !isMemoryEffectFree(op) ||
      llvm::any_of(op->getOperandTypes(), llvm::IsaPred<BaseMemRefType>))
    return emitError(value.getLoc(), "expects a size that follows from the "
                                     "extents of the inputs, but got ")
           << value;
  for (Value operand : op->getOperands())
    if (failed(clone(operand)))
      return failure();
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}
