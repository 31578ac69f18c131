//===- LibraryTest.cpp - The rules that come with Espalier ----------------===//

#include "espalier/Substitution/Library.h"
#include "espalier/Substitution/RuleProver.h"
#include "espalier/Substitution/Uses.h"
#include "gtest/gtest.h"

using namespace espalier::substitution;

namespace {

TEST(LibraryTest, IsReadWhole) {
  std::vector<Rule> rules;
  ASSERT_TRUE(succeeded(parseRules(
      getLibraryText(), rules,
      [](unsigned, const llvm::Twine &text) { ADD_FAILURE() << text.str(); })));
  EXPECT_EQ(loadLibrary().size(), rules.size());
  EXPECT_GE(rules.size(), 300u);
}

// Each rule is proved again, and needs no more than it says.
TEST(LibraryTest, EveryRuleIsProved) {
  RuleProver prover;
  for (const Rule &rule : loadLibrary()) {
    Rule again = rule;
    again.where = Guard();
    again.arithmetic = Arithmetic::Unstated;
    ASSERT_TRUE(prover.prove(again).isProved()) << rule.name;
    Uses uses = listUses(rule);
    EXPECT_EQ(toString(again.where, uses), toString(rule.where, uses))
        << rule.name;
    EXPECT_EQ(again.arithmetic, rule.arithmetic) << rule.name;
  }
}

} // namespace
