//===- ExtractGreedy.cpp - A good expression, fast ------------------------===//

#include "LiveChoice.h"
#include <queue>

using namespace mlir;
using namespace espalier::substitution;

namespace {
class GreedyExtractor {
public:
  GreedyExtractor(const Extraction &problem, const Choice &start,
                  std::function<bool()> isTimeUp)
      : problem(problem), graph(problem.graph), isTimeUp(std::move(isTimeUp)),
        start(start) {}

  Choice run() {
    Choice greedy = chooseBottomUp();
    // Classes that are not needed yet are chosen for once they are.
    for (ClassId id = 0; id < start.size(); ++id)
      if (start[id] == kNone)
        start[id] = greedy[id];
    Choice first = improve(std::move(start));
    Choice second = improve(std::move(greedy));
    return problem.getCost(first) <= problem.getCost(second) ? first : second;
  }

private:
  /// Chooses nodes in the order of the cost of all that they need (Knuth's
  /// generalization of Dijkstra's algorithm). What `start` uses several times
  /// is paid for in parts.
  Choice chooseBottomUp() {
    std::vector<unsigned> numUses(graph.getNumClassIds(), 0);
    Choice used = problem.restrict(start);
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

  Choice improve(Choice choice) {
    bestCost = problem.getCost(choice);
    if (bestCost == kImpossible)
      return choice;
    best.emplace(problem, std::move(choice));
    best->correctCost(bestCost);
    bool hasImproved = true;
    while (hasImproved && !isTimeUp()) {
      hasImproved = switchParts();
      hasImproved |= switchOne();
    }
    return best->get();
  }

  /// Takes another node for one class.
  bool switchOne() {
    bool hasImproved = false;
    for (ClassId id = 0; id < graph.getNumClassIds() && !isTimeUp(); ++id) {
      if (!graph.isCanonical(id) || graph[id].isConstant)
        continue;
      for (ENodeId other : graph[id].nodes)
        if (best->isNeeded(id))
          hasImproved |= tryNodes({other});
    }
    return hasImproved;
  }

  /// Takes from one class all that are parts of it, and parts of those: what a
  /// merged product is for. What was merged last has the most parts.
  bool switchParts() {
    bool hasImproved = false;
    for (ClassId id = graph.getNumClassIds(); id-- > 0 && !isTimeUp();)
      if (graph.isCanonical(id) && !graph[id].isConstant)
        if (SmallVector<ENodeId> parts = getParts(id); parts.size() > 1)
          hasImproved |= tryNodes(parts);
    return hasImproved;
  }

  /// The slices that make classes that are needed of one.
  SmallVector<ENodeId> getParts(ClassId whole) const {
    struct Part {
      ENodeId node;
      ClassId owner;
      unsigned from; ///< Which part it is a part of.
      bool isUsed;
    };
    SmallVector<Part> parts{{kNone, whole, 0, false}};
    llvm::SmallDenseSet<ClassId> seen{whole};
    for (unsigned next = 0; next < parts.size(); ++next)
      for (ENodeId user : graph[parts[next].owner].users) {
        const ENode &node = graph.getNode(user);
        ClassId owner = graph.find(node.owner);
        if (!node.isDead && isSlice(node) && seen.insert(owner).second)
          parts.push_back({user, owner, next, best->isNeeded(owner)});
      }
    SmallVector<ENodeId> nodes;
    for (Part &part : llvm::reverse(llvm::drop_begin(parts)))
      if (part.isUsed) {
        nodes.push_back(part.node);
        parts[part.from].isUsed = true;
      }
    return nodes;
  }

  bool isSlice(const ENode &node) const {
    return node.kind == ENode::Kind::Operator &&
           isSliceName(graph.getSymbol(node.symbol).name);
  }

  bool tryNodes(ArrayRef<ENodeId> nodes) {
    SmallVector<std::pair<ClassId, ENodeId>> saved;
    for (ENodeId id : nodes) {
      ClassId owner = graph.find(graph.getNode(id).owner);
      if (best->get()[owner] != id)
        saved.push_back({owner, best->choose(owner, id)});
    }
    // Counted again: rounding is no improvement, and what has a cycle is none.
    if (best->getCost() < bestCost - kLeastGain)
      if (double exact = problem.getCost(best->get());
          exact < bestCost - kLeastGain) {
        bestCost = exact;
        best->correctCost(exact);
        return true;
      }
    for (auto [owner, id] : llvm::reverse(saved))
      best->choose(owner, id);
    best->correctCost(bestCost);
    return false;
  }

  /// Less than what one node more costs, and more than rounding.
  static constexpr double kLeastGain = 1e-11;

  const Extraction &problem;
  const EGraph &graph;
  std::function<bool()> isTimeUp;
  Choice start;
  std::optional<LiveChoice> best;
  double bestCost = 0;
};
} // namespace

Choice espalier::substitution::extractGreedily(const Extraction &problem,
                                               const Choice &start,
                                               std::function<bool()> isTimeUp) {
  return GreedyExtractor(problem, start, std::move(isTimeUp)).run();
}
