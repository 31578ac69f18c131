//===- Order.cpp - The order of a nest's loops ----------------------------===//

#include "Edits.h"
#include "Hints.h"
#include "LoopNest.h"

using namespace mlir;
using namespace espalier::poly;

//===----------------------------------------------------------------------===//
// Interchange
//===----------------------------------------------------------------------===//

llvm::Error espalier::poly::interchangeLoops(ComputeOp compute,
                                             ArrayRef<StringRef> names) {
  llvm::Expected<LoopNest> nest = getNest(compute, names);
  if (!nest)
    return nest.takeError();
  SmallVector<BandLoop> before = getLoops(nest->band), after = before;
  SmallVector<unsigned> places = nest->getPlaces();
  for (auto [place, position] : llvm::zip_equal(places, nest->positions))
    after[place] = before[position];
  setLoops(nest->band, after);
  return llvm::Error::success();
}

llvm::Error espalier::poly::interchange(ComputeTarget compute,
                                        ArrayRef<StringRef> names) {
  auto edit = [&](ComputeOp compute) {
    return interchangeLoops(compute, names);
  };
  return applyWithHint(compute, edit,
                       [&] { return findSkews(compute, names, edit); });
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

llvm::Error espalier::poly::skewLoop(ComputeOp compute, StringRef name,
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

llvm::Error espalier::poly::skew(ComputeTarget compute, StringRef loop,
                                 ArrayRef<int64_t> factors,
                                 ArrayRef<StringRef> others) {
  auto edit = [&](ComputeOp compute, ArrayRef<int64_t> factors) {
    return skewLoop(compute, loop, factors, others);
  };
  return applyWithHint(
      compute, [&](ComputeOp compute) { return edit(compute, factors); },
      [&] { return findSkewFactors(compute, others.size(), edit); });
}

llvm::Error espalier::poly::reverse(ComputeTarget compute, StringRef name) {
  auto edit = [](ComputeOp compute, StringRef name) -> llvm::Error {
    llvm::Expected<LoopPosition> found = findLoop(compute, name);
    if (!found)
      return found.takeError();
    SmallVector<BandLoop> loops = getLoops(found->band);
    for (AffineExpr &expr : loops[found->position].exprs)
      expr = -expr;
    setLoops(found->band, loops);
    return llvm::Error::success();
  };
  return applyWithHint(
      compute, [&](ComputeOp compute) { return edit(compute, name); },
      [&] { return findLoops(compute, "reversed", edit); });
}

/// Adds `amount` to a loop of one computation.
static llvm::Error shiftLoop(ComputeOp compute, StringRef name,
                             AffineExpr amount) {
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
}

llvm::Error espalier::poly::shift(ComputeTarget compute, StringRef loop,
                                  AffineExpr amount) {
  return applyWithHint(
      compute,
      [&](ComputeOp compute) { return shiftLoop(compute, loop, amount); },
      [&] {
        return findAmounts(
            compute, loop, [&](ComputeOp compute, int64_t number) {
              return shiftLoop(
                  compute, loop,
                  getAffineConstantExpr(number, compute.getContext()));
            });
      });
}

//===----------------------------------------------------------------------===//
// Any map
//===----------------------------------------------------------------------===//

/// Replaces the loops of `nest` by functions of them, which take their places.
static void remapNest(LoopNest nest, AffineMap map, ArrayRef<StringRef> names) {
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
}

llvm::Error espalier::poly::remap(ComputeTarget compute,
                                  ArrayRef<StringRef> names, AffineMap map,
                                  ArrayRef<StringRef> into) {
  auto edit = [&](ComputeOp compute) -> llvm::Error {
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
    remapNest(*nest, map, results);
    return llvm::Error::success();
  };
  return applyWithHint(compute, edit,
                       [&] { return findSkews(compute, names, edit); });
}

/// Makes a wavefront, as the command does.
static llvm::Error makeWavefront(ComputeOp compute, ArrayRef<StringRef> names,
                                 ArrayRef<int64_t> factors) {
  llvm::Expected<LoopNest> nest = getNest(compute, names);
  if (!nest)
    return nest.takeError();
  if (names.size() < 2)
    return refuse("expects at least two loops");
  if (factors.size() != names.size())
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
    results[0] = results[0] + own * factors[loop];
    if (loop > 0)
      results.push_back(own);
  }
  remapNest(*nest, AffineMap::get(names.size(), 0, results, context), names);
  SmallVector<BandLoop> loops = getLoops(nest->band);
  // A range over part of a temporary would outlive it.
  auto places = nest->getPlaces();
  for (unsigned place : llvm::drop_begin(places))
    loops[place].kind = LoopAttr::get(context, LoopKind::Parallel);
  setLoops(nest->band, loops);
  return llvm::Error::success();
}

llvm::Error espalier::poly::wavefront(ComputeTarget compute,
                                      ArrayRef<StringRef> loops,
                                      ArrayRef<int64_t> factors) {
  SmallVector<int64_t> ones(loops.size(), 1);
  if (factors.empty())
    factors = ones;
  auto edit = [&](ComputeOp compute, ArrayRef<int64_t> factors) {
    return makeWavefront(compute, loops, factors);
  };
  return applyWithHint(
      compute, [&](ComputeOp compute) { return edit(compute, factors); },
      [&] { return findFactors(compute, loops, edit); });
}
