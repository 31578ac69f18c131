//===- RegisterBlock.cpp - Tiles whose results stay in registers ----------===//
//
// Several commands in one:
//
//   for i, j, k: c[i, j] += ...       for i.0, j.0:
//                                       load 6 x 16 elements of c
//                                       for k: for i.1, j.1.0, lanes j.1.1
//                                         (all unrolled) ... += ...
//                                       store them
//
//===----------------------------------------------------------------------===//

#include "../Edits.h"
#include "../LoopNest.h"
#include "../Tile.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

namespace {
/// The loops of a block of registers.
struct BlockLoops {
  SmallVector<std::string> outer; ///< Over the blocks.
  SmallVector<std::string> inner; ///< In a block.
};
} // namespace

static SmallVector<StringRef> toRefs(ArrayRef<std::string> names) {
  return SmallVector<StringRef>(names.begin(), names.end());
}

/// Puts the loops over blocks where the first of them is, and those in a block
/// below all other loops of the nest.
static llvm::Error reorder(ComputeOp compute, const BlockLoops &block) {
  llvm::Expected<LoopNest> nest = getNest(compute, toRefs(block.outer));
  if (!nest)
    return nest.takeError();
  mergeChildren(nest->band);
  SmallVector<std::string> order = block.outer;
  SmallVector<BandLoop> loops = getLoops(nest->band);
  for (BandLoop &loop : llvm::drop_begin(loops, nest->getPlaces().front()))
    if (StringRef name = loop.name.getValue();
        !llvm::is_contained(block.outer, name) &&
        !llvm::is_contained(block.inner, name))
      order.push_back(name.str());
  llvm::append_range(order, block.inner);
  return interchangeLoops(compute, toRefs(order));
}

/// Makes one loop of a block lanes, copies or both.
static llvm::Error unrollPart(ComputeOp compute, const std::string &loop,
                              int64_t size, int64_t width) {
  if (width <= 1)
    return unrollLoop(compute, loop);
  if (llvm::Error error = vectorizeLoop(compute, loop, width))
    return error;
  return size == width ? llvm::Error::success()
                       : unrollLoop(compute, loop + ".0");
}

/// Lets the loops of a computation that fills or empties the registers, over
/// the indices of the array, run as those of the block do.
static llvm::Error unrollCopy(ComputeOp copy, unsigned numLoops,
                              std::optional<unsigned> lanes, int64_t size,
                              int64_t width) {
  for (unsigned dim = numLoops; dim < copy.getNumDims(); ++dim) {
    bool isLanes = lanes && dim - numLoops == *lanes;
    if (llvm::Error error = unrollPart(copy, copy.getDimName(dim).str(), size,
                                       isLanes ? width : 0))
      return error;
  }
  return llvm::Error::success();
}

/// The index of the written array along which the lanes run: the last one that
/// depends on the loop; nothing if none does.
static std::optional<unsigned> findLaneIndex(ComputeOp compute,
                                             StringRef loop) {
  llvm::Expected<LoopPosition> found = findLoop(compute, loop);
  if (!found) {
    llvm::consumeError(found.takeError());
    return std::nullopt;
  }
  AffineExpr value =
      found->band.getMap(compute.getSymName()).getResult(found->position);
  AffineMap write = compute.getWriteAccesses().front().map;
  std::optional<unsigned> index;
  for (auto [number, result] : llvm::enumerate(write.getResults()))
    for (unsigned dim = 0; dim < compute.getNumDims(); ++dim)
      if (result.isFunctionOfDim(dim) && value.isFunctionOfDim(dim))
        index = number;
  return index;
}

/// Makes the loops of a block, whose results are in memory.
static llvm::Expected<BlockLoops> makeBlock(ComputeOp compute,
                                            ArrayRef<StringRef> loops,
                                            ArrayRef<int64_t> sizes,
                                            int64_t width) {
  if (loops.empty() || loops.size() != sizes.size())
    return refuse("expects a size for each of at least one loop, but got " +
                  Twine(sizes.size()) + " sizes for " + Twine(loops.size()) +
                  " loops");
  if (width <= 0 || sizes.back() % width != 0)
    return refuse("expects a number of lanes that divides the last size, " +
                  Twine(sizes.back()) + ", but got " + Twine(width));
  BlockLoops block;
  for (auto [loop, size] : llvm::zip_equal(loops, sizes)) {
    if (llvm::Error error = splitLoop(compute, loop, size))
      return std::move(error);
    block.outer.push_back((loop + ".0").str());
    block.inner.push_back((loop + ".1").str());
  }
  if (llvm::Error error = reorder(compute, block))
    return std::move(error);
  if (llvm::Error error = separateTileLoops(compute, toRefs(block.outer)))
    return std::move(error);
  for (size_t number = loops.size(); number-- > 0;)
    if (llvm::Error error =
            unrollPart(compute, block.inner[number], sizes[number],
                       number + 1 == loops.size() ? width : 0))
      return std::move(error);
  return block;
}

static llvm::Expected<LocalCopy> blockIn(ComputeOp compute,
                                         ArrayRef<StringRef> loops,
                                         ArrayRef<int64_t> sizes,
                                         int64_t width) {
  std::optional<unsigned> lanes;
  StringRef ofUpdates; // A loop over updates of one element.
  for (StringRef loop : loops)
    if (!(lanes = findLaneIndex(compute, loop)))
      ofUpdates = loop;
  llvm::Expected<BlockLoops> block = makeBlock(compute, loops, sizes, width);
  if (!block)
    return block.takeError();
  LocalOptions options;
  options.placement =
      PlacementAttr::get(compute.getContext(), Placement::Register);
  llvm::Expected<LocalCopy> local =
      cacheWriteOf(compute, 0, block->outer.back(), options);
  if (!local)
    return local;
  nameLoops(compute.getKernel());
  // The indices of the array are the last dimensions of a copy.
  llvm::Expected<Tile> tile = getTile(compute, block->outer.back());
  if (!tile)
    return tile.takeError();
  for (ComputeOp copy : {local->in, local->out})
    if (copy)
      if (llvm::Error error = unrollCopy(copy, tile->getNumLoops(), lanes,
                                         sizes.back(), width)) {
        if (ofUpdates.empty())
          return std::move(error);
        llvm::consumeError(std::move(error));
        return refuse("expects loops over elements of what " + quote(compute) +
                      " writes, but " + quote(ofUpdates) +
                      " runs over updates of one");
      }
  return local;
}

llvm::Expected<LocalCopy>
espalier::poly::registerBlock(ComputeOp compute, ArrayRef<StringRef> loops,
                              ArrayRef<int64_t> sizes, int64_t width) {
  LocalCopy result;
  llvm::Error error = applyTo(
      compute,
      [&](ComputeOp target) {
        return blockIn(target, loops, sizes, width).moveInto(result);
      },
      [&](KernelOp) { return refuseFault(checkRegisters(result.array)); });
  if (!error)
    return result;
  // Why the block cannot be made, where that is the reason, says more.
  llvm::Error reason = tryOn(compute, [&](ComputeOp target) {
    return makeBlock(target, loops, sizes, width).takeError();
  });
  if (!reason)
    return std::move(error);
  llvm::consumeError(std::move(error));
  return std::move(reason);
}
