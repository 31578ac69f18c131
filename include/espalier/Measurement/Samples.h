//===- Samples.h - How often a time is taken --------------------*- C++ -*-===//

#ifndef ESPALIER_MEASUREMENT_SAMPLES_H
#define ESPALIER_MEASUREMENT_SAMPLES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <vector>

namespace espalier {

/// When there are enough samples.
struct SampleLimits {
  /// There are at least so many, which take at least so long altogether: what
  /// disturbs a run disturbs those right after it, too.
  unsigned minSamples = 5;
  double minSeconds = 0.01;
  /// No more are begun after so many, or so long.
  unsigned maxSamples = 100;
  double maxSeconds = 0.04;
  /// Between these, they end once the median of all that there could be lies
  /// within so much of it, with 95 % confidence.
  double precision = 0.01;
  /// What the fastest of its rivals takes; 0 for none. A first sample that is
  /// hopeless beside it is the only one.
  double best = 0;
};

/// Whether something that took so many seconds is too slow to be measured
/// precisely, where another takes `best`; 0 for no such.
bool isHopeless(double seconds, double best);

/// Takes times by `sample`, which returns seconds, until the limits say that
/// there are enough; returns them, the shortest first.
std::vector<double> takeSamples(llvm::function_ref<double()> sample,
                                const SampleLimits &limits = {});

/// The middle one, or the longer of two, of times in any order. There is at
/// least one.
double getMedian(std::vector<double> times);

} // namespace espalier

#endif // ESPALIER_MEASUREMENT_SAMPLES_H
