//===- LoopNest.cpp - Several loops of one computation --------------------===//

#include "LoopNest.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

std::string espalier::poly::quote(StringRef loop) {
  return ("\"" + loop + "\"").str();
}

std::string espalier::poly::quote(ArrayRef<StringRef> loops) {
  std::string text = "[";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(loops, os, [&](StringRef loop) { os << quote(loop); });
  return text + "]";
}

std::string espalier::poly::print(ArrayRef<int64_t> numbers) {
  std::string text = "[";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(numbers, os);
  return text + "]";
}

std::string espalier::poly::describeNode(Operation *node) {
  if (auto mark = dyn_cast<MarkOp>(node))
    return ("the mark " + quote(mark.getName()));
  if (isa<PrefetchOp>(node))
    return "a prefetch";
  if (isa<BandOp>(node))
    return "a band with full tiles";
  return "a sequence";
}

//===----------------------------------------------------------------------===//
// Bands
//===----------------------------------------------------------------------===//

/// The loops of `band`, with expressions for `computations` in this order.
static SmallVector<BandLoop> getLoops(BandOp band, ArrayAttr computations) {
  SmallVector<BandLoop> loops = getLoops(band);
  for (auto [position, loop] : llvm::enumerate(loops)) {
    loop.exprs.clear();
    for (StringRef name : computations.getAsValueRange<FlatSymbolRefAttr>())
      loop.exprs.push_back(band.getMap(name).getResult(position));
  }
  return loops;
}

/// Makes one band of `outer` and its child.
static void mergeChild(BandOp outer) {
  auto inner = cast<BandOp>(outer.getChild());
  SmallVector<BandLoop> loops = getLoops(outer);
  llvm::append_range(loops, getLoops(inner, outer.getComputations()));
  outer.setFullTiles(inner.getFullTiles());
  setLoops(inner, {});
  setLoops(outer, loops);
}

void espalier::poly::mergeChildren(BandOp band) {
  while (!band.getFullTiles() && isa_and_nonnull<BandOp>(band.getChild()))
    mergeChild(band);
}

BandOp espalier::poly::splitBand(BandOp band, unsigned position) {
  if (position == 0)
    return band;
  SmallVector<BandLoop> loops = getLoops(band);
  if (position == loops.size())
    return dyn_cast_or_null<BandOp>(band.getChild());
  auto inner = cast<BandOp>(band->cloneWithoutRegions());
  inner.getBody().takeBody(band.getBody());
  band.getOrCreateBlock().push_back(inner);
  band.setFullTiles(false);
  setLoops(inner, ArrayRef(loops).drop_front(position));
  setLoops(band, ArrayRef(loops).take_front(position));
  return inner;
}

llvm::Error espalier::poly::checkExpr(ComputeOp compute, AffineExpr expr,
                                      unsigned numDims) {
  unsigned numParams = compute.getKernel().getNumParameters();
  bool isLegal = expr.isPureAffine();
  expr.walk([&](AffineExpr part) {
    if (auto dim = dyn_cast<AffineDimExpr>(part))
      isLegal &= dim.getPosition() < numDims;
    if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
      isLegal &= symbol.getPosition() < numParams;
    if (auto number = dyn_cast<AffineConstantExpr>(part))
      isLegal &= isSmall(number.getValue());
  });
  if (isLegal)
    return refuseFault(findNumberFault(expr));
  std::string text;
  llvm::raw_string_ostream(text) << expr;
  return refuse("expects an affine expression of " + Twine(numDims) +
                " loops and " + Twine(numParams) +
                " parameters, with numbers of at most 2^30, but got " + text);
}

//===----------------------------------------------------------------------===//
// Nests
//===----------------------------------------------------------------------===//

/// Refuses to bring loops together, because of the node `between`.
static llvm::Error refuseNest(ArrayRef<StringRef> names, Operation *between) {
  return refuse("expects " + quote(names) + " in one nest, but " +
                describeNode(between) + " is between" +
                (isa<FilterOp>(between) ? "; fission first" : ""));
}

/// Merges the bands from `inner` up to `outer`.
static llvm::Error mergeUpTo(BandOp outer, BandOp inner,
                             ArrayRef<StringRef> names) {
  for (BandOp band = inner; band != outer;) {
    Operation *parent = band->getParentOp();
    auto above = dyn_cast<BandOp>(parent);
    if (!above || above.getFullTiles())
      return refuseNest(names, parent);
    band = above;
  }
  while (outer != inner) {
    bool isLast = outer.getChild() == inner;
    mergeChild(outer);
    if (isLast)
      break;
  }
  return llvm::Error::success();
}

llvm::Expected<LoopNest> espalier::poly::getNest(ComputeOp compute,
                                                 ArrayRef<StringRef> names) {
  if (names.empty())
    return refuse("expects at least one loop");
  llvm::StringSet<> seen;
  BandOp outer, inner; // Of the bands that hold the loops.
  for (StringRef name : names) {
    if (!seen.insert(name).second)
      return refuse("expects different loops, but got " + quote(name) +
                    " twice");
    llvm::Expected<LoopPosition> found = findLoop(compute, name);
    if (!found)
      return found.takeError();
    BandOp band = found->band;
    if (!outer || band->isProperAncestor(outer))
      outer = band;
    if (!inner || inner->isProperAncestor(band))
      inner = band;
    if (!outer->isAncestor(band) || !band->isAncestor(inner))
      return refuse("expects " + quote(names) +
                    " in one nest, but they are in different branches");
  }
  if (llvm::Error error = mergeUpTo(outer, inner, names))
    return error;
  LoopNest nest{outer, {}};
  for (StringRef name : names) {
    LoopPosition found = llvm::cantFail(findLoop(compute, name));
    nest.positions.push_back(found.position);
  }
  return nest;
}

//===----------------------------------------------------------------------===//
// Values of loops
//===----------------------------------------------------------------------===//

SmallVector<SmallVector<AffineExpr>>
espalier::poly::getOuterValues(LoopPosition loop) {
  SmallVector<SmallVector<AffineExpr>> values;
  for (StringRef symbol : getSymbols(loop.band.getComputations())) {
    SmallVector<AffineExpr> &outer = values.emplace_back();
    for (Operation *node = loop.band->getParentOp(); node;
         node = node->getParentOp())
      if (auto above = dyn_cast<BandOp>(node)) {
        ArrayRef<AffineExpr> exprs = above.getMap(symbol).getResults();
        outer.insert(outer.begin(), exprs.begin(), exprs.end());
      }
    llvm::append_range(
        outer, loop.band.getMap(symbol).getResults().take_front(loop.position));
  }
  return values;
}

llvm::Expected<SmallVector<AffineExpr>>
espalier::poly::getBounds(LoopPosition loop, bool isUpper) {
  BandOp band = loop.band;
  polyhedral::Context context;
  polyhedral::Map values = getLoopValues(context, band, loop.position);
  AffineExpr bound = isUpper ? values.getMax(0, band.getContext())
                             : values.getMin(0, band.getContext());
  if (!bound)
    return refuse("expects a loop whose " + Twine(isUpper ? "last" : "first") +
                  " iteration is one expression of the loops around it, but " +
                  quote(getLoops(band)[loop.position].name.getValue()) +
                  " has cases");
  return llvm::map_to_vector(
      getOuterValues(loop),
      [&](ArrayRef<AffineExpr> outer) { return bound.replaceDims(outer); });
}
