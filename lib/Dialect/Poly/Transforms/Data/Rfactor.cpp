//===- Rfactor.cpp - Partial results for the iterations of a loop ---------===//

#include "../Hints.h"
#include "../PartialReduction.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

/// Whether the element that `compute` writes decides the value of `expr`. An
/// index that data decides says nothing.
static bool isOfElement(const polyhedral::Context &context, ComputeOp compute,
                        const ComputeAccess &write, AffineExpr expr) {
  unsigned numParams = compute.getKernel().getNumParameters();
  auto toMap = [&](AffineMap map) {
    return polyhedral::Map::get(context, numParams, map,
                                polyhedral::Map::Inexact::Any)
        .intersectDomain(getDomain(context, compute));
  };
  AffineMap value = AffineMap::get(compute.getNumDims(), numParams, expr);
  return toMap(write.map)
      .inverse()
      .compose(toMap(value))
      .isSingleValued()
      .value_or(false);
}

static llvm::Expected<LocalCopy> rfactorIn(ComputeOp compute, StringRef loop,
                                           const LocalOptions &options) {
  llvm::Expected<PartialUpdate> update = getUpdate(compute);
  if (!update)
    return update.takeError();
  llvm::Expected<Tile> inner = getTileOfLoop(compute, loop);
  if (!inner)
    return inner.takeError();
  ComputeAccess write = compute.getWriteAccesses().front();
  ArrayRef<AffineExpr> values =
      inner->maps[inner->getNumber(compute)].getResults();
  polyhedral::Context context;
  if (isOfElement(context, compute, write, values.back()))
    return refuse("expects \"" + loop + "\" to run over the updates of an " +
                  "element, but each has all of its updates in one iteration");
  // All updates of an element are in one iteration of the loops above.
  unsigned depth = 0;
  while (isOfElement(context, compute, write, values[depth]))
    ++depth;
  if (update->isOrdered && depth + 1 != values.size())
    return refuse("expects the outermost loop over the updates of an element, "
                  "whose order stays as @" +
                  *compute.getCombiner() + " is not 'commutative', but \"" +
                  loop + "\" is inside of \"" + inner->loops[depth].getValue() +
                  "\"");
  llvm::Expected<Tile> outer = getTile(
      compute, depth == 0 ? StringRef() : inner->loops[depth - 1].getValue());
  if (!outer)
    return outer.takeError();
  return makePartial(*outer, compute, values.back(), inner->loops.back(),
                     options);
}

llvm::Expected<LocalCopy> espalier::poly::rfactor(ComputeOp compute,
                                                  StringRef loop,
                                                  const LocalOptions &options) {
  LocalCopy result;
  llvm::Error error = applyAt(
      compute, loop, [&](ComputeOp target, StringRef loop) -> llvm::Error {
        return rfactorIn(target, loop, options).moveInto(result);
      });
  if (error)
    return std::move(error);
  return result;
}
