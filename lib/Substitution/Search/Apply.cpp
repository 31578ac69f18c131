//===- Apply.cpp - What a rule makes of a match ---------------------------===//

#include "Apply.h"
#include "llvm/ADT/STLExtras.h"
#include <memory>

using namespace mlir;
using namespace espalier::substitution;

//===----------------------------------------------------------------------===//
// Boundaries
//===----------------------------------------------------------------------===//

namespace {
/// Where concatenations have left a boundary along a dimension, the last one
/// first; as Typing.cpp has it for sizes that are symbols.
struct Boundary {
  int64_t position;
  std::shared_ptr<const Boundary> before, after;
};
using BoundaryPtr = std::shared_ptr<const Boundary>;
/// One for each dimension; null if there is none.
using Boundaries = SmallVector<BoundaryPtr, 4>;
} // namespace

/// Dimensions of operands.
using Trace = SmallVector<std::pair<unsigned, unsigned>, 2>;

/// What dimension of which operand a dimension of the result runs along; the
/// first that has a boundary counts.
static Trace getTrace(const Node &node, unsigned dim) {
  switch (node.op) {
  case OpKind::Conv2d:
    if (dim == 0)
      return {{0, 0}};
    return dim == 1 ? Trace{{1, 0}} : Trace{};
  case OpKind::Matmul:
    return {{dim, dim}};
  case OpKind::Bmm: {
    // Of the leading dimensions, those of the first operand are read first.
    Param ranks = node.params[1];
    unsigned rank = std::max(ranks.first, ranks.second);
    Trace trace;
    if (dim + ranks.first >= rank && dim + 1 != rank)
      trace.push_back({0, dim + ranks.first - rank});
    if (dim + ranks.second >= rank && dim + 2 != rank)
      trace.push_back({1, dim + ranks.second - rank});
    return trace;
  }
  case OpKind::BAdd:
  case OpKind::BMul:
    if (dim == node.params[0].first)
      return {{0, dim}, {1, 0}};
    return {{0, dim}};
  case OpKind::Swap: {
    Param axes = node.params[0];
    return {{0, dim == axes.first    ? axes.second
                : dim == axes.second ? axes.first
                                     : dim}};
  }
  case OpKind::Slice:
    if (dim == node.params[0].first)
      return {};
    return {{0, dim}};
  case OpKind::Pad:
    if (dim == node.params[0].first && node.params[2].first != 0)
      return {};
    return {{0, dim}};
  case OpKind::ReduceSum:
  case OpKind::ReduceMax:
    return {{0, dim < node.params[0].first ? dim : dim + 1}};
  case OpKind::EwAdd:
  case OpKind::EwMul:
  case OpKind::EwSub:
  case OpKind::EwMax:
  case OpKind::EwDiv:
  case OpKind::Concat:
    return {{0, dim}, {1, dim}};
  case OpKind::UAdd:
  case OpKind::UMul:
    if (dim == node.params[0].first)
      return {{0, dim}, {1, dim + node.params[2].first - node.params[1].first}};
    return {{0, dim}};
  case OpKind::Vector:
    return {{0, node.params[0].first}};
  case OpKind::Unvector:
    return dim == node.params[0].first ? Trace{{0, 0}} : Trace{};
  case OpKind::Border: {
    Border border = Border::get(node.params[0]);
    if ((dim == 2 && border.top != 0) || (dim == 3 && border.left != 0))
      return {};
    return {{0, dim}};
  }
  case OpKind::SMul:
  case OpKind::SAdd:
  case OpKind::Sqrt:
  case OpKind::BatchNorm:
  case OpKind::Relu:
  case OpKind::Exp:
  case OpKind::Tanh:
  case OpKind::Sigmoid:
  case OpKind::Split:
    return {{0, dim}};
  case OpKind::Transpose:
    return {{0, 1 - dim}};
  case OpKind::PoolAvg:
  case OpKind::PoolMax:
  case OpKind::Enlarge:
    return dim < 2 ? Trace{{0, dim}} : Trace{};
  case OpKind::ConstIConv:
  case OpKind::ConstPool:
  case OpKind::ConstImm:
  case OpKind::ConstOne:
    return {};
  }
  llvm_unreachable("every operator is handled above");
}

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

  /// A node that is matched. Rules are proved at ranks from 1 to 4.
  bool takeBound(NodeId id) {
    const Node &node = rule.graph[id];
    types[id] = dyn_cast_or_null<RankedTensorType>(graph[binding[id]].type);
    if (!types[id])
      return false;
    if (node.kind != Node::Kind::Scalar && !isRankProved(types[id]))
      return false;
    setBoundaries(id);
    if (!node.is(OpKind::Split))
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

  static bool isRankProved(RankedTensorType type) {
    return type.getRank() >= 1 && type.getRank() <= 4;
  }

  bool addPlanned(NodeId id) {
    const Node &node = rule.graph[id];
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
    const Node &node = rule.graph[id];
    SmallVector<int64_t> shape;
    unsigned numChosen = node.is(OpKind::ConstOne) ? 0 : 2;
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
    const Node &node = rule.graph[id];
    SmallVector<RankedTensorType, 2> operands;
    for (NodeId operand : node.operands)
      operands.push_back(types[operand]);
    Choices choices;
    choices.type = chosen;
    if (node.is(OpKind::Split)) {
      unsigned axis = node.params[0].first;
      const Boundaries &below = boundaries[node.operands[0]];
      if (axis >= below.size() || !below[axis] ||
          ShapedType::isDynamic(below[axis]->position))
        return std::nullopt;
      choices.cut = below[axis]->position;
    }
    return makeOperator(node.op, node.params, operands, choices,
                        graph.getContext());
  }

  void setBoundaries(NodeId id) {
    const Node &node = rule.graph[id];
    Boundaries &own = boundaries[id];
    own.resize(types[id].getRank());
    if (node.isVariable())
      return;
    for (unsigned dim = 0; dim < own.size(); ++dim)
      for (auto [operand, from] : getTrace(node, dim)) {
        const Boundaries &below = boundaries[node.operands[operand]];
        if (!own[dim] && from < below.size())
          own[dim] = below[from];
      }
    if (node.is(OpKind::Concat)) {
      unsigned axis = node.params[0].first;
      int64_t position = 0;
      BoundaryPtr before;
      for (auto [number, operand] : llvm::enumerate(node.operands)) {
        before = number == 0
                     ? boundaries[operand][axis]
                     : std::make_shared<Boundary>(Boundary{
                           position, before, boundaries[operand][axis]});
        position = addExtents(position, types[operand].getDimSize(axis));
      }
      own[axis] = before;
    }
    if (node.is(OpKind::Split)) {
      BoundaryPtr cut = boundaries[node.operands[0]][node.params[0].first];
      if (cut)
        own[node.params[0].first] =
            node.params[1].first == 0 ? cut->before : cut->after;
    }
  }

  const EGraph &graph;
  const RulePattern &pattern;
  const Rule &rule;
  const Binding &binding;
  Assumptions *assumptions;
  RankedTensorType chosen; ///< The type of the constant that is made.
  std::vector<RankedTensorType> types;
  std::vector<Boundaries> boundaries;
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
