//===- AllocationTest.cpp - Where trials go -------------------------------===//

#include "espalier/Tuning/Allocation.h"
#include "gtest/gtest.h"
#include <functional>

using namespace espalier::tuning;

namespace {

/// A task whose time follows from the number of trials.
struct MadeUp {
  double slope = 1;
  std::function<double(size_t trials)> seconds;
  double flops = 0;
  const char *kind = "";
};

/// Returns how many of `count` trials each task gets.
std::vector<size_t> allocate(const std::vector<MadeUp> &tasks, size_t count,
                             unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<double>> bests;
  for (const MadeUp &task : tasks)
    bests.push_back({task.seconds(0)});
  for (size_t trial = 0; trial < count; ++trial) {
    std::vector<TaskHistory> histories;
    for (size_t i = 0; i < tasks.size(); ++i)
      histories.push_back(
          {tasks[i].slope, bests[i], tasks[i].flops, tasks[i].kind});
    std::optional<size_t> next = chooseTask(histories, random);
    if (!next)
      break;
    bests[*next].push_back(tasks[*next].seconds(bests[*next].size()));
  }
  std::vector<size_t> counts;
  for (const std::vector<double> &history : bests)
    counts.push_back(history.size() - 1);
  return counts;
}

std::function<double(size_t)> always(double seconds) {
  return [=](size_t) { return seconds; };
}

TEST(AllocationTest, WhatTakesMostOfTheTimeGetsMostOfTheTrials) {
  // Nothing is gained anywhere: time decides, by its share.
  std::vector<size_t> counts =
      allocate({{1, always(8)}, {1, always(1)}, {3, always(1)}}, 120);
  EXPECT_NEAR(counts[0], 80, 8);
  EXPECT_NEAR(counts[1], 10, 6);
  EXPECT_NEAR(counts[2], 30, 6);
}

TEST(AllocationTest, SmallTasksGetSome) {
  std::vector<size_t> counts =
      allocate({{1, always(1)}, {1, always(1e-6)}}, 400);
  EXPECT_GT(counts[1], 2u);
  EXPECT_LT(counts[1], 40u);
}

TEST(AllocationTest, WhatGainsGoesBeforeWhatDoesNot) {
  // They take as long and had as many trials.
  std::vector<double> gains, stays(25, 1.0);
  for (int i = 24; i >= 0; --i)
    gains.push_back(1 + 0.05 * i);
  EXPECT_LT(estimateGradient({{1, gains}, {1, stays}}, 0),
            estimateGradient({{1, gains}, {1, stays}}, 1));
  // What was gained before the window counts no more.
  for (int i = 0; i < 24; ++i) {
    gains.push_back(1);
    stays.push_back(1);
  }
  EXPECT_EQ(estimateGradient({{1, gains}, {1, stays}}, 0),
            estimateGradient({{1, gains}, {1, stays}}, 1));
}

TEST(AllocationTest, WhatNoLongerGainsIsLeft) {
  // Both get to 1, one of them late: meanwhile it has the most trials.
  auto early = [](size_t trials) { return trials < 8 ? 2 - trials / 8.0 : 1; };
  auto late = [](size_t trials) {
    return trials < 80 ? 2 - trials / 80.0 : 1.0;
  };
  std::vector<size_t> counts = allocate({{1, early}, {1, late}}, 80);
  EXPECT_GT(counts[1], counts[0] + 10);
}

TEST(AllocationTest, TasksOfAKindAreExpectedToBeAsFast) {
  // The second one does a quarter of the operations in the same time.
  std::vector<double> times(41, 1.0);
  TaskHistory fast = {1, times, 8e9, "sum"}, slow = {1, times, 2e9, "sum"};
  TaskHistory other = {1, times, 2e9, "move"}, unknown = {1, times, 0, "sum"};
  // An optimist hopes for half the speed of the fast one.
  EXPECT_DOUBLE_EQ(estimateGradient({fast, slow}, 1), 0.8 * (2 * 0.25 - 1));
  double alone = estimateGradient({slow}, 0);
  EXPECT_LT(estimateGradient({fast, slow}, 1), alone);
  EXPECT_EQ(estimateGradient({fast, other}, 1), alone);
  EXPECT_EQ(estimateGradient({fast, unknown}, 1), alone);
  EXPECT_EQ(estimateGradient({fast, slow}, 0), alone);
  // Once it had many more trials, nobody hopes.
  std::vector<double> more(41 + 5 * 8 + 1, 1.0);
  slow.bests = more;
  EXPECT_EQ(estimateGradient({fast, slow}, 1), estimateGradient({slow}, 0));
}

TEST(AllocationTest, WhatIsOfAKindAndSlowGetsTrials) {
  std::vector<size_t> alike =
      allocate({{1, always(1), 8e9, "sum"}, {1, always(1), 2e9, "sum"}}, 100);
  EXPECT_GT(alike[1], alike[0] + 30);
  std::vector<size_t> different =
      allocate({{1, always(1), 8e9, "sum"}, {1, always(1), 2e9, "move"}}, 100);
  EXPECT_NEAR(different[0], different[1], 10);
}

TEST(AllocationTest, WhatDoesNotMatterGetsNone) {
  EXPECT_EQ(allocate({{0, always(9)}, {1, always(1)}}, 50),
            (std::vector<size_t>{0, 50}));
  EXPECT_EQ(allocate({{0, always(9)}}, 50), (std::vector<size_t>{0}));
  std::mt19937_64 random(1);
  std::vector<double> bests = {1};
  EXPECT_EQ(chooseTask({{1, bests, 0, "", /*isOpen=*/false}}, random),
            std::nullopt);
}

} // namespace
