//===- BranchesTest.cpp - Which schedule runs for which sizes -------------===//

#include "espalier/Tuning/Branches.h"
#include "espalier/Tuning/TuningRecords.h"
#include "gtest/gtest.h"

using namespace espalier;
using namespace espalier::tuning;

namespace {

/// Candidates and the numbers up to which they run.
using Chosen = std::vector<std::pair<int64_t, size_t>>;
constexpr int64_t kAny = -1;

Chosen choose(std::vector<SizePoint> points,
              std::vector<std::vector<double>> seconds) {
  Chosen chosen;
  for (const Branch &branch : chooseBranches(points, seconds)) {
    EXPECT_LE(branch.limits.size(), 1u);
    chosen.push_back(
        {branch.limits.empty() ? kAny : branch.limits.front().second,
         branch.candidate});
  }
  return chosen;
}

const std::vector<SizePoint> kLengths = {{{1}}, {{16}}, {{64}}, {{256}}};

TEST(BranchesTest, OneThatIsBestForAllIsAlone) {
  EXPECT_EQ(choose(kLengths, {{1, 2, 3, 4}, {2, 3, 4, 5}}),
            (Chosen{{kAny, 0}}));
}

TEST(BranchesTest, CodeIsNotRepeatedForNoise) {
  // A hundredth of the time of half of the lengths.
  EXPECT_EQ(choose(kLengths, {{1, 2, 3, 4}, {1.1, 2.1, 2.98, 3.97}}),
            (Chosen{{kAny, 0}}));
}

TEST(BranchesTest, EachIsForTheLengthsThatItIsBestFor) {
  EXPECT_EQ(choose(kLengths, {{1, 2, 6, 8}, {2, 4, 3, 4}}),
            (Chosen{{32, 0}, {kAny, 1}}));
  EXPECT_EQ(choose(kLengths, {{1, 4, 4, 8}, {2, 2, 2, 8}, {4, 4, 4, 4}}),
            (Chosen{{4, 0}, {128, 1}, {kAny, 2}}));
}

TEST(BranchesTest, ThereAreAtMostThree) {
  Chosen chosen = choose(
      kLengths, {{1, 9, 9, 9}, {9, 1, 9, 9}, {9, 9, 1, 9}, {9, 9, 9, 2}});
  EXPECT_EQ(chosen.size(), 3u);
}

TEST(BranchesTest, LengthsMayBeInAnyOrder) {
  EXPECT_EQ(choose({{{256}}, {{1}}}, {{2, 1}, {1, 2}}),
            (Chosen{{16, 0}, {kAny, 1}}));
  EXPECT_EQ(choose({{{3}}, {{4}}}, {{2, 1}, {1, 2}}),
            (Chosen{{3, 1}, {kAny, 0}}));
}

TEST(BranchesTest, WeightsCount) {
  // Twice as fast at a length that counts little, 1 % slower where all is.
  std::vector<std::vector<double>> seconds = {{1, 1}, {0.5, 1.01}};
  EXPECT_EQ(choose({{{1}, 0.001}, {{100}, 1}}, seconds), (Chosen{{kAny, 0}}));
  EXPECT_EQ(choose({{{1}, 1}, {{100}, 1}}, seconds), (Chosen{{kAny, 1}}));
}

/// Batches of 1 and 16, each with lengths of 1 and 64.
const std::vector<SizePoint> kBatches = {
    {{1, 1}}, {{1, 64}}, {{16, 1}}, {{16, 64}}};

TEST(BranchesTest, TheSizeIsAskedForThatMakesTheDifference) {
  std::vector<Branch> branches =
      chooseBranches(kBatches, {{1, 2, 4, 8}, {2, 1, 8, 4}});
  ASSERT_EQ(branches.size(), 2u);
  EXPECT_EQ(branches[0].limits, (std::vector<SizeLimit>{{1, 8}}));
  EXPECT_EQ(branches[0].candidate, 0u);
  EXPECT_TRUE(branches[1].limits.empty());
}

TEST(BranchesTest, OneSizeMayMatterForSomeOfAnother) {
  std::vector<Branch> branches =
      chooseBranches(kBatches, {{1, 2, 8, 8}, {4, 4, 1, 8}, {4, 4, 4, 1}});
  ASSERT_EQ(branches.size(), 3u);
  EXPECT_EQ(branches[0].limits, (std::vector<SizeLimit>{{0, 4}}));
  EXPECT_EQ(branches[1].limits, (std::vector<SizeLimit>{{1, 8}}));
  EXPECT_EQ(branches[1].candidate, 1u);
  EXPECT_EQ(branches[2].candidate, 2u);
}

TEST(BranchesTest, LimitsAreThoseOfAllQuestions) {
  std::vector<Branch> branches =
      chooseBranches(kBatches, {{1, 8, 8, 8}, {8, 1, 8, 8}, {8, 8, 1, 1}});
  ASSERT_EQ(branches.size(), 3u);
  EXPECT_EQ(branches[0].limits, (std::vector<SizeLimit>{{0, 4}, {1, 8}}));
  EXPECT_EQ(branches[1].limits, (std::vector<SizeLimit>{{0, 4}}));
}

TEST(BranchesTest, MediansAreReadByLength) {
  Trial trial;
  EXPECT_TRUE(trial.getMedians().empty());
  trial.times = "1.0e-03 2.0e-03 9.0e-03; 5.0e-03";
  EXPECT_EQ(trial.getMedians(), (std::vector<double>{2e-3, 5e-3}));
  trial.times = "what?";
  EXPECT_TRUE(trial.getMedians().empty());
}

} // namespace
