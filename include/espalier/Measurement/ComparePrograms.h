//===- ComparePrograms.h - Which of two programs is faster ------*- C++ -*-===//

#ifndef ESPALIER_MEASUREMENT_COMPAREPROGRAMS_H
#define ESPALIER_MEASUREMENT_COMPAREPROGRAMS_H

#include "espalier/ExecutionEngine/CompiledProgram.h"
#include <chrono>

namespace espalier {

/// How two programs are compared.
struct CompareOptions {
  unsigned threads = 1;
  /// Seconds that runs take together, of a program that is not very slow.
  double seconds = 2;
  /// What stands for extents that only the run knows.
  int64_t unknownExtent = 8;
  /// For everything, loading included.
  std::chrono::milliseconds timeLimit{120000};
  /// Beyond the bytes of this process.
  uint64_t memoryLimit = uint64_t(16) << 30;
};

/// What was measured, in seconds.
struct ProgramComparison {
  /// Medians.
  double first = 0, second = 0;
  /// The median of the quotients second / first of neighbouring runs, and the
  /// share of these that are below 1.
  double ratio = 1, share = 0;
  /// The largest difference between outputs, relative to the largest output.
  double error = 0;

  /// Whether the second program is faster beyond doubt: noise makes either one
  /// the faster in half of the runs.
  bool isSecondFaster() const { return ratio < 0.99 && share > 0.65; }
};

/// Runs both programs in turns on the same made-up inputs, in a child process.
/// Fails if one of them fails, or if the limits are exceeded.
llvm::Expected<ProgramComparison>
comparePrograms(const CompiledProgram &first, const CompiledProgram &second,
                const CompareOptions &options);

} // namespace espalier

#endif // ESPALIER_MEASUREMENT_COMPAREPROGRAMS_H
