//===- ExtractGreedy.cpp - A good expression, fast ------------------------===//

#include "Extract.h"
#include <queue>

using namespace mlir;
using namespace espalier::substitution;

namespace {
class GreedyExtractor {
public:
  GreedyExtractor(const Extraction &problem, const Choice &start,
                  std::function<bool()> isTimeUp)
      : problem(problem), graph(problem.graph), isTimeUp(std::move(isTimeUp)),
        best(start), bestCost(problem.getCost(start)) {}

  Choice run() {
    Choice greedy = chooseBottomUp();
    // Classes that are not needed yet are chosen for once they are.
    for (ClassId id = 0; id < best.size(); ++id)
      if (best[id] == kNone)
        best[id] = greedy[id];
    improve();
    Choice first = std::move(best);
    double firstCost = bestCost;
    best = std::move(greedy);
    bestCost = problem.getCost(best);
    improve();
    return firstCost <= bestCost ? first : best;
  }

private:
  /// Chooses nodes in the order of the cost of all that they need (Knuth's
  /// generalization of Dijkstra's algorithm). What `best` uses several times is
  /// paid for in parts.
  Choice chooseBottomUp() {
    std::vector<unsigned> numUses(graph.getNumClassIds(), 0);
    Choice used = problem.restrict(best);
    for (ENodeId id : used)
      if (id != kNone)
        for (ClassId operand : graph.getNode(id).operands)
          ++numUses[graph.find(operand)];

    Choice choice(graph.getNumClassIds(), kNone);
    std::vector<double> total(graph.getNumClassIds(), kImpossible);
    std::vector<unsigned> missing(graph.getNumNodes(), 0);
    using Entry = std::tuple<double, ClassId, ENodeId>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    auto push = [&](ENodeId id) {
      double cost = problem.costs.get(id);
      for (ClassId operand : graph.getNode(id).operands)
        cost += total[graph.find(operand)] /
                std::max(1u, numUses[graph.find(operand)]);
      queue.push({cost, graph.find(graph.getNode(id).owner), id});
    };
    std::vector<std::vector<ENodeId>> users(graph.getNumClassIds());
    for (ENodeId id = 0; id < graph.getNumNodes(); ++id) {
      if (graph.getNode(id).isDead)
        continue;
      for (ClassId operand : graph.getNode(id).operands)
        users[graph.find(operand)].push_back(id);
      missing[id] = graph.getNode(id).operands.size();
      if (missing[id] == 0)
        push(id);
    }
    while (!queue.empty()) {
      auto [cost, owner, id] = queue.top();
      queue.pop();
      if (choice[owner] != kNone)
        continue;
      choice[owner] = id;
      total[owner] = cost;
      for (ENodeId user : users[owner])
        if (--missing[user] == 0)
          push(user);
    }
    return choice;
  }

  void improve() {
    if (bestCost == kImpossible)
      return;
    bool hasImproved = true;
    while (hasImproved && !isOver()) {
      hasImproved = switchUsers();
      hasImproved |= switchOne();
    }
  }

  /// Takes another node for one class.
  bool switchOne() {
    bool hasImproved = false;
    Choice needed = problem.restrict(best);
    for (ClassId id = 0; id < needed.size() && !isOver(); ++id) {
      if (needed[id] == kNone || graph[id].isConstant)
        continue;
      for (ENodeId other : graph[id].nodes)
        hasImproved |= tryNodes({other});
    }
    return hasImproved;
  }

  /// Computes all that can be from one class: the parts of a merged product.
  bool switchUsers() {
    bool hasImproved = false;
    Choice needed = problem.restrict(best);
    for (ClassId id = 0; id < needed.size() && !isOver(); ++id) {
      if (!graph.isCanonical(id) || graph[id].isConstant)
        continue;
      SmallVector<ENodeId> nodes;
      SmallVector<ClassId> owners;
      for (ENodeId user : graph[id].users) {
        ClassId owner = graph.find(graph.getNode(user).owner);
        if (graph.getNode(user).isDead || needed[owner] == kNone ||
            llvm::is_contained(owners, owner))
          continue;
        nodes.push_back(user);
        owners.push_back(owner);
      }
      if (nodes.size() > 1)
        hasImproved |= tryNodes(nodes);
    }
    return hasImproved;
  }

  bool isOver() const { return numSteps > kMaxSteps || isTimeUp(); }

  bool tryNodes(ArrayRef<ENodeId> nodes) {
    SmallVector<std::pair<ClassId, ENodeId>> saved;
    for (ENodeId id : nodes) {
      ClassId owner = graph.find(graph.getNode(id).owner);
      if (best[owner] == id)
        continue;
      saved.push_back({owner, best[owner]});
      best[owner] = id;
    }
    double cost = saved.empty() ? bestCost : problem.getCost(best, &numSteps);
    if (cost < bestCost) {
      bestCost = cost;
      return true;
    }
    for (auto [owner, id] : llvm::reverse(saved))
      best[owner] = id;
    return false;
  }

  /// A few seconds.
  static constexpr uint64_t kMaxSteps = 200000000;

  const Extraction &problem;
  const EGraph &graph;
  std::function<bool()> isTimeUp;
  uint64_t numSteps = 0;
  Choice best;
  double bestCost;
};
} // namespace

Choice espalier::substitution::extractGreedily(const Extraction &problem,
                                               const Choice &start,
                                               std::function<bool()> isTimeUp) {
  return GreedyExtractor(problem, start, std::move(isTimeUp)).run();
}
