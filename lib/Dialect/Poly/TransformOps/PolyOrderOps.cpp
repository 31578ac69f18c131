//===- PolyOrderOps.cpp - Commands that change the order ------------------===//

#include "CommandArguments.h"
#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h"
#include "espalier/Dialect/Poly/Transforms/DataCommands.h"

using namespace mlir;
using namespace espalier::poly;

llvm::Error SplitOp::command(ComputeTarget compute) {
  return split(compute, getLoop(), getFactors(), toStrings(getInto()));
}

llvm::Error RebaseOp::command(ComputeTarget compute) {
  return rebase(compute, getLoop());
}

llvm::Error TileOp::command(ComputeTarget compute) {
  SmallVector<SmallVector<int64_t>> sizes;
  for (ArrayAttr level : getSizes().getAsRange<ArrayAttr>())
    sizes.push_back(
        llvm::map_to_vector(level.getAsRange<IntegerAttr>(),
                            [](IntegerAttr size) { return size.getInt(); }));
  return tile(compute, toStrings(getLoops()), sizes);
}

llvm::Error InterchangeOp::command(ComputeTarget compute) {
  return interchange(compute, toStrings(getLoops()));
}

llvm::Error SkewOp::command(ComputeTarget compute) {
  return skew(compute, getLoop(), getFactors(), toStrings(getOthers()));
}

llvm::Error ReverseOp::command(ComputeTarget compute) {
  return reverse(compute, getLoop());
}

// C1
LogicalResult ShiftOp::verify() {
  return verifyAmount(getOperation(), getAmountAttr());
}

llvm::Error ShiftOp::command(ComputeTarget compute) {
  return shift(compute, getLoop(), getAmount().getResult(0));
}

llvm::Error RemapOp::command(ComputeTarget compute) {
  return remap(compute, toStrings(getLoops()), getMap(), toStrings(getInto()));
}

llvm::Error WavefrontOp::command(ComputeTarget compute) {
  return wavefront(compute, toStrings(getLoops()),
                   getFactors().value_or(ArrayRef<int64_t>()));
}
