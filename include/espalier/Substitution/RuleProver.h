//===- RuleProver.h - Proves rules before they are used ---------*- C++ -*-===//

#ifndef ESPALIER_SUBSTITUTION_RULEPROVER_H
#define ESPALIER_SUBSTITUTION_RULEPROVER_H

#include "espalier/Substitution/Boundaries.h"
#include "espalier/Substitution/Verify.h"

namespace espalier::substitution {

class RuleProver {
public:
  RuleProver();

  /// Decides a rule. If it is proved, adds to it what it needs: the condition,
  /// beside the one it states, and what becomes of rounding.
  Verdict prove(Rule &rule);

  /// Whether both sides of a rule that is proved under `guard` add and multiply
  /// the same floating-point numbers in the same order, so that results are
  /// equal, but for the sign of a zero. What is not certain is not exact.
  ///
  /// Rounding is a function that nothing is known of but that equal numbers are
  /// rounded equally. So the rule is proved once more with an unknown function
  /// around each sum, product and reduction; and no concatenation may change
  /// the order of what a reduction adds.
  bool isExact(const Rule &rule, const Guard &guard);

private:
  Verifier verifier;
  Verifier rounding;
  Traces traces;
};

} // namespace espalier::substitution

#endif // ESPALIER_SUBSTITUTION_RULEPROVER_H
