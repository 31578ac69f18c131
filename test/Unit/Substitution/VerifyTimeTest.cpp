//===- VerifyTimeTest.cpp - How long verdicts take ------------------------===//

#include "espalier/Substitution/Verify.h"
#include "llvm/Support/Compiler.h"
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

/// Instruments make everything slower.
constexpr double kSlowdown =
    LLVM_ADDRESS_SANITIZER_BUILD || LLVM_THREAD_SANITIZER_BUILD ? 5 : 1;

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
  EXPECT_LT(seconds[seconds.size() / 2], 0.01 * kSlowdown);
  EXPECT_LT(seconds.back(), 2 * kSlowdown);
  RecordProperty("median", std::to_string(seconds[seconds.size() / 2]));
  RecordProperty("longest", std::to_string(seconds.back()));
}

/// Wraps a tensor into operators again and again.
std::string nest(const std::string &before, const std::string &behind,
                 unsigned times) {
  std::string text = "?i0";
  for (unsigned number = 1; number <= times; ++number)
    text = before + text +
           (behind.empty() ? "" : behind + std::to_string(number)) + ')';
  return text;
}

TEST(VerifyTimeTest, LimitsHoldForLargeRules) {
  const std::string terms[] = {
      nest("(poolmax :kernel 1024,1024 :stride 3,3 :pad same ", "", 12),
      nest("(poolavg :kernel 999,999 :stride 1,1 :pad 900,900,900,900 ", "", 3),
      nest("(border :pad 1024,1024,1024,1024 ", "", 4),
      nest("(conv2d :stride 2,2 :pad same :act relu ", " ?i", 12),
      nest("(matmul :act relu ", " ?i", 40)};
  Verifier verifier;
  for (const std::string &term : terms) {
    std::vector<Rule> rules;
    std::string text = "rule r\nsrc " + term + "\ndst (relu " + term + ")\n";
    ASSERT_TRUE(succeeded(parseRules(text, rules, [](unsigned, auto &) {})));
    double start = getSeconds();
    verifier.verify(rules[0]);
    EXPECT_LT(getSeconds() - start, 2 * kSlowdown) << term;
  }
}

// What polynomials ask of Z3 is bounded: roots of fractions, whose degrees
// grow.
TEST(VerifyTimeTest, LimitsHoldForPolynomials) {
  const std::string difference = "(ewsub (ewdiv ?i1 ?i1) ?i0)";
  const std::string square = "(ewmul " + difference + " " + difference + ")";
  const std::string fraction =
      "(ewdiv (ewmul " + difference + " " + square + ") " + square + ")";
  const std::string divisor = "(ewsub (sqrt ?i0) (ewdiv ?i0 ?i2))";
  const std::string rules[] = {
      "rule r\nsrc (ewdiv " + fraction + " (sqrt " + fraction +
          "))\ndst (sqrt " + difference + ")\n",
      "rule r\nsrc (ewdiv (sigmoid ?i1) " + divisor +
          ")\ndst (ewdiv (ewmul (sigmoid (ewadd ?i1 (ewmul (ewsub (ewmul ?i1 "
          "?i1) (ewmul ?i1 ?i1)) (sqrt (ewmul ?i1 ?i1))))) " +
          divisor + ") (ewmul " + divisor + " " + divisor + "))\n"};
  Verifier verifier;
  for (const std::string &text : rules) {
    std::vector<Rule> parsed;
    ASSERT_TRUE(succeeded(parseRules(text, parsed, [](unsigned, auto &) {})));
    double start = getSeconds();
    Verdict verdict = verifier.verify(parsed[0]);
    EXPECT_NE(verdict.kind, Verdict::Kind::Refuted) << text;
    EXPECT_LT(getSeconds() - start, 5) << text;
  }
}

} // namespace
