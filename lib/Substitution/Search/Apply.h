//===- Apply.h - What a rule makes of a match -------------------*- C++ -*-===//

#ifndef ESPALIER_LIB_SUBSTITUTION_SEARCH_APPLY_H
#define ESPALIER_LIB_SUBSTITUTION_SEARCH_APPLY_H

#include "Checks/Assumptions.h"

namespace espalier::substitution {

/// The operators that `dst` of a rule consists of, for one match.
struct Plan {
  /// For each node of the rule; those of `dst` alone have an instance.
  std::vector<std::optional<OperatorInstance>> instances;
  /// The nodes of `dst` that are not bound, operands first.
  llvm::SmallVector<NodeId> order;
  /// What must be assumed of extents.
  std::vector<Clause> assumed;
};

/// Types `dst` for a match. Nothing if the rule cannot be applied there: its
/// condition does not hold for all sizes, nor may what is missing be assumed, a
/// cut is elsewhere, an operator needs an extent that is not known, a tensor
/// has a rank for which rules are not proved. Without `assumptions`, a
/// condition on unknown extents does not hold.
std::optional<Plan> planApplication(const EGraph &graph,
                                    const RulePattern &pattern,
                                    const Binding &binding,
                                    Assumptions *assumptions = nullptr);

/// Adds what is planned, and binds the nodes of `dst` to it. New nodes have
/// this origin and source.
void build(EGraph &graph, const Rule &rule, Binding &binding, const Plan &plan,
           unsigned origin, mlir::Operation *source);

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_SEARCH_APPLY_H
