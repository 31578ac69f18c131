//===- SketchTest.cpp - The space of schedules ----------------------------===//

#include "Product.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

namespace {

using SketchTest = ProductTest;

TEST_F(SketchTest, TheDefaultScheduleComesFirst) {
  ASSERT_FALSE(sketches.empty());
  EXPECT_EQ(sketches.front().getRule(), "default");
  EXPECT_TRUE(apply(*sketches.front().select(sketches.front().getDefault())));
}

TEST_F(SketchTest, SketchesAreFewAndDiffer) {
  EXPECT_GE(sketches.size(), 4u);
  EXPECT_LT(sketches.size(), 12u);
  llvm::StringSet<> texts;
  for (const Sketch &sketch : sketches) {
    EXPECT_FALSE(sketch.getChoices().empty()) << sketch.getRule().str();
    std::string text;
    llvm::raw_string_ostream(text) << *sketch.select(sketch.getDefault());
    EXPECT_TRUE(texts.insert(text).second) << sketch.getRule().str();
  }
}

/// The results of a tile fit the registers, and blocks have whole tiles, of
/// whatever is selected.
TEST_F(SketchTest, SelectionsKeepTheLimits) {
  Sketch::Random random(7);
  for (const Sketch &sketch : sketches) {
    auto check = [&](const Selection &selection) {
      llvm::StringMap<int64_t> numbers;
      int64_t points = 1;
      for (auto [index, choice] : llvm::enumerate(sketch.getChoices())) {
        auto options = cast<ArrayAttr>(choice.options);
        ASSERT_LT(selection[index], options.size());
        int64_t number = cast<IntegerAttr>(options[selection[index]]).getInt();
        numbers[choice.name] = number;
        if (choice.name.starts_with("tile."))
          points *= number;
      }
      EXPECT_LE(points, 32 * 16) << sketch.getRule().str();
      sketch.select(selection)->walk([&](poly::PlanOp plan) {
        if (!plan.getBlocked() || !numbers.count("block_size"))
          return;
        int64_t tile = numbers.lookup(("tile." + *plan.getBlocked()).str());
        EXPECT_EQ(numbers["block_size"] % std::max<int64_t>(tile, 1), 0)
            << sketch.getRule().str();
      });
    };
    Selection selection = sketch.getDefault();
    for (unsigned i = 0; i < 200; ++i) {
      Selection any = sketch.selectAny(random);
      check(any);
      check(sketch.cross(selection, any, random));
      selection = sketch.mutate(std::move(selection), random);
      check(selection);
    }
  }
}

TEST_F(SketchTest, AScriptTellsItsSelection) {
  Sketch::Random random(11);
  for (const Sketch &sketch : sketches) {
    Selection any = sketch.selectAny(random);
    EXPECT_EQ(sketch.translate(*sketch.select(any)), any);
  }
}

/// What cannot be understood is the default.
TEST_F(SketchTest, AForeignScriptSelectsNothing) {
  OwningOpRef<ModuleOp> other(ModuleOp::create(module->getLoc()));
  for (const Sketch &sketch : sketches)
    EXPECT_EQ(sketch.translate(*other), sketch.getDefault());
}

TEST_F(SketchTest, SomeSelectionsOfEachSketchAreLegal) {
  Sketch::Random random(3);
  unsigned numLegal = 0;
  for (const Sketch &sketch : sketches) {
    unsigned legal = 0;
    for (unsigned i = 0; i < 8; ++i)
      legal += apply(*sketch.select(sketch.selectAny(random)));
    numLegal += legal > 0;
  }
  EXPECT_GE(numLegal, 3u);
}

} // namespace
