//===- Rounding.h - How much results may differ -----------------*- C++ -*-===//

#ifndef ESPALIER_MEASUREMENT_ROUNDING_H
#define ESPALIER_MEASUREMENT_ROUNDING_H

#include <cstdint>
#include <optional>
#include <vector>

namespace espalier {

namespace poly {
class KernelOp;
} // namespace poly

/// On which floats a kernel runs, and how far apart what two schedules of it
/// compute from them may be.
struct KernelNumbers {
  /// Floats are whole numbers from -magnitude to magnitude but 0, or with 0
  /// any from -1 to 1.
  int64_t magnitude = 0;
  /// By array that is written, in the order of arguments, the largest
  /// difference of an element; nothing where no bound is known.
  std::vector<std::optional<double>> differences;
};

/// Chooses numbers on which differences are smallest beside the values, where
/// `unknownExtent` stands for what `kernel` does not know. Sums, products and
/// maxima of whole numbers are exact in any order as long as they have no more
/// digits than a float has; where no such choice bounds all differences, the
/// numbers are any.
KernelNumbers chooseNumbers(poly::KernelOp kernel, int64_t unknownExtent = 1);

} // namespace espalier

#endif // ESPALIER_MEASUREMENT_ROUNDING_H
