//===- ArenaPlan.cpp - Offsets of buffers with lifetimes ------------------===//

#include "espalier/Conversion/LoopsToProgram/ArenaPlan.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace espalier;

std::optional<int64_t> espalier::multiplyChecked(int64_t a, int64_t b) {
  int64_t product;
  if (llvm::MulOverflow(a, b, product))
    return std::nullopt;
  return product;
}

std::optional<int64_t> espalier::alignToChecked(int64_t value,
                                                int64_t alignment) {
  int64_t rounded;
  if (llvm::AddOverflow(value, alignment - 1, rounded))
    return std::nullopt;
  return rounded / alignment * alignment;
}

static bool meet(const LiveBuffer &a, const LiveBuffer &b) {
  return a.begin <= b.end && b.begin <= a.end;
}

/// Returns the start of the smallest gap of at least `size` between the
/// intervals `taken` (sorted by start), or the end of the last one.
static int64_t findBestFit(llvm::ArrayRef<std::pair<int64_t, int64_t>> taken,
                           int64_t size) {
  int64_t end = 0, best = -1;
  int64_t bestGap = std::numeric_limits<int64_t>::max();
  for (auto [from, to] : taken) {
    int64_t gap = from - end;
    if (gap >= size && gap < bestGap) {
      best = end;
      bestGap = gap;
    }
    end = std::max(end, to);
  }
  return best >= 0 ? best : end;
}

std::optional<ArenaPlan> espalier::planArena(llvm::ArrayRef<LiveBuffer> buffers,
                                             int64_t alignment) {
  llvm::SmallVector<int64_t> rounded;
  for (const LiveBuffer &buffer : buffers) {
    std::optional<int64_t> size = alignToChecked(buffer.size, alignment);
    if (!size)
      return std::nullopt;
    rounded.push_back(*size);
  }
  auto order = llvm::to_vector(llvm::seq<size_t>(0, buffers.size()));
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::pair(rounded[b], a) < std::pair(rounded[a], b);
  });

  ArenaPlan plan;
  plan.offsets.assign(buffers.size(), 0);
  llvm::SmallVector<size_t> placed;
  for (size_t current : order) {
    llvm::SmallVector<std::pair<int64_t, int64_t>> taken;
    for (size_t other : placed)
      if (meet(buffers[current], buffers[other]))
        taken.emplace_back(plan.offsets[other],
                           plan.offsets[other] + rounded[other]);
    llvm::sort(taken);
    int64_t offset = findBestFit(taken, rounded[current]), end;
    if (llvm::AddOverflow(offset, rounded[current], end))
      return std::nullopt;
    plan.offsets[current] = offset;
    plan.size = std::max(plan.size, end);
    placed.push_back(current);
  }
  return plan;
}

bool espalier::verifyArenaPlan(llvm::ArrayRef<LiveBuffer> buffers,
                               int64_t alignment, const ArenaPlan &plan) {
  if (plan.offsets.size() != buffers.size())
    return false;
  for (size_t i = 0; i < buffers.size(); ++i) {
    int64_t from = plan.offsets[i];
    if (from < 0 || from % alignment != 0 || plan.size < from ||
        plan.size - from < buffers[i].size)
      return false;
    for (size_t j = 0; j < i; ++j)
      if (meet(buffers[i], buffers[j]) &&
          from < plan.offsets[j] + buffers[j].size &&
          plan.offsets[j] < from + buffers[i].size)
        return false;
  }
  return true;
}
