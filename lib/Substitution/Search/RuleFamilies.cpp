//===- RuleFamilies.cpp - What rules take for granted ---------------------===//
//
// Importers say things in other ways than rules do. Between them are families
// of rules, each with a member for every number that occurs:
//
//   concat(a, b, c) = concat(concat(a, b), c)
//   x[a : b + c][d : ..] = x[a + d : ..]            along one axis
//   concat(x[a : b], x[b : c]) = x[a : c]           along that axis
//   x + reshape(v, [C, 1, 1]) = x + v along axis 1  and products
//   batch_norm(x, s, b, m, v) = x * F + (b - m * F), F = s / sqrt(v + epsilon)
//   conv(pad(x), w) = conv(x, w) with more padding  and average pools
//
// What is found here are places, and the numbers there. The member with these
// numbers is made as a rule, proved like any other, and applied like any other.
//
//===----------------------------------------------------------------------===//

#include "RuleFamilies.h"
#include "Apply.h"
#include "espalier/Dialect/Graph/IR/Graph.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::substitution;

//===----------------------------------------------------------------------===//
// FamilyRules
//===----------------------------------------------------------------------===//

const RulePattern *FamilyRules::prove(const Rule &rule) {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(rule, os);
  auto [entry, isNew] = known.try_emplace(text);
  if (isNew) {
    if (!verifier)
      verifier = std::make_unique<Verifier>();
    Verdict verdict = verifier->verify(rule);
    entry->second = std::make_unique<Proved>();
    Proved &proved = *entry->second;
    if (verdict.isProved()) {
      proved.rule = {rule, verdict.guard};
      proved.pattern = std::make_unique<RulePattern>(proved.rule, recognizer);
    }
  }
  return entry->second->pattern.get();
}

//===----------------------------------------------------------------------===//
// Families
//===----------------------------------------------------------------------===//

namespace {
/// Makes a rule of one output.
class RuleMaker {
public:
  explicit RuleMaker(StringRef name) { rule.name = name.str(); }

  NodeId tensor(unsigned number) { return rule.graph.addTensor(number); }
  NodeId scalar(unsigned number) { return rule.graph.addScalar(number); }
  NodeId apply(OpKind op, ArrayRef<Param> params, ArrayRef<NodeId> operands) {
    return rule.graph.addOperator(op, params, operands);
  }
  NodeId slice(int64_t rank, AxisSlice slice, NodeId operand) {
    return apply(OpKind::Slice,
                 {{slice.axis}, {rank}, {slice.offset}, {slice.size}}, operand);
  }
  const Rule &make(NodeId src, NodeId dst) {
    rule.src = {src};
    rule.dst = {dst};
    return rule;
  }

private:
  Rule rule;
};

/// A node of an e-graph that is an operator of a rule.
struct Matched {
  NodeId node;
  ENodeId id;
  bool isSwapped = false; ///< Whether its two operands change places.
};

class FamilyFinder {
public:
  FamilyFinder(EGraph &graph, FamilyRules &rules)
      : graph(graph), rules(rules) {}

  /// Classes that are equal to that of a node.
  ArrayRef<ClassId> find(ENodeId id) {
    found.clear();
    const ENode &node = graph.getNode(id);
    std::optional<OperatorInstance> instance =
        node.isDead ? std::nullopt : graph.getInstance(id);
    if (!instance || hasLayouts(*instance))
      return found;
    StringRef name = instance->name;
    if (name == graph::SliceOp::getOperationName()) {
      composeSlices(id, *instance);
    } else if (name == graph::ConcatOp::getOperationName()) {
      joinParts(id, *instance);
      divideConcat(id, *instance);
    } else if (name == graph::BatchNormOp::getOperationName()) {
      divideBatchNorm(id, *instance);
    } else if (name == graph::AddOp::getOperationName() ||
               name == graph::MulOp::getOperationName()) {
      findVector(id, *instance);
    } else if (name == graph::PadOp::getOperationName()) {
      findZeros(id, *instance);
    } else if (name == graph::ConvOp::getOperationName() ||
               name == graph::AvgPoolOp::getOperationName()) {
      foldBorder(id, *instance);
    }
    return found;
  }

private:
  SmallVector<ClassId, 4> getOperands(ENodeId id) const {
    SmallVector<ClassId, 4> operands = graph.getNode(id).operands;
    for (ClassId &operand : operands)
      operand = graph.find(operand);
    return operands;
  }

  /// Applies a rule, if it is proved, to the nodes that are its operators and,
  /// for variables that these do not tell, classes. Those come last.
  void apply(const Rule &rule, ArrayRef<Matched> nodes,
             ArrayRef<std::pair<NodeId, ClassId>> variables = {}) {
    const RulePattern *pattern = rules.prove(rule);
    if (!pattern)
      return;
    Binding binding(rule.graph.size(), kNone);
    for (auto [variable, id] : variables)
      binding[variable] = graph.find(id);
    for (const Matched &matched : nodes)
      if (!bind(rule, matched, binding))
        return;
    std::optional<Plan> plan = planApplication(graph, *pattern, binding);
    if (!plan)
      return;
    const ENode &like = graph.getNode(nodes.front().id);
    build(graph, rule, binding, *plan, like.origin, like.source);
    for (NodeId output : rule.dst)
      found.push_back(binding[output]);
  }

  bool bind(const Rule &rule, const Matched &matched, Binding &binding) const {
    const RuleNode &wanted = rule.graph[matched.node];
    std::optional<OperatorInstance> instance = graph.getInstance(matched.id);
    SmallVector<ClassId, 4> operands = getOperands(matched.id);
    if (!instance)
      return false;
    if (matched.isSwapped) {
      std::swap(instance->operands[0], instance->operands[1]);
      std::swap(operands[0], operands[1]);
    }
    if (!isOperator(*instance, wanted.op, wanted.params))
      return false;
    binding[matched.node] = graph.find(graph.getNode(matched.id).owner);
    // An attribute may be a further operand of the text form.
    for (auto [node, operand] : llvm::zip_first(operands, wanted.operands)) {
      if (binding[operand] != kNone && binding[operand] != node)
        return false;
      binding[operand] = node;
    }
    return true;
  }

  /// The operators of a class that have this name.
  SmallVector<ENodeId, 2> getNodes(ClassId id, StringRef name) const {
    SmallVector<ENodeId, 2> nodes;
    for (ENodeId member : graph[id].nodes)
      if (graph.getNode(member).kind == ENode::Kind::Operator &&
          graph.getSymbol(graph.getNode(member).symbol).name == name)
        nodes.push_back(member);
    return nodes;
  }

  /// The slices in a class, along one axis.
  SmallVector<std::pair<ENodeId, AxisSlice>, 2> getSlices(ClassId id,
                                                          unsigned axis) const {
    SmallVector<std::pair<ENodeId, AxisSlice>, 2> slices;
    for (ENodeId node : getNodes(id, graph::SliceOp::getOperationName())) {
      std::optional<OperatorInstance> instance = graph.getInstance(node);
      auto slice = instance ? getAxisSlice(*instance) : std::nullopt;
      if (slice && slice->axis == axis)
        slices.push_back({node, *slice});
    }
    return slices;
  }

  /// x[a + b : ..] for x[a : ..][b : ..].
  void composeSlices(ENodeId id, const OperatorInstance &instance) {
    auto outer = getAxisSlice(instance);
    if (!outer)
      return;
    int64_t rank = instance.result.getRank();
    for (auto [node, inner] : getSlices(getOperands(id)[0], outer->axis)) {
      RuleMaker maker("slice-of-slice");
      NodeId x = maker.tensor(0), below = maker.slice(rank, inner, x);
      NodeId src = maker.slice(rank, *outer, below);
      AxisSlice both = {outer->axis, inner.offset + outer->offset, outer->size};
      apply(maker.make(src, maker.slice(rank, both, x)),
            {{src, id}, {below, node}});
    }
  }

  /// concat(concat(a, b), c) for concat(a, b, c).
  void divideConcat(ENodeId id, const OperatorInstance &instance) {
    if (instance.operands.size() < 3)
      return;
    Param params[] = {{instance.attributes.getAs<IntegerAttr>("axis").getInt()},
                      {instance.result.getRank()}};
    RuleMaker maker("concatenation-of-many");
    SmallVector<NodeId> parts;
    for (unsigned part = 0; part < instance.operands.size(); ++part)
      parts.push_back(maker.tensor(part));
    NodeId src = maker.apply(OpKind::Concat, params, parts);
    NodeId joined = parts.front();
    for (NodeId part : llvm::drop_begin(parts))
      joined = maker.apply(OpKind::Concat, params, {joined, part});
    apply(maker.make(src, joined), {{src, id}});
  }

  /// x[a : c] for concat(x[a : b], x[b : c]), which may be all of x.
  void joinParts(ENodeId id, const OperatorInstance &instance) {
    unsigned axis = instance.attributes.getAs<IntegerAttr>("axis").getInt();
    SmallVector<ClassId, 4> operands = getOperands(id);
    for (auto first : getSlices(operands.front(), axis)) {
      ClassId whole = getOperands(first.first)[0];
      SmallVector<std::pair<ENodeId, AxisSlice>> parts{first};
      for (ClassId operand : llvm::drop_begin(operands)) {
        int64_t end = parts.back().second.offset + parts.back().second.size;
        auto slices = getSlices(operand, axis);
        auto *next = llvm::find_if(slices, [&](const auto &slice) {
          return getOperands(slice.first)[0] == whole &&
                 slice.second.offset == end;
        });
        if (next == slices.end())
          break;
        parts.push_back(*next);
      }
      if (parts.size() == operands.size())
        return join(id, instance.result.getRank(), axis, whole, parts);
    }
  }

  void join(ENodeId id, int64_t rank, unsigned axis, ClassId whole,
            ArrayRef<std::pair<ENodeId, AxisSlice>> parts) {
    RuleMaker maker("neighbouring-slices");
    NodeId x = maker.tensor(0);
    SmallVector<Matched> nodes;
    SmallVector<NodeId> slices;
    AxisSlice all = {axis, parts.front().second.offset, 0};
    for (auto [node, part] : parts) {
      slices.push_back(maker.slice(rank, part, x));
      nodes.push_back({slices.back(), node});
      all.size += part.size;
    }
    NodeId src = maker.apply(OpKind::Concat, {{axis}, {rank}}, slices);
    nodes.insert(nodes.begin(), {src, id});
    auto type = cast<RankedTensorType>(graph[whole].type);
    bool isAll = all.offset == 0 && all.size == type.getDimSize(axis);
    apply(maker.make(src, isAll ? x : maker.slice(rank, all, x)), nodes);
  }

  ClassId addConstant(FloatAttr value, ENodeId like) {
    auto type = RankedTensorType::get({}, value.getType());
    Builder builder(graph.getContext());
    ENode node;
    node.symbol = graph.getSymbol(
        graph::ConstantOp::getOperationName(),
        builder.getDictionaryAttr(builder.getNamedAttr(
            "value", DenseElementsAttr::get(type, Attribute(value)))));
    node.origin = graph.getNode(like).origin;
    node.source = graph.getNode(like).source;
    return graph.add(node, type);
  }

  /// A product and a sum with vectors, if those are constants.
  void divideBatchNorm(ENodeId id, const OperatorInstance &instance) {
    auto epsilon = instance.attributes.getAs<FloatAttr>("epsilon");
    bool areConstant =
        llvm::all_of(llvm::drop_begin(getOperands(id)), [&](ClassId operand) {
          return graph[operand].isConstant;
        });
    if (!areConstant || !epsilon)
      return;
    Param rank[] = {{instance.result.getRank()}}, axis[] = {{1}, rank[0]};
    RuleMaker maker("batch-normalization");
    NodeId x = maker.tensor(0), scale = maker.tensor(1), bias = maker.tensor(2);
    NodeId mean = maker.tensor(3), variance = maker.tensor(4);
    NodeId small = maker.scalar(0);
    NodeId src = maker.apply(OpKind::BatchNorm, rank,
                             {x, scale, bias, mean, variance, small});
    NodeId root = maker.apply(OpKind::Sqrt, {},
                              maker.apply(OpKind::SAdd, {}, {variance, small}));
    NodeId factor = maker.apply(OpKind::EwDiv, {}, {scale, root});
    NodeId shift = maker.apply(OpKind::EwMul, {}, {mean, factor});
    NodeId scaled = maker.apply(OpKind::BMul, axis, {x, factor});
    NodeId dst =
        maker.apply(OpKind::BAdd, axis,
                    {scaled, maker.apply(OpKind::EwSub, {}, {bias, shift})});
    auto number = FloatAttr::get(instance.result.getElementType(),
                                 epsilon.getValueAsDouble());
    apply(maker.make(src, dst), {{src, id}},
          {{small, addConstant(number, id)}});
  }

  /// The sum with a tensor that has one extent is the sum with a vector.
  void findVector(ENodeId id, const OperatorInstance &instance) {
    if (instance.operands.size() != 2)
      return;
    bool isAdd = instance.name == graph::AddOp::getOperationName();
    for (unsigned tensor : {0, 1}) {
      int64_t rank = instance.operands[tensor].getRank();
      RankedTensorType part = instance.operands[1 - tensor];
      std::optional<unsigned> own = getOnlyExtent(part);
      if (!own || part.getRank() > rank || rank < 2)
        continue;
      Param axis = {rank - part.getRank() + *own};
      Param partParams[] = {{*own}, {part.getRank()}};
      RuleMaker maker("bias-as-vector");
      NodeId x = maker.tensor(0), v = maker.tensor(1);
      SmallVector<Matched> nodes;
      NodeId units = v, vector = v;
      if (auto node = findUnvector(getOperands(id)[1 - tensor], partParams)) {
        units = maker.apply(OpKind::Unvector, partParams, v);
        nodes.push_back({units, *node});
      } else if (part.getRank() > 1) {
        vector = maker.apply(OpKind::Vector, partParams, v);
      }
      NodeId src = maker.apply(isAdd ? OpKind::UAdd : OpKind::UMul,
                               {axis, {rank}, {part.getRank()}}, {x, units});
      NodeId dst = maker.apply(isAdd ? OpKind::BAdd : OpKind::BMul,
                               {axis, {rank}}, {x, vector});
      nodes.insert(nodes.begin(), {src, id, tensor == 1});
      apply(maker.make(src, dst), nodes);
      if (!found.empty())
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

  /// What makes the tensor `id` of a vector.
  std::optional<ENodeId> findUnvector(ClassId id,
                                      ArrayRef<Param> params) const {
    for (ENodeId node : getNodes(id, graph::ReshapeOp::getOperationName())) {
      std::optional<OperatorInstance> instance = graph.getInstance(node);
      if (instance && isOperator(*instance, OpKind::Unvector, params))
        return node;
    }
    return std::nullopt;
  }

  /// `graph` has the value of a border as an operand.
  void findZeros(ENodeId id, const OperatorInstance &instance) {
    auto mode = instance.attributes.getAs<graph::PadModeAttr>("mode");
    if (mode && mode.getValue() != graph::PadMode::Constant)
      return;
    SmallVector<ClassId, 4> operands = getOperands(id);
    bool isZero = llvm::any_of(
        getNodes(operands[1], graph::ConstantOp::getOperationName()),
        [&](ENodeId node) {
          auto value = graph.getSymbol(graph.getNode(node).symbol)
                           .attributes.getAs<DenseFPElementsAttr>("value");
          return value && value.isSplat() &&
                 value.getSplatValue<APFloat>().isZero();
        });
    Attribute low = instance.attributes.get("low");
    Attribute high = instance.attributes.get("high");
    auto isBorder = [](Attribute numbers) {
      return llvm::all_of(
          cast<DenseI64ArrayAttr>(numbers).asArrayRef(),
          [](int64_t count) { return count >= 0 && count <= kMaxExtent; });
    };
    if (!isZero || !isBorder(low) || !isBorder(high))
      return;
    Builder builder(graph.getContext());
    ENode node;
    node.symbol = graph.getSymbol(
        kPadZeros,
        builder.getDictionaryAttr({builder.getNamedAttr("low", low),
                                   builder.getNamedAttr("high", high)}));
    node.operands = {operands[0]};
    node.origin = graph.getNode(id).origin;
    node.source = graph.getNode(id).source;
    found.push_back(graph.add(node, instance.result));
  }

  /// The border that numbers before and behind the last two of four dimensions
  /// are; nothing if there are others, or they are too large.
  static std::optional<Border> getBorder(ArrayRef<int64_t> low,
                                         ArrayRef<int64_t> high) {
    if (low.size() == 4 && low[0] == 0 && low[1] == 0 && high[0] == 0 &&
        high[1] == 0)
      return getBorder(low.drop_front(2), high.drop_front(2));
    auto fits = [](int64_t count) { return count >= 0 && count <= kMaxExtent; };
    if (low.size() != 2 || !llvm::all_of(low, fits) ||
        !llvm::all_of(high, fits))
      return std::nullopt;
    return Border{low[0], low[1], high[0], high[1]};
  }
  static std::optional<Border> getBorder(DictionaryAttr attributes,
                                         StringRef low, StringRef high) {
    return getBorder(attributes.getAs<DenseI64ArrayAttr>(low).asArrayRef(),
                     attributes.getAs<DenseI64ArrayAttr>(high).asArrayRef());
  }

  /// A window over a tensor with zeros around it pads more.
  void foldBorder(ENodeId id, const OperatorInstance &instance) {
    auto own = getBorder(instance.attributes, "pads_low", "pads_high");
    if (!own)
      return;
    auto getPair = [&](StringRef name) {
      ArrayRef<int64_t> pair =
          instance.attributes.getAs<DenseI64ArrayAttr>(name).asArrayRef();
      return Param{pair[0], pair[1]};
    };
    bool isConv = instance.name == graph::ConvOp::getOperationName();
    for (ENodeId pad : getNodes(getOperands(id)[0], kPadZeros)) {
      auto border = getBorder(
          graph.getSymbol(graph.getNode(pad).symbol).attributes, "low", "high");
      if (!border)
        continue;
      Border both = {own->top + border->top, own->left + border->left,
                     own->bottom + border->bottom, own->right + border->right};
      RuleMaker maker("border-as-padding");
      NodeId x = maker.tensor(0), weight = maker.tensor(1);
      NodeId padded = maker.apply(OpKind::Border, border->getParam(), x);
      auto make = [&](Border padding, NodeId image) {
        if (!isConv)
          return maker.apply(
              OpKind::PoolAvg,
              {getPair("kernel"), getPair("strides"), padding.getParam()},
              image);
        auto act =
            instance.attributes.getAs<graph::ActivationAttr>("activation");
        bool hasRelu = act && act.getValue() == graph::Activation::Relu;
        return maker.apply(
            OpKind::Conv2d,
            {getPair("strides"), padding.getParam(), Param{hasRelu}},
            {image, weight});
      };
      NodeId src = make(*own, padded);
      apply(maker.make(src, make(both, x)), {{src, id}, {padded, pad}});
    }
  }

  EGraph &graph;
  FamilyRules &rules;
  SmallVector<ClassId, 2> found;
};
} // namespace

bool espalier::substitution::addFamilyMembers(EGraph &graph, FamilyRules &rules,
                                              unsigned maxNodes) {
  FamilyFinder finder(graph, rules);
  unsigned numNodes = graph.getNumNodes();
  bool isNew = false;
  for (ENodeId id = 0; id < numNodes && graph.getNumNodes() < maxNodes; ++id)
    for (ClassId equal : finder.find(id))
      isNew |= graph.unite(graph.getNode(id).owner, equal);
  isNew |= graph.getNumNodes() != numNodes;
  graph.rebuild();
  return isNew;
}

SmallVector<ClassId, 2>
espalier::substitution::findFamilyMembers(EGraph &graph, FamilyRules &rules,
                                          ENodeId id) {
  return SmallVector<ClassId, 2>(FamilyFinder(graph, rules).find(id));
}
