//===- Generalize.h - More general rules ------------------------*- C++ -*-===//
//
// The enumeration has few inputs, so some equations come with fewer variables
// than they could have:
//
//   ewadd(concat(x, y), concat(y, z)) = concat(ewadd(x, y), ewadd(y, z))
//
// holds with four. A subterm that both sides share becomes a variable, and a
// variable becomes two at some of its occurrences, where the equation still
// passes all tests.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_SUBSTITUTION_GENERATOR_GENERALIZE_H
#define ESPALIER_LIB_SUBSTITUTION_GENERATOR_GENERALIZE_H

#include "Retest.h"

namespace espalier::substitution::generator {

/// Whether every variable of the right side occurs in the left one.
bool hasVariablesOf(const Terms &terms, const TermPair &pair);

class Generalizer {
public:
  Generalizer(Terms &terms, Retester &retester)
      : terms(terms), retester(retester) {}

  /// Generalizes an equation that holds under the condition.
  TermPair generalize(TermPair pair, Condition condition);

private:
  bool replaceSubterm(TermPair &pair, Condition condition);
  bool splitVariable(TermPair &pair, Condition condition);
  bool splitVariable(TermPair &pair, TermId variable, Condition condition);
  TermId getFresh(const TermPair &pair, const LeafTemplate &leaf);
  std::optional<TermId> getFreshFor(const TermPair &pair, TermId term);

  Terms &terms;
  Retester &retester;
};

} // namespace espalier::substitution::generator

#endif // ESPALIER_LIB_SUBSTITUTION_GENERATOR_GENERALIZE_H
