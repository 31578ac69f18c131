//===- Backtrack.cpp - One graph after the other --------------------------===//

#include "Layouts.h"
#include "LiveChoice.h"
#include "Merge.h"
#include "llvm/Support/xxhash.h"
#include <set>
#include <unordered_set>

using namespace mlir;
using namespace espalier::substitution;

namespace {
/// What stands for what, in the order of the first.
using Redirects = std::vector<std::pair<ClassId, ClassId>>;

struct State {
  double cost;
  Redirects redirects;
  /// Whether tensors are in the orders that kernels choose by themselves.
  bool isOrderOpen = true;

  bool operator<(const State &other) const {
    return std::tie(cost, redirects) < std::tie(other.cost, other.redirects);
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
    leastOpen = best.cost;
    std::set<State> queue{best};
    isKnown(best.redirects);
    while (!queue.empty() && !isFull()) {
      State state = std::move(queue.extract(queue.begin()).value());
      if (!isPromising(state))
        continue;
      ++context.result.numGraphs;
      for (State &next : expand(state)) {
        if (next.cost < best.cost)
          best = next;
        if (next.isOrderOpen)
          leastOpen = std::min(leastOpen, next.cost);
        if (isPromising(next))
          queue.insert(std::move(next));
      }
      // The others would never be taken.
      while (queue.size() > options.maxGraphs)
        queue.erase(std::prev(queue.end()));
    }
    activate(best.redirects);
    return getChoice();
  }

private:
  /// Whether to go on from a graph. Rules do not apply where orders are chosen,
  /// so a graph that gains by orders is no reason to give up the others.
  bool isPromising(double cost, bool isOrderOpen) const {
    return cost <= options.alpha * (isOrderOpen ? leastOpen : best.cost);
  }
  bool isPromising(const State &state) const {
    return isPromising(state.cost, state.isOrderOpen);
  }

  /// Whether a graph has been met, or one that has the same hash.
  bool isKnown(const Redirects &redirects) {
    return !seen.insert(llvm::xxh3_64bits(ArrayRef(
                            reinterpret_cast<const uint8_t *>(redirects.data()),
                            redirects.size() * sizeof(redirects.front()))))
                .second;
  }

  bool isFull() {
    bool isFull = context.result.numGraphs >= options.maxGraphs ||
                  graph.getNumNodes() >= options.maxNodes || context.isTimeUp();
    context.result.hitLimit |= isFull;
    return isFull;
  }

  /// Where something can be said in several ways, takes the one that rules
  /// speak of, which comes last.
  void normalize() {
    addFamilyMembers(graph, context.families, options.maxNodes);
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

  /// All graphs that are one application away, or one group of them, and new.
  std::vector<State> expand(const State &state) {
    activate(state.redirects);
    Extraction problem{graph, root, costs};
    std::vector<ENodeId> order = problem.getOrder(getChoice());
    std::vector<ClassId> classes;
    for (ENodeId id : order)
      classes.push_back(graph.find(graph.getNode(id).owner));
    live.emplace(problem, getChoice());
    Matcher matcher(graph, context.recognizer, classes, MatchLimits());
    std::vector<State> result;
    auto keep = [&](const Redirects &added, bool isOrderOpen = true) {
      if (auto next = redirect(added, state, isOrderOpen && state.isOrderOpen))
        result.push_back(std::move(*next));
    };
    for (const RulePattern &pattern : context.patterns) {
      if (pattern.joining)
        for (Group &group :
             findGroups(graph, matcher, pattern, order, context.assumptions))
          keep(join(pattern, std::move(group)));
      for (Binding &binding : matcher.match(pattern))
        if (!isFull())
          keep(apply(pattern, binding));
    }
    for (ENodeId id : order)
      for (ClassId equal : findFamilyMembers(graph, context.families, id))
        keep({{graph.find(graph.getNode(id).owner), equal}});
    if (options.choosesOrders)
      for (LayoutChange change : findLayouts(graph, context, costs, order))
        keep({change}, /*isOrderOpen=*/false);
    deactivate(state.redirects);
    return result;
  }

  /// What an application redirects; nothing if the rule does not apply.
  Redirects apply(const RulePattern &pattern, Binding &binding) {
    Redirects added;
    if (addApplication(graph, context, costs, pattern, binding))
      for (auto [src, dst] :
           llvm::zip_equal(pattern.rule->src, pattern.rule->dst))
        added.push_back({binding[src], binding[dst]});
    return added;
  }

  /// What it takes for all of a group to become parts of one.
  Redirects join(const RulePattern &pattern, Group group) {
    Redirects added;
    joinGroup(pattern, std::move(group), [&](Binding &both) {
      if (isFull())
        return false;
      Redirects next = apply(pattern, both);
      llvm::append_range(added, next);
      return !next.empty();
    });
    // Parts of parts are parts of the whole.
    activate(added);
    for (auto &[from, to] : added)
      for (unsigned step = 0; step < added.size(); ++step) {
        SmallVector<ClassId, 2> equal =
            findFamilyMembers(graph, context.families, graph[to].nodes.front());
        if (equal.empty())
          break;
        to = equal.front();
      }
    deactivate(added);
    return added;
  }

  /// The graph in which further classes stand for others, if it is new.
  std::optional<State> redirect(Redirects added, const State &state,
                                bool isOrderOpen) {
    llvm::erase_if(added, [&](auto &entry) {
      entry.second = graph.find(entry.second);
      return entry.first == entry.second || !graph.isCanonical(entry.first);
    });
    if (added.empty() || hasCycle(added))
      return std::nullopt;
    live->addClasses();
    for (auto [from, to] : added) {
      graph.redirect(from, to);
      live->redirect(from);
    }
    std::optional<State> next;
    if (isPromising(live->getCost(), isOrderOpen))
      next = getState(state, added);
    if (next)
      next->isOrderOpen = isOrderOpen;
    for (auto [from, to] : llvm::reverse(added)) {
      live->restore(from);
      graph.restore(from);
    }
    return next;
  }

  /// The graph at hand, if it is new. An application that makes a graph need
  /// itself makes none.
  std::optional<State> getState(const State &before, const Redirects &added) {
    State next{live->getCost(), before.redirects};
    next.redirects.insert(next.redirects.end(), added.begin(), added.end());
    for (auto &[from, to] : next.redirects)
      to = graph.find(to);
    llvm::sort(next.redirects);
    if (isKnown(next.redirects) ||
        Extraction{graph, root, costs}.getCost(live->get()) == kImpossible)
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
  double leastOpen = 0; ///< The least cost of a graph whose orders are open.
  std::optional<LiveChoice> live; ///< Of the graph that is expanded.
  std::unordered_set<uint64_t> seen;
};
} // namespace

Choice espalier::substitution::backtrack(EGraph &graph, ClassId root,
                                         SearchContext &context,
                                         NodeCosts &costs) {
  return Backtracking(graph, root, context, costs).run();
}
