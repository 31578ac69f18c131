//===- ArenaPlan.h - Offsets of buffers with lifetimes ----------*- C++ -*-===//
//
// The problem: buffers with a size and an interval of time; two buffers whose
// intervals meet must not overlap in memory. The algorithm is greedy best fit,
// largest buffer first, as in Pisarchyk and Lee, "Efficient memory management
// for deep neural net inference" (section 5.2).
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_CONVERSION_LOOPSTOPROGRAM_ARENAPLAN_H
#define ESPALIER_CONVERSION_LOOPSTOPROGRAM_ARENAPLAN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace espalier {

/// A buffer that is live in the closed interval [begin, end].
struct LiveBuffer {
  int64_t size = 0;
  int64_t begin = 0;
  int64_t end = 0;
};

/// Where each buffer starts, and the size of memory that holds them all.
struct ArenaPlan {
  llvm::SmallVector<int64_t> offsets;
  int64_t size = 0;
};

/// Returns `value` rounded up to a multiple of `alignment`, or nothing when
/// that exceeds the range of int64_t. `value` must not be negative.
std::optional<int64_t> alignToChecked(int64_t value, int64_t alignment);

/// Returns `a * b`, or nothing when that exceeds the range of int64_t.
std::optional<int64_t> multiplyChecked(int64_t a, int64_t b);

/// Chooses an offset, a multiple of `alignment`, for each of `buffers`.
/// Fails only when an offset exceeds the range of int64_t. Quadratic in the
/// number of buffers.
std::optional<ArenaPlan> planArena(llvm::ArrayRef<LiveBuffer> buffers,
                                   int64_t alignment);

/// Returns whether `plan` places `buffers` inside its size, at multiples of
/// `alignment`, without overlap among those that live at the same time.
bool verifyArenaPlan(llvm::ArrayRef<LiveBuffer> buffers, int64_t alignment,
                     const ArenaPlan &plan);

} // namespace espalier

#endif // ESPALIER_CONVERSION_LOOPSTOPROGRAM_ARENAPLAN_H
