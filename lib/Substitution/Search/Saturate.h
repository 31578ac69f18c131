//===- Saturate.h - Applies rules to an e-graph -----------------*- C++ -*-===//

#ifndef ESPALIER_LIB_SUBSTITUTION_SEARCH_SATURATE_H
#define ESPALIER_LIB_SUBSTITUTION_SEARCH_SATURATE_H

#include "Apply.h"
#include "BlockGraph.h"
#include "Extract.h"
#include "RuleFamilies.h"
#include "espalier/Substitution/Search/Search.h"
#include <functional>

namespace espalier::substitution {

/// Where a rule was applied, or the order of a tensor changed.
struct Application {
  llvm::StringRef rule;
  mlir::Operation *source;
  double gain = 0; ///< Seconds by which `dst` costs less than `src`.
  /// The application that made what a change of order has changed.
  unsigned before = kNone;
  std::vector<Clause> assumed; ///< What it takes for the rule to hold there.
};

/// What a search has in common for all blocks.
struct SearchContext {
  llvm::ArrayRef<ProvedRule> rules;
  CostModel &model;
  const SearchOptions &options;
  std::function<double()> getSecondsLeft;
  Recognizer recognizer;
  std::vector<RulePattern> patterns;
  std::vector<Application> applications;
  SearchResult result;
  FamilyRules families;
  Assumptions *assumptions = nullptr; ///< Of the search that runs.

  bool isTimeUp() const { return getSecondsLeft() <= 0; }
};

/// An operation that a class has come from.
mlir::Operation *getSource(const EGraph &graph, ClassId id);

/// Adds what a rule makes of a match, if it applies there, and binds the nodes
/// of its `dst` to that. Returns whether it applies.
bool addApplication(EGraph &graph, SearchContext &context, NodeCosts &costs,
                    const RulePattern &pattern, Binding &binding);

/// Applies all rules wherever they fit, until nothing new comes or a limit is
/// reached.
void saturate(EGraph &graph, SearchContext &context);

/// TASO's search (Jia et al., SOSP 2019): takes the cheapest graph from a
/// queue, applies each rule at each place, and puts into the queue what costs
/// at most `alpha` times the best. A graph is what `root` stands for while some
/// classes stand for others. Returns a choice for the best one, which is then
/// in force.
Choice backtrack(EGraph &graph, ClassId root, SearchContext &context,
                 NodeCosts &costs);

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_SEARCH_SATURATE_H
