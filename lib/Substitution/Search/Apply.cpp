//===- Apply.cpp - What a rule makes of a match ---------------------------===//

#include "Apply.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace espalier::substitution;

static int64_t addExtents(int64_t lhs, int64_t rhs) {
  return ShapedType::isDynamic(lhs) || ShapedType::isDynamic(rhs)
             ? ShapedType::kDynamic
             : lhs + rhs;
}

namespace {
class Planner {
public:
  Planner(const EGraph &graph, const RulePattern &pattern,
          const Binding &binding, Assumptions *assumptions)
      : graph(graph), pattern(pattern), rule(*pattern.rule), binding(binding),
        assumptions(assumptions), types(rule.graph.size()),
        boundaries(rule.graph.size()) {
    plan.instances.resize(rule.graph.size());
  }

  std::optional<Plan> run() {
    for (NodeId id = 0; id < rule.graph.size(); ++id)
      if (binding[id] != kNone && !takeBound(id))
        return std::nullopt;
    for (NodeId output : rule.dst)
      if (!addPlanned(output))
        return std::nullopt;
    for (auto [src, dst] : llvm::zip_equal(rule.src, rule.dst))
      if (!meetTypes(types[src], types[dst]))
        return std::nullopt;
    if (!pattern.guard->isEmpty() && !checkGuard())
      return std::nullopt;
    return std::move(plan);
  }

private:
  /// Whether the condition holds, perhaps under assumptions.
  bool checkGuard() {
    std::optional<bool> holds = holdsForUses(
        *pattern.guard, pattern.uses,
        [&](unsigned use, unsigned axis) { return getExtent(use, axis); },
        [&](unsigned use) { return getRank(use); });
    if (holds || !assumptions)
      return holds == true;
    auto clauses = assumptions->decide(pattern, binding, types);
    if (!clauses || !assumptions->canAssume(*clauses))
      return false;
    plan.assumed = std::move(*clauses);
    return true;
  }

  std::optional<int64_t> getExtent(unsigned use, unsigned axis) const {
    RankedTensorType type = types[pattern.uses.list[use].node];
    if (!type || axis >= type.getRank() || type.isDynamicDim(axis))
      return std::nullopt;
    return type.getDimSize(axis);
  }
  std::optional<int64_t> getRank(unsigned use) const {
    RankedTensorType type = types[pattern.uses.list[use].node];
    return type ? std::optional<int64_t>(type.getRank()) : std::nullopt;
  }

  /// A node that is matched.
  bool takeBound(NodeId id) {
    const RuleNode &node = rule.graph[id];
    types[id] = dyn_cast_or_null<RankedTensorType>(graph[binding[id]].type);
    if (!types[id])
      return false;
    if (node.kind != RuleNode::Kind::Scalar && !isRankProved(types[id]))
      return false;
    setBoundaries(id);
    if (!node.getInfo().has(kCut))
      return true;
    // The match has not asked where it is cut.
    std::optional<OperatorInstance> instance = makeInstance(id);
    if (!instance)
      return false;
    return llvm::any_of(graph[binding[id]].nodes, [&](ENodeId other) {
      const ENode &candidate = graph.getNode(other);
      return candidate.kind == ENode::Kind::Operator &&
             graph.getSymbol(candidate.symbol).attributes ==
                 instance->attributes &&
             graph.getSymbol(candidate.symbol).name == instance->name &&
             graph.find(candidate.operands[0]) ==
                 graph.find(binding[node.operands[0]]);
    });
  }

  bool isRankProved(RankedTensorType type) const {
    return type.getRank() >= 1 &&
           (!pattern.hasOpenRank || type.getRank() <= kMaxOpenRank);
  }

  bool addPlanned(NodeId id) {
    const RuleNode &node = rule.graph[id];
    if (!node.isVariable() && node.getInfo().isConstant())
      return addConstant(id);
    if (binding[id] != kNone || plan.instances[id])
      return true;
    if (node.isVariable())
      return false;
    for (NodeId operand : node.operands)
      if (!addPlanned(operand))
        return false;
    return addInstance(id) && isRankProved(types[id]);
  }

  /// A constant of `dst`, if the condition says which sizes to choose. Another
  /// use of it may ask for others.
  bool addConstant(NodeId id) {
    unsigned number = kNone;
    for (auto [use, info] : llvm::enumerate(pattern.uses.list)) {
      if (info.node != id)
        continue;
      if (number != kNone)
        return false;
      number = use;
    }
    const RuleNode &node = rule.graph[id];
    SmallVector<int64_t> shape;
    // Those of a constant of any rank are as many as they may be.
    unsigned numChosen = getRequiredRank(node.op, node.params, 0) ? 2 : 0;
    for (unsigned axis = 0; axis < numChosen; ++axis) {
      auto definition = pattern.guard->getDefinition(number, axis);
      auto size = definition ? evaluate(
                                   *definition, pattern.uses,
                                   [&](unsigned use, unsigned axis) {
                                     return getExtent(use, axis);
                                   },
                                   [&](unsigned use) { return getRank(use); })
                             : std::nullopt;
      if (!size || *size < 1)
        return false;
      shape.push_back(*size);
    }
    if (!node.params.empty())
      shape.append({node.params[0].first, node.params[0].second});
    if (shape.empty())
      return false;
    chosen =
        RankedTensorType::get(shape, types[rule.src.front()].getElementType());
    return addInstance(id);
  }

  /// An operator whose operands are there.
  bool addInstance(NodeId id) {
    plan.instances[id] = makeInstance(id);
    if (!plan.instances[id])
      return false;
    types[id] = plan.instances[id]->result;
    setBoundaries(id);
    plan.order.push_back(id);
    return true;
  }

  std::optional<OperatorInstance> makeInstance(NodeId id) {
    const RuleNode &node = rule.graph[id];
    SmallVector<RankedTensorType, 2> operands;
    for (NodeId operand : node.operands)
      operands.push_back(types[operand]);
    Choices choices;
    choices.type = chosen;
    if (node.getInfo().has(kCut)) {
      unsigned axis = node.params[0].first;
      const BoundaryList<int64_t> &below = boundaries[node.operands[0]];
      if (axis >= below.size() || !below[axis] ||
          ShapedType::isDynamic(below[axis]->position))
        return std::nullopt;
      choices.cut = below[axis]->position;
    }
    return makeOperator(node.op, node.params, operands, choices,
                        graph.getContext());
  }

  void setBoundaries(NodeId id) {
    const RuleNode &node = rule.graph[id];
    if (!pattern.traces)
      return;
    boundaries[id].resize(types[id].getRank());
    if (node.isVariable())
      return;
    SmallVector<const BoundaryList<int64_t> *> operands;
    SmallVector<unsigned> ranks;
    for (NodeId operand : node.operands) {
      if (!types[operand])
        return;
      operands.push_back(&boundaries[operand]);
      ranks.push_back(types[operand].getRank());
    }
    ranks.push_back(types[id].getRank());
    const Trace &trace = pattern.traces->get(node, ranks);
    if (trace.empty())
      return;
    boundaries[id] = followBoundaries<int64_t>(
        node, trace, operands,
        [&](unsigned operand) {
          return types[node.operands[operand]].getDimSize(node.params[0].first);
        },
        addExtents);
  }

  const EGraph &graph;
  const RulePattern &pattern;
  const Rule &rule;
  const Binding &binding;
  Assumptions *assumptions;
  RankedTensorType chosen; ///< The type of the constant that is made.
  std::vector<RankedTensorType> types;
  std::vector<BoundaryList<int64_t>> boundaries;
  Plan plan;
};
} // namespace

std::optional<Plan> espalier::substitution::planApplication(
    const EGraph &graph, const RulePattern &pattern, const Binding &binding,
    Assumptions *assumptions) {
  return Planner(graph, pattern, binding, assumptions).run();
}

void espalier::substitution::build(EGraph &graph, const Rule &rule,
                                   Binding &binding, const Plan &plan,
                                   unsigned origin, Operation *source) {
  for (NodeId id : plan.order) {
    const OperatorInstance &instance = *plan.instances[id];
    ENode node;
    node.symbol = graph.getSymbol(instance.name, instance.attributes);
    for (NodeId operand : rule.graph[id].operands)
      node.operands.push_back(binding[operand]);
    node.origin = origin;
    node.source = source;
    binding[id] = graph.add(node, instance.result);
  }
}
