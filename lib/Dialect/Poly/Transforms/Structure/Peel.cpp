//===- Peel.cpp - Code of its own for some iterations ---------------------===//

#include "../Edits.h"
#include "../LoopNest.h"
#include "../Sequences.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

//===----------------------------------------------------------------------===//
// Cutting the range of a loop
//===----------------------------------------------------------------------===//

/// Runs the iterations of the first loop of `band` below `bounds`, which has an
/// expression for each computation, in a copy of the tree before the others.
/// Loops of the copy, or with `renameRest` of the others, get new names.
static void cutBefore(BandOp band, ArrayRef<AffineExpr> bounds,
                      bool renameRest) {
  auto kernel = band->getParentOfType<KernelOp>();
  SmallVector<Version> versions(2);
  versions[renameRest].name = "peel";
  BandLoop loop = getLoops(band).front();
  for (auto [symbol, expr, bound] : llvm::zip_equal(
           getSymbols(band.getComputations()), loop.exprs, bounds)) {
    unsigned numDims = kernel.lookupCompute(symbol).getNumDims();
    auto toSet = [&](AffineExpr constraint) {
      return IntegerSet::get(numDims, kernel.getNumParameters(), constraint,
                             /*eqFlags=*/{false});
    };
    versions[0].sets.push_back(toSet(bound - 1 - expr));
    versions[1].sets.push_back(toSet(expr - bound));
  }
  createVersions(band, versions);
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

static llvm::Error peelEnd(ComputeOp compute, StringRef name, int64_t count,
                           bool isLast) {
  return applyTo(compute, [&](ComputeOp compute) -> llvm::Error {
    llvm::Expected<LoopPosition> found = findLoop(compute, name);
    if (!found)
      return found.takeError();
    if (count <= 0)
      return refuse("expects at least one iteration, but got " + Twine(count));
    if (llvm::Error error = checkSize(*found, count, "a number of iterations"))
      return error;
    llvm::Expected<SmallVector<AffineExpr>> bounds = getBounds(*found, isLast);
    if (!bounds)
      return bounds.takeError();
    for (AffineExpr &bound : *bounds)
      bound = isLast ? bound + 1 - count : bound + count;
    cutBefore(splitBand(found->band, found->position), *bounds,
              /*renameRest=*/isLast);
    return llvm::Error::success();
  });
}

llvm::Error espalier::poly::peelFirst(ComputeTarget compute, StringRef loop,
                                      int64_t count) {
  return peelEnd(compute, loop, count, /*isLast=*/false);
}

llvm::Error espalier::poly::peelLast(ComputeTarget compute, StringRef loop,
                                     int64_t count) {
  return peelEnd(compute, loop, count, /*isLast=*/true);
}

/// `bound`, over the loops `of` around `band`, for each computation of it.
static llvm::Expected<SmallVector<AffineExpr>>
getBoundsOf(ComputeOp compute, BandOp band, AffineExpr bound,
            ArrayRef<StringRef> of) {
  SmallVector<LoopPosition> outer;
  for (StringRef name : of) {
    llvm::Expected<LoopPosition> loop = findLoop(compute, name);
    if (!loop)
      return loop.takeError();
    if (!loop->band->isProperAncestor(band))
      return refuse("expects a loop around " +
                    quote(getLoops(band).front().name.getValue()) +
                    ", but got " + quote(name));
    outer.push_back(*loop);
  }
  SmallVector<AffineExpr> bounds;
  for (StringRef symbol : getSymbols(band.getComputations())) {
    SmallVector<AffineExpr> values;
    for (LoopPosition loop : outer)
      values.push_back(loop.band.getMap(symbol).getResult(loop.position));
    bounds.push_back(bound.replaceDims(values));
  }
  return bounds;
}

llvm::Error espalier::poly::cutAt(ComputeTarget compute, StringRef name,
                                  AffineExpr bound, ArrayRef<StringRef> of) {
  return applyTo(compute, [&](ComputeOp compute) -> llvm::Error {
    llvm::Expected<LoopPosition> found = findLoop(compute, name);
    if (!found)
      return found.takeError();
    if (llvm::Error error = checkExpr(compute, bound, of.size()))
      return error;
    BandOp band = splitBand(found->band, found->position);
    llvm::Expected<SmallVector<AffineExpr>> bounds =
        getBoundsOf(compute, band, bound, of);
    if (!bounds)
      return bounds.takeError();
    cutBefore(band, *bounds, /*renameRest=*/true);
    return llvm::Error::success();
  });
}

llvm::Error espalier::poly::separateTileLoops(ComputeOp compute,
                                              ArrayRef<StringRef> loops) {
  llvm::Expected<LoopNest> nest = getNest(compute, loops);
  if (!nest)
    return nest.takeError();
  SmallVector<unsigned> places = nest->getPlaces();
  BandOp band = splitBand(nest->band, places.front());
  splitBand(band, places.back() - places.front() + 1);
  band.setFullTiles(true);
  return llvm::Error::success();
}

llvm::Error espalier::poly::separateFullTiles(ComputeTarget compute,
                                              ArrayRef<StringRef> loops) {
  return applyTo(compute, [&](ComputeOp compute) {
    return separateTileLoops(compute, loops);
  });
}

llvm::Error espalier::poly::mark(ComputeTarget compute, StringRef name,
                                 StringRef text) {
  return applyTo(compute, [&](ComputeOp compute) -> llvm::Error {
    llvm::Expected<LoopPosition> found = findLoop(compute, name);
    if (!found)
      return found.takeError();
    if (text == "prefetch")
      return refuse("expects another name than " + quote(text) +
                    ", which the command of this name uses");
    BandOp band = splitBand(found->band, found->position);
    OpBuilder builder(band);
    auto mark = MarkOp::create(builder, band.getLoc(), text);
    band->moveBefore(&mark.getOrCreateBlock(), mark.getOrCreateBlock().end());
    return llvm::Error::success();
  });
}
