//===- GemvByRows.cpp - Products of a matrix that is read once ------------===//
//
// The product of a vector and a matrix takes as long as reading the matrix.
// Register tiles would read it column by column, some vectors of each row, and
// use a part of each page at a time. Memory is faster along rows:
//
//   for k in steps of 8:  for j:  y[j] += x[k] * B[k, j] + .. + x[k + 7] *
//                                         B[k + 7, j]
//
// The sums are read and written once for several rows, and stay in a cache.
//
//===----------------------------------------------------------------------===//

#include "PlanChooser.h"

using namespace mlir;
using namespace espalier::poly;

/// Rows that are read side by side, and where these would push one another out
/// of the first-level cache, which memory alone is slow enough to hide.
static constexpr int64_t kRowsAtOnce = 8, kRowsOfOneSet = 4;
/// What takes so many times a core's second-level cache comes from memory.
static constexpr int64_t kFarCaches = 32;
/// The share of a core's second-level cache that sums may take.
static constexpr int64_t kCachePart = 4;

bool PlanChooser::isGemvByRows() const {
  if (!reduction || !plan.lanes || !isPanelStreamed() || isSequential() ||
      plan.numInside > 0)
    return false;
  const ComputeShape &main = shape(*reduction);
  std::optional<int64_t> width = getSharedExtent(*plan.lanes);
  if (main.getNumDims() != plan.numShared + 1 || !width || hasRows())
    return false;
  for (unsigned dim = 0; dim < plan.numShared; ++dim)
    if (isRestricted(dim) || (dim != *plan.lanes && getSharedExtent(dim) != 1))
      return false;
  // All others are maps of the sums.
  for (unsigned i = 0; i < computes.size(); ++i)
    if (i != *reduction && shape(i).getNumDims() != plan.numShared)
      return false;
  unsigned term = plan.numShared;
  const ComputeAccess &panel = main.reads[*getPanel(main)];
  int64_t bytes = getBytes(panel.getType().getElementType());
  std::optional<int64_t> step = getStride(panel, term, plan.width);
  return getStride(panel, *plan.lanes, plan.width) == 1 && step &&
         *step != kUnknownStride && main.getExtent(term) &&
         getChunk() * bytes >= kPageBytes &&
         getChunk() * bytes <= target.getL2() / kCachePart;
}

int64_t PlanChooser::getRowsAtOnce() const {
  const ComputeShape &main = shape(*reduction);
  const ComputeAccess &panel = main.reads[*getPanel(main)];
  int64_t bytes = getBytes(panel.getType().getElementType());
  int64_t rowBytes = *getStride(panel, plan.numShared, plan.width) * bytes;
  bool isFar =
      rowBytes * *main.getExtent(plan.numShared) > kFarCaches * target.getL2();
  return rowBytes % kPageBytes == 0 && !isFar ? kRowsOfOneSet : kRowsAtOnce;
}

int64_t PlanChooser::getChunk() const {
  int64_t parts = isParallelWorthwhile() ? target.getCores() : 1;
  return llvm::alignTo(llvm::divideCeil(*getSharedExtent(*plan.lanes), parts),
                       plan.width);
}

void PlanChooser::chooseGemvByRows() {
  // The sums of one chunk, which a thread has for itself.
  plan.block = plan.lanes;
  plan.blockSize = getChunk();
  plan.tile.assign(plan.numShared, 1);
  plan.tile[*plan.lanes] = plan.width;
  plan.insideSum = {*plan.lanes};
  plan.terms = getRowsAtOnce();
  plan.unrollTerms = true;
  plan.loops = {*plan.lanes};
}
