//===- Prune.h - From classes of graphs to rules ----------------*- C++ -*-===//
//
// Two ways to get rules from classes of graphs with equal fingerprints:
//
// *Distinct* rules are counted as TASO counts them: each graph of a class with
// the first one, without those that are others under a renaming, and without
// those whose sides have a common part. They are re-tested after that.
//
// *Independent* rules are what is left when everything goes that follows from
// smaller rules. Smaller ones come first; two graphs of a class are connected
// when one application of the rules so far leads from one to the other, and
// only between what is not connected a new rule is made, if it passes the
// tests. A path through a class may thus have many steps.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_SUBSTITUTION_GENERATOR_PRUNE_H
#define ESPALIER_LIB_SUBSTITUTION_GENERATOR_PRUNE_H

#include "Classes.h"
#include "Retest.h"

namespace espalier::substitution::generator {

struct FoundRule {
  TermPair pair; ///< The larger side is the left one.
  Condition condition;
};

struct PruneCounts {
  uint64_t renamed = 0;  ///< Pairs up to renaming.
  uint64_t unshared = 0; ///< Of these, without common parts.
  uint64_t tested = 0;   ///< Pairs that were evaluated again.
  uint64_t failed = 0;   ///< Of these, coincidences.
};

using Class = std::vector<Side>;

/// Makes the rules that TASO would count.
Outcome findDistinctRules(Terms &terms, llvm::ArrayRef<Class> classes,
                          const Limits &limits, std::vector<FoundRule> &rules,
                          PruneCounts &counts);

/// Makes rules that no others imply. `classes` hold graphs in ascending order
/// of their numbers of operators, those of one output first.
Outcome findIndependentRules(Terms &terms, llvm::ArrayRef<Class> classes,
                             unsigned depth, const Limits &limits,
                             std::vector<FoundRule> &rules,
                             PruneCounts &counts);

} // namespace espalier::substitution::generator

#endif // ESPALIER_LIB_SUBSTITUTION_GENERATOR_PRUNE_H
