//===- RuleProverTest.cpp - Rules that do not change how results round ----===//

#include "espalier/Substitution/RuleProver.h"
#include "gtest/gtest.h"

using namespace espalier::substitution;

namespace {

class RuleProverTest : public ::testing::Test {
protected:
  /// Whether a rule, which must be proved, is exact.
  static bool isExact(const std::string &src, const std::string &dst) {
    std::vector<Rule> rules;
    EXPECT_TRUE(
        succeeded(parseRules("rule r\nsrc " + src + "\ndst " + dst + "\n",
                             rules, [](unsigned, const llvm::Twine &text) {
                               ADD_FAILURE() << text.str();
                             })));
    Verdict verdict = Verifier().verify(rules[0]);
    EXPECT_TRUE(verdict.kind == Verdict::Kind::Proved ||
                verdict.kind == Verdict::Kind::ProvedIf);
    return RuleProver().isExact(rules[0], verdict.guard);
  }
  static std::string matmul(const std::string &a, const std::string &b) {
    return "(matmul :act none " + a + " " + b + ")";
  }
  static std::string conv(const std::string &x, const std::string &w,
                          const std::string &act = "none") {
    return "(conv2d :stride 1,1 :pad same :act " + act + " " + x + " " + w +
           ")";
  }
  static std::string concat(const std::string &axis, const std::string &rank,
                            const std::string &a, const std::string &b) {
    return "(concat :axis " + axis + " :ndim " + rank + " " + a + " " + b + ")";
  }
};

TEST_F(RuleProverTest, MovingElementsIsExact) {
  EXPECT_TRUE(isExact("(relu (relu ?i0))", "(relu ?i0)"));
  EXPECT_TRUE(isExact("(transpose (transpose ?i0))", "?i0"));
  EXPECT_TRUE(isExact("(ewadd ?i0 ?i1)", "(ewadd ?i1 ?i0)"));
  EXPECT_TRUE(isExact("(transpose (ewmul ?i0 ?i1))",
                      "(ewmul (transpose ?i0) (transpose ?i1))"));
  EXPECT_TRUE(isExact(concat("0", "2", "(ewadd ?i0 ?i1)", "(ewadd ?i2 ?i3)"),
                      "(ewadd " + concat("0", "2", "?i0", "?i2") + " " +
                          concat("0", "2", "?i1", "?i3") + ")"));
  EXPECT_TRUE(
      isExact("(relu " + conv("?i0", "?i1") + ")", conv("?i0", "?i1", "relu")));
}

// Each element is still one sum over the same channels.
TEST_F(RuleProverTest, ConcatenatedFeaturesAreExact) {
  EXPECT_TRUE(
      isExact(concat("1", "2", matmul("?i0", "?i1"), matmul("?i0", "?i2")),
              matmul("?i0", concat("1", "2", "?i1", "?i2"))));
  EXPECT_TRUE(isExact(concat("1", "4", conv("?i0", "?i1"), conv("?i0", "?i2")),
                      conv("?i0", concat("0", "4", "?i1", "?i2"))));
  EXPECT_TRUE(isExact(matmul("(transpose ?i0)", "(transpose ?i1)"),
                      "(transpose " + matmul("?i1", "?i0") + ")"));
}

TEST_F(RuleProverTest, OtherOrdersOfAdditionAreNot) {
  EXPECT_FALSE(
      isExact("(ewadd ?i0 (ewadd ?i1 ?i2))", "(ewadd (ewadd ?i0 ?i1) ?i2)"));
  EXPECT_FALSE(isExact("(ewmul (ewadd ?i0 ?i1) ?i2)",
                       "(ewadd (ewmul ?i0 ?i2) (ewmul ?i1 ?i2))"));
  EXPECT_FALSE(
      isExact("(smul (smul ?i0 ?s0) ?s1)", "(smul (smul ?i0 ?s1) ?s0)"));
  EXPECT_FALSE(isExact(matmul("?i0", matmul("?i1", "?i2")),
                       matmul(matmul("?i0", "?i1"), "?i2")));
  EXPECT_FALSE(isExact(
      "(ewadd " + matmul("?i0", "?i1") + " " + matmul("?i2", "?i3") + ")",
      matmul(concat("1", "2", "?i0", "?i2"), concat("0", "2", "?i1", "?i3"))));
  // Taps by rows, or by columns.
  EXPECT_FALSE(isExact(
      "(swap :axes 2,3 :ndim 4 " + conv("?i0", "?i1") + ")",
      conv("(swap :axes 2,3 :ndim 4 ?i0)", "(swap :axes 2,3 :ndim 4 ?i1)")));
  // The same summands, but the second half first.
  std::string forth = concat("0", "2", "?i0", "?i1");
  std::string back = concat("0", "2", "?i1", "?i0");
  EXPECT_FALSE(isExact(matmul("(transpose " + forth + ")", forth),
                       matmul("(transpose " + back + ")", back)));
}

} // namespace
