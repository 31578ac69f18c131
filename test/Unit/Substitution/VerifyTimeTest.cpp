//===- VerifyTimeTest.cpp - How long verdicts take ------------------------===//

#include "espalier/Substitution/Verify.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <ctime>

using namespace espalier::substitution;

namespace {

/// Processor time of this thread, since other tests may run beside it.
double getSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

TEST(VerifyTimeTest, RulesAreDecidedInMilliseconds) {
  std::vector<double> seconds;
  for (const char *name :
       {"taso-properties", "operator-properties", "networks", "library"}) {
    auto file = llvm::MemoryBuffer::getFile(llvm::Twine(RULES_FOLDER) + "/" +
                                            name + ".rules");
    std::vector<Rule> rules;
    ASSERT_TRUE(file && succeeded(parseRules((*file)->getBuffer(), rules,
                                             [](unsigned, auto &) {})));
    Verifier verifier;
    for (const Rule &rule : rules) {
      double start = getSeconds();
      verifier.verify(rule);
      seconds.push_back(getSeconds() - start);
    }
  }
  llvm::sort(seconds);
  EXPECT_LT(seconds[seconds.size() / 2], 0.01);
  EXPECT_LT(seconds.back(), 2);
  RecordProperty("median", std::to_string(seconds[seconds.size() / 2]));
  RecordProperty("longest", std::to_string(seconds.back()));
}

} // namespace
