//===- Merge.h - Many like operators become one -----------------*- C++ -*-===//
//
// A rule that joins two products of one operand also joins ten of them: it is
// applied to two at a time, then to what these have become. To do that at once
// keeps a search from trying all orders and subsets.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_SUBSTITUTION_SEARCH_MERGE_H
#define ESPALIER_LIB_SUBSTITUTION_SEARCH_MERGE_H

#include "Checks/Assumptions.h"
#include "Match.h"

namespace espalier::substitution {

/// Matches of the first output of a rule that joins two like ones.
using Group = std::vector<Binding>;

/// The groups of at least two that a rule can join: they agree about what its
/// outputs share, none needs another one, and none is a part of something
/// already. `order` has a node for each class, operands first. The rule may
/// need what `assumptions` allow.
std::vector<Group> findGroups(const EGraph &graph, Matcher &matcher,
                              const RulePattern &pattern,
                              llvm::ArrayRef<ENodeId> order,
                              Assumptions *assumptions);

/// Joins a group. `apply` applies the rule at a match, binds the nodes of its
/// `dst` too, and returns whether it could. Returns how many applications there
/// were.
unsigned joinGroup(const RulePattern &pattern, Group group,
                   llvm::function_ref<bool(Binding &)> apply);

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_SEARCH_MERGE_H
