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

llvm::Error PrefetchOp::command(ComputeOp compute) {
  return prefetch(compute, getLoop(), getRead(), getDistance(), getBytes());
}
