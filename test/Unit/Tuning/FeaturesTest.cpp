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

  /// Describes the product whose second operand lies in panels of so many
  /// columns, with vectors of eight.
  Features describePacked(int64_t rows, int64_t columns, int64_t panel) {
    std::string text = kProduct.str();
    auto replace = [&](const std::string &from, const std::string &to) {
      for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
           at += to.size())
        text.replace(at, from.size(), to);
    };
    std::string size = std::to_string(panel);
    replace("(i, j, k) -> (k, j)",
            "(i, j, k) -> (j floordiv " + size + ", k, j mod " + size + ")");
    replace("512x384", std::to_string(384 / panel) + "x512x" + size);
    module = parseSourceString<ModuleOp>(text, &context);
    poly::Plan plan = makePlan(rows, columns);
    plan.width = 8;
    return describe(plan);
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

/// Panels of a line, of a half, and of two.
TEST_F(FeaturesTest, PackedOperandsAreWhatTheyAreOf) {
  for (int64_t panel : {16, 8, 32}) {
    Features features = describePacked(8, 24, panel);
    // Eight numbers of `a` and three vectors of `b` for 24 products.
    EXPECT_EQ(features[Feature::Gathers], 0) << panel;
    EXPECT_FLOAT_EQ(features[Feature::Loads], 11.0 / 24) << panel;
    // 24 columns are in two lines of each row, or three halves; and the 8 rows
    // of 512 numbers of `a`.
    double lines = 512 * (panel == 8 ? 1.5 : 2) + 8 * 512 / 16;
    EXPECT_NEAR(power(features[Feature::TileBytes]), 64 * lines, 8) << panel;
    // All panels are the matrix.
    EXPECT_NEAR(power(features[Feature::WholeBytes]),
                4 * (256 * 512 + 512 * 384), 80)
        << panel;
  }
}

/// What is read again for several points counts once: `j floordiv 4` has eight
/// values on 32 columns, and `j mod 4` four.
TEST_F(FeaturesTest, QuotientsAndRestsHaveFewValues) {
  for (auto [index, values] :
       {std::pair("j floordiv 4", 8), std::pair("j mod 4", 4)}) {
    std::string text = kProduct.str();
    std::string from = "(i, j, k) -> (k, j)";
    text.replace(text.find(from), from.size(),
                 std::string("(i, j, k) -> (") + index + ", k)");
    std::string type = "512x384";
    for (size_t at; (at = text.find(type)) != std::string::npos;)
      text.replace(at, type.size(), "96x512");
    module = parseSourceString<ModuleOp>(text, &context);
    Features features = describe(makePlan(8, 32));
    EXPECT_NEAR(power(features[Feature::TileBytes]), 4 * 512 * (8 + values), 8)
        << index;
  }
}

/// Tiles inside the parts of a sum, in blocks or not: twelve tiles of columns,
/// four parts of 128 terms, 32 tiles of rows.
TEST_F(FeaturesTest, LoopsInsideASumAreInTheNest) {
  for (bool isBlocked : {false, true}) {
    poly::Plan plan = makePlan(8, 32);
    plan.loops = {1};
    plan.insideSum = {0};
    plan.terms = 128;
    if (isBlocked) {
      plan.loops = {0, 1};
      plan.block = 0;
      plan.blockSize = 64;
    }
    Features features = describe(plan);
    EXPECT_NEAR(power(features[Feature::TileTrips]), 12 * 4 * 32, 0.1);
    EXPECT_NEAR(power(features[Feature::Parts]), 4, 0.01);
    EXPECT_NEAR(power(features[Feature::InnerTrips]), 128, 0.1);
    // A part of the rows that pass, and of 32 columns; and their results, which
    // are read and written.
    int64_t rows = isBlocked ? 64 : 256;
    EXPECT_NEAR(power(features[Feature::StepBytes]),
                4 * (rows * 128 + 128 * 32 + 2 * rows * 32), 80);
  }
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
