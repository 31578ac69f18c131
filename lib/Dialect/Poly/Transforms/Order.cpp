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

/// Collects the terms of `expr`, over the dimensions and symbols of `map`. What
/// has divisions stays as it is: they have the form of tiles.
static AffineExpr simplify(AffineExpr expr, AffineMap map) {
  bool hasDivisions = false;
  expr.walk([&](AffineExpr part) {
    hasDivisions |= part.getKind() == AffineExprKind::FloorDiv ||
                    part.getKind() == AffineExprKind::CeilDiv ||
                    part.getKind() == AffineExprKind::Mod;
  });
  if (hasDivisions)
    return expr;
  return simplifyAffineExpr(expr, map.getNumDims(), map.getNumSymbols());
}

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
      expr = simplify(expr + map.getResult(by->position) * factor, map);
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

llvm::Error espalier::poly::shift(ComputeOp compute, StringRef name,
                                  AffineExpr amount) {
  return applyTo(compute, [&](ComputeOp compute) -> llvm::Error {
    llvm::Expected<LoopPosition> found = findLoop(compute, name);
    if (!found)
      return found.takeError();
    if (llvm::Error error = checkExpr(compute, amount, /*numDims=*/0))
      return error;
    SmallVector<BandLoop> loops = getLoops(found->band);
    for (auto [symbol, expr] :
         llvm::zip_equal(getSymbols(found->band.getComputations()),
                         loops[found->position].exprs))
      if (symbol == compute.getSymName())
        expr = simplify(expr + amount, found->band.getMap(symbol));
    setLoops(found->band, loops);
    return llvm::Error::success();
  });
}

//===----------------------------------------------------------------------===//
// Any map
//===----------------------------------------------------------------------===//

/// Replaces the loops of `nest` by functions of them, which take their places.
static llvm::Error remapNest(LoopNest nest, AffineMap map,
                             ArrayRef<StringRef> names) {
  SmallVector<BandLoop> before = getLoops(nest.band), after;
  MLIRContext *context = map.getContext();
  SmallVector<BandLoop> results;
  for (auto [number, result] : llvm::enumerate(map.getResults())) {
    BandLoop &loop = results.emplace_back();
    loop.name = StringAttr::get(context, names[number]);
    loop.kind = LoopAttr::get(context, LoopKind::Sequential);
    if (auto dim = dyn_cast<AffineDimExpr>(result))
      loop.kind = before[nest.positions[dim.getPosition()]].kind;
    for (auto [which, symbol] :
         llvm::enumerate(getSymbols(nest.band.getComputations()))) {
      SmallVector<AffineExpr> values;
      for (unsigned position : nest.positions)
        values.push_back(before[position].exprs[which]);
      loop.exprs.push_back(
          simplify(result.replaceDims(values), nest.band.getMap(symbol)));
    }
  }
  SmallVector<unsigned> places = nest.getPlaces();
  auto *next = results.begin();
  for (auto [position, loop] : llvm::enumerate(before)) {
    if (!llvm::is_contained(places, position))
      after.push_back(loop);
    else if (next != results.end())
      after.push_back(*next++);
    if (position == places.back())
      after.append(std::exchange(next, results.end()), results.end());
  }
  setLoops(nest.band, after);
  return llvm::Error::success();
}

llvm::Error espalier::poly::remap(ComputeOp compute, ArrayRef<StringRef> names,
                                  AffineMap map, ArrayRef<StringRef> into) {
  return applyTo(compute, [&](ComputeOp compute) -> llvm::Error {
    llvm::Expected<LoopNest> nest = getNest(compute, names);
    if (!nest)
      return nest.takeError();
    if (map.getNumDims() != names.size())
      return refuse("expects a map from " + Twine(names.size()) +
                    " loops, but got one from " + Twine(map.getNumDims()));
    for (AffineExpr result : map.getResults())
      if (llvm::Error error = checkExpr(compute, result, names.size()))
        return error;
    ArrayRef<StringRef> results = into.empty() ? names : into;
    if (map.getNumResults() == 0 || results.size() != map.getNumResults())
      return refuse("expects a name for each of at least one result, but got " +
                    Twine(results.size()) + " for " +
                    Twine(map.getNumResults()));
    return remapNest(*nest, map, results);
  });
}

llvm::Error espalier::poly::wavefront(ComputeOp compute,
                                      ArrayRef<StringRef> names,
                                      ArrayRef<int64_t> factors) {
  auto edit = [&](ComputeOp compute) -> llvm::Error {
    llvm::Expected<LoopNest> nest = getNest(compute, names);
    if (!nest)
      return nest.takeError();
    if (names.size() < 2)
      return refuse("expects at least two loops");
    if (!factors.empty() && factors.size() != names.size())
      return refuse("expects " + Twine(names.size()) +
                    " factors, one for each loop, but got " +
                    Twine(factors.size()));
    for (int64_t factor : factors)
      if (factor <= 0 || !isSmall(factor))
        return refuse("expects factors between 1 and 2^30, but got " +
                      Twine(factor));
    MLIRContext *context = compute.getContext();
    SmallVector<AffineExpr> results{getAffineConstantExpr(0, context)};
    for (size_t loop = 0; loop < names.size(); ++loop) {
      AffineExpr own = getAffineDimExpr(loop, context);
      results[0] = results[0] + own * (factors.empty() ? 1 : factors[loop]);
      if (loop > 0)
        results.push_back(own);
    }
    if (llvm::Error error = remapNest(
            *nest, AffineMap::get(names.size(), 0, results, context), names))
      return error;
    SmallVector<BandLoop> loops = getLoops(nest->band);
    for (unsigned place : ArrayRef(nest->getPlaces()).drop_front())
      loops[place].kind = LoopAttr::get(context, LoopKind::Parallel);
    setLoops(nest->band, loops);
    return llvm::Error::success();
  };
  return applyTo(compute, edit);
}
