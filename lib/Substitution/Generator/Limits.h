//===- Limits.h - Time and memory of a generation ---------------*- C++ -*-===//

#ifndef ESPALIER_LIB_SUBSTITUTION_GENERATOR_LIMITS_H
#define ESPALIER_LIB_SUBSTITUTION_GENERATOR_LIMITS_H

#include <chrono>
#include <cstdint>

namespace espalier::substitution::generator {

struct Limits {
  using Clock = std::chrono::steady_clock;

  uint64_t maxBytes;
  Clock::time_point deadline;

  bool isOver() const { return Clock::now() >= deadline; }
};

/// How something ended.
enum class Outcome { Done, OutOfMemory, OutOfTime };

} // namespace espalier::substitution::generator

#endif // ESPALIER_LIB_SUBSTITUTION_GENERATOR_LIMITS_H
