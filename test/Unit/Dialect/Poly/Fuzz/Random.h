//===- Random.h - Choices that a seed repeats -------------------*- C++ -*-===//

#ifndef ESPALIER_TEST_UNIT_DIALECT_POLY_FUZZ_RANDOM_H
#define ESPALIER_TEST_UNIT_DIALECT_POLY_FUZZ_RANDOM_H

#include "llvm/ADT/ArrayRef.h"
#include <random>

namespace espalier::poly::fuzz {

/// A source of choices, the same on every platform.
class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}

  /// A number from `low` to `high`, both included.
  int64_t pick(int64_t low, int64_t high) {
    return low + int64_t(engine() % uint64_t(high - low + 1));
  }
  /// True in `percent` of all cases.
  bool chance(int64_t percent) { return pick(1, 100) <= percent; }
  template <typename T>
  const T &choose(llvm::ArrayRef<T> choices) {
    return choices[pick(0, choices.size() - 1)];
  }
  template <typename Range>
  void shuffle(Range &range) {
    for (size_t i = range.size(); i > 1; --i)
      std::swap(range[i - 1], range[pick(0, i - 1)]);
  }

private:
  std::mt19937_64 engine;
};

} // namespace espalier::poly::fuzz

#endif // ESPALIER_TEST_UNIT_DIALECT_POLY_FUZZ_RANDOM_H
