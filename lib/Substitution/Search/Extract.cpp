//===- Extract.cpp - Costs of choices -------------------------------------===//

#include "Extract.h"

using namespace mlir;
using namespace espalier::substitution;

/// Of a node that is computed when the program runs, and of one that is not.
static constexpr double kTrifle = 1e-10, kConstantTrifle = 1e-13;

double NodeCosts::getSeconds(ENodeId id) {
  if (byNode.size() < graph.getNumNodes())
    byNode.resize(graph.getNumNodes(), -1);
  if (byNode[id] < 0)
    byNode[id] = ask(id);
  return byNode[id];
}

double NodeCosts::ask(ENodeId id) {
  const ENode &node = graph.getNode(id);
  if (node.kind != ENode::Kind::Operator || graph.isConstant(node))
    return 0;
  std::vector<const void *> key{
      reinterpret_cast<const void *>(uintptr_t(node.symbol)),
      graph[node.owner].type.getAsOpaquePointer()};
  for (ClassId operand : node.operands)
    key.push_back(graph[operand].type.getAsOpaquePointer());
  auto [entry, isNew] = known.try_emplace(key, 0);
  if (isNew)
    if (std::optional<OperatorInstance> instance = graph.getInstance(id))
      entry->second = std::max(0.0, model.getSeconds(*instance));
  return entry->second;
}

double NodeCosts::get(ENodeId id) {
  if (withTrifle.size() < graph.getNumNodes())
    withTrifle.resize(graph.getNumNodes(), -1);
  if (withTrifle[id] >= 0)
    return withTrifle[id];
  const ENode &node = graph.getNode(id);
  // What the program says already is as good.
  double trifle = graph.isConstant(node) ? kConstantTrifle
                  : node.origin == kNone ? kTrifle
                                         : 1.5 * kTrifle;
  return withTrifle[id] = trifle + getSeconds(id);
}

namespace {
/// Goes through what a choice needs, operands first.
class Walk {
public:
  Walk(const EGraph &graph, const Choice &choice)
      : graph(graph), choice(choice), state(graph.getNumClassIds()) {}

  /// Returns false if a class has no node, or needs itself.
  bool run(ClassId root, llvm::function_ref<void(ClassId, ENodeId)> visit) {
    stack.push_back({graph.find(root), 0});
    while (!stack.empty()) {
      auto &[id, next] = stack.back();
      if (choice[id] == kNone)
        return false;
      const ENode &node = graph.getNode(choice[id]);
      if (next == node.operands.size()) {
        state[id] = State::Done;
        visit(id, choice[id]);
        stack.pop_back();
        continue;
      }
      state[id] = State::Open;
      ClassId operand = graph.find(node.operands[next++]);
      if (state[operand] == State::Open)
        return false;
      if (state[operand] == State::New)
        stack.push_back({operand, 0});
    }
    return true;
  }

private:
  enum class State : uint8_t { New, Open, Done };
  const EGraph &graph;
  const Choice &choice;
  std::vector<State> state;
  std::vector<std::pair<ClassId, unsigned>> stack;
};
} // namespace

double Extraction::getCost(const Choice &choice) const {
  double cost = 0;
  bool isValid = Walk(graph, choice).run(root, [&](ClassId, ENodeId node) {
    cost += costs.get(node);
  });
  return isValid ? cost : kImpossible;
}

double Extraction::getSeconds(const Choice &choice) const {
  double seconds = 0;
  Walk(graph, choice).run(root, [&](ClassId, ENodeId node) {
    seconds += costs.getSeconds(node);
  });
  return seconds;
}

Choice Extraction::restrict(const Choice &choice) const {
  Choice result(graph.getNumClassIds(), kNone);
  Walk(graph, choice).run(root, [&](ClassId id, ENodeId node) {
    result[id] = node;
  });
  return result;
}

std::vector<ENodeId> Extraction::getOrder(const Choice &choice) const {
  std::vector<ENodeId> order;
  Walk(graph, choice).run(root, [&](ClassId, ENodeId node) {
    order.push_back(node);
  });
  return order;
}

Choice espalier::substitution::getOriginal(const Extraction &problem) {
  // The first node of a class needs classes with nodes before it.
  Choice choice(problem.graph.getNumClassIds(), kNone);
  for (ENodeId id = 0; id < problem.graph.getNumNodes(); ++id) {
    const ENode &node = problem.graph.getNode(id);
    ENodeId &chosen = choice[problem.graph.find(node.owner)];
    if (node.origin == kNone && chosen == kNone)
      chosen = id;
  }
  return choice;
}
