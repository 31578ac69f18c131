//===- CaptureTest.cpp - Names of proofs that sums bind -------------------===//
//
// A proof may name an index, v1 say, that a sum inside of what it speaks of
// binds. Put there, it would be another one in each summand: from "no row adds
// up to 0" would follow that the diagonal does not. Each step refuses that, and
// takes the same with a name that nothing binds.
//
//===----------------------------------------------------------------------===//

#include "Goal.h"
#include "gtest/gtest.h"

using namespace espalier::proof;

namespace {

/// Of a square matrix x, whose sides are n.
class CaptureTest : public ::testing::Test {
protected:
  static Index var(unsigned number) {
    return Index::variable("v" + std::to_string(number));
  }

  /// That 0 <= index < n.
  static Conditions isSide(const Index &index) {
    return {Condition::atLeast(index, 0), Condition::less(index, n())};
  }
  static Index n() { return Index::variable("n"); }
  static Index position() { return Index::variable("i0"); }

  /// The nearest index below n, whatever the variable is.
  static Index clamp(const Index &index) {
    Index last = n() - 1;
    return last - Index::larger(0, last - Index::larger(0, index));
  }

  /// `index`, with a variable that makes no difference.
  static Index unchanged(const Index &index, const Index &variable) {
    return Index::larger(index, index - Index::larger(0, variable));
  }

  /// sum(inner) x[row, inner]
  static Sum addRow(const Index &row, unsigned inner) {
    Atom read;
    read.name = "x";
    read.indices = {row, var(inner)};
    Sum sum = makeAtom(read);
    sum[0].bound = {var(inner).str()};
    sum[0].conditions = isSide(var(inner));
    return sum;
  }

  /// max(outer) sum(inner) x[outer, inner]
  static Atom getLargestRow(unsigned outer, unsigned inner) {
    Atom max;
    max.kind = Atom::Kind::Max;
    max.bound = {var(outer).str()};
    max.conditions = isSide(var(outer));
    max.args = {addRow(var(outer), inner)};
    return max;
  }

  /// sum(outer) relu(sum(inner) x[outer, inner]), over one row or all.
  static Term addRows(const Index &row, unsigned inner) {
    Sum sum = makeAtom(makeFunction("relu", addRow(row, inner)));
    if (row == var(0)) {
      sum[0].bound = {row.str()};
      sum[0].conditions = isSide(row);
    }
    return sum[0];
  }

  static Goal makeGoal(Sum sum, unsigned next) {
    Goal goal;
    goal.give({{Condition::atLeast(n(), 2)}});
    goal = goal.with(isSide(position()));
    goal.sum = std::move(sum);
    goal.next = next;
    return goal;
  }

  Solver solver;
  Steps steps{solver};
};

TEST_F(CaptureTest, PointsOfMaxima) {
  auto compare = [&](const Index &row) {
    Goal goal = makeGoal(makeAtom(getLargestRow(0, 1)), 2);
    return steps.compare(goal, goal.sum, {Condition::equal(var(0), row)});
  };
  EXPECT_TRUE(compare(position()));
  EXPECT_TRUE(compare(clamp(position())));
  EXPECT_FALSE(compare(clamp(var(1)))) << "bound by the sum inside";
  EXPECT_FALSE(compare(clamp(var(3)))) << "what the sum inside will bind";
}

TEST_F(CaptureTest, PointsOfDemands) {
  for (bool isUse : {false, true}) {
    auto ask = [&](const Index &row) {
      Goal goal = makeGoal(addRow(0, 1), 2);
      Demand demand{Demand::Kind::NotZero, getLargestRow(0, 1)};
      demand.at.bound = {"v1000000000"};
      demand.at.conditions = isSide(Index::variable("v1000000000"));
      demand.at.args = {addRow(Index::variable("v1000000000"), 1'000'000'001)};
      return isUse
                 ? steps.use(goal, demand, {row})
                 : steps.meet(goal, demand.kind, demand, Fraction(1, 1), {row});
    };
    EXPECT_TRUE(ask(position()));
    EXPECT_FALSE(ask(clamp(var(3)))) << "what the sum inside will bind";
  }
}

TEST_F(CaptureTest, MapsOfTerms) {
  auto getMap = [](const Index &row) {
    Merge map;
    map.term = 1;
    map.pairing = {0};
    map.to = {row};
    return map;
  };
  Goal goal = makeGoal({addRows(var(0), 1), addRows(0, 2)}, 3);
  auto merge = [&](const Index &row) {
    std::vector<Goal> goals;
    return steps.merge(goal, getMap(row), goals).has_value();
  };
  auto gather = [&](const Index &row) {
    Goal rest = goal, inner;
    return steps.gather(rest, 0, {getMap(row)}, inner);
  };
  EXPECT_TRUE(merge(position()));
  EXPECT_TRUE(gather(position()));
  for (unsigned number : {1, 2, 3}) {
    EXPECT_FALSE(merge(clamp(var(number)))) << number;
    EXPECT_FALSE(gather(clamp(var(number)))) << number;
  }
}

TEST_F(CaptureTest, ConditionsOfParts) {
  auto split = [&](const Index &index) {
    Goal goal = makeGoal({addRows(var(0), 1), addRows(0, 2)}, 3);
    return steps.split(goal, 0, {index, false});
  };
  EXPECT_TRUE(split(var(0)));
  EXPECT_TRUE(split(position()));
  for (unsigned number : {1, 2, 3})
    EXPECT_FALSE(split(var(number))) << number;
}

// A case may be about any name; what has it gets another one.
TEST_F(CaptureTest, Cases) {
  for (unsigned number : {1, 3}) {
    Condition condition{var(number), false};
    for (const Goal &option :
         steps.distinguish(makeGoal({addRows(var(0), 1)}, 3), condition))
      EXPECT_TRUE(isClear(option, {}, var(number))) << number;
  }
}

TEST_F(CaptureTest, Sizes) {
  auto make = [&] { return makeGoal({addRows(var(0), 1)}, 3); };
  auto name = [&](const Index &index) {
    Goal goal = make();
    return steps.name(goal, index);
  };
  auto replace = [&](const Index &variable, const Index &value) {
    Goal goal = make();
    return steps.replace(goal, variable, value);
  };
  auto rewrite = [&](const Index &index) {
    Goal goal = make();
    Index part = n() - 1 - clamp(position());
    return steps.rewrite(goal, part, unchanged(part, index));
  };
  EXPECT_TRUE(name(position()));
  EXPECT_TRUE(replace(position(), clamp(position())));
  EXPECT_TRUE(rewrite(n()));
  for (unsigned number : {0, 1, 3}) {
    EXPECT_FALSE(name(var(number))) << number;
    EXPECT_FALSE(replace(var(number), var(number))) << number;
    EXPECT_FALSE(replace(position(), unchanged(position(), var(number))))
        << number;
    EXPECT_FALSE(rewrite(var(number))) << number;
  }
}

} // namespace
