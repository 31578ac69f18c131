//===- Order.cpp - The order of a nest's loops ----------------------------===//

#include "LoopNest.h"

using namespace mlir;
using namespace espalier::poly;

//===----------------------------------------------------------------------===//
// Interchange
//===----------------------------------------------------------------------===//

llvm::Error espalier::poly::interchange(ComputeOp compute,
                                        ArrayRef<StringRef> names) {
  auto edit = [&](ComputeOp compute) -> llvm::Error {
    llvm::Expected<LoopNest> nest = getNest(compute, names);
    if (!nest)
      return nest.takeError();
    SmallVector<BandLoop> before = getLoops(nest->band), after = before;
    SmallVector<unsigned> places = nest->getPlaces();
    for (auto [place, position] : llvm::zip_equal(places, nest->positions))
      after[place] = before[position];
    setLoops(nest->band, after);
    return llvm::Error::success();
  };
  return applyTo(compute, edit);
}

//===----------------------------------------------------------------------===//
// Skew, shift, reversal
//===----------------------------------------------------------------------===//

/// Adds multiples of other loops to one, as the command `skew` does.
static llvm::Error skewLoop(ComputeOp compute, StringRef name,
                            ArrayRef<int64_t> factors,
                            ArrayRef<StringRef> others) {
  llvm::Expected<LoopPosition> found = findLoop(compute, name);
  if (!found)
    return found.takeError();
  if (factors.size() != others.size() || others.empty())
    return refuse("expects one factor for each of at least one loop, but got " +
                  Twine(factors.size()) + " for " + Twine(others.size()));
  SmallVector<BandLoop> loops = getLoops(found->band);
  BandLoop &loop = loops[found->position];
  for (auto [factor, other] : llvm::zip_equal(factors, others)) {
    if (!isSmall(factor))
      return refuse("expects factors of at most 2^30, but got " +
                    Twine(factor));
    if (other == name)
      return refuse("expects other loops to skew " + quote(name) + " by");
    llvm::Expected<LoopPosition> by = findLoop(compute, other);
    if (!by)
      return by.takeError();
    for (auto [symbol, expr] : llvm::zip_equal(
             found->band.getComputations().getAsValueRange<FlatSymbolRefAttr>(),
             loop.exprs)) {
      AffineMap map = by->band.getMap(symbol);
      if (!map)
        return refuse("expects a loop that all computations of " + quote(name) +
                      " share, but @" + symbol + " does not run " +
                      quote(other));
      expr = expr + map.getResult(by->position) * factor;
    }
  }
  setLoops(found->band, loops);
  return llvm::Error::success();
}

llvm::Error espalier::poly::skew(ComputeOp compute, StringRef loop,
                                 ArrayRef<int64_t> factors,
                                 ArrayRef<StringRef> others) {
  return applyTo(compute, [&](ComputeOp compute) {
    return skewLoop(compute, loop, factors, others);
  });
}

llvm::Error espalier::poly::reverse(ComputeOp compute, StringRef name) {
  return applyTo(compute, [&](ComputeOp compute) -> llvm::Error {
    llvm::Expected<LoopPosition> found = findLoop(compute, name);
    if (!found)
      return found.takeError();
    SmallVector<BandLoop> loops = getLoops(found->band);
    for (AffineExpr &expr : loops[found->position].exprs)
      expr = -expr;
    setLoops(found->band, loops);
    return llvm::Error::success();
  });
}
