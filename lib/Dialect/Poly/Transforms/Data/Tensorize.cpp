//===- Tensorize.cpp - Inner loops that are a micro-kernel ----------------===//
//
// A micro-kernel is a kernel of constant size with one computation, under a
// schedule that somebody found to be good. Inner loops are the same kernel, on
// parts of larger arrays, if in each iteration of the loops around them
//
//   * they take the values of its domain,
//   * each access is to a place that the iteration decides, plus that which the
//     micro-kernel accesses,
//   * and the bodies are equal.
//
// Then its schedule is one for them: its maps are composed with the loops.
//
//===----------------------------------------------------------------------===//

#include "../LoopNest.h"
#include "../Tile.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

namespace {
/// Compares the loops of a band with a micro-kernel.
class Matcher {
public:
  Matcher(ComputeOp compute, const Tile &outer, const Tile &inner,
          ComputeOp micro)
      : compute(compute), micro(micro),
        numParams(compute.getKernel().getNumParameters()) {
    points = getDomain(context, compute);
    tiles = getMap(outer.maps[outer.getNumber(compute)]);
    AffineMap all = inner.maps[inner.getNumber(compute)];
    loops = AffineMap::get(compute.getNumDims(), numParams,
                           all.getResults().drop_front(outer.getNumLoops()),
                           all.getContext());
  }

  llvm::Error checkPoints();
  llvm::Error checkAccesses(TileAccess kind);
  llvm::Error checkBody();

  /// The values of the inner loops, as functions of the computation's
  /// dimensions.
  AffineMap loops;

private:
  polyhedral::Map getMap(AffineMap map) {
    return polyhedral::Map::get(context, numParams, map);
  }
  /// Whether a tile decides the value of `expr`.
  bool isFixed(AffineExpr expr) {
    polyhedral::Map value =
        getMap(AffineMap::get(compute.getNumDims(), numParams, expr));
    return value && tiles.intersectDomain(points)
                        .inverse()
                        .compose(value)
                        .isSingleValued()
                        .value_or(false);
  }

  polyhedral::Context context;
  mutable ComputeOp compute, micro;
  unsigned numParams;
  polyhedral::Set points;
  polyhedral::Map tiles;
};
} // namespace

llvm::Error Matcher::checkPoints() {
  for (ComputeOp op : {compute, micro})
    if (op.getWhere())
      return refuse("expects computations that run at all points of their "
                    "domains, but what " +
                    quote(op) + " reads decides where it runs");
  if (loops.getNumResults() != micro.getNumDims())
    return refuse("expects " + Twine(micro.getNumDims()) +
                  " inner loops, one for each dimension of " + quote(micro) +
                  ", but got " + Twine(loops.getNumResults()));
  polyhedral::Map values =
      tiles.intersectDomain(points).inverse().compose(getMap(loops));
  // The micro-kernel has no parameters; here its sets do.
  SmallVector<AffineExpr> dims;
  for (unsigned dim = 0; dim < micro.getNumDims(); ++dim)
    dims.push_back(getAffineDimExpr(dim, micro.getContext()));
  SmallVector<IntegerSet> sets;
  for (IntegerSet set : micro.getDomainSets())
    sets.push_back(set.replaceDimsAndSymbols(dims, {}, dims.size(), numParams));
  polyhedral::Set domain =
      polyhedral::Set::getUnion(context, dims.size(), numParams, sets);
  polyhedral::Map all =
      values
          .compose(polyhedral::Map::get(
              context, numParams,
              AffineMap::get(dims.size(), numParams, SmallVector<AffineExpr>(),
                             micro.getContext())))
          .compose(
              polyhedral::Map::get(context, numParams,
                                   AffineMap::get(dims.size(), numParams,
                                                  SmallVector<AffineExpr>(),
                                                  micro.getContext()))
                  .intersectDomain(domain)
                  .inverse());
  if (!values.isEqual(all).value_or(false))
    return refuse("expects the inner loops of " + quote(compute) +
                  " to take the values of the domain of " + quote(micro) +
                  " in each iteration of the loops around them, but they "
                  "take others or fewer");
  return llvm::Error::success();
}

llvm::Error Matcher::checkAccesses(TileAccess kind) {
  StringRef what = kind == TileAccess::Read ? "read " : "write ";
  SmallVector<ComputeAccess> own = getAccesses(compute, kind);
  SmallVector<ComputeAccess> other = getAccesses(micro, kind);
  if (own.size() != other.size())
    return refuse("expects " + Twine(other.size()) + " accesses as " +
                  quote(micro) + " has, but " + quote(compute) + " has " +
                  Twine(own.size()) + ", each a " + what.trim());
  for (size_t number = 0; number < own.size(); ++number) {
    ComputeAccess access = own[number], wanted = other[number];
    auto fail = [&](const Twine &rule) {
      return refuse("expects " + what + Twine(number) + " of " +
                    quote(compute) + " " + rule + ", but got " +
                    llvm::to_string(AffineMapAttr::get(access.map)) + " for " +
                    llvm::to_string(AffineMapAttr::get(wanted.map)));
    };
    if (access.getType().getElementType() != wanted.getType().getElementType())
      return fail("to be of the same type as that of " + quote(micro));
    // What varies in a tile has to vary as in the micro-kernel, in order.
    unsigned next = 0;
    for (AffineExpr index : access.map.getResults()) {
      AffineExpr difference;
      if (next < wanted.map.getNumResults())
        difference =
            index - wanted.map.getResult(next).replaceDims(loops.getResults());
      if (difference && isFixed(difference))
        ++next;
      else if (!isFixed(index))
        return fail("to vary like that of " + quote(micro));
    }
    if (next != wanted.map.getNumResults())
      return fail("to have the indices of that of " + quote(micro));
  }
  return llvm::Error::success();
}

llvm::Error Matcher::checkBody() {
  if (compute.getReduction() != micro.getReduction() || compute.getCombiner() ||
      micro.getCombiner())
    return refuse("expects a reduction where " + quote(micro) +
                  " is one, and of its kind");
  bool usesIndex = false;
  micro.getBody().walk([&](IndexOp) { usesIndex = true; });
  if (usesIndex || !OperationEquivalence::isRegionEquivalentTo(
                       &compute.getBody(), &micro.getBody(),
                       OperationEquivalence::IgnoreLocations))
    return refuse("expects " + quote(compute) + " to compute at a point what " +
                  quote(micro) + " does, but the bodies differ");
  // Accesses that share an array there share one here, and the reverse.
  auto getArrays = [](ComputeOp op) {
    SmallVector<Value> arrays(op.getReads());
    llvm::append_range(arrays, op.getWrites());
    return arrays;
  };
  SmallVector<Value> own = getArrays(compute), other = getArrays(micro);
  for (size_t i = 0; i < own.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if ((own[i] == own[j]) != (other[i] == other[j]))
        return refuse("expects accesses of " + quote(compute) +
                      " to share arrays as those of " + quote(micro) + " do");
  return llvm::Error::success();
}

/// The micro-kernel's computation, if it is one.
static llvm::Expected<ComputeOp> getMicro(KernelOp kernel) {
  SmallVector<ComputeOp> computes = kernel.getComputes();
  if (computes.size() != 1 || !kernel.getArrays().empty() ||
      kernel.getNumParameters() != 0)
    return refuse("expects a micro-kernel with one computation, no arrays and "
                  "no parameters, but @" +
                  kernel.getSymName() + " is none");
  return computes.front();
}

/// Copies the nodes below `from` to below `to`, for `compute`, whose loops have
/// the values `loops`.
static llvm::Error copyNodes(Region &from, Block *to, ComputeOp compute,
                             AffineMap loops) {
  Operation *node = getChildNode(from);
  if (!node)
    return llvm::Error::success();
  OpBuilder builder = OpBuilder::atBlockEnd(to);
  if (auto mark = dyn_cast<MarkOp>(node)) {
    auto copy = cast<MarkOp>(builder.cloneWithoutRegions(*mark));
    return copyNodes(mark.getBody(), &copy.getOrCreateBlock(), compute, loops);
  }
  auto band = dyn_cast<BandOp>(node);
  if (!band)
    return refuse("expects a micro-kernel with a schedule of bands and marks, "
                  "but got " +
                  describeNode(node));
  AffineMap map = cast<AffineMapAttr>(band.getMaps()[0]).getValue();
  SmallVector<AffineExpr> results;
  for (AffineExpr result : map.getResults())
    results.push_back(simplifyAffineExpr(result.replaceDims(loops.getResults()),
                                         loops.getNumDims(),
                                         loops.getNumSymbols()));
  auto copy = BandOp::create(
      builder, compute.getLoc(),
      builder.getArrayAttr(FlatSymbolRefAttr::get(compute.getSymNameAttr())),
      builder.getAffineMapArrayAttr(
          AffineMap::get(loops.getNumDims(), loops.getNumSymbols(), results,
                         compute.getContext())),
      band.getLoops(), band.getNamesAttr(), band.getFullTiles());
  return copyNodes(band.getBody(), &copy.getOrCreateBlock(), compute, loops);
}

/// Refuses unless only bands are below `band`, for one computation.
static llvm::Error checkNest(BandOp band, StringRef loop) {
  for (Operation *node = band; node; node = getChildNode(node->getRegion(0))) {
    auto inner = dyn_cast<BandOp>(node);
    if (!inner || inner.getComputations().size() != 1)
      return refuse(
          "expects only loops of one computation inside \"" + loop +
          "\", but got " +
          (inner ? "a band of " + std::to_string(inner.getComputations().size())
                 : describeNode(node)));
  }
  return llvm::Error::success();
}

static llvm::Error tensorizeIn(ComputeOp compute, StringRef loop,
                               KernelOp microKernel) {
  llvm::Expected<ComputeOp> micro = getMicro(microKernel);
  if (!micro)
    return micro.takeError();
  llvm::Expected<LoopPosition> found = findLoop(compute, loop);
  if (!found)
    return found.takeError();
  BandOp band = splitBand(found->band, found->position);
  mergeChildren(band);
  if (llvm::Error error = checkNest(band, loop))
    return error;
  SmallVector<BandLoop> loops = getLoops(band);
  llvm::Expected<Tile> inner = getTile(compute, loops.back().name.getValue());
  if (!inner)
    return inner.takeError();
  size_t numOuter = inner->getNumLoops() - loops.size();
  llvm::Expected<Tile> outer =
      getTile(compute, numOuter == 0 ? StringRef()
                                     : inner->loops[numOuter - 1].getValue());
  if (!outer)
    return outer.takeError();
  Matcher matcher(compute, *outer, *inner, *micro);
  if (llvm::Error error = matcher.checkPoints())
    return error;
  for (TileAccess kind : {TileAccess::Read, TileAccess::Write})
    if (llvm::Error error = matcher.checkAccesses(kind))
      return error;
  if (llvm::Error error = matcher.checkBody())
    return error;

  // A mark names what it is; the loops take their places below it.
  OpBuilder builder(band);
  auto mark = MarkOp::create(builder, band.getLoc(), microKernel.getSymName());
  if (llvm::Error error =
          copyNodes(microKernel.getSchedule().getBody(),
                    &mark.getOrCreateBlock(), compute, matcher.loops))
    return error;
  band.erase();
  renameClashes(mark, microKernel.getSymName());
  return llvm::Error::success();
}

llvm::Error espalier::poly::tensorize(ComputeOp compute, StringRef loop,
                                      KernelOp microKernel) {
  OwningOpRef<KernelOp> scheduled = cloneWithSchedule(microKernel);
  return applyTo(compute, [&](ComputeOp compute) {
    return tensorizeIn(compute, loop, *scheduled);
  });
}
