//===- Assumptions.h - Conditions that are checked at run time --*- C++ -*-===//
//
// The condition of a rule may hold at some sizes and not at others. A search
// may assume that it holds: then all that it finds is valid where its
// assumptions are, and the result has to be guarded by a check of them all. So
// no part of an e-graph has to remember on which of them it depends.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_SUBSTITUTION_SEARCH_CHECKS_ASSUMPTIONS_H
#define ESPALIER_LIB_SUBSTITUTION_SEARCH_CHECKS_ASSUMPTIONS_H

#include "../Match.h"
#include "ClassExtents.h"

namespace espalier::substitution {

/// What one search of a block knows and assumes of unknown extents.
class Assumptions {
public:
  /// Takes for granted that the nodes `meant` have a meaning. Assumes no more
  /// than `maxClauses` clauses, and only those in `allowed` unless that is
  /// null.
  Assumptions(const EGraph &graph, ExtentTable &table,
              std::vector<ENodeId> meant, unsigned maxClauses,
              const std::vector<Clause> *allowed)
      : classes(graph, table), current(classes.getIntegers()),
        meant(std::move(meant)), maxClauses(maxClauses), allowed(allowed) {}

  /// What must be assumed for the condition of a rule to hold, with extents of
  /// at least 1: nothing if it does so for all sizes. Fails if it cannot hold,
  /// or if it cannot be computed from what comes into the block. `binding` has
  /// the classes of what the rule matches, and `types` those types and others
  /// that are known.
  std::optional<std::vector<Clause>>
  decide(const RulePattern &pattern, const Binding &binding,
         llvm::ArrayRef<mlir::RankedTensorType> types);

  /// Whether these clauses may be assumed beside those that are.
  bool canAssume(llvm::ArrayRef<Clause> clauses);
  /// Assumes them, which must be possible.
  void assume(llvm::ArrayRef<Clause> clauses);

  llvm::ArrayRef<Clause> getAssumed() const { return assumed; }
  /// Whether more could have been assumed.
  bool hasRefused() const { return refused; }

private:
  /// Collects facts, which take some time, when they are needed first.
  void prepare();
  const ConstraintStore &getCurrent() {
    return classes.learn(current, numLearned);
  }
  /// Those of the clauses that do not follow from what is assumed.
  std::vector<Clause> listNew(llvm::ArrayRef<Clause> clauses);

  ClassExtents classes;
  ConstraintStore current; ///< With what is assumed.
  unsigned numLearned = 0;
  std::vector<ENodeId> meant; ///< Until facts are collected.
  unsigned maxClauses;
  const std::vector<Clause> *allowed;
  std::vector<Clause> assumed;
  bool refused = false;
};

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_SEARCH_CHECKS_ASSUMPTIONS_H
