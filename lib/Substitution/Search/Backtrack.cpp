//===- Backtrack.cpp - One graph after the other --------------------------===//

#include "Saturate.h"
#include <queue>
#include <set>

using namespace mlir;
using namespace espalier::substitution;

namespace {
/// What stands for what, in the order of the first.
using Redirects = std::vector<std::pair<ClassId, ClassId>>;

struct State {
  double cost;
  Redirects redirects;

  bool operator<(const State &other) const {
    return std::tie(cost, redirects) > std::tie(other.cost, other.redirects);
  }
};

class Backtracking {
public:
  Backtracking(EGraph &graph, ClassId root, SearchContext &context,
               NodeCosts &costs)
      : graph(graph), root(root), context(context), costs(costs),
        options(context.options) {}

  Choice run() {
    normalize();
    best = {getCost(), {}};
    std::priority_queue<State> queue;
    queue.push(best);
    seen.insert(best.redirects);
    while (!queue.empty() && !isFull()) {
      State state = queue.top();
      queue.pop();
      if (state.cost > options.alpha * best.cost)
        break;
      ++context.result.numGraphs;
      for (State &next : expand(state)) {
        if (next.cost < best.cost)
          best = next;
        if (next.cost <= options.alpha * best.cost)
          queue.push(std::move(next));
      }
    }
    activate(best.redirects);
    return getChoice();
  }

private:
  bool isFull() {
    bool isFull = context.result.numGraphs >= options.maxGraphs ||
                  graph.getNumNodes() >= options.maxNodes || context.isTimeUp();
    context.result.hitLimit |= isFull;
    return isFull;
  }

  /// Where something can be said in several ways, takes the one that rules
  /// speak of, which comes last.
  void normalize() {
    addStructure(graph, context.structure, options.maxNodes);
    Choice original = getOriginal({graph, root, costs});
    Choice last = original;
    for (ClassId id = 0; id < graph.getNumClassIds(); ++id)
      if (graph.isCanonical(id) && !graph[id].nodes.empty())
        last[id] = *llvm::max_element(graph[id].nodes);
    Extraction problem{graph, root, costs};
    for (ENodeId id : problem.getCost(last) < kImpossible ? last : original)
      if (id != kNone)
        graph.keepOnly(id);
  }

  void activate(const Redirects &redirects) {
    for (auto [from, to] : redirects)
      graph.redirect(from, to);
  }
  void deactivate(const Redirects &redirects) {
    for (auto [from, to] : redirects)
      graph.restore(from);
  }

  Choice getChoice() {
    Choice choice(graph.getNumClassIds(), kNone);
    for (ClassId id = 0; id < choice.size(); ++id)
      if (graph.isCanonical(id))
        choice[id] = graph[id].nodes.front();
    return choice;
  }
  double getCost() {
    return Extraction{graph, root, costs}.getCost(getChoice());
  }

  /// All graphs that are one application away and new.
  std::vector<State> expand(const State &state) {
    activate(state.redirects);
    Extraction problem{graph, root, costs};
    Choice needed = problem.restrict(getChoice());
    std::vector<ClassId> classes;
    for (ClassId id = 0; id < needed.size(); ++id)
      if (needed[id] != kNone)
        classes.push_back(id);
    Matcher matcher(graph, context.recognizer, classes, MatchLimits());
    std::vector<State> result;
    for (const RulePattern &pattern : context.patterns)
      for (const Binding &binding : matcher.match(pattern))
        if (!isFull())
          if (std::optional<State> next = apply(pattern, binding, state))
            result.push_back(std::move(*next));
    for (ClassId id : classes)
      for (ClassId equal : findStructure(graph, context.structure, needed[id]))
        if (std::optional<State> next = redirect({{id, equal}}, state))
          result.push_back(std::move(*next));
    deactivate(state.redirects);
    return result;
  }

  std::optional<State> apply(const RulePattern &pattern, const Binding &binding,
                             const State &state) {
    const Rule &rule = *pattern.rule;
    std::optional<Plan> plan = planApplication(graph, pattern, binding);
    if (!plan)
      return std::nullopt;
    ++context.result.numMatches;
    ENodeId firstNew = graph.getNumNodes();
    SmallVector<ClassId, 2> outputs =
        build(graph, rule, binding, *plan, context.applications.size(),
              getSource(graph, binding[rule.src.front()]));
    if (graph.getNumNodes() != firstNew)
      record(graph, context, costs, pattern, binding, firstNew);
    Redirects added;
    for (auto [src, dst] : llvm::zip_equal(rule.src, outputs))
      added.push_back({binding[src], dst});
    return redirect(added, state);
  }

  /// The graph in which further classes stand for others, if it is new.
  std::optional<State> redirect(Redirects added, const State &state) {
    llvm::erase_if(added, [&](auto &entry) {
      entry.second = graph.find(entry.second);
      return entry.first == entry.second || !graph.isCanonical(entry.first);
    });
    if (added.empty() || hasCycle(added))
      return std::nullopt;
    activate(added);
    State next{getCost(), state.redirects};
    next.redirects.insert(next.redirects.end(), added.begin(), added.end());
    for (auto &[from, to] : next.redirects)
      to = graph.find(to);
    llvm::sort(next.redirects);
    deactivate(added);
    // What was redirected before may have been compressed.
    activate(state.redirects);
    // An application that makes a graph need itself costs too much.
    if (next.cost == kImpossible || next.cost > options.alpha * best.cost ||
        !seen.insert(next.redirects).second)
      return std::nullopt;
    return next;
  }

  /// Whether a class would stand for one that stands for another.
  static bool hasCycle(const Redirects &added) {
    return llvm::any_of(added, [&](auto first) {
      return llvm::any_of(
          added, [&](auto second) { return first.second == second.first; });
    });
  }

  EGraph &graph;
  ClassId root;
  SearchContext &context;
  NodeCosts &costs;
  const SearchOptions &options;
  State best;
  std::set<Redirects> seen;
};
} // namespace

Choice espalier::substitution::backtrack(EGraph &graph, ClassId root,
                                         SearchContext &context,
                                         NodeCosts &costs) {
  return Backtracking(graph, root, context, costs).run();
}
