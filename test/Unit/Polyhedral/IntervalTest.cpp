//===- IntervalTest.cpp - What values an expression takes on a box --------===//

#include "espalier/Polyhedral/Interval.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <random>
#include <set>

using namespace mlir;
using namespace espalier::polyhedral;

namespace {
class IntervalTest : public ::testing::Test {
protected:
  /// Random digits, multiples and sums over d0 and d1.
  AffineExpr makeExpr(unsigned depth) {
    auto draw = [&](int least, int most) {
      return std::uniform_int_distribution<int>(least, most)(random);
    };
    if (depth == 0)
      return draw(0, 3) ? getAffineDimExpr(draw(0, 1), &context)
                        : getAffineConstantExpr(draw(-9, 9), &context);
    AffineExpr inner = makeExpr(depth - 1);
    switch (draw(0, 3)) {
    case 0:
      return inner.floorDiv(draw(1, 9));
    case 1:
      return inner % draw(1, 9);
    case 2:
      return inner * draw(-3, 3);
    default:
      return inner + makeExpr(depth - 1);
    }
  }

  std::set<int64_t> evaluate(AffineExpr expr, ArrayRef<Interval> box) {
    std::set<int64_t> values;
    for (int64_t i = box[0].least; i <= box[0].most; ++i)
      for (int64_t j = box[1].least; j <= box[1].most; ++j) {
        AffineExpr value =
            expr.replaceDims({getAffineConstantExpr(i, &context),
                              getAffineConstantExpr(j, &context)});
        values.insert(cast<AffineConstantExpr>(value).getValue());
      }
    return values;
  }

  MLIRContext context;
  std::mt19937 random{1};
  AffineExpr i = getAffineDimExpr(0, &context);
  AffineExpr j = getAffineDimExpr(1, &context);
};
} // namespace

TEST_F(IntervalTest, IsWhatEnumerationSays) {
  unsigned numKnown = 0;
  for (unsigned number = 0; number < 4000; ++number) {
    SmallVector<Interval> box;
    for (unsigned dim = 0; dim < 2; ++dim) {
      int64_t least = int64_t(random() % 30) - 15;
      box.push_back({least, least + int64_t(random() % 25)});
    }
    AffineExpr expr = makeExpr(1 + number % 4);
    std::optional<Interval> interval = getInterval(expr, box);
    if (!interval)
      continue;
    ++numKnown;
    std::set<int64_t> values = evaluate(expr, box);
    EXPECT_EQ(interval->least, *values.begin());
    EXPECT_EQ(interval->most, *values.rbegin());
    if (interval->isDense)
      EXPECT_EQ(values.size(), size_t(interval->most - interval->least + 1));
  }
  EXPECT_GT(numKnown, 2000u);
}

TEST_F(IntervalTest, WhatFormDoesNotShow) {
  SmallVector<Interval> box{{0, 9}, {0, 9}};
  EXPECT_FALSE(getInterval(i - i.floorDiv(2), box));
  EXPECT_FALSE(getInterval((i * 3) % 7, box));
  EXPECT_FALSE(getInterval(i + getAffineSymbolExpr(0, &context), box));
  box.front().most = Interval::kNoMost - 1;
  EXPECT_FALSE(getInterval(i * 2, box));
  EXPECT_FALSE(getInterval(i + j, box));
  EXPECT_FALSE(getInterval(i + 1, box));
}

TEST_F(IntervalTest, WithoutEnds) {
  SmallVector<Interval> box{{3, Interval::kNoMost}, {0, 9}};
  auto expect = [&](AffineExpr expr, int64_t least, int64_t most) {
    std::optional<Interval> interval = getInterval(expr, box);
    ASSERT_TRUE(interval);
    EXPECT_EQ(interval->least, least);
    EXPECT_EQ(interval->most, most);
  };
  expect(i.floorDiv(2) + j, 1, Interval::kNoMost);
  expect(i * -2 + j, Interval::kNoLeast, 3);
  expect(i % 14, 0, 13);
  expect((i % 14).floorDiv(4) * 2, 0, 6);
  expect((i * -1 + 5) % 4, 0, 3);
  expect(i * 0 + 1, 1, 1);
  EXPECT_FALSE(getInterval((i * 2) % 7, box));
  box.front() = {Interval::kNoLeast, 3};
  expect(i * -1, -3, Interval::kNoMost);
}

TEST_F(IntervalTest, BoxesOfAllSizes) {
  AffineExpr n = getAffineSymbolExpr(0, &context);
  auto read = [&](ArrayRef<AffineExpr> constraints) {
    return readBoxOfAllSizes(IntegerSet::get(
        2, 1, constraints, SmallVector<bool>(constraints.size())));
  };
  auto box = read({i - 1, n - 1 - i, j, 7 - j, n * 2 - j - i});
  ASSERT_TRUE(box);
  EXPECT_EQ(box->front().least, 1);
  EXPECT_EQ(box->front().most, Interval::kNoMost);
  EXPECT_EQ(box->back().most, 7);
  // From n on; no more than 7 - n; as many as n is odd.
  EXPECT_FALSE(read({i - n, j}));
  EXPECT_FALSE(read({i, 7 - n - i, j}));
  EXPECT_FALSE(read({i, n % 2 - i, j}));
  EXPECT_FALSE(readBoxOfAllSizes(IntegerSet::get(2, 1, {i - n}, {true})));
}

TEST_F(IntervalTest, Boxes) {
  auto read = [&](ArrayRef<AffineExpr> constraints, unsigned numDims = 1) {
    return readBox(IntegerSet::get(numDims, 1, constraints,
                                   SmallVector<bool>(constraints.size())));
  };
  auto box = read({i - 2, 7 - i, 9 - i});
  ASSERT_TRUE(box);
  EXPECT_EQ(box->front().least, 2);
  EXPECT_EQ(box->front().most, 7);
  EXPECT_FALSE(read({i}));
  EXPECT_FALSE(read({i - 8, 7 - i}));
  EXPECT_FALSE(read({i, 7 - i}, 2));
  EXPECT_FALSE(read({i, 7 - i, j, i - j}, 2));
  EXPECT_FALSE(read({i, 7 - i * 2}));
  EXPECT_FALSE(read({i, getAffineSymbolExpr(0, &context) - i}));
  EXPECT_FALSE(readBox(IntegerSet::get(1, 0, {i}, {true})));
}
