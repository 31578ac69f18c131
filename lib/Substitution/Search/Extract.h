//===- Extract.h - The best expression in an e-graph ------------*- C++ -*-===//
//
// A choice is a node for each class that the root needs, without a cycle. It
// costs the sum over its nodes, each once however often it is used. To find the
// least is NP-hard; `extractGreedily` is fast, `extractOptimally` asks a
// solver.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_SUBSTITUTION_SEARCH_EXTRACT_H
#define ESPALIER_LIB_SUBSTITUTION_SEARCH_EXTRACT_H

#include "BlockGraph.h"
#include "espalier/Substitution/Search/CostModel.h"
#include <functional>
#include <limits>

namespace espalier::substitution {

constexpr double kImpossible = std::numeric_limits<double>::infinity();

/// What nodes cost, asked once each.
class NodeCosts {
public:
  NodeCosts(const EGraph &graph, CostModel &model)
      : graph(graph), model(model) {}

  /// Seconds; nothing for what depends on constants alone. A trifle is added,
  /// such that of equal costs the fewer nodes win.
  double get(ENodeId id);
  /// Without the trifle.
  double getSeconds(ENodeId id);
  /// To be called when classes have been united.
  void forgetNodes() {
    byNode.clear();
    withTrifle.clear();
  }

private:
  double ask(ENodeId id);

  const EGraph &graph;
  CostModel &model;
  std::map<std::vector<const void *>, double> known;
  /// Negative where they are not known.
  std::vector<double> byNode, withTrifle;
};

/// The problem of an extraction.
struct Extraction {
  const EGraph &graph;
  ClassId root;
  NodeCosts &costs;

  /// What a choice costs; impossible if it lacks a class or has a cycle.
  double getCost(const Choice &choice) const;
  /// The seconds that are predicted of a valid choice.
  double getSeconds(const Choice &choice) const;
  /// Leaves only what the root needs.
  Choice restrict(const Choice &choice) const;
  /// The nodes that the root needs, operands first.
  std::vector<ENodeId> getOrder(const Choice &choice) const;
};

/// The nodes that were there before any rule was applied.
Choice getOriginal(const Extraction &problem);

/// Chooses for each class what is cheapest together with all that it needs,
/// then improves on that and on `start`, one class or all users of a class at a
/// time, while it helps.
Choice extractGreedily(const Extraction &problem, const Choice &start,
                       std::function<bool()> isTimeUp);

/// Asks an integer programming solver, beginning with `start`. Sets `isOptimal`
/// if no choice is better than the result.
Choice extractOptimally(const Extraction &problem, const Choice &start,
                        double maxSeconds, bool &isOptimal);

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_SEARCH_EXTRACT_H
