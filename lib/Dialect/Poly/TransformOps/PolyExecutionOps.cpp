//===- PolyExecutionOps.cpp - Commands for how loops run ------------------===//

#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h"
#include "espalier/Dialect/Poly/Transforms/Commands.h"

using namespace mlir;
using namespace espalier::poly;

llvm::Error ParallelizeOp::command(ComputeOp compute) {
  return parallelize(compute, getLoop());
}

llvm::Error SerializeOp::command(ComputeOp compute) {
  return serialize(compute, getLoop());
}

llvm::Error VectorizeOp::command(ComputeOp compute) {
  return vectorize(compute, getLoop(), getWidth(), getPeelTail());
}

llvm::Error UnrollOp::command(ComputeOp compute) {
  return unroll(compute, getLoop(), getFactor());
}

llvm::Error UnrollAndJamOp::command(ComputeOp compute) {
  return unrollAndJam(compute, getLoop(), getFactor());
}

llvm::Error PrefetchCommandOp::command(ComputeOp compute) {
  if (getDistance().has_value() == getAt().has_value())
    return refuse("expects either a distance or a map");
  Prefetch what;
  what.read = getRead();
  what.reader = getOf().value_or("").str();
  what.distance = getDistance().value_or(0);
  what.at = getAt().value_or(AffineMap());
  what.bytes = getBytes();
  return prefetch(compute, getLoop(), what);
}
