//===- Extents.cpp - The box around a domain ------------------------------===//

#include "espalier/Dialect/Poly/Analysis/Extents.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"

using namespace mlir;

SmallVector<std::optional<int64_t>>
espalier::poly::getBoxExtents(IntegerSet set) {
  FlatLinearValueConstraints constraints(set);
  SmallVector<std::optional<int64_t>> extents(set.getNumDims());
  for (auto [dim, extent] : llvm::enumerate(extents)) {
    auto low = constraints.getConstantBound64(presburger::BoundType::LB, dim);
    auto high = constraints.getConstantBound64(presburger::BoundType::UB, dim);
    if (low && high)
      extent = std::max<int64_t>(*high - *low + 1, 0);
  }
  return extents;
}
