//===- Saturate.cpp - Applies rules to an e-graph -------------------------===//

#include "Saturate.h"
#include "Extract.h"
#include "espalier/Dialect/Graph/IR/Graph.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::substitution;

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

namespace {
class StructureAdder {
public:
  StructureAdder(EGraph &graph, unsigned maxNodes)
      : graph(graph), maxNodes(maxNodes) {}

  bool run() {
    unsigned numNodes = graph.getNumNodes();
    for (ENodeId id = 0; id < numNodes && graph.getNumNodes() < maxNodes;
         ++id) {
      const ENode &node = graph.getNode(id);
      if (node.isDead || node.kind != ENode::Kind::Operator)
        continue;
      StringRef name = graph.getSymbol(node.symbol).name;
      if (name == graph::SliceOp::getOperationName())
        composeSlices(id);
      else if (name == graph::ConcatOp::getOperationName())
        divideConcat(id);
      else if (name == graph::AddOp::getOperationName() ||
               name == graph::MulOp::getOperationName())
        findVector(id);
    }
    bool isNew = graph.getNumNodes() != numNodes;
    graph.rebuild();
    return isNew;
  }

private:
  ClassId add(const OperatorInstance &instance, ArrayRef<ClassId> operands,
              ENodeId like) {
    ENode node;
    node.symbol = graph.getSymbol(instance.name, instance.attributes);
    node.operands.assign(operands.begin(), operands.end());
    node.origin = graph.getNode(like).origin;
    node.source = graph.getNode(like).source;
    return graph.add(node, instance.result);
  }

  /// x[a + b : ..] for x[a : ..][b : ..].
  void composeSlices(ENodeId id) {
    std::optional<OperatorInstance> outer = graph.getInstance(id);
    auto slice = outer ? getAxisSlice(*outer) : std::nullopt;
    if (!slice)
      return;
    ClassId operand = graph.find(graph.getNode(id).operands[0]);
    std::vector<ENodeId> nodes = graph[operand].nodes;
    for (ENodeId other : nodes) {
      const ENode &inner = graph.getNode(other);
      if (inner.kind != ENode::Kind::Operator ||
          graph.getSymbol(inner.symbol).name !=
              graph::SliceOp::getOperationName())
        continue;
      std::optional<OperatorInstance> below = graph.getInstance(other);
      auto first = below ? getAxisSlice(*below) : std::nullopt;
      if (!first || first->axis != slice->axis)
        continue;
      ClassId whole = graph.find(inner.operands[0]);
      auto type = cast<RankedTensorType>(graph[whole].type);
      ClassId composed =
          add(makeSlice(type, slice->axis, first->offset + slice->offset,
                        slice->size),
              whole, graph.getNode(id).origin == kNone ? other : id);
      graph.unite(graph.getNode(id).owner, composed);
    }
  }

  /// concat(concat(a, b), c) for concat(a, b, c).
  void divideConcat(ENodeId id) {
    std::optional<OperatorInstance> instance = graph.getInstance(id);
    if (!instance || instance->operands.size() < 3)
      return;
    Param params[] = {
        {instance->attributes.getAs<IntegerAttr>("axis").getInt()},
        {instance->result.getRank()}};
    SmallVector<ClassId, 4> operands = graph.getNode(id).operands;
    ClassId joined = operands.front();
    for (ClassId operand : llvm::drop_begin(operands)) {
      RankedTensorType types[] = {cast<RankedTensorType>(graph[joined].type),
                                  cast<RankedTensorType>(graph[operand].type)};
      auto pair = makeOperator(OpKind::Concat, params, types, Choices(),
                               graph.getContext());
      if (!pair)
        return;
      joined = add(*pair, {joined, operand}, id);
    }
    graph.unite(graph.getNode(id).owner, joined);
  }

  /// The sum with a tensor that has one extent is the sum with a vector.
  void findVector(ENodeId id) {
    std::optional<OperatorInstance> instance = graph.getInstance(id);
    if (!instance || instance->operands.size() != 2)
      return;
    SmallVector<ClassId, 4> operands = graph.getNode(id).operands;
    for (unsigned tensor : {0, 1}) {
      RankedTensorType whole = instance->operands[tensor];
      RankedTensorType part = instance->operands[1 - tensor];
      std::optional<unsigned> dim = getOnlyExtent(part);
      if (!dim || part.getRank() > whole.getRank() || whole.getRank() < 2)
        continue;
      unsigned axis = whole.getRank() - part.getRank() + *dim;
      bool isAdd = instance->name == graph::AddOp::getOperationName();
      Param params[] = {{static_cast<int64_t>(axis)}, {whole.getRank()}};
      auto vectorType =
          RankedTensorType::get({part.getDimSize(*dim)}, part.getElementType());
      auto made =
          makeOperator(isAdd ? OpKind::BAdd : OpKind::BMul, params,
                       {whole, vectorType}, Choices(), graph.getContext());
      if (!made || made->result != instance->result)
        continue;
      ClassId vector = makeVector(operands[1 - tensor], vectorType, id);
      ClassId sum = add(*made, {operands[tensor], vector}, id);
      graph.unite(graph.getNode(id).owner, sum);
      return;
    }
  }

  /// The dimension of a static shape whose extent is not 1.
  static std::optional<unsigned> getOnlyExtent(RankedTensorType type) {
    std::optional<unsigned> only;
    for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
      if (extent == 1)
        continue;
      if (only || ShapedType::isDynamic(extent))
        return std::nullopt;
      only = dim;
    }
    return only;
  }

  ClassId makeVector(ClassId id, RankedTensorType type, ENodeId like) {
    if (graph[id].type == type)
      return id;
    StringRef name = graph::ReshapeOp::getOperationName();
    for (ENodeId other : graph[id].nodes) {
      const ENode &node = graph.getNode(other);
      if (node.kind == ENode::Kind::Operator && node.operands.size() == 1 &&
          graph.getSymbol(node.symbol).name == name &&
          graph[node.operands[0]].type == type)
        return graph.find(node.operands[0]);
    }
    Builder builder(graph.getContext());
    OperatorInstance reshape;
    reshape.name = name;
    reshape.attributes = builder.getDictionaryAttr(builder.getNamedAttr(
        "static_sizes", builder.getDenseI64ArrayAttr(type.getShape())));
    reshape.result = type;
    return add(reshape, id, like);
  }

  EGraph &graph;
  unsigned maxNodes;
};
} // namespace

bool espalier::substitution::addStructure(EGraph &graph, unsigned maxNodes) {
  return StructureAdder(graph, maxNodes).run();
}

//===----------------------------------------------------------------------===//
// Saturation
//===----------------------------------------------------------------------===//

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
    addStructure(graph, context.options.maxNodes);
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
    isNew |= addStructure(graph, context.options.maxNodes);
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
