//===- ShapesTest.cpp - Shapes at which rules are applied -----------------===//

#include "espalier/Substitution/Shapes.h"
#include "espalier/Substitution/Verify.h"
#include "gtest/gtest.h"

using namespace espalier::substitution;

namespace {

class ShapesTest : public ::testing::Test {
protected:
  /// Proves a rule, and takes it with its condition.
  void prove(const std::string &src, const std::string &dst) {
    std::vector<Rule> rules;
    ASSERT_TRUE(
        succeeded(parseRules("rule r\nsrc " + src + "\ndst " + dst + "\n",
                             rules, [](unsigned, const llvm::Twine &text) {
                               ADD_FAILURE() << text.str();
                             })));
    Verdict verdict = Verifier().verify(rules[0]);
    ASSERT_TRUE(verdict.kind == Verdict::Kind::Proved ||
                verdict.kind == Verdict::Kind::ProvedIf);
    uses = listTensors(rules[0]);
    number = solver.add(rules[0], verdict.guard);
  }

  /// The shape of a tensor, given others.
  std::string shapeOf(const std::string &name,
                      const std::map<std::string, Shape> &known) {
    auto shapes = solver.solve(
        number,
        [&](unsigned use) -> std::optional<Shape> {
          auto found = known.find(uses.list[use].name);
          if (found == known.end())
            return std::nullopt;
          return found->second;
        },
        why);
    if (!shapes)
      return why;
    std::string text;
    unsigned use = *uses.lookup(name);
    for (int64_t extent : shapes->shapes[use])
      text += (text.empty() ? "" : "x") + std::to_string(extent);
    if (shapes->cuts[use])
      text += " cut at " + std::to_string(*shapes->cuts[use]);
    return text;
  }

  ShapeSolver solver;
  RuleTensors uses;
  unsigned number = 0;
  std::string why;
};

const std::string kConv = "(conv2d :stride 1,1 :pad same :act none ";

TEST_F(ShapesTest, ContextDecidesConstants) {
  prove("?i0", kConv + "?i0 (const_iconv :kernel 1,1))");
  EXPECT_EQ(shapeOf("const_iconv#1", {{"?i0", {2, 6, 5, 5}}}), "6x1x1x1");
  prove("?i0", "(ewmul ?i0 (const_one))");
  EXPECT_EQ(shapeOf("const_one#1", {{"?i0", {2, 3}}}), "2x3");
  EXPECT_EQ(shapeOf("const_one#1", {{"?i0", {2, 3, 4}}}), "2x3x4");
  EXPECT_EQ(shapeOf("const_one#1", {{"?i0", {2, 3, 4, 5, 6}}}),
            "the rule is proved up to rank 4");
}

TEST_F(ShapesTest, FindsCuts) {
  prove("(matmul :act none ?i0 ?i1)\nsrc (matmul :act none ?i0 ?i2)",
        "(split :axis 1 :part 0 (matmul :act none ?i0 (concat :axis 1 :ndim 2 "
        "?i1 ?i2)))\ndst (split :axis 1 :part 1 (matmul :act none ?i0 (concat "
        ":axis 1 :ndim 2 ?i1 ?i2)))");
  std::map<std::string, Shape> known{
      {"?i0", {2, 3}}, {"?i1", {3, 4}}, {"?i2", {3, 5}}};
  EXPECT_EQ(shapeOf("concat#1", known), "3x9");
  EXPECT_EQ(shapeOf("split#1", known), "2x4 cut at 4");
  EXPECT_EQ(shapeOf("split#2", known), "2x5 cut at 4");
  known["?i2"] = {4, 5};
  EXPECT_EQ(shapeOf("split#2", known),
            "the sizes do not fit the rule's operators");
  known.erase("?i2");
  EXPECT_EQ(shapeOf("split#2", known), "?i2 has no known shape");
}

TEST_F(ShapesTest, ChecksTheCondition) {
  prove("(concat :axis 1 :ndim 4 " + kConv + "?i0 ?i1) " + kConv + "?i0 ?i2))",
        kConv + "?i0 (concat :axis 0 :ndim 4 ?i1 ?i2))");
  EXPECT_EQ(shapeOf("conv2d#3", {{"?i0", {1, 4, 7, 7}},
                                 {"?i1", {8, 4, 3, 3}},
                                 {"?i2", {6, 4, 3, 3}}}),
            "1x14x7x7");
  // Two groups, and kernels of several sizes.
  for (Shape weight : {Shape{6, 2, 3, 3}, Shape{6, 4, 1, 1}}) {
    Shape first = weight;
    first[2] = first[3] = 3;
    shapeOf("conv2d#3",
            {{"?i0", {1, 4, 7, 7}}, {"?i1", first}, {"?i2", weight}});
    EXPECT_EQ(why.find("the sizes do not fit"), 0u) << why;
  }
}

TEST_F(ShapesTest, ChecksParity) {
  prove(kConv + "?i0 ?i1)", kConv + "?i0 (enlarge :kernel 5,5 ?i1))");
  EXPECT_EQ(
      shapeOf("enlarge#1", {{"?i0", {1, 4, 7, 7}}, {"?i1", {8, 2, 3, 1}}}),
      "8x2x5x5");
  for (int64_t extent : {2, 7}) {
    shapeOf("enlarge#1", {{"?i0", {1, 4, 7, 7}}, {"?i1", {8, 4, extent, 3}}});
    EXPECT_EQ(why.find("the sizes do not fit"), 0u) << why;
  }
}

} // namespace
