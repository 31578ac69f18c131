//===- Samples.cpp - How often a time is taken ----------------------------===//

#include "espalier/Measurement/Samples.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

using namespace espalier;

/// Of 95 % of normal deviates, the largest.
static constexpr double kDeviate = 1.96;

/// What takes more than so many times the best is hopeless, unless it is as
/// short as this, where memory that is touched for the first time may be why.
static constexpr double kHopelessFactor = 3, kMinHopelessSeconds = 0.1;

bool espalier::isHopeless(double seconds, double best) {
  return best > 0 &&
         seconds > std::max(kHopelessFactor * best, kMinHopelessSeconds);
}

/// Whether the median of which `times`, in order, are samples is known to
/// `precision`. It has as many samples below it as heads there are in as many
/// throws of a coin, whatever times are distributed like.
static bool isPrecise(llvm::ArrayRef<double> times, double precision) {
  double middle = times.size() / 2.0;
  double spread = kDeviate / 2 * std::sqrt(double(times.size()));
  size_t low = std::max(0.0, std::floor(middle - spread));
  size_t high = std::min(times.size() - 1.0, std::ceil(middle + spread));
  return times[high] - times[low] <= precision * getMedian(times.vec());
}

double espalier::getMedian(std::vector<double> times) {
  auto middle = times.begin() + times.size() / 2;
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

std::vector<double> espalier::takeSamples(llvm::function_ref<double()> sample,
                                          const SampleLimits &limits) {
  std::vector<double> times; // In order.
  double total = 0;
  auto isEnough = [&] {
    if (times.size() == 1 && isHopeless(total, limits.best))
      return true;
    if (times.size() < limits.minSamples)
      return false;
    if (total >= limits.maxSeconds || times.size() >= limits.maxSamples)
      return true;
    return total >= limits.minSeconds && isPrecise(times, limits.precision);
  };
  while (!isEnough()) {
    double seconds = sample();
    times.insert(llvm::upper_bound(times, seconds), seconds);
    total += seconds;
  }
  return times;
}
