//===- LibraryTest.cpp - The rules that come with Espalier ----------------===//

#include "espalier/Substitution/Library.h"
#include "espalier/Substitution/Verify.h"
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

// Each rule is proved again, and asks for no less than the proof does. Whether
// exact ones are, library.test asks.
TEST(LibraryTest, EveryRuleIsProved) {
  Verifier verifier;
  for (const Rule &rule : loadLibrary()) {
    Verdict verdict = verifier.verify(rule);
    ASSERT_TRUE(verdict.isProved()) << rule.name;
    for (const GuardClause &clause : verdict.guard.clauses)
      EXPECT_TRUE(llvm::is_contained(rule.where.clauses, clause))
          << rule.name << " needs " << verdict.detail;
  }
}

} // namespace
