//===- PassLines.cpp - Lanes that read elements of their own --------------===//
//
// A depthwise convolution with channels innermost shares nothing between lanes:
// all vectors of a line pass before the next line does, so memory is read as it
// lies. The hardware fetches the lines next to those that a tile reads, and
// these have to stay in the first-level cache until their vector passes.
//
//===----------------------------------------------------------------------===//

#include "PlanChooser.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace espalier::poly;

/// Sums of at least so many rows hide how long an addition takes, with what a
/// loop costs.
static constexpr int64_t kMinLineRows = 7;
/// What a tile of more terms reads is not counted one by one.
static constexpr int64_t kMaxPlaces = 1 << 12;

bool PlanChooser::passesLines() const {
  const ComputeAccess &write = shape(computes.size() - 1).writes.front();
  return !isPanelStreamed() && !isSequential() && !isWrittenOut(*reduction) &&
         countBroadcastVectors(shape(*reduction)) == 0 &&
         getStride(write, *plan.lanes, plan.width) == 1;
}

int64_t PlanChooser::countLineBytes() const {
  const ComputeShape &main = shape(*reduction);
  int64_t vectors = getSharedExtent(*plan.lanes).value_or(plan.width);
  int64_t bytes = 0;
  for (const ComputeAccess &read : main.reads) {
    // The distinct places of the tile's rows and of the terms of their sums.
    llvm::SmallDenseSet<int64_t> places{0};
    auto spread = [&](unsigned dim, int64_t points) {
      std::optional<int64_t> step = getStride(read, dim, plan.width);
      if (!step || *step == 0 || *step == kUnknownStride ||
          points * int64_t(places.size()) > kMaxPlaces)
        return;
      SmallVector<int64_t> before(places.begin(), places.end());
      for (int64_t point = 1; point < points; ++point)
        for (int64_t place : before)
          places.insert(place + point * *step);
    };
    if (!isa<BlockArgument>(read.array))
      continue;
    for (unsigned dim = plan.numInside; dim < plan.numShared; ++dim)
      if (dim != *plan.lanes)
        spread(dim, plan.tile[dim]);
    for (unsigned dim = getFirstOwn(main); dim < main.getNumDims(); ++dim)
      spread(dim, main.getExtent(dim).value_or(1));
    bytes +=
        places.size() * vectors * getBytes(read.getType().getElementType());
  }
  return bytes;
}

void PlanChooser::keepLines(unsigned row) {
  int64_t whole = plan.tile[row];
  if (whole < 2 * kMinLineRows - 1 || countLineBytes() <= target.getL1())
    return;
  plan.tile[row] = llvm::divideCeil(whole, 2);
  if (countLineBytes() > target.getL1())
    plan.tile[row] = whole;
}
