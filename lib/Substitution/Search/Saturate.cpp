//===- Saturate.cpp - Applies rules to an e-graph -------------------------===//

#include "Saturate.h"
#include "Extract.h"
#include "Merge.h"

using namespace mlir;
using namespace espalier::substitution;

Operation *espalier::substitution::getSource(const EGraph &graph, ClassId id) {
  for (ENodeId node : graph[id].nodes)
    if (graph.getNode(node).source)
      return graph.getNode(node).source;
  return nullptr;
}

bool espalier::substitution::addApplication(EGraph &graph,
                                            SearchContext &context,
                                            NodeCosts &costs,
                                            const RulePattern &pattern,
                                            Binding &binding) {
  const Rule &rule = *pattern.rule;
  std::optional<Plan> plan =
      planApplication(graph, pattern, binding, context.assumptions);
  if (!plan)
    return false;
  if (!plan->assumed.empty())
    context.assumptions->assume(plan->assumed);
  ++context.result.numMatches;
  Operation *source = getSource(graph, binding[rule.src.front()]);
  // What is matched costs, as it was first computed, less what is new.
  double gain = 0;
  for (NodeId id = 0; id < rule.graph.size(); ++id)
    if (!rule.graph[id].isVariable() && binding[id] != kNone)
      gain += costs.getSeconds(graph[binding[id]].nodes.front());
  ENodeId firstNew = graph.getNumNodes();
  build(graph, rule, binding, *plan, context.applications.size(), source);
  for (ENodeId node = firstNew; node < graph.getNumNodes(); ++node)
    gain -= costs.getSeconds(node);
  if (graph.getNumNodes() != firstNew)
    context.applications.push_back(
        {rule.name, source, gain, kNone, std::move(plan->assumed)});
  return true;
}

namespace {
class Saturation {
public:
  Saturation(EGraph &graph, SearchContext &context)
      : graph(graph), context(context), costs(graph, context.model) {}

  void run() {
    close();
    for (unsigned round = 0; round < context.options.maxMergingIterations;
         ++round)
      if (!joinGroups() || isFull())
        break;
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
    Matcher matcher(graph, context.recognizer, listClasses(), MatchLimits());
    for (const RulePattern &pattern : context.patterns) {
      if (pattern.below.size() > 1 &&
          round >= context.options.maxMergingIterations)
        continue;
      matches.push_back({&pattern, matcher.match(pattern)});
      if (context.isTimeUp())
        break;
    }
    isNew = false;
    for (auto &[pattern, bindings] : matches)
      for (Binding &binding : bindings) {
        if (isFull())
          return false;
        apply(*pattern, binding);
      }
    close();
    return isNew;
  }

  /// Returns whether the rule applies.
  bool apply(const RulePattern &pattern, Binding &binding) {
    for (ClassId &id : binding)
      if (id != kNone)
        id = graph.find(id);
    unsigned numNodes = graph.getNumNodes();
    if (!addApplication(graph, context, costs, pattern, binding))
      return false;
    isNew |= graph.getNumNodes() != numNodes;
    for (auto [src, dst] :
         llvm::zip_equal(pattern.rule->src, pattern.rule->dst))
      isNew |= graph.unite(binding[src], binding[dst]);
    return true;
  }

  /// Says the same in all ways.
  void close() {
    graph.rebuild();
    while (
        addFamilyMembers(graph, context.families, context.options.maxNodes) &&
        !isFull())
      isNew = true;
  }

  /// Joins whatever one rule can join, all at once. Returns whether anything
  /// was new.
  bool joinGroups() {
    isNew = false;
    std::vector<ENodeId> order;
    std::vector<bool> isKnown(graph.getNumClassIds());
    // The first node of a class was made after all that it needs.
    for (ENodeId id = 0; id < graph.getNumNodes(); ++id) {
      ClassId owner = graph.find(graph.getNode(id).owner);
      if (!isKnown[owner])
        order.push_back(id);
      isKnown[owner] = true;
    }
    Matcher matcher(graph, context.recognizer, listClasses(), MatchLimits());
    std::vector<std::pair<const RulePattern *, std::vector<Group>>> found;
    for (const RulePattern &pattern : context.patterns)
      if (pattern.joining)
        found.push_back({&pattern, findGroups(graph, matcher, pattern, order,
                                              context.assumptions)});
    for (auto &[pattern, groups] : found)
      for (Group &group : groups)
        joinGroup(*pattern, std::move(group),
                  [&, pattern = pattern](Binding &both) {
                    return !isFull() && apply(*pattern, both);
                  });
    close();
    return isNew;
  }

  std::vector<ClassId> listClasses() const {
    std::vector<ClassId> classes;
    for (ClassId id = 0; id < graph.getNumClassIds(); ++id)
      if (graph.isCanonical(id))
        classes.push_back(id);
    return classes;
  }

  EGraph &graph;
  SearchContext &context;
  NodeCosts costs;
  bool isNew = false;
};
} // namespace

void espalier::substitution::saturate(EGraph &graph, SearchContext &context) {
  Saturation(graph, context).run();
}
