//===- SamplesTest.cpp - Times of made-up clocks --------------------------===//

#include "espalier/Measurement/Samples.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <functional>
#include <random>

using namespace espalier;

namespace {

struct Sampled {
  double median = 0;
  unsigned count = 0;
};

Sampled sample(std::function<double(unsigned)> clock) {
  Sampled sampled;
  std::vector<double> times =
      takeSamples([&] { return clock(sampled.count++); });
  EXPECT_EQ(times.size(), sampled.count);
  EXPECT_TRUE(llvm::is_sorted(times));
  sampled.median = getMedian(times);
  return sampled;
}

TEST(SamplesTest, WhatIsAlwaysAlikeIsTakenForTheShortestTime) {
  Sampled sampled = sample([](unsigned) { return 1e-3; });
  EXPECT_EQ(sampled.count, 10u) << "10 ms";
  EXPECT_EQ(sampled.median, 1e-3);
  // One that takes longer is taken five times, though.
  EXPECT_EQ(sample([](unsigned) { return 1.0; }).count, 5u);
}

TEST(SamplesTest, WhatDiffersIsTakenAsOftenAsItMay) {
  auto clock = [](double seconds) {
    return [=](unsigned i) { return seconds * (i % 2 == 0 ? 1 : 1.1); };
  };
  EXPECT_EQ(sample(clock(1e-4)).count, 100u);
  EXPECT_NEAR(sample(clock(1e-3)).count, 39, 2) << "40 ms";
}

TEST(SamplesTest, OutliersCostNothing) {
  // The median is known, whatever one in ten is.
  Sampled sampled =
      sample([](unsigned i) { return i % 10 == 3 ? 5e-3 : 1e-3; });
  EXPECT_LT(sampled.count, 20u);
  EXPECT_EQ(sampled.median, 1e-3);
}

TEST(SamplesTest, WhatIsHopelessIsTakenOnce) {
  auto count = [](double seconds, double best) {
    SampleLimits limits;
    limits.best = best;
    return takeSamples([&] { return seconds; }, limits).size();
  };
  EXPECT_EQ(count(1.4, 0.2), 1u);
  EXPECT_EQ(count(0.5, 0.2), 5u) << "not much slower";
  EXPECT_EQ(count(0.09, 0.001), 5u) << "soon done";
  EXPECT_EQ(count(1.4, 0), 5u) << "no rival";
  // A disturbance later on does not end it.
  unsigned number = 0;
  SampleLimits limits;
  limits.best = 0.01;
  EXPECT_EQ(
      takeSamples([&] { return number++ == 2 ? 1.0 : 0.01; }, limits).size(),
      5u);
}

TEST(SamplesTest, NoiseIsAveragedOut) {
  std::mt19937_64 random(1);
  unsigned count = 0;
  for (int i = 0; i < 100; ++i) {
    std::normal_distribution<double> noise(1, 0.01);
    Sampled sampled = sample([&](unsigned) { return 2e-4 * noise(random); });
    count += sampled.count;
    EXPECT_NEAR(sampled.median, 2e-4, 0.01 * 2e-4);
  }
  EXPECT_LT(count, 100 * 80u) << "less than without the test of the interval";
}

} // namespace
