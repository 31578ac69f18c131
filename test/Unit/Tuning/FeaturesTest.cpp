//===- FeaturesTest.cpp - What a schedule does to a machine ---------------===//

#include "espalier/Tuning/Features.h"
#include "Product.h"
#include "espalier/Dialect/Poly/TransformOps/PlanScript.h"
#include "espalier/Tuning/CostModel.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtensionOps.h"
#include <cmath>

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

namespace {

class FeaturesTest : public ProductTest {
protected:
  Features describe(const poly::Plan &plan) {
    auto kernel = *(*module).getOps<poly::KernelOp>().begin();
    return computeFeatures(kernel, poly::getTarget(*module), {plan});
  }

  /// Both computations in tiles of so many points, i outside of j.
  static poly::Plan makePlan(int64_t rows, int64_t columns) {
    poly::Plan plan;
    plan.computations = {"init", "acc"};
    plan.numShared = 2;
    plan.loops = {0, 1};
    plan.tile = {rows, columns};
    plan.lanes = 1;
    plan.width = 16;
    plan.own.resize(2);
    plan.own[1].order = {2};
    plan.kept = {"init", "acc"};
    return plan;
  }

  static double power(float logarithm) { return std::exp2(logarithm) - 1; }
};

TEST_F(FeaturesTest, CountsOfATileAreExact) {
  Features features = describe(makePlan(8, 32));
  EXPECT_NEAR(power(features[Feature::Points]), 256.0 * 384 * 512, 1e3);
  EXPECT_EQ(features[Feature::Rows], 8);
  EXPECT_EQ(features[Feature::Vectors], 2);
  EXPECT_EQ(features[Feature::Accumulators], 16);
  EXPECT_EQ(features[Feature::VectorOps], 16);
  // Eight numbers of `a` and two vectors of `b` for sixteen products.
  EXPECT_FLOAT_EQ(features[Feature::Loads], 10.0 / 16);
  EXPECT_EQ(features[Feature::Gathers], 0);
  EXPECT_EQ(features[Feature::Spills], 0);
  EXPECT_EQ(features[Feature::Rest], 0);
  EXPECT_NEAR(power(features[Feature::InnerTrips]), 512, 0.1);
  EXPECT_NEAR(power(features[Feature::TileTrips]), 32 * 12, 0.1);
  // The lines of `a` and of `b`: 8 rows of 512, and 512 of 32.
  EXPECT_NEAR(power(features[Feature::TileBytes]), 4 * (8 * 512 + 512 * 32), 8);
}

TEST_F(FeaturesTest, LargeTilesSpillAndOddOnesLeaveARest) {
  EXPECT_GT(describe(makePlan(28, 32))[Feature::Spills], 0);
  Features odd = describe(makePlan(7, 32));
  EXPECT_NEAR(odd[Feature::Rest], 1 - 252.0 / 256, 1e-6);
}

TEST_F(FeaturesTest, GoodTilesAreEstimatedToBeFaster) {
  auto cycles = [&](int64_t rows, int64_t columns) {
    return describe(makePlan(rows, columns))[Feature::Cycles];
  };
  EXPECT_LT(cycles(8, 48), cycles(1, 16));
  EXPECT_LT(cycles(8, 48), cycles(28, 128));
}

TEST_F(FeaturesTest, LanesAcrossRowsAreGathered) {
  poly::Plan plan = makePlan(8, 32);
  plan.tile = {32, 8};
  plan.lanes = 0;
  EXPECT_GT(describe(plan)[Feature::Gathers], 0);
}

TEST_F(FeaturesTest, LinesOfACacheThatHoldsAllAreThoseOfTheArrays) {
  double points = 256.0 * 384 * 512;
  double lines = power(describe(makePlan(8, 32))[Feature::LinesL3]);
  EXPECT_NEAR(lines, 1000 * (256 * 512 + 512 * 384) * 4 / 64 / points, 1e-3);
}

TEST_F(FeaturesTest, PlansAreThoseOfTheScript) {
  auto kernel = *(*module).getOps<poly::KernelOp>().begin();
  for (const Sketch &sketch : sketches) {
    auto script = sketch.select(sketch.getDefault());
    auto plans = poly::readPlans(*script, kernel);
    ASSERT_TRUE(bool(plans)) << llvm::toString(plans.takeError());
    EXPECT_FALSE(plans->empty());
  }
  // What is still open is refused.
  auto open = sketches.front().select(sketches.front().getDefault());
  open->walk([](transform::tune::KnobOp knob) { knob.removeSelectedAttr(); });
  auto unselected = poly::readPlans(*open, kernel);
  ASSERT_FALSE(bool(unselected));
  EXPECT_EQ(llvm::toString(unselected.takeError()),
            "expects a plan whose numbers are selected");
  // What is of another kernel is refused.
  OwningOpRef<ModuleOp> script = poly::makeDefaultScript(*module);
  kernel.lookupCompute("init").setSymName("other");
  auto wrong = poly::readPlans(*script, kernel);
  ASSERT_FALSE(bool(wrong));
  EXPECT_EQ(llvm::toString(wrong.takeError()),
            "expects a plan for a computation of the kernel");
}

TEST(RankCorrelation, IsSpearmans) {
  EXPECT_DOUBLE_EQ(computeRankCorrelation({1, 2, 3}, {10, 20, 90}), 1);
  EXPECT_DOUBLE_EQ(computeRankCorrelation({1, 2, 3}, {3, 2, 1}), -1);
  EXPECT_DOUBLE_EQ(computeRankCorrelation({1, 1, 1}, {3, 2, 1}), 0);
  EXPECT_DOUBLE_EQ(computeRankCorrelation({}, {}), 0);
  // Equal numbers share their ranks.
  EXPECT_NEAR(computeRankCorrelation({1, 2, 2, 3}, {1, 2, 3, 4}), 0.9486833,
              1e-6);
}

TEST(CostModel, MissingLibrariesAreNamed) {
  auto model = CostModel::load("/nowhere/libxgboost.so");
  ASSERT_FALSE(bool(model));
  EXPECT_NE(llvm::toString(model.takeError()).find("/nowhere/libxgboost.so"),
            std::string::npos);
  // Another library.
  auto other = CostModel::load("libm.so.6");
  ASSERT_FALSE(bool(other));
  EXPECT_EQ(llvm::toString(other.takeError()),
            "model of costs: expects 'libm.so.6' to be XGBoost 1.6 or later, "
            "but it has no function XGBGetLastError");
}

} // namespace
