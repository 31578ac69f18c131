//===- PartialSumsTest.cpp - Sketches of sums in parts --------------------===//

#include "Kernels.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

namespace {

class PartialSumsTest : public KernelTest {
protected:
  void derive(const char *from, const char *to, const char *axes,
              unsigned threads = 4) {
    load(llvm::formatv(
        "func.func @main(%x: tensor<{0}xf32>) -> tensor<{1}xf32> {{\n"
        "  %0 = graph.reduce_sum %x {{axes = array<i64: {2}>} : "
        "(tensor<{0}xf32>) -> tensor<{1}xf32>\n"
        "  return %0 : tensor<{1}xf32>\n}",
        from, to, axes));
    sketches = derivePartialSums(*module, threads);
  }

  std::string print() {
    std::string text;
    for (const Sketch &sketch : sketches)
      llvm::raw_string_ostream(text) << *sketch.select(sketch.getDefault());
    return text;
  }
};

TEST_F(PartialSumsTest, TermsThatAreNeighboursAreLanes) {
  derive("3x50000", "3", "1");
  ASSERT_EQ(sketches.size(), 1u);
  EXPECT_EQ(sketches.front().getRule(), "rfactor");
  EXPECT_EQ(sketches.front().getChoices().size(), 2u);
  // Parts for the threads, and in each part sums for the lanes.
  EXPECT_EQ(StringRef(print()).count("poly.rfactor"), 2u) << print();
}

TEST_F(PartialSumsTest, ElementsThatAreNeighboursAreLanes) {
  derive("50000x24", "24", "0");
  ASSERT_EQ(sketches.size(), 1u);
  EXPECT_EQ(StringRef(print()).count("poly.rfactor"), 1u) << print();
  EXPECT_EQ(StringRef(print()).count("poly.vectorize"), 1u) << print();
}

TEST_F(PartialSumsTest, AllSelectionsAreLegal) {
  for (auto [from, to, axes] :
       {std::tuple("1x4099", "1", "1"), std::tuple("3x5x1027", "5", "0, 2"),
        std::tuple("9001x3", "3", "0")}) {
    derive(from, to, axes);
    ASSERT_EQ(sketches.size(), 1u) << from;
    Sketch::Random random(5);
    for (unsigned i = 0; i < 6; ++i)
      EXPECT_EQ(
          apply(*sketches.front().select(sketches.front().selectAny(random))),
          "")
          << from;
  }
}

TEST_F(PartialSumsTest, OthersHaveNone) {
  derive("3x50000", "3", "1", /*threads=*/1);
  EXPECT_TRUE(sketches.empty()) << "one thread";
  derive("640x500", "640", "1");
  EXPECT_TRUE(sketches.empty()) << "elements for all threads";
  derive("3x100", "3", "1");
  EXPECT_TRUE(sketches.empty()) << "few terms";
  derive("?x50000", "?", "1");
  EXPECT_TRUE(sketches.empty()) << "a number that is not known";
}

} // namespace
