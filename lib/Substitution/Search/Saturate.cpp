//===- Saturate.cpp - Applies rules to an e-graph -------------------------===//

#include "Saturate.h"
#include "Extract.h"

using namespace mlir;
using namespace espalier::substitution;

Operation *espalier::substitution::getSource(const EGraph &graph, ClassId id) {
  for (ENodeId node : graph[id].nodes)
    if (graph.getNode(node).source)
      return graph.getNode(node).source;
  return nullptr;
}

/// What is matched costs, as it was first computed, less what is new.
void espalier::substitution::record(const EGraph &graph, SearchContext &context,
                                    NodeCosts &costs,
                                    const RulePattern &pattern,
                                    const Binding &binding, ENodeId firstNew) {
  const Rule &rule = *pattern.rule;
  double gain = 0;
  for (NodeId id = 0; id < rule.graph.size(); ++id)
    if (!rule.graph[id].isVariable() && binding[id] != kNone)
      gain += costs.getSeconds(graph[binding[id]].nodes.front());
  for (ENodeId node = firstNew; node < graph.getNumNodes(); ++node)
    gain -= costs.getSeconds(node);
  context.applications.push_back(
      {&rule, getSource(graph, binding[rule.src.front()]), gain});
}

namespace {
class Saturation {
public:
  Saturation(EGraph &graph, SearchContext &context)
      : graph(graph), context(context), costs(graph, context.model) {}

  void run() {
    addStructure(graph, context.structure, context.options.maxNodes);
    for (unsigned round = 0; round < context.options.maxIterations; ++round)
      if (!runRound(round) || isFull())
        return;
    context.result.hitLimit = true;
  }

private:
  bool isFull() {
    if (graph.getNumNodes() < context.options.maxNodes && !context.isTimeUp())
      return false;
    context.result.hitLimit = true;
    return true;
  }

  /// All rules are matched before one is applied, so that their order does not
  /// decide.
  bool runRound(unsigned round) {
    std::vector<std::pair<const RulePattern *, std::vector<Binding>>> matches;
    std::vector<ClassId> classes;
    for (ClassId id = 0; id < graph.getNumClassIds(); ++id)
      if (graph.isCanonical(id))
        classes.push_back(id);
    Matcher matcher(graph, context.recognizer, classes, MatchLimits());
    for (const RulePattern &pattern : context.patterns) {
      if (pattern.below.size() > 1 &&
          round >= context.options.maxMergingIterations)
        continue;
      matches.push_back({&pattern, matcher.match(pattern)});
      if (context.isTimeUp())
        break;
    }
    bool isNew = false;
    for (auto &[pattern, bindings] : matches)
      for (Binding &binding : bindings) {
        if (isFull())
          return false;
        isNew |= apply(*pattern, binding);
      }
    graph.rebuild();
    isNew |= addStructure(graph, context.structure, context.options.maxNodes);
    return isNew;
  }

  bool apply(const RulePattern &pattern, Binding &binding) {
    const Rule &rule = *pattern.rule;
    for (ClassId &id : binding)
      if (id != kNone)
        id = graph.find(id);
    std::optional<Plan> plan = planApplication(graph, pattern, binding);
    if (!plan)
      return false;
    ++context.result.numMatches;
    ENodeId firstNew = graph.getNumNodes();
    SmallVector<ClassId, 2> outputs =
        build(graph, rule, binding, *plan, context.applications.size(),
              getSource(graph, binding[rule.src.front()]));
    bool isNew = graph.getNumNodes() != firstNew;
    if (isNew)
      record(graph, context, costs, pattern, binding, firstNew);
    for (auto [src, dst] : llvm::zip_equal(rule.src, outputs))
      isNew |= graph.unite(binding[src], dst);
    return isNew;
  }

  EGraph &graph;
  SearchContext &context;
  NodeCosts costs;
};
} // namespace

void espalier::substitution::saturate(EGraph &graph, SearchContext &context) {
  Saturation(graph, context).run();
}
