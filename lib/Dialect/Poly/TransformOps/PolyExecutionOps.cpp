//===- PolyExecutionOps.cpp - Commands for how loops run ------------------===//

#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h"
#include "espalier/Dialect/Poly/Transforms/Commands.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace espalier::poly;

llvm::Error ParallelizeOp::command(ComputeTarget compute) {
  llvm::Error error =
      parallelize(compute, getLoop(), getKindAttr(), getAtomic());
  auto element = cast<MemRefType>(compute.getWrites().front().getType());
  if (!error && getAtomic() && isa<FloatType>(element.getElementType()))
    remark::passed(compute.getLoc(),
                   remark::RemarkOpts::name("Atomic").category("poly-schedule"))
        << "results depend on which thread comes first";
  return error;
}

llvm::Error SerializeOp::command(ComputeTarget compute) {
  return serialize(compute, getLoop());
}

llvm::Error VectorizeOp::command(ComputeTarget compute) {
  return vectorize(compute, getLoop(), getWidth(), getPeelTail());
}

llvm::Error UnrollOp::command(ComputeTarget compute) {
  return unroll(compute, getLoop(), getFactor());
}

llvm::Error UnrollAndJamOp::command(ComputeTarget compute) {
  return unrollAndJam(compute, getLoop(), getFactor());
}

llvm::Error PrefetchCommandOp::command(ComputeTarget compute) {
  if (getDistance().has_value() == getAt().has_value())
    return refuse("expects either a distance or a map");
  Prefetch what;
  what.isWrite = getIsWrite();
  what.number = getNumber();
  what.owner = getOf().value_or("").str();
  what.distance = getDistance().value_or(0);
  what.at = getAt().value_or(AffineMap());
  what.bytes = getBytes();
  return prefetch(compute, getLoop(), what);
}
