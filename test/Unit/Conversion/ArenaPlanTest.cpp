//===- ArenaPlanTest.cpp - Tests of arena planning ------------------------===//

#include "espalier/Conversion/LoopsToProgram/ArenaPlan.h"
#include "gtest/gtest.h"
#include <limits>
#include <random>

using namespace espalier;

static constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(ArenaPlan, buffersThatMeetLieApart) {
  LiveBuffer buffers[] = {{100, 0, 1}, {200, 1, 2}};
  auto plan = planArena(buffers, 64);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(verifyArenaPlan(buffers, 64, *plan));
  EXPECT_EQ(plan->size, 128 + 256);
}

TEST(ArenaPlan, buffersThatDoNotMeetShare) {
  LiveBuffer buffers[] = {{100, 0, 1}, {200, 2, 3}, {256, 4, 4}};
  auto plan = planArena(buffers, 64);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(verifyArenaPlan(buffers, 64, *plan));
  EXPECT_EQ(plan->size, 256);
}

TEST(ArenaPlan, theSmallestGapThatFitsIsTaken) {
  // At time 2 the gaps of the first and the third buffer are free.
  LiveBuffer buffers[] = {
      {512, 0, 1}, {448, 0, 2}, {256, 0, 1}, {192, 0, 2}, {128, 2, 2}};
  auto plan = planArena(buffers, 64);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(verifyArenaPlan(buffers, 64, *plan));
  EXPECT_EQ(plan->offsets[4], plan->offsets[2]);
  EXPECT_EQ(plan->size, 512 + 448 + 256 + 192);
}

TEST(ArenaPlan, emptyBuffersTakeNoPlace) {
  LiveBuffer buffers[] = {{0, 0, 5}, {64, 0, 5}, {0, 0, 5}};
  auto plan = planArena(buffers, 64);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(verifyArenaPlan(buffers, 64, *plan));
  EXPECT_EQ(plan->size, 64);
}

TEST(ArenaPlan, sizesBeyondTheRangeFail) {
  EXPECT_FALSE(planArena(LiveBuffer{kMax - 1, 0, 0}, 64));
  LiveBuffer two[] = {{kMax / 2 + 1, 0, 0}, {kMax / 2 + 1, 0, 0}};
  EXPECT_FALSE(planArena(two, 1));
  EXPECT_FALSE(alignToChecked(kMax, 2));
  EXPECT_FALSE(multiplyChecked(kMax, 2));
  EXPECT_EQ(multiplyChecked(-3, 5), -15);
}

TEST(ArenaPlan, verificationFindsWrongPlans) {
  LiveBuffer buffers[] = {{64, 0, 1}, {64, 1, 2}};
  EXPECT_FALSE(verifyArenaPlan(buffers, 64, {{0, 0}, 128}));
  EXPECT_FALSE(verifyArenaPlan(buffers, 64, {{0, 32}, 128}));
  EXPECT_FALSE(verifyArenaPlan(buffers, 64, {{0, 64}, 64}));
  EXPECT_FALSE(verifyArenaPlan(buffers, 64, {{0}, 128}));
  EXPECT_TRUE(verifyArenaPlan(buffers, 64, {{0, 64}, 128}));
}

TEST(ArenaPlan, randomPlansAreRightAndNotLargerThanTheSum) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<LiveBuffer> buffers(random() % 40);
    int64_t sum = 0;
    for (LiveBuffer &buffer : buffers) {
      buffer.size = random() % 1000;
      buffer.begin = random() % 20;
      buffer.end = buffer.begin + random() % 5;
      sum += *alignToChecked(buffer.size, 64);
    }
    auto plan = planArena(buffers, 64);
    ASSERT_TRUE(plan);
    EXPECT_TRUE(verifyArenaPlan(buffers, 64, *plan));
    EXPECT_LE(plan->size, sum);
  }
}
