//===- Search.h - Makes graphs faster by substitutions ----------*- C++ -*-===//

#ifndef ESPALIER_SUBSTITUTION_SEARCH_SEARCH_H
#define ESPALIER_SUBSTITUTION_SEARCH_SEARCH_H

#include "espalier/Substitution/Search/CostModel.h"
#include "espalier/Substitution/Search/RuleSet.h"
#include "mlir/IR/PatternMatch.h"
#include <functional>

namespace espalier::substitution {

struct SearchOptions {
  enum class Search { EGraph, Backtracking } search = Search::EGraph;
  enum class Extraction { Greedy, Ilp } extraction = Extraction::Greedy;
  /// Where an e-graph, or the pool of all graphs that are tried, stops to grow.
  unsigned maxNodes = 20000;
  /// Rounds of applying all rules to an e-graph, and how many of the first of
  /// them apply rules with several outputs, too.
  unsigned maxIterations = 8;
  unsigned maxMergingIterations = 3;
  /// How many graphs backtracking takes from its queue, and how much more than
  /// the best one a graph may cost to get there.
  unsigned maxGraphs = 1000;
  double alpha = 1.05;
  /// Whether the order of tensors in memory is chosen as well, where the cost
  /// model says that it may matter.
  bool choosesOrders = true;
  /// The last resort: the other limits give the same result each time.
  /// Measuring does not count.
  double maxSeconds = 60;
  /// How many conditions on unknown extents a result may have checked at run
  /// time.
  unsigned maxChecks = 8;
  /// Ends the search as if its time were up; may be null.
  std::function<bool()> isCancelled;
};

/// What a change of the order in memory is called next to the names of rules.
constexpr llvm::StringLiteral kLayoutRule = "layout";

/// An application of a rule that is part of the result.
struct Substitution {
  std::string rule;
  mlir::Location location;
  /// Predicted, for the operators of both sides of the rule by themselves.
  double gain;
};

/// A condition under which a function takes the version that was found.
struct Check {
  std::string condition;
  mlir::Location location; ///< Of the function.
};

struct SearchResult {
  /// Predicted, without what depends on constants alone.
  double secondsBefore = 0, secondsAfter = 0;
  std::vector<Substitution> substitutions;
  std::vector<Check> checks;
  unsigned numNodes = 0;  ///< Of the e-graph or pool.
  unsigned numGraphs = 0; ///< That backtracking tried.
  unsigned numMatches = 0;
  bool hitLimit = false;
  /// Whether the best extraction from the e-graph was found and proved to be.
  bool isOptimal = false;
  double seconds = 0; ///< Without measuring.
};

/// Optimizes each block below `root` that has operators of `graph`. Whatever is
/// no such operator stays, in its order; results have the types they had. The
/// IR stays as it is where nothing better was found. A function with unknown
/// extents may be put into two versions, of which a check of its arguments'
/// extents chooses one.
SearchResult optimizeGraphs(mlir::Operation *root, const RuleSet &rules,
                            CostModel &model, const SearchOptions &options,
                            mlir::RewriterBase &rewriter);

} // namespace espalier::substitution

#endif // ESPALIER_SUBSTITUTION_SEARCH_SEARCH_H
