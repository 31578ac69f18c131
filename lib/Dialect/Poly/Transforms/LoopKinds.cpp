//===- LoopKinds.cpp - How loops run --------------------------------------===//

#include "Edits.h"
#include "Hints.h"
#include "LoopNest.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "espalier/Dialect/Poly/IR/Reduction.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace espalier::poly;

static constexpr int64_t kMaxLanes = LoopAttr::kMaxLanes;
/// The most iterations that become copies of code.
static constexpr int64_t kMaxCopies = 1024;
/// The most copies of a point that loops inside one another make together.
static constexpr int64_t kMaxNestedCopies = 8192;

/// Changes how a loop runs.
static llvm::Error setKind(ComputeOp compute, StringRef name,
                           LoopKindAttrInterface kind) {
  llvm::Expected<LoopPosition> found = findLoop(compute, name);
  if (!found)
    return found.takeError();
  SmallVector<BandLoop> loops = getLoops(found->band);
  loops[found->position].kind = kind;
  setLoops(found->band, loops);
  return llvm::Error::success();
}

llvm::Error espalier::poly::parallelize(ComputeTarget compute, StringRef loop,
                                        LoopKindAttrInterface kind,
                                        bool isAtomic) {
  if (!kind)
    kind = LoopAttr::get(compute.getContext(), LoopKind::Parallel);
  if (!kind.isParallel())
    return refuse("expects a kind of parallel loop, but got " + toText(kind));
  if (isAtomic)
    if (std::string fault = findAtomicFault(compute); !fault.empty())
      return refuse("expects 'atomic' on " + fault);
  auto edit = [=](ComputeOp compute, StringRef loop) {
    if (isAtomic)
      compute.setAtomic(true);
    return setKind(compute, loop, kind);
  };
  return applyWithHint(
      compute, [&](ComputeOp compute) { return edit(compute, loop); },
      [&] { return findLoops(compute, "parallel", edit); });
}

llvm::Error espalier::poly::serialize(ComputeTarget compute, StringRef loop) {
  return applyTo(compute, [&](ComputeOp compute) -> llvm::Error {
    // What is in registers stays there.
    SmallVector<ArrayOp> kept = llvm::filter_to_vector(
        compute.getKernel().getArrays(), [](ArrayOp array) {
          return !array.getPlacement().isAddressable() &&
                 checkRegisters(array).empty();
        });
    if (llvm::Error error =
            setKind(compute, loop,
                    LoopAttr::get(compute.getContext(), LoopKind::Sequential)))
      return error;
    for (ArrayOp array : kept)
      if (llvm::Error error = refuseFault(checkRegisters(array)))
        return error;
    return llvm::Error::success();
  });
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
  std::optional<int64_t> extent = getExtent(*found);
  if (extent && *extent <= factor) {
    loop.kind = kind;
    setLoops(found->band, loops);
    return loop.name.getValue();
  }
  if (llvm::Error error = checkSize(*found, factor, "a factor"))
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

llvm::Error espalier::poly::vectorizeLoop(ComputeOp compute, StringRef name,
                                          int64_t width, bool peelTail) {
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
}

llvm::Error espalier::poly::vectorize(ComputeTarget compute, StringRef loop,
                                      int64_t width, bool peelTail) {
  auto edit = [&](ComputeOp compute, StringRef loop) {
    return vectorizeLoop(compute, loop, width, peelTail);
  };
  return applyWithHint(
      compute, [&](ComputeOp compute) { return edit(compute, loop); },
      [&] {
        std::string hint = findReduction(
            compute, [&](ComputeOp compute) { return edit(compute, loop); });
        return hint.empty() ? findLoops(compute, "lanes", edit) : hint;
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
    copies = getExtent(*found);
  if (!copies)
    return refuse("expects a factor, because no constant bounds " +
                  quote(name));
  if (*copies <= 0 || *copies > kMaxCopies)
    return refuse("expects between 1 and " + Twine(kMaxCopies) +
                  " copies, but got " + Twine(*copies));
  return *copies;
}

/// Refuses if unrolled loops around a loop, and itself, make too many copies.
static llvm::Error checkNestedCopies(ComputeOp compute, StringRef name) {
  LoopPosition loop = llvm::cantFail(findLoop(compute, name));
  uint64_t copies = 1;
  for (Operation *node = loop.band; !isa<ScheduleOp>(node);
       node = node->getParentOp())
    if (auto band = dyn_cast<BandOp>(node))
      for (auto [position, kind] : llvm::enumerate(band.getLoopKinds()))
        if (kind.isUnroll())
          copies = llvm::SaturatingMultiply<uint64_t>(
              copies, getExtent({band, unsigned(position)}).value_or(1));
  if (copies <= uint64_t(kMaxNestedCopies))
    return llvm::Error::success();
  return refuse("expects at most " + Twine(kMaxNestedCopies) +
                " copies of a point of " + quote(compute) +
                " in all unrolled loops around it, but " + quote(name) +
                " makes " + Twine(copies));
}

llvm::Error espalier::poly::unrollLoop(ComputeOp compute, StringRef name,
                                       std::optional<int64_t> factor,
                                       bool jam) {
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
  return checkNestedCopies(compute, *inner);
}

llvm::Error espalier::poly::unroll(ComputeTarget compute, StringRef loop,
                                   std::optional<int64_t> factor) {
  return applyTo(compute, [&](ComputeOp compute) {
    return unrollLoop(compute, loop, factor);
  });
}

/// The innermost loop of the nest of a loop.
static std::string getInnermost(ComputeOp compute, StringRef name) {
  OwningOpRef<KernelOp> scratch = cloneWithSchedule(compute.getKernel());
  BandOp band =
      llvm::cantFail(
          findLoop(scratch->lookupCompute(compute.getSymName()), name))
          .band;
  mergeChildren(band);
  return getLoops(band).back().name.str();
}

llvm::Error espalier::poly::unrollAndJam(ComputeTarget compute, StringRef loop,
                                         int64_t factor) {
  auto edit = [&](ComputeOp compute) {
    return unrollLoop(compute, loop, factor, /*jam=*/true);
  };
  return applyWithHint(compute, edit, [&] {
    std::string innermost = getInnermost(compute, loop);
    return findSkews(compute, {loop, innermost}, edit);
  });
}
