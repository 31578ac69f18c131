//===- Saturate.h - Applies rules to an e-graph -----------------*- C++ -*-===//

#ifndef ESPALIER_LIB_SUBSTITUTION_SEARCH_SATURATE_H
#define ESPALIER_LIB_SUBSTITUTION_SEARCH_SATURATE_H

#include "Apply.h"
#include "BlockGraph.h"
#include "espalier/Substitution/Search/Search.h"
#include <functional>

namespace espalier::substitution {

/// Where a rule was applied.
struct Application {
  const Rule *rule;
  mlir::Operation *source;
  double gain = 0; ///< Seconds by which `dst` costs less than `src`.
};

/// Tells whether the time of a search is over.
using Deadline = std::function<bool()>;

/// What a search has in common for all blocks.
struct SearchContext {
  llvm::ArrayRef<ProvedRule> rules;
  CostModel &model;
  const SearchOptions &options;
  Deadline isTimeUp;
  Recognizer recognizer;
  std::vector<RulePattern> patterns;
  std::vector<Application> applications;
  SearchResult result;
};

/// Applies all rules wherever they fit, until nothing new comes or a limit is
/// reached.
void saturate(EGraph &graph, SearchContext &context);

/// Adds what is known of slices and concatenations beyond rules, which speak of
/// two parts only: a slice of a slice is a slice, and a concatenation of many
/// is one of two. Returns whether anything was new.
bool addStructure(EGraph &graph, unsigned maxNodes);

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_SEARCH_SATURATE_H
