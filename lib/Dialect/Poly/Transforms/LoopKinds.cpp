//===- LoopKinds.cpp - How loops run --------------------------------------===//

#include "LoopNest.h"

using namespace mlir;
using namespace espalier::poly;

/// The most iterations that become copies of code, and the most lanes.
static constexpr int64_t kMaxCopies = 1024, kMaxLanes = 1024;

static llvm::Error setKind(ComputeOp compute, StringRef name, LoopAttr kind) {
  return applyTo(compute, [&](ComputeOp compute) -> llvm::Error {
    llvm::Expected<LoopPosition> found = findLoop(compute, name);
    if (!found)
      return found.takeError();
    SmallVector<BandLoop> loops = getLoops(found->band);
    loops[found->position].kind = kind;
    setLoops(found->band, loops);
    return llvm::Error::success();
  });
}

llvm::Error espalier::poly::parallelize(ComputeOp compute, StringRef loop) {
  return setKind(compute, loop,
                 LoopAttr::get(compute.getContext(), LoopKind::Parallel));
}

llvm::Error espalier::poly::serialize(ComputeOp compute, StringRef loop) {
  return setKind(compute, loop,
                 LoopAttr::get(compute.getContext(), LoopKind::Sequential));
}

//===----------------------------------------------------------------------===//
// Innermost loops
//===----------------------------------------------------------------------===//

/// Moves a loop, a part of `whole`, inside of all others of its nest but those
/// that are lanes.
static llvm::Error sink(ComputeOp compute, StringRef name, StringRef whole) {
  LoopPosition found = llvm::cantFail(findLoop(compute, name));
  mergeChildren(found.band);
  Operation *child = found.band.getChild();
  if (child && hasLoops(child))
    return refuse("expects " + quote(whole) +
                  " in a nest without loops below " + describeNode(child) +
                  (isa<SequenceOp>(child) ? "; fission first" : ""));
  SmallVector<BandLoop> loops = getLoops(found.band);
  BandLoop loop = loops[found.position];
  loops.erase(loops.begin() + found.position);
  auto *place = loops.end();
  while (!loop.kind.isVector() && place != loops.begin() &&
         std::prev(place)->kind.isVector())
    --place;
  loops.insert(place, loop);
  setLoops(found.band, loops);
  return llvm::Error::success();
}

/// Cuts a loop by `factor`, with `kind` for the inner part; a factor that the
/// loop does not exceed leaves one loop. Returns the name of the part that has
/// the kind.
static llvm::Expected<StringRef> cut(ComputeOp compute, StringRef name,
                                     int64_t factor, LoopAttr kind) {
  llvm::Expected<LoopPosition> found = findLoop(compute, name);
  if (!found)
    return found.takeError();
  SmallVector<BandLoop> loops = getLoops(found->band);
  BandLoop &loop = loops[found->position];
  std::optional<int64_t> extent = getExtent(compute, getExpr(*found, compute));
  if (extent && *extent <= factor) {
    loop.kind = kind;
    setLoops(found->band, loops);
    return loop.name.getValue();
  }
  if (llvm::Error error = checkFactors(compute, *found, factor))
    return error;
  SmallVector<BandLoop> parts = stripMine(loop, factor);
  parts[1].kind = kind;
  loop = parts[0];
  loops.insert(loops.begin() + found->position + 1, parts[1]);
  setLoops(found->band, loops);
  return parts[1].name.getValue();
}

/// Gives the full tiles of a loop code of their own.
static void separateTiles(ComputeOp compute, StringRef name) {
  LoopPosition loop = llvm::cantFail(findLoop(compute, name));
  BandOp band = splitBand(loop.band, loop.position);
  splitBand(band, 1);
  band.setFullTiles(true);
}

llvm::Error espalier::poly::vectorize(ComputeOp compute, StringRef name,
                                      int64_t width, bool peelTail) {
  return applyTo(compute, [&](ComputeOp compute) -> llvm::Error {
    if (width < 2 || width > kMaxLanes)
      return refuse("expects between 2 and " + Twine(kMaxLanes) +
                    " lanes, but got " + Twine(width));
    llvm::Expected<StringRef> lanes = cut(
        compute, name, width, LoopAttr::getVector(compute.getContext(), width));
    if (!lanes)
      return lanes.takeError();
    if (llvm::Error error = sink(compute, *lanes, name))
      return error;
    if (peelTail && *lanes != name)
      separateTiles(compute, (name + ".0").str());
    return llvm::Error::success();
  });
}

/// The number of copies that unrolling a loop asks for.
static llvm::Expected<int64_t> getNumCopies(ComputeOp compute, StringRef name,
                                            std::optional<int64_t> factor) {
  llvm::Expected<LoopPosition> found = findLoop(compute, name);
  if (!found)
    return found.takeError();
  std::optional<int64_t> copies = factor;
  if (!copies)
    copies = getExtent(compute, getExpr(*found, compute));
  if (!copies)
    return refuse("expects a factor, because no constant bounds " +
                  quote(name));
  if (*copies <= 0 || *copies > kMaxCopies)
    return refuse("expects between 1 and " + Twine(kMaxCopies) +
                  " copies, but got " + Twine(*copies));
  return *copies;
}

static llvm::Error unrollLoop(ComputeOp compute, StringRef name,
                              std::optional<int64_t> factor, bool jam) {
  return applyTo(compute, [&](ComputeOp compute) -> llvm::Error {
    llvm::Expected<int64_t> copies = getNumCopies(compute, name, factor);
    if (!copies)
      return copies.takeError();
    llvm::Expected<StringRef> inner =
        cut(compute, name, *copies,
            LoopAttr::get(compute.getContext(), LoopKind::Unroll));
    if (!inner)
      return inner.takeError();
    if (jam)
      if (llvm::Error error = sink(compute, *inner, name))
        return error;
    if (*inner != name)
      separateTiles(compute, (name + ".0").str());
    return llvm::Error::success();
  });
}

llvm::Error espalier::poly::unroll(ComputeOp compute, StringRef loop,
                                   std::optional<int64_t> factor) {
  return unrollLoop(compute, loop, factor, /*jam=*/false);
}

llvm::Error espalier::poly::unrollAndJam(ComputeOp compute, StringRef loop,
                                         int64_t factor) {
  return unrollLoop(compute, loop, factor, /*jam=*/true);
}
