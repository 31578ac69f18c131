//===- LoopValues.cpp - What values loops take ----------------------------===//

#include "espalier/Dialect/Poly/Analysis/Model.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

/// The points of `compute` that reach `node`, for parameters that can be.
static polyhedral::Set getPoints(const polyhedral::Context &context,
                                 ComputeOp compute, Operation *node) {
  unsigned numDims = compute.getNumDims();
  unsigned numParams = compute.getKernel().getNumParameters();
  polyhedral::Set points = polyhedral::Set::getUnion(
      context, numDims, numParams, compute.getDomainSets());
  for (unsigned parameter = 0; parameter < numParams; ++parameter)
    points = points.intersect(polyhedral::Set::get(
        context,
        IntegerSet::get(numDims, numParams,
                        getAffineSymbolExpr(parameter, compute.getContext()),
                        /*eqFlags=*/{false})));
  for (; node; node = node->getParentOp()) {
    auto filter = dyn_cast<FilterOp>(node);
    if (!filter || !filter.getSets())
      continue;
    for (auto [symbol, set] : llvm::zip_equal(
             filter.getComputations().getAsValueRange<FlatSymbolRefAttr>(),
             filter.getSets()->getAsRange<IntegerSetAttr>()))
      if (symbol == compute.getSymName())
        points =
            points.intersect(polyhedral::Set::get(context, set.getValue()));
  }
  return points;
}

polyhedral::Map
espalier::poly::getLoopValues(const polyhedral::Context &context, BandOp band,
                              unsigned position) {
  auto kernel = band->getParentOfType<KernelOp>();
  unsigned numParams = kernel.getNumParameters();
  SmallVector<BandOp> above;
  for (Operation *node = band->getParentOp(); node; node = node->getParentOp())
    if (auto outer = dyn_cast<BandOp>(node))
      above.insert(above.begin(), outer);

  polyhedral::Map values;
  for (StringRef symbol :
       band.getComputations().getAsValueRange<FlatSymbolRefAttr>()) {
    ComputeOp compute = kernel.lookupCompute(symbol);
    SmallVector<AffineExpr> outer;
    for (BandOp other : above)
      llvm::append_range(outer, other.getMap(symbol).getResults());
    ArrayRef<AffineExpr> own = band.getMap(symbol).getResults();
    llvm::append_range(outer, own.take_front(position));
    auto toMap = [&](ArrayRef<AffineExpr> results) {
      return polyhedral::Map::get(context, numParams,
                                  AffineMap::get(compute.getNumDims(),
                                                 numParams, results,
                                                 kernel.getContext()));
    };
    polyhedral::Map part =
        toMap(outer)
            .intersectDomain(getPoints(context, compute, band))
            .inverse()
            .compose(toMap(own[position]));
    values = values ? values.unite(part) : part;
  }
  return values;
}

std::string espalier::poly::checkLanes(ScheduleOp schedule,
                                       const polyhedral::Limits &limits) {
  std::string fault;
  schedule.walk([&](BandOp band) {
    for (auto [position, kind] : llvm::enumerate(band.getLoopKinds())) {
      if (!kind.isVector())
        continue;
      polyhedral::Context context(limits);
      polyhedral::Map values = getLoopValues(context, band, position);
      polyhedral::Set differences = values.inverse().compose(values).deltas();
      std::optional<bool> isEmpty = differences.isEmpty();
      if (isEmpty == true)
        continue;
      std::optional<int64_t> most = differences.getMax(0);
      if (most && *most < kind.getWidth())
        continue;
      llvm::raw_string_ostream os(fault);
      os << "at most " << kind.getWidth() << " iterations of the loop "
         << Attribute(kind) << " of " << band.getComputations() << ", but ";
      if (!isEmpty)
        os << "they cannot be counted";
      else if (most)
        os << "it has " << *most + 1;
      else
        os << "it has more";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return fault;
}
