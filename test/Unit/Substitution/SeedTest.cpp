//===- SeedTest.cpp - Verdicts do not depend on what is drawn -------------===//

#include "espalier/Substitution/RuleTensors.h"
#include "espalier/Substitution/Verify.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace espalier::substitution;

namespace {

/// The kind of each verdict, and the condition.
std::vector<std::string> decideAll(uint64_t seed) {
  VerifyOptions options;
  options.seed = seed;
  Verifier verifier(options);
  std::vector<std::string> verdicts;
  for (const char *name :
       {"taso-properties", "operator-properties", "networks", "library"}) {
    auto file = llvm::MemoryBuffer::getFile(llvm::Twine(RULES_FOLDER) + "/" +
                                            name + ".rules");
    std::vector<Rule> rules;
    EXPECT_TRUE(file && succeeded(parseRules((*file)->getBuffer(), rules,
                                             [](unsigned, auto &) {})));
    for (const Rule &rule : rules) {
      Verdict verdict = verifier.verify(rule);
      verdicts.push_back(rule.name + ": " +
                         std::to_string(static_cast<int>(verdict.kind)) + " " +
                         toString(verdict.guard, listTensors(rule)));
    }
  }
  return verdicts;
}

TEST(SeedTest, VerdictsAreTheSame) { EXPECT_EQ(decideAll(1), decideAll(0)); }

// Takes minutes.
TEST(SeedTest, DISABLED_VerdictsAreTheSameForMany) {
  std::vector<std::string> expected = decideAll(0);
  for (uint64_t seed = 1; seed <= 20; ++seed)
    EXPECT_EQ(decideAll(seed), expected) << "seed " << seed;
}

} // namespace
