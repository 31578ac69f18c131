//===- CodeSize.h - The budget of straight-line code ------------*- C++ -*-===//
//
// How much code may follow without a branch. LLVM's time for a block grows
// faster than the block: measured for znver4, stores of 448 zeros and one more
// take 0.03 s for 128 stores, 0.26 s for 256 and 2.8 s for 512; a chain of
// 1,024 plain stores takes 0.5 s. What exceeds the budget remains a loop.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_SUPPORT_CODESIZE_H
#define ESPALIER_SUPPORT_CODESIZE_H

#include <cstdint>

namespace espalier {

/// The most accesses to memory, each of a vector register's size at most, that
/// a loop may become by LLVM's unrolling.
constexpr uint64_t kMaxStraightAccesses = 192;

/// The most vector operations that the default schedule unrolls a window to:
/// registers are spilled beyond, which costs more than the loop.
constexpr int64_t kMaxStraightPoints = 112;

/// Where the number of rows of a tile is known when the program runs, there is
/// code for each number up to this.
constexpr int64_t kMaxRowVersions = 16;

/// Vectors are not narrower than this to suit what they are for.
constexpr int64_t kMinLanes = 4;

/// Loops over the taps of a window have no more steps than this.
constexpr int64_t kMaxTaps = 8;

/// Columns of a line, at most, whose tiles each have code of their own, which
/// leaves out what it would read of a border.
constexpr int64_t kMaxBorderedColumns = 72;

/// A loop of so few steps around a register tile costs more than its code, or
/// its place in memory, gives: LLVM makes a flag of its counter, and moves the
/// tile about.
constexpr int64_t kFewSteps = 2;

} // namespace espalier

#endif // ESPALIER_SUPPORT_CODESIZE_H
