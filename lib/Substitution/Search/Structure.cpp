//===- Structure.cpp - What rules take for granted ------------------------===//
//
// Importers say things in other ways than rules do. What is added here follows
// from the definitions at a glance, and the fuzzer covers it:
//
//   concat(a, b, c) = concat(concat(a, b), c)
//   x[a : b + c][d : ..] = x[a + d : ..]            along one axis
//   concat(x[a : b], x[b : c]) = x[a : c]           along that axis
//   x + reshape(v, [C, 1, 1]) = x + v along axis 1  and products
//   batch_norm(x, s, b, m, v) = x * F + (b - m * F), F = s / sqrt(v + epsilon)
//
//===----------------------------------------------------------------------===//

#include "Saturate.h"
#include "espalier/Dialect/Graph/IR/Graph.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::substitution;

namespace {
class StructureFinder {
public:
  explicit StructureFinder(EGraph &graph) : graph(graph) {}

  /// Classes that are equal to that of a node.
  ArrayRef<ClassId> find(ENodeId id) {
    found.clear();
    const ENode &node = graph.getNode(id);
    if (node.isDead || node.kind != ENode::Kind::Operator)
      return found;
    StringRef name = graph.getSymbol(node.symbol).name;
    if (name == graph::SliceOp::getOperationName())
      composeSlices(id);
    else if (name == graph::ConcatOp::getOperationName())
      joinParts(id);
    else if (name == graph::BatchNormOp::getOperationName())
      divideBatchNorm(id);
    else if (name == graph::AddOp::getOperationName() ||
             name == graph::MulOp::getOperationName())
      findVector(id);
    return found;
  }

private:
  void joinParts(ENodeId id) {
    findParts(id);
    divideConcat(id);
  }

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
    for (auto [whole, first] : getSlices(operand, slice->axis)) {
      auto type = cast<RankedTensorType>(graph[whole].type);
      ClassId composed =
          add(makeSlice(type, slice->axis, first.offset + slice->offset,
                        slice->size),
              whole, id);
      found.push_back(composed);
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
    found.push_back(joined);
  }

  /// x[a : c] for concat(x[a : b], x[b : c]), which may be all of x.
  void findParts(ENodeId id) {
    std::optional<OperatorInstance> instance = graph.getInstance(id);
    if (!instance)
      return;
    unsigned axis = instance->attributes.getAs<IntegerAttr>("axis").getInt();
    SmallVector<ClassId, 4> operands = graph.getNode(id).operands;
    for (auto [whole, first] : getSlices(operands.front(), axis)) {
      int64_t end = first.offset + first.size;
      for (ClassId operand : llvm::drop_begin(operands)) {
        bool goesOn = false;
        for (auto [other, next] : getSlices(operand, axis)) {
          goesOn = other == whole && next.offset == end;
          if (goesOn) {
            end += next.size;
            break;
          }
        }
        if (!goesOn) {
          end = -1;
          break;
        }
      }
      if (end < 0)
        continue;
      auto type = cast<RankedTensorType>(graph[whole].type);
      bool isAll = first.offset == 0 && end == type.getDimSize(axis);
      ClassId joined =
          isAll ? whole
                : add(makeSlice(type, axis, first.offset, end - first.offset),
                      whole, id);
      found.push_back(joined);
      return;
    }
  }

  /// What a class is a slice of, along `axis`.
  SmallVector<std::pair<ClassId, AxisSlice>, 2> getSlices(ClassId id,
                                                          unsigned axis) {
    SmallVector<std::pair<ClassId, AxisSlice>, 2> slices;
    for (ENodeId member : graph[id].nodes) {
      const ENode &node = graph.getNode(member);
      if (node.kind != ENode::Kind::Operator ||
          graph.getSymbol(node.symbol).name !=
              graph::SliceOp::getOperationName())
        continue;
      std::optional<OperatorInstance> instance = graph.getInstance(member);
      auto slice = instance ? getAxisSlice(*instance) : std::nullopt;
      if (slice && slice->axis == axis)
        slices.push_back({graph.find(node.operands[0]), *slice});
    }
    return slices;
  }

  /// A product and a sum with vectors, if those are constants.
  void divideBatchNorm(ENodeId id) {
    std::optional<OperatorInstance> instance = graph.getInstance(id);
    SmallVector<ClassId, 4> operands = graph.getNode(id).operands;
    if (!instance ||
        !llvm::all_of(llvm::drop_begin(operands), [&](ClassId operand) {
          return graph[operand].isConstant;
        }))
      return;
    RankedTensorType type = instance->operands[1];
    auto epsilon = instance->attributes.getAs<FloatAttr>("epsilon");
    if (!epsilon || !type.hasStaticShape())
      return;
    auto scalar = RankedTensorType::get({}, type.getElementType());
    Builder builder(graph.getContext());
    auto value = DenseElementsAttr::get(
        scalar, builder.getFloatAttr(type.getElementType(),
                                     epsilon.getValueAsDouble()));
    ClassId small =
        add({graph::ConstantOp::getOperationName(),
             builder.getDictionaryAttr(builder.getNamedAttr("value", value)),
             {},
             scalar},
            {}, id);
    auto apply = [&](StringRef name, ArrayRef<ClassId> args) {
      return add({name, builder.getDictionaryAttr({}), {}, type}, args, id);
    };
    ClassId sum = apply(graph::AddOp::getOperationName(), {operands[4], small});
    ClassId root = apply(graph::SqrtOp::getOperationName(), sum);
    ClassId factor =
        apply(graph::DivOp::getOperationName(), {operands[1], root});
    ClassId shift =
        apply(graph::MulOp::getOperationName(), {operands[3], factor});
    ClassId term =
        apply(graph::SubOp::getOperationName(), {operands[2], shift});
    Param params[] = {{1}, {instance->operands[0].getRank()}};
    auto product =
        makeOperator(OpKind::BMul, params, {instance->operands[0], type},
                     Choices(), graph.getContext());
    if (!product)
      return;
    ClassId scaled = add(*product, {operands[0], factor}, id);
    auto result = makeOperator(OpKind::BAdd, params, {product->result, type},
                               Choices(), graph.getContext());
    if (result)
      found.push_back(add(*result, {scaled, term}, id));
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
      found.push_back(sum);
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
  SmallVector<ClassId, 2> found;
};
} // namespace

bool espalier::substitution::addStructure(EGraph &graph, unsigned maxNodes) {
  StructureFinder finder(graph);
  unsigned numNodes = graph.getNumNodes();
  bool isNew = false;
  for (ENodeId id = 0; id < numNodes && graph.getNumNodes() < maxNodes; ++id)
    for (ClassId equal : finder.find(id))
      isNew |= graph.unite(graph.getNode(id).owner, equal);
  isNew |= graph.getNumNodes() != numNodes;
  graph.rebuild();
  return isNew;
}

SmallVector<ClassId, 2> espalier::substitution::findStructure(EGraph &graph,
                                                              ENodeId id) {
  return SmallVector<ClassId, 2>(StructureFinder(graph).find(id));
}
