//===- LibraryTest.cpp - The rules that come with Espalier ----------------===//

#include "espalier/Substitution/Library.h"
#include "espalier/Substitution/Verify.h"
#include "gtest/gtest.h"

using namespace espalier::substitution;

namespace {

static size_t countRules(llvm::StringRef text) {
  std::vector<Rule> rules;
  EXPECT_TRUE(succeeded(
      parseRules(text, rules, [](unsigned, const llvm::Twine &message) {
        ADD_FAILURE() << message.str();
      })));
  return rules.size();
}

TEST(LibraryTest, IsReadWhole) {
  EXPECT_GE(loadLibrary().size(), 300u);
  EXPECT_EQ(loadLibrary().size(), countRules(getLibraryText()));
  EXPECT_GE(loadNetworkRules().size(), 50u);
  EXPECT_EQ(loadNetworkRules().size(), countRules(getNetworkRulesText()));
}

// Each rule is proved again, and asks for no less than the proof does. Whether
// exact ones are, library.test asks.
static void expectProved(llvm::ArrayRef<Rule> rules) {
  Verifier verifier;
  for (const Rule &rule : rules) {
    Verdict verdict = verifier.verify(rule);
    ASSERT_TRUE(verdict.isProved()) << rule.name;
    for (const GuardClause &clause : verdict.guard.clauses)
      EXPECT_TRUE(llvm::is_contained(rule.where.clauses, clause))
          << rule.name << " needs " << verdict.detail;
  }
}

TEST(LibraryTest, EveryRuleIsProved) {
  expectProved(loadLibrary());
  expectProved(loadNetworkRules());
}

} // namespace
