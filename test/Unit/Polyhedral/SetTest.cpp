//===- SetTest.cpp - Integer sets and relations ---------------------------===//

#include "espalier/Polyhedral/Set.h"
#include "Fixture.h"
#include "espalier/Polyhedral/Emptiness.h"

using namespace espalier::polyhedral;

namespace {

class SetTest : public PolyhedralTest {
protected:
  Context isl;
};

TEST_F(SetTest, TranslatesIntegerSets) {
  Set points = Set::get(
      isl, set("(i, j)[N] : (i >= 0, N - 1 - i >= 0, j - 2 * i == 0)"));
  EXPECT_EQ(
      points.isEqual(Set::parse(isl, "[p0] -> { [i, 2 i] : 0 <= i < p0 }")),
      true);
  points = Set::get(isl, set("(i)[N] : (i mod 4 - 1 == 0, i floordiv 8 - 2 >= "
                             "0, N - i ceildiv 3 >= 0)"));
  EXPECT_EQ(points.isEqual(Set::parse(
                isl, "[p0] -> { [i] : i mod 4 = 1 and floor(i/8) >= 2 and "
                     "ceil(i/3) <= p0 }")),
            true);
}

// isl 0.25 would unite them to all numbers from 0 to 5.
TEST_F(SetTest, SimplerSetsKeepTheirHoles) {
  Set points =
      Set::parse(isl, "{ [i] : 0 <= i <= 1 or (0 <= i <= 5 and i mod 2 = 0) }");
  EXPECT_EQ(points.simplify().isEqual(points), true);
  EXPECT_EQ(points.getConstraints(), std::nullopt);
}

TEST_F(SetTest, RejectsWhatIsNotAffine) {
  EXPECT_FALSE(Set::get(isl, set("(i)[N] : (i mod N == 0)")));
  EXPECT_FALSE(Map::get(isl, 1, map("(i)[N] -> (i * N)")));
  EXPECT_FALSE(Map::get(isl, 0, map("(i)[r] -> (r)")));
  EXPECT_EQ(Set().isEmpty(), std::nullopt);
  EXPECT_FALSE(Set().intersect(Set::get(isl, set("(i) : (i >= 0)"))));
}

TEST_F(SetTest, TakesAndGivesLinearConstraints) {
  Set points = Set::get(isl, 2, {{{1, 0}, 0, false}, {{-1, 1}, -1, false}});
  EXPECT_EQ(points.isEqual(Set::parse(isl, "{ [i, n] : 0 <= i < n }")), true);
  EXPECT_EQ(points.project(0, 1).isEqual(Set::parse(isl, "{ [n] : n >= 1 }")),
            true);
  EXPECT_EQ(points.insertDims(1, 1).isEqual(
                Set::parse(isl, "{ [i, j, n] : 0 <= i < n }")),
            true);
  Set diagonal = Set::parse(isl, "{ [i, j] : i <= j <= i }");
  auto equalities = diagonal.getEqualities();
  ASSERT_TRUE(equalities && equalities->size() == 1);
  EXPECT_EQ(std::abs((*equalities)[0].coefficients[0]), 1);
  auto rest = points.gist(Set::parse(isl, "{ [i, n] : i >= 0 }"));
  auto constraints = rest.getConstraints();
  ASSERT_TRUE(constraints && constraints->size() == 1);
  EXPECT_EQ((*constraints)[0].constant, -1);
  EXPECT_FALSE(Set::parse(isl, "{ [i] : i mod 2 = 0 }").getConstraints());
  EXPECT_FALSE(Set::parse(isl, "{ [i] : i = 0 or i = 7 }").getConstraints());
  EXPECT_EQ(Map::get(diagonal, 1).isSingleValued(), true);
  EXPECT_EQ(Map::get(points, 1).isSingleValued(), false);
}

TEST_F(SetTest, AgreesOnEmptiness) {
  // 0 <= i < n; then n <= 0, then 3 i = 3 n - 1, then n = 2.
  LinearConstraint least{{1, 0}, 0, false}, most{{-1, 1}, -1, false};
  std::pair<LinearConstraint, bool> cases[] = {{{{0, -1}, 0, false}, true},
                                               {{{3, -3}, 1, true}, true},
                                               {{{0, 1}, -2, true}, false}};
  for (const auto &[third, expected] : cases) {
    EXPECT_EQ(isEmpty(isl, 2, {least, most, third}), expected);
    EXPECT_EQ(Set::get(isl, 2, {least, most, third}).isEmpty(), expected);
  }
}

TEST_F(SetTest, InexactSubscriptsMayBeAnything) {
  Map relation = Map::get(isl, 1, map("(i)[N, r] -> (i, r + 1, i * N)"),
                          Map::Inexact::Any);
  EXPECT_EQ(relation.isEqual(Map::parse(isl, "[p0] -> { [i] -> [i, a, b] }")),
            true);
}

TEST_F(SetTest, DoesAlgebra) {
  Set evens = Set::get(isl, set("(i)[N] : (i mod 2 == 0, i >= 0, N - i >= 0)"));
  Set odds =
      Set::get(isl, set("(i)[N] : (i mod 2 - 1 == 0, i >= 0, N - i >= 0)"));
  Set all = Set::get(isl, set("(i)[N] : (i >= 0, N - i >= 0)"));
  EXPECT_EQ(evens.intersect(odds).isEmpty(), true);
  EXPECT_EQ(evens.unite(odds).isEqual(all), true);
  EXPECT_EQ(all.subtract(evens).isEqual(odds), true);
  EXPECT_EQ(evens.isSubset(all), true);
  EXPECT_EQ(all.isSubset(evens), false);
  EXPECT_EQ(odds.lexMin().isEqual(Set::parse(isl, "[p0] -> { [1] : p0 >= 1 }")),
            true);
  Map half = Map::get(isl, 1, map("(i)[N] -> (i floordiv 2)"));
  EXPECT_EQ(half.apply(evens).isEqual(
                Set::parse(isl, "[p0] -> { [i] : 0 <= 2i <= p0 }")),
            true);
  EXPECT_EQ(half.isSingleValued(), true);
  EXPECT_EQ(half.isInjective(), false);
  EXPECT_EQ(half.intersectDomain(evens).isInjective(), true);
  EXPECT_EQ(half.inverse().compose(half).isEqual(
                Map::parse(isl, "[p0] -> { [i] -> [i] }")),
            true);
  EXPECT_EQ(Map::get(isl, 1, map("(i)[N] -> (i + N)"))
                .deltas()
                .isEqual(Set::parse(isl, "[p0] -> { [p0] }")),
            true);
}

TEST_F(SetTest, SamplesPoints) {
  Set points = Set::get(isl, set("(i, j)[N] : (i - 3 == 0, j - N == 0)"));
  auto point = points.samplePoint();
  ASSERT_TRUE(point.has_value());
  ASSERT_EQ(point->size(), 3u);
  EXPECT_EQ((*point)[1], 3);
  EXPECT_EQ((*point)[2], (*point)[0]);
  EXPECT_EQ(points.subtract(points).samplePoint(), std::nullopt);
}

TEST_F(SetTest, StopsAtItsLimit) {
  Context small(Limits{2000, /*isPerQuestion=*/false});
  Set points = Set::get(small, set("(i, j)[N] : (i >= 0, N - i >= 0, j >= 0, "
                                   "N - j >= 0, 3 * i + 5 * j - N >= 0)"));
  ASSERT_TRUE(points);
  for (unsigned trial = 0; trial < 1000 && points.lexMin(); ++trial)
    ;
  EXPECT_FALSE(points.lexMin());
  EXPECT_EQ(points.lexMin().isEmpty(), std::nullopt);
  EXPECT_EQ(small.getError(), "too many operations on integer sets");
}

TEST_F(SetTest, StartsAgainAfterItsLimit) {
  Context limited(Limits{1});
  EXPECT_FALSE(Set::parse(isl, "{ [i] : i mod 2 = 0 and i > 3 }").isEmpty() ==
               std::nullopt);
  Set set = Set::parse(limited, "{ [i, j] : 3 i = 7 j + 2 and 0 < i < j }");
  set.isEmpty();
  EXPECT_NE(limited.getError(), "");
  limited.restart();
  EXPECT_EQ(limited.getError(), "");
}

TEST_F(SetTest, NamesItsConditions) {
  EXPECT_EQ(Set::parse(isl, "{ [i, j] : i = 2 j }").getCondition({"a", "b"}),
            "2b = a");
}

TEST_F(SetTest, FindsBounds) {
  Set points = Set::get(
      isl, set("(i, j)[N] : (i + 3 >= 0, 7 - i >= 0, j - i >= 0, N - j >= 0)"));
  EXPECT_EQ(points.getMin(0), -3);
  EXPECT_EQ(points.getMax(0), 7);
  EXPECT_EQ(points.getMin(1), -3);
  EXPECT_EQ(points.getMax(1), std::nullopt);
  EXPECT_EQ(points.isBounded(), true);
  EXPECT_EQ(Set::get(isl, set("(i)[N] : (i - N >= 0)")).isBounded(), false);
  EXPECT_EQ(Set().getMin(0), std::nullopt);

  Map loops = Map::get(isl, 1, map("(i, j)[N] -> (i)"))
                  .intersectDomain(points)
                  .inverse()
                  .compose(Map::get(isl, 1, map("(i, j)[N] -> (j)")));
  EXPECT_EQ(loops.getMin(0, &context), map("(i)[N] -> (i)").getResult(0));
  EXPECT_EQ(loops.getMax(0, &context), map("(i)[N] -> (N)").getResult(0));
  // The first multiple of four from i on.
  Map next =
      Map::parse(isl, "[p0] -> { [i] -> [j] : j mod 4 = 0 and i <= j <= p0 }");
  mlir::AffineExpr first = next.getMin(0, &context);
  ASSERT_TRUE(first);
  EXPECT_EQ(Map::get(isl, 1, mlir::AffineMap::get(1, 1, first))
                .isEqual(Map::get(isl, 1, map("(i)[N] -> (i ceildiv 4 * 4)"))),
            true);
  Map cases = Map::parse(isl, "[p0] -> { [i] -> [j] : i, 3 <= j }");
  EXPECT_FALSE(cases.getMin(0, &context));
  EXPECT_FALSE(cases.getMax(0, &context));
}

} // namespace
