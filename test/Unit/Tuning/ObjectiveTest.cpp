//===- ObjectiveTest.cpp - What searches of several models are for --------===//

#include "espalier/Tuning/Objective.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace espalier::tuning;

namespace {

TEST(ObjectiveTest, SpellingsAreParsed) {
  for (Objective objective :
       {Objective::Sum, Objective::Target, Objective::Geomean})
    EXPECT_EQ(parseObjective(getSpelling(objective)), objective);
  EXPECT_EQ(parseObjective("speed"), std::nullopt);
}

TEST(ObjectiveTest, SecondsAreCombined) {
  ModelTime slow = {8, 1}, fast = {2, 3};
  EXPECT_DOUBLE_EQ(combineSeconds(Objective::Sum, {slow, fast}), 14);
  EXPECT_DOUBLE_EQ(combineSeconds(Objective::Target, {slow, fast}), 14);
  EXPECT_NEAR(combineSeconds(Objective::Geomean, {slow, fast}),
              2 * std::pow(4, 0.25), 1e-12);
  // One without kernels has no speedup.
  EXPECT_DOUBLE_EQ(combineSeconds(Objective::Geomean, {slow, {0, 1}}), 8);
  EXPECT_EQ(combineSeconds(Objective::Geomean, {{0, 1}}), 0);
}

TEST(ObjectiveTest, SlopesAreDerivatives) {
  constexpr double kStep = 1e-6;
  for (Objective objective : {Objective::Sum, Objective::Geomean}) {
    std::vector<ModelTime> times = {{8, 1}, {2, 3}, {5, 0.5}};
    // The factor that all have in common.
    double factor = 0;
    for (ModelTime &time : times) {
      double before = combineSeconds(objective, times);
      time.seconds += kStep;
      double slope = (combineSeconds(objective, times) - before) / kStep;
      time.seconds -= kStep;
      double ratio = slope / computeSlope(objective, time);
      if (factor == 0)
        factor = ratio;
      EXPECT_NEAR(ratio, factor, 1e-4 * factor);
    }
  }
}

TEST(ObjectiveTest, WhatHasReachedItsTargetDoesNotCount) {
  EXPECT_EQ(computeSlope(Objective::Target, {3, 2, 2.5}), 2);
  EXPECT_EQ(computeSlope(Objective::Target, {2.5, 2, 2.5}), 0);
}

} // namespace
