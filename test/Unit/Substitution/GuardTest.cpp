//===- GuardTest.cpp - Conditions on the sizes of a rule ------------------===//

#include "espalier/Substitution/Guard.h"
#include "espalier/Substitution/RuleTensors.h"
#include "espalier/Substitution/Verify.h"
#include "gtest/gtest.h"

using namespace espalier::substitution;

namespace {

class GuardTest : public ::testing::Test {
protected:
  void SetUp() override {
    std::vector<Rule> rules;
    auto error = [](unsigned, const llvm::Twine &message) {
      ADD_FAILURE() << message.str();
    };
    ASSERT_TRUE(succeeded(
        parseRules("rule r\n"
                   "src (conv2d :stride 1,1 :pad same :act none ?i0 ?i1)\n"
                   "src (relu ?i2)\n"
                   "dst (conv2d :stride 1,1 :pad same :act none ?i0 ?i1)\n"
                   "dst (relu (ewadd (ewmul ?i2 (const_one)) (const_one)))\n",
                   rules, error)));
    rule = rules[0];
    uses = listTensors(rule);
  }

  std::optional<Guard> parse(llvm::StringRef text) {
    message.clear();
    auto guard = parseGuard(text, rule, uses, [&](const llvm::Twine &fault) {
      EXPECT_EQ(message, "");
      message = fault.str();
    });
    EXPECT_EQ(guard.has_value(), message.empty());
    return guard;
  }
  std::string fault(llvm::StringRef text) {
    parse(text);
    return message;
  }
  std::string print(llvm::StringRef text) {
    auto guard = parse(text);
    EXPECT_EQ(message, "");
    return guard ? toString(*guard, uses) : "";
  }
  /// With an image of 4 x 6 x 7 x 7, a weight of 8 x 3 x 3 x 3, and ?i2 of
  /// unknown size and rank 2.
  std::string evaluate(llvm::StringRef text) {
    auto guard = parse(text);
    EXPECT_EQ(message, "");
    auto extent = [&](NodeId node, unsigned axis) -> std::optional<int64_t> {
      static constexpr int64_t kSizes[][4] = {{4, 6, 7, 7}, {8, 3, 3, 3}};
      const RuleNode &variable = rule.graph[node];
      if (!variable.isVariable() || variable.number > 1 || axis > 3)
        return std::nullopt;
      return kSizes[variable.number][axis];
    };
    auto rank = [&](NodeId node) -> std::optional<int64_t> {
      return rule.graph[node].isVariable() && rule.graph[node].number == 2 ? 2
                                                                           : 4;
    };
    auto result = guard ? holds(*guard, rule, extent, rank) : std::nullopt;
    return !result ? "unknown" : *result ? "true" : "false";
  }

  Rule rule;
  RuleTensors uses;
  std::string message;
};

TEST_F(GuardTest, RoundTrips) {
  for (llvm::StringRef text :
       {"dim(?i1, 1) == dim(?i0, 1)",
        "groups(conv2d#1) == 1 and rank(?i2) == 2",
        "2 divides dim(?i1, 2) + 1 and 3 >= dim(?i1, 2)",
        "(dim(?i0, 0) == 3 or dim(?i0, 0) >= 5 and dim(?i0, 1) == 2) and "
        "dim(?i0, 2) == 2 * dim(?i0, 3) + 1",
        "floor((dim(const_one#2, 1) + 3) / dim(?i0, 1)) divides dim(?i0, 0)",
        "max(dim(?i0, 0), 3) * (dim(?i0, 1) + -1) == 0",
        "out_per_group(conv2d#1) == in_per_group(conv2d#1) and "
        "out_channels(conv2d#1) >= in_channels(conv2d#1)"})
    EXPECT_EQ(print(text), text);
  EXPECT_EQ(print("3<=dim( ?i0,1 )"), "dim(?i0, 1) >= 3");
  EXPECT_EQ(print("((dim(?i0, 1))) == 3"), "dim(?i0, 1) == 3");
}

TEST_F(GuardTest, Evaluates) {
  EXPECT_EQ(evaluate("dim(?i0, 1) == 6"), "true");
  EXPECT_EQ(evaluate("groups(conv2d#1) == 2"), "true");
  EXPECT_EQ(evaluate("groups(conv2d#1) == 1"), "false");
  EXPECT_EQ(evaluate("out_per_group(conv2d#1) == 4 and "
                     "in_per_group(conv2d#1) == 3 and out_channels(conv2d#1) "
                     "== 8 and in_channels(conv2d#1) == 6"),
            "true");
  EXPECT_EQ(evaluate("2 divides dim(?i1, 2) + 1"), "true");
  EXPECT_EQ(evaluate("2 divides dim(?i1, 2)"), "false");
  EXPECT_EQ(evaluate("dim(?i1, 2) + -3 divides 5"), "false");
  EXPECT_EQ(evaluate("floor(dim(?i0, 2) / 2) * max(1, dim(?i1, 2)) == 9"),
            "true");
  EXPECT_EQ(evaluate("(dim(?i0, 0) == 3 or dim(?i0, 0) >= 4 and dim(?i0, 1) == "
                     "6)"),
            "true");
  EXPECT_EQ(evaluate("rank(?i2) == 2 and rank(?i0) == 4"), "true");
}

// What is unknown matters only where it decides.
TEST_F(GuardTest, UnknownSizes) {
  EXPECT_EQ(evaluate("dim(?i2, 0) == 1"), "unknown");
  EXPECT_EQ(evaluate("dim(?i2, 0) == 1 and dim(?i0, 0) == 5"), "false");
  EXPECT_EQ(evaluate("dim(?i2, 0) == 1 and dim(?i0, 0) == 4"), "unknown");
  EXPECT_EQ(evaluate("(dim(?i2, 0) == 1 or dim(?i0, 0) == 4)"), "true");
  EXPECT_EQ(evaluate("(dim(?i2, 0) == 1 or dim(?i0, 0) == 5)"), "unknown");
  // Quotients by nothing, and numbers that do not fit.
  EXPECT_EQ(evaluate("floor(1 / (dim(?i0, 0) + -4)) == 1"), "unknown");
  EXPECT_EQ(evaluate("9223372036854775807 * dim(?i0, 0) >= 0"), "unknown");
  EXPECT_EQ(evaluate("9223372036854775807 + dim(?i0, 0) >= 0"), "unknown");
}

TEST_F(GuardTest, DefinesSizes) {
  auto guard = parse("dim(const_one#2, 0) == dim(?i2, 0) and "
                     "4 == dim(const_one#2, 1) and dim(const_one#1, 0) >= 1");
  ASSERT_TRUE(guard);
  std::optional<unsigned> second = uses.lookup("const_one#2");
  ASSERT_TRUE(second);
  auto rows = guard->getDefinition(*second, 0);
  auto columns = guard->getDefinition(*second, 1);
  ASSERT_TRUE(rows && columns);
  EXPECT_EQ(rows->term.node, uses.list[*uses.lookup("?i2")].node);
  EXPECT_EQ(columns->constant, 4);
  EXPECT_FALSE(guard->getDefinition(*uses.lookup("const_one#1"), 0));
}

TEST_F(GuardTest, RefusesMalformedText) {
  EXPECT_EQ(fault(""), "expects a size such as 'dim(?i0, 1)' or a number, but "
                       "got the end of the guard");
  EXPECT_EQ(fault("dim(?i0, 1)"), "expects '==', '>=', '<=' or 'divides', but "
                                  "got the end of the guard");
  EXPECT_EQ(fault("dim(?i0, 1) = 3"),
            "expects '==', '>=', '<=' or 'divides', but got '='");
  EXPECT_EQ(fault("dim(?i9, 1) == 3"),
            "expects a variable or an operator of the rule, such as '?i0', but "
            "got '?i9'");
  EXPECT_EQ(fault("dim(?i0, 8) == 3"), "expects an axis below 8, but got '8'");
  EXPECT_EQ(fault("dim(?i0) == 3"), "expects ',', but got ')'");
  EXPECT_EQ(fault("groups == 1"), "expects '(', but got '=='");
  EXPECT_EQ(fault("groups(?i0) == 1"),
            "expects a convolution for 'groups', but got '?i0'");
  EXPECT_EQ(fault("dim(?i0, 1) == 3 dim(?i0, 1)"),
            "expects 'and' or the end of the guard, but got 'dim'");
  EXPECT_EQ(fault("dim(?i0, 1) == 3 and"),
            "expects a size such as 'dim(?i0, 1)' or a number, but got the end "
            "of the guard");
  EXPECT_EQ(fault("(dim(?i0, 1) == 3 or 1 == 1"),
            "expects ')', 'and' or 'or', but got the end of the guard");
  EXPECT_EQ(fault("dim(?i0, 1) == 99999999999999999999"),
            "expects a number of 64 bits, but got '99999999999999999999'");
  EXPECT_EQ(fault("floor(1, 2) == 1"), "expects '/', but got ','");
  EXPECT_EQ(fault(std::string(100000, '(')),
            "expects at most 5000 words in a guard, but got more");
  EXPECT_EQ(fault(std::string(100, '(')),
            "expects at most 20 nested parentheses, but got more");
}

// The text that a verdict prints is a guard again.
TEST_F(GuardTest, VerdictsCarryGuards) {
  std::vector<Rule> rules;
  auto error = [](unsigned, const llvm::Twine &message) {
    ADD_FAILURE() << message.str();
  };
  ASSERT_TRUE(succeeded(parseRules(
      "rule enlarge\n"
      "src (conv2d :stride 1,1 :pad same :act none ?i0 ?i1)\n"
      "dst (conv2d :stride 1,1 :pad same :act none ?i0 (enlarge :kernel 3,3 "
      "?i1))\n\n"
      "rule twice\n"
      "src ?i0\n"
      "dst (conv2d :stride 1,1 :pad same :act none (concat :axis 1 :ndim 4 ?i0 "
      "?i0) (const_iconv :kernel 1,1))\n",
      rules, error)));
  for (const Rule &other : rules) {
    Verdict verdict = Verifier().verify(other);
    ASSERT_EQ(verdict.kind, Verdict::Kind::ProvedIf);
    rule = other;
    uses = listTensors(rule);
    EXPECT_EQ(print(verdict.detail), verdict.detail);
    EXPECT_EQ(*parse(verdict.detail), verdict.guard);
  }
}

} // namespace
