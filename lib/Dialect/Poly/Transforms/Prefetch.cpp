//===- Prefetch.cpp - Fetching what later points read ---------------------===//

#include "LoopNest.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace espalier::poly;

/// The reads that the place of an access depends on.
static SmallVector<unsigned> getIndexReads(ComputeOp compute, AffineMap map) {
  unsigned numParams = compute.getKernel().getNumParameters();
  SmallVector<unsigned> reads;
  for (unsigned symbol = numParams; symbol < map.getNumSymbols(); ++symbol)
    if (map.isFunctionOfSymbol(symbol))
      reads.push_back(symbol - numParams);
  return reads;
}

/// Refuses if the place of an access, which `name` is for a person, cannot be
/// known before, because what it depends on changes, or the place of that does.
static llvm::Error checkIndexReads(ComputeOp compute, AffineMap map,
                                   const Twine &name) {
  for (unsigned index : getIndexReads(compute, map)) {
    Value array = compute.getReads()[index];
    std::string where =
        ("an index that is known before, but read #" + Twine(index) + " of " +
         quote(compute) + ", on which the place of " + name + " depends, is ")
            .str();
    if (llvm::Error error = checkIndexReads(
            compute, compute.getReadAccesses()[index].map, "#" + Twine(index)))
      return error;
    bool isWritten =
        llvm::any_of(compute.getKernel().getComputes(), [&](ComputeOp other) {
          return llvm::is_contained(other.getWrites(), array);
        });
    if (isWritten)
      return refuse("expects " + where + "of " + describeArray(array) +
                    ", which the kernel writes");
  }
  return llvm::Error::success();
}

/// The dimensions of the point that runs `distance` iterations of a loop after
/// a point, all else being equal; null if the loop runs over no dimension
/// alone.
static AffineMap getLaterPoint(ComputeOp compute, LoopPosition loop,
                               int64_t distance) {
  AffineMap map = loop.band.getMap(compute.getSymName());
  AffineExpr expr = map.getResult(loop.position);
  while (auto binary = dyn_cast<AffineBinaryOpExpr>(expr)) {
    auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
    if (!divisor || (expr.getKind() != AffineExprKind::FloorDiv &&
                     expr.getKind() != AffineExprKind::Mod))
      return {};
    if (expr.getKind() == AffineExprKind::FloorDiv)
      distance *= divisor.getValue();
    expr = binary.getLHS();
  }
  auto dim = dyn_cast<AffineDimExpr>(expr);
  if (!dim || !isSmall(distance))
    return {};
  SmallVector<AffineExpr> later;
  for (unsigned other = 0; other < map.getNumDims(); ++other) {
    AffineExpr own = getAffineDimExpr(other, map.getContext());
    later.push_back(own == dim ? own + distance : own);
  }
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), later,
                        map.getContext());
}

/// The computation whose access is to be fetched.
static llvm::Expected<ComputeOp> findOwner(ComputeOp compute,
                                           const Prefetch &prefetch) {
  ComputeOp owner = compute;
  if (!prefetch.owner.empty())
    owner = compute.getKernel().lookupCompute(prefetch.owner);
  if (!owner)
    return refuse("expects an access of one out of " +
                  listComputes(compute.getKernel()) + ", but got @" +
                  prefetch.owner);
  SmallVector<ComputeAccess> accesses =
      prefetch.isWrite ? owner.getWriteAccesses() : owner.getReadAccesses();
  StringRef kind = prefetch.isWrite ? "write" : "read";
  if (prefetch.number < 0 || prefetch.number >= int64_t(accesses.size()))
    return refuse("expects one of the " + Twine(accesses.size()) + " " + kind +
                  "s of " + quote(owner) + ", but got #" +
                  Twine(prefetch.number));
  if (llvm::Error error = checkIndexReads(owner, accesses[prefetch.number].map,
                                          (prefetch.isWrite ? "write #" : "#") +
                                              Twine(prefetch.number)))
    return error;
  return owner;
}

/// Where `prefetch` fetches: as it says, or that many iterations on.
static llvm::Expected<AffineMap> getPlace(ComputeOp compute, ComputeOp owner,
                                          LoopPosition loop, StringRef name,
                                          const Prefetch &prefetch) {
  bool isVector = getLoops(loop.band)[loop.position].kind.isVector();
  if (!prefetch.at) {
    if (prefetch.distance <= 0 || !isSmall(prefetch.distance))
      return refuse("expects a distance between 1 and 2^30, but got " +
                    Twine(prefetch.distance));
    AffineMap at = getLaterPoint(compute, loop, prefetch.distance);
    if (!at || isVector)
      return refuse(
          "expects a loop over one dimension that is no vector, but " +
          quote(name) + " is not");
    return at;
  }
  AffineMap at = prefetch.at;
  unsigned numParams = compute.getKernel().getNumParameters();
  if (at.getNumDims() != compute.getNumDims() ||
      at.getNumSymbols() > numParams ||
      at.getNumResults() != owner.getNumDims())
    return refuse("expects a map from the " + Twine(compute.getNumDims()) +
                  " dimensions of " + quote(compute) + " to the " +
                  Twine(owner.getNumDims()) + " of " + quote(owner) +
                  ", but got one from " + Twine(at.getNumDims()) + " to " +
                  Twine(at.getNumResults()));
  for (AffineExpr result : at.getResults())
    if (llvm::Error error = checkExpr(compute, result, at.getNumDims()))
      return error;
  return AffineMap::get(at.getNumDims(), numParams, at.getResults(),
                        at.getContext());
}

/// Puts a node directly inside a loop, as the command `prefetch` does.
static llvm::Error insertPrefetch(ComputeOp compute, StringRef name,
                                  const Prefetch &prefetch) {
  llvm::Expected<LoopPosition> found = findLoop(compute, name);
  if (!found)
    return found.takeError();
  llvm::Expected<ComputeOp> owner = findOwner(compute, prefetch);
  if (!owner)
    return owner.takeError();
  llvm::Expected<AffineMap> at =
      getPlace(compute, *owner, *found, name, prefetch);
  if (!at)
    return at.takeError();
  if (prefetch.bytes <= 0 || prefetch.bytes > PrefetchOp::kMaxBytes)
    return refuse("expects between 1 and " + Twine(PrefetchOp::kMaxBytes) +
                  " bytes, but got " + Twine(prefetch.bytes));
  splitBand(found->band, found->position + 1);
  Operation *child = found->band.getChild();
  auto builder = OpBuilder::atBlockEnd(&found->band.getOrCreateBlock());
  auto node = PrefetchOp::create(
      builder, found->band.getLoc(), compute.getSymName(), prefetch.isWrite,
      prefetch.number,
      *owner == compute ? FlatSymbolRefAttr()
                        : FlatSymbolRefAttr::get(owner->getSymNameAttr()),
      *at, prefetch.bytes);
  if (child)
    child->moveBefore(&node.getOrCreateBlock(), node.getOrCreateBlock().end());
  return llvm::Error::success();
}

llvm::Error espalier::poly::prefetch(ComputeTarget compute, StringRef loop,
                                     const Prefetch &prefetch) {
  return applyTo(compute, [&](ComputeOp compute) {
    return insertPrefetch(compute, loop, prefetch);
  });
}
