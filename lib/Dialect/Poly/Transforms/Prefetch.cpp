//===- Prefetch.cpp - Fetching what later points read ---------------------===//

#include "LoopNest.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace espalier::poly;

/// The reads that a read's index depends on.
static SmallVector<unsigned> getIndexReads(ComputeOp compute, unsigned read) {
  unsigned numParams = compute.getKernel().getNumParameters();
  AffineMap map = compute.getReadAccesses()[read].map;
  SmallVector<unsigned> reads;
  for (unsigned symbol = numParams; symbol < map.getNumSymbols(); ++symbol)
    if (map.isFunctionOfSymbol(symbol))
      reads.push_back(symbol - numParams);
  return reads;
}

/// Refuses if the index of a read cannot be known before, because it changes,
/// or the place that it is at does.
static llvm::Error checkIndexReads(ComputeOp compute, unsigned read) {
  for (unsigned index : getIndexReads(compute, read)) {
    Value array = compute.getReads()[index];
    std::string where =
        ("an index that is known before, but read #" + Twine(index) + " of " +
         quote(compute) + ", on which the place of #" + Twine(read) +
         " depends, is ")
            .str();
    if (llvm::Error error = checkIndexReads(compute, index))
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

/// The read to be fetched, and what it is read by.
static llvm::Expected<ComputeOp> findReader(ComputeOp compute,
                                            const Prefetch &prefetch) {
  ComputeOp reader = compute;
  if (!prefetch.reader.empty())
    reader = compute.getKernel().lookupCompute(prefetch.reader);
  if (!reader)
    return refuse("expects a reader out of " +
                  listComputes(compute.getKernel()) + ", but got @" +
                  prefetch.reader);
  int64_t numReads = reader.getReads().size();
  if (prefetch.read < 0 || prefetch.read >= numReads)
    return refuse("expects one of the " + Twine(numReads) + " reads of " +
                  quote(reader) + ", but got #" + Twine(prefetch.read));
  if (llvm::Error error = checkIndexReads(reader, prefetch.read))
    return error;
  return reader;
}

/// Where `prefetch` fetches: as it says, or that many iterations on.
static llvm::Expected<AffineMap> getPlace(ComputeOp compute, ComputeOp reader,
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
      at.getNumResults() != reader.getNumDims())
    return refuse("expects a map from the " + Twine(compute.getNumDims()) +
                  " dimensions of " + quote(compute) + " to the " +
                  Twine(reader.getNumDims()) + " of " + quote(reader) +
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
  llvm::Expected<ComputeOp> reader = findReader(compute, prefetch);
  if (!reader)
    return reader.takeError();
  llvm::Expected<AffineMap> at =
      getPlace(compute, *reader, *found, name, prefetch);
  if (!at)
    return at.takeError();
  if (prefetch.bytes <= 0 || prefetch.bytes > PrefetchOp::kMaxBytes)
    return refuse("expects between 1 and " + Twine(PrefetchOp::kMaxBytes) +
                  " bytes, but got " + Twine(prefetch.bytes));
  splitBand(found->band, found->position + 1);
  Operation *child = found->band.getChild();
  auto builder = OpBuilder::atBlockEnd(&found->band.getOrCreateBlock());
  auto node = PrefetchOp::create(
      builder, found->band.getLoc(), compute.getSymName(), prefetch.read,
      *reader == compute ? FlatSymbolRefAttr()
                         : FlatSymbolRefAttr::get(reader->getSymNameAttr()),
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
