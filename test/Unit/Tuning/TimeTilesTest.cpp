//===- TimeTilesTest.cpp - Sketches of steps over a grid ------------------===//

#include "Kernels.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

namespace {

/// What a step computes, of a point `(t, i, j)` of `steps` steps and a grid of
/// 64 x 64: each computation reads some neighbours in one array and writes
/// another, or the same.
struct Step {
  const char *from, *to;
  std::vector<const char *> reads;
};

class TimeTilesTest : public KernelTest {
protected:
  void derive(int steps, llvm::ArrayRef<Step> computes, int cores = 2,
              const char *suffix = "") {
    std::string text = llvm::formatv(
        "#domain = affine_set<(t, i, j) : (t >= 0, {0} - t >= 0, i - 1 >= 0, "
        "62 - i >= 0, j - 1 >= 0, 62 - j >= 0)>\n"
        "module attributes {{poly.target = #poly.target<cpu = \"znver3\", "
        "features = \"\", vector_bits = 256, registers = 16, l1 = 32768, "
        "l2 = 524288, l3 = 16777216, cores = {1}>} {{\n"
        "poly.kernel @kernel(%a: memref<64x64xf32>, %b: memref<64x64xf32>) "
        "{{\n",
        steps - 1, cores);
    for (auto [number, step] : llvm::enumerate(computes)) {
      std::string reads, types, arguments;
      for (const char *read : step.reads) {
        const char *comma = reads.empty() ? "" : ", ";
        reads += llvm::formatv("{0}%{1}[affine_map<(t, i, j) -> ({2})>]", comma,
                               step.from, read);
        types += comma + std::string("memref<64x64xf32>");
        arguments += llvm::formatv("{0}%r{1}: f32", comma, reads.size());
      }
      std::string first = llvm::StringRef(arguments).split(':').first.str();
      text += llvm::formatv(
          "poly.compute @\"s{0}{7}\" dims [\"t{7}\", \"i{7}\", \"j{7}\"] "
          "domain [#domain] "
          "reads({1} : {2}) writes(%{3}[affine_map<(t, i, j) -> (i, j)>] : "
          "memref<64x64xf32>) {4} {{\n^bb0({5}):\n  %y = arith.negf {6} : f32\n"
          "  poly.yield %y : f32\n}\n",
          number, reads, types, step.to, number ? "interleaved 1" : "",
          arguments, first, suffix);
    }
    module = parseSourceString<ModuleOp>(text + "}\n}\n", &context);
    ASSERT_TRUE(module) << text;
    sketches = deriveTimeTiles(*module);
  }

  std::string print(const Sketch &sketch) {
    std::string text;
    llvm::raw_string_ostream(text) << *sketch.select(sketch.getDefault());
    return text;
  }

  std::vector<std::string> getRules() {
    std::vector<std::string> rules;
    for (const Sketch &sketch : sketches)
      rules.push_back(sketch.getRule().str());
    return rules;
  }
};

const Step kThere = {"a", "b", {"i, j", "i - 1, j", "i + 1, j", "i, j + 1"}};
const Step kBack = {"b", "a", {"i, j", "i - 1, j", "i + 1, j", "i, j - 1"}};
const Step kInPlace = {"a", "a", {"i - 1, j + 1", "i, j - 1", "i + 1, j"}};

TEST_F(TimeTilesTest, TwoComputationsAreOneNest) {
  derive(20, {kThere, kBack});
  ASSERT_EQ(getRules(), (std::vector<std::string>{"skew", "wavefront", "skew",
                                                  "wavefront"}));
  std::string text = print(sketches.front());
  // The second one runs a row behind, so two rows for each step.
  EXPECT_NE(text.find("loop \"i\" by [2] of [\"t\"]"), std::string::npos)
      << text;
  EXPECT_NE(text.find("loop \"j\" width 8 peel_tail"), std::string::npos);
}

TEST_F(TimeTilesTest, AllSelectionsAreLegal) {
  for (const std::vector<Step> &computes :
       std::vector<std::vector<Step>>{{kThere, kBack}, {kInPlace}}) {
    derive(5, computes);
    ASSERT_FALSE(sketches.empty());
    Sketch::Random random(3);
    for (const Sketch &sketch : sketches)
      for (unsigned i = 0; i < 4; ++i)
        EXPECT_EQ(apply(*sketch.select(sketch.selectAny(random))), "");
  }
}

TEST_F(TimeTilesTest, WhatWritesWhereItReadsIsSkewedToo) {
  derive(20, {kInPlace});
  ASSERT_EQ(sketches.size(), 4u);
  std::string text = print(sketches.back());
  EXPECT_NE(text.find("wavefront"), std::string::npos);
  EXPECT_NE(text.find("loop \"j\" by [1] of [\"i\"]"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("vectorize"), std::string::npos)
      << "each element waits for the one before";
}

TEST_F(TimeTilesTest, NamesMayBeAnything) {
  derive(20, {kThere, kBack}, /*cores=*/2, R"( \")");
  EXPECT_EQ(sketches.size(), 4u);
}

TEST_F(TimeTilesTest, OneCoreHasNoDiagonals) {
  derive(20, {kThere, kBack}, /*cores=*/1);
  EXPECT_EQ(getRules(), (std::vector<std::string>{"skew", "skew"}));
}

TEST_F(TimeTilesTest, OthersHaveNone) {
  derive(1, {kThere, kBack});
  EXPECT_TRUE(sketches.empty()) << "one step";
  derive(20, {{"a", "b", {"i - 1, j", "i + 1, j"}}});
  EXPECT_TRUE(sketches.empty()) << "nothing that is written is read";
  derive(20, {{"a", "a", {"i, j"}}});
  EXPECT_TRUE(sketches.empty()) << "each element alone";
}

} // namespace
