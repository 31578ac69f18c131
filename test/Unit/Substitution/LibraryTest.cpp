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

// Each rule is proved again, and asks for no less than the proof does.
TEST(LibraryTest, EveryRuleIsProved) {
  RuleProver prover;
  for (const Rule &rule : loadLibrary()) {
    Rule again = rule;
    again.where = Guard();
    again.arithmetic = Arithmetic::Unstated;
    ASSERT_TRUE(prover.prove(again).isProved()) << rule.name;
    Uses uses = listUses(rule);
    for (const GuardClause &clause : again.where.clauses)
      EXPECT_TRUE(llvm::is_contained(rule.where.clauses, clause))
          << rule.name << " needs " << toString(again.where, uses);
    EXPECT_TRUE(rule.arithmetic == Arithmetic::Reassociates ||
                again.arithmetic == Arithmetic::Exact)
        << rule.name;
  }
}

} // namespace
