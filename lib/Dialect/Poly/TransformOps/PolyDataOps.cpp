//===- PolyDataOps.cpp - Commands on data and reductions ------------------===//

#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h"
#include "espalier/Dialect/Poly/Transforms/DataCommands.h"

using namespace mlir;
using namespace espalier::poly;

using Results = llvm::Expected<SmallVector<Operation *>>;

static LocalOptions getOptions(std::optional<AffineMap> layout,
                               std::optional<Placement> placement) {
  LocalOptions options;
  options.layout = layout;
  options.placement = placement;
  return options;
}

Results CacheReadOp::command(ComputeOp compute) {
  llvm::Expected<LocalCopy> copy =
      cacheRead(compute, getRead(), getLoop().value_or(""),
                getOptions(getLayout(), getPlacement()));
  if (!copy)
    return copy.takeError();
  return SmallVector<Operation *>{copy->array, copy->in};
}

Results RfactorOp::command(ComputeOp compute) {
  llvm::Expected<PartialReduction> parts =
      rfactor(compute, getLoop(), getOptions({}, getPlacement()));
  if (!parts)
    return parts.takeError();
  return SmallVector<Operation *>{parts->array, parts->init, parts->combine};
}

Results PlaceOp::command(ArrayOp array) {
  if (llvm::Error error = place(array, getPlacement()))
    return std::move(error);
  return SmallVector<Operation *>{};
}
