//===- KernelSketchesTest.cpp - The spaces of several kernels -------------===//

#include "Kernels.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/Dialect/Poly/TransformOps/PlanScript.h"
#include "espalier/Tuning/Features.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

namespace {

class KernelSketchesTest : public KernelTest,
                           public testing::WithParamInterface<KernelCase> {
protected:
  void SetUp() override { load(GetParam().text); }
};

/// So a rule spends no trial on what nobody can run.
TEST_P(KernelSketchesTest, TheFirstSelectionOfEachSketchIsLegal) {
  ASSERT_FALSE(sketches.empty());
  EXPECT_LT(sketches.size(), 12u);
  for (const Sketch &sketch : sketches) {
    auto script = sketch.select(sketch.getDefault());
    std::string text;
    llvm::raw_string_ostream(text) << *script;
    EXPECT_EQ(apply(*script), "") << sketch.getRule().str() << "\n" << text;
  }
}

TEST_P(KernelSketchesTest, EachRuleHasASketchWithChoices) {
  llvm::StringSet<> rules;
  for (const Sketch &sketch : sketches)
    if (sketch.getChoices().size() > 1)
      rules.insert(sketch.getRule());
  for (const char *rule :
       {"default", "order", "lanes", "parts", "blocks", "fetch"})
    EXPECT_NE(rules.contains(rule),
              llvm::is_contained(GetParam().without, rule))
        << rule;
}

/// Of the plan that is opened, also where that is inside another.
TEST_P(KernelSketchesTest, FeaturesAreThoseOfTheTile) {
  Sketch::Random random(2);
  const Sketch &sketch = sketches.front();
  for (unsigned i = 0; i < 4; ++i) {
    Selection selection = sketch.selectAny(random);
    auto script = sketch.select(selection);
    std::string lanes;
    script->walk([&](poly::PlanOp plan) {
      if (!plan.getOpenBy().empty())
        lanes = plan.getLanes().value_or("").str();
    });
    int64_t rows = 1;
    for (auto [choice, option] :
         llvm::zip_equal(sketch.getChoices(), selection))
      if (choice.name.starts_with("tile.") && choice.name != "tile." + lanes)
        rows *=
            cast<IntegerAttr>(cast<ArrayAttr>(choice.options)[option]).getInt();
    auto plans = poly::readPlans(*script, getKernel());
    ASSERT_TRUE(bool(plans)) << llvm::toString(plans.takeError());
    Features features =
        computeFeatures(getKernel(), poly::getTarget(*module), *plans);
    EXPECT_EQ(features[Feature::Rows], rows);
    EXPECT_EQ(features[Feature::Gathers], 0);
  }
}

TEST_P(KernelSketchesTest, SelectionsAreMostlyLegal) {
  Sketch::Random random(5);
  unsigned numLegal = 0, numAll = 0;
  for (const Sketch &sketch : sketches)
    for (unsigned i = 0; i < 2; ++i, ++numAll)
      numLegal += apply(*sketch.select(sketch.selectAny(random))).empty();
  EXPECT_GE(4 * numLegal, 3 * numAll);
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, KernelSketchesTest,
    testing::Values(
        KernelCase{"Product", product(96, 112, 256, false)},
        KernelCase{"PackedProduct", product(96, 112, 256, true)},
        KernelCase{"CutSum", product(512, 1000, 1024, false)},
        KernelCase{"Panels", product(512, 1024, 1024, false), {"blocks"}},
        KernelCase{"PackedCutSum", product(512, 1024, 1024, true)},
        KernelCase{"Winograd", convolution(256, 30, 1, 1)},
        KernelCase{"Direct", convolution(64, 28, 1, 2)},
        KernelCase{
            "Depthwise", convolution(64, 28, 64, 1), {"parts", "fetch"}}),
    [](const auto &one) { return one.param.name; });

} // namespace
