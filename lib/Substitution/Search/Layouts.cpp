//===- Layouts.cpp - In which order tensors lie in memory -----------------===//

#include "Layouts.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::substitution;

/// As many functions at most run in another order before what gains by it.
static constexpr unsigned kMaxFunctions = 32;

static bool isPool(StringRef name) {
  return name == graph::MaxPoolOp::getOperationName() ||
         name == graph::AvgPoolOp::getOperationName();
}

/// Whether an operator's kernel runs in the order of its operand.
static bool isMap(const OperatorInstance &instance) {
  return isPool(instance.name) ||
         getWork(instance, Machine().assumedExtent).form ==
             OperatorWork::Form::Elementwise;
}

static bool isContraction(StringRef name) {
  return name == graph::ConvOp::getOperationName() ||
         name == graph::MatmulOp::getOperationName();
}

namespace {
/// Finds operators in other orders, and adds them to an e-graph.
class LayoutFinder {
public:
  LayoutFinder(EGraph &graph, SearchContext &context, NodeCosts &costs)
      : graph(graph), context(context), costs(costs) {}

  void addAll();
  std::vector<LayoutChange> find(ArrayRef<ENodeId> order);

private:
  using Layout = DenseI64ArrayAttr;
  /// A class in an order that it does not choose by itself.
  using Wanted = std::pair<ClassId, Attribute>;
  using Operands = SmallVector<ClassId, 4>;

  /// The instance of an operator that has no order prescribed yet.
  std::optional<OperatorInstance> getOpen(ENodeId id) const;
  /// The order in which an operator may read its first operand faster.
  Layout getGainingLayout(const OperatorInstance &instance) const;
  /// Whether an operator can read an operand in an order.
  bool canRead(const OperatorInstance &instance, unsigned operand,
               Layout order) const;
  bool canBeIn(ClassId id, Layout order) const;
  /// Whether what lies in `order` may take the place of the class, since
  /// everything that reads it wants rows anyway.
  bool isReadInRows(ArrayRef<ENodeId> users, Layout order) const;

  ClassId add(ENode node, Type type, ENodeId like);
  /// Adds `like` with other operands; its result in `order`, if there is one.
  ClassId addLike(ENodeId like, Layout order, Operands operands);
  ClassId addCopy(ClassId id, Layout order, ENodeId user);
  ClassId addInRows(ClassId id, ENodeId like);

  // In an e-graph.
  void want(ClassId id, Layout order);
  void wantAround(Wanted self);
  void addWanted(Wanted self);
  Operands replaceWanted(ENodeId id, const OperatorInstance &instance,
                         Layout order) const;

  // In a graph.
  struct Alternative {
    ClassId id;
    double seconds; ///< More than what the class costs by itself.
  };
  Alternative getBest(ClassId id, Layout order, ENodeId user);
  Alternative makeBest(ClassId id, Layout order, ENodeId user);
  std::optional<LayoutChange> followResult(ENodeId id, ClassId operand,
                                           Layout order);

  double getSeconds(ClassId id) {
    return costs.getSeconds(graph[id].nodes.front());
  }

  EGraph &graph;
  SearchContext &context;
  NodeCosts &costs;
  llvm::SetVector<Wanted> wanted;
  llvm::DenseMap<Wanted, ClassId> others;
  llvm::DenseMap<ClassId, ENodeId> chosen;
  llvm::DenseMap<ClassId, std::vector<ENodeId>> users;
  llvm::DenseMap<Wanted, Alternative> best;
  unsigned numFunctions = 0; ///< Between the class at hand and its reader.
};
} // namespace

//===----------------------------------------------------------------------===//
// Operators and orders
//===----------------------------------------------------------------------===//

std::optional<OperatorInstance> LayoutFinder::getOpen(ENodeId id) const {
  if (graph.getNode(id).isDead || graph.isConstant(graph.getNode(id)))
    return std::nullopt;
  std::optional<OperatorInstance> instance = graph.getInstance(id);
  if (!instance || hasLayouts(*instance) ||
      !(isMap(*instance) || isContraction(instance->name)) ||
      instance->attributes.get(graph::GraphDialect::getLayoutAttrName()))
    return std::nullopt;
  return instance;
}

DenseI64ArrayAttr
LayoutFinder::getGainingLayout(const OperatorInstance &instance) const {
  int64_t rank = instance.result.getRank();
  if (!isContraction(instance.name) || instance.operands[0].getRank() != rank ||
      rank < 2 || !context.model.mayGainByLayout(instance))
    return {};
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (instance.name == graph::MatmulOp::getOperationName())
    std::swap(order[rank - 2], order[rank - 1]);
  return Layout::get(graph.getContext(), order);
}

bool LayoutFinder::canRead(const OperatorInstance &instance, unsigned operand,
                           Layout order) const {
  if (isPool(instance.name))
    return operand == 0;
  if (isMap(instance))
    return instance.operands[operand].getShape() == instance.result.getShape();
  return operand == 0 && getGainingLayout(instance) == order;
}

bool LayoutFinder::canBeIn(ClassId id, Layout order) const {
  auto type = dyn_cast_or_null<RankedTensorType>(graph[id].type);
  return type && !type.getEncoding() && type.getRank() == order.size() &&
         !graph[id].isConstant;
}

bool LayoutFinder::isReadInRows(ArrayRef<ENodeId> users, Layout order) const {
  return order.size() > 2 && llvm::is_sorted(order.asArrayRef()) &&
         llvm::all_of(users, [&](ENodeId id) {
           const ENode &user = graph.getNode(id);
           auto type =
               dyn_cast_or_null<RankedTensorType>(graph[user.owner].type);
           bool isCopy = type && getLayout(type);
           return user.isDead || isCopy ||
                  user.kind == ENode::Kind::Operation ||
                  (user.kind == ENode::Kind::Operator &&
                   graph.getSymbol(user.symbol).name ==
                       graph::ReshapeOp::getOperationName());
         });
}

//===----------------------------------------------------------------------===//
// New nodes
//===----------------------------------------------------------------------===//

ClassId LayoutFinder::add(ENode node, Type type, ENodeId like) {
  const ENode &before = graph.getNode(like);
  Application application{kLayoutRule, before.source, /*gain=*/0,
                          before.origin};
  node.origin = context.applications.size();
  node.source = before.source;
  ENodeId id = graph.getNumNodes();
  ClassId result = graph.add(std::move(node), type);
  if (graph.getNumNodes() != id) {
    application.gain = costs.getSeconds(like) - costs.getSeconds(id);
    context.applications.push_back(application);
  }
  return result;
}

ClassId LayoutFinder::addLike(ENodeId like, Layout order, Operands operands) {
  ENode node;
  node.operands = std::move(operands);
  node.symbol = graph.getNode(like).symbol;
  auto type = cast<RankedTensorType>(graph[graph.getNode(like).owner].type);
  if (order) {
    NamedAttrList attributes(graph.getSymbol(node.symbol).attributes);
    attributes.set(graph::GraphDialect::getLayoutAttrName(), order);
    node.symbol = graph.getSymbol(graph.getSymbol(node.symbol).name,
                                  attributes.getDictionary(graph.getContext()));
    type = withLayout(type, order);
  }
  return add(std::move(node), type, like);
}

ClassId LayoutFinder::addCopy(ClassId id, Layout order, ENodeId user) {
  Builder builder(graph.getContext());
  auto type = cast<RankedTensorType>(graph[id].type);
  auto same = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  NamedAttrList attributes;
  attributes.set("permutation", builder.getDenseI64ArrayAttr(same));
  attributes.set(graph::GraphDialect::getLayoutAttrName(), order);
  ENode node;
  node.symbol = graph.getSymbol(graph::TransposeOp::getOperationName(),
                                attributes.getDictionary(graph.getContext()));
  node.operands = {id};
  return add(std::move(node), withLayout(type, order), user);
}

ClassId LayoutFinder::addInRows(ClassId id, ENodeId like) {
  ENode node;
  node.symbol =
      graph.getSymbol(kInRows, DictionaryAttr::get(graph.getContext()));
  node.operands = {id};
  return add(std::move(node), graph[graph.getNode(like).owner].type, like);
}

//===----------------------------------------------------------------------===//
// E-graphs
//===----------------------------------------------------------------------===//

void LayoutFinder::want(ClassId id, Layout order) {
  if (canBeIn(id, order))
    wanted.insert({graph.find(id), order});
}

/// Functions before and behind what is wanted may run in its order.
void LayoutFinder::wantAround(Wanted self) {
  ClassId id = self.first;
  auto order = cast<Layout>(self.second);
  auto visit = [&](ENodeId node, bool wantsOperands) {
    std::optional<OperatorInstance> instance = getOpen(node);
    if (!instance || !isMap(*instance))
      return;
    if (!wantsOperands)
      return want(graph.getNode(node).owner, order);
    for (unsigned i = 0; i < instance->operands.size(); ++i)
      if (canRead(*instance, i, order))
        want(graph.getNode(node).operands[i], order);
  };
  for (ENodeId node : graph[id].nodes)
    visit(node, /*wantsOperands=*/true);
  for (ENodeId node : graph[id].users)
    visit(node, /*wantsOperands=*/false);
}

LayoutFinder::Operands
LayoutFinder::replaceWanted(ENodeId id, const OperatorInstance &instance,
                            Layout order) const {
  Operands operands(graph.getNode(id).operands);
  for (auto [i, operand] : llvm::enumerate(operands))
    if (auto other = others.find({graph.find(operand), order});
        other != others.end() && canRead(instance, i, order))
      operand = other->second;
  return operands;
}

void LayoutFinder::addWanted(Wanted self) {
  ClassId id = self.first;
  auto order = cast<Layout>(self.second);
  // Adding nodes and uniting classes changes the lists.
  std::vector<ENodeId> nodes = graph[id].nodes, users = graph[id].users;
  ClassId other = others[self];
  for (ENodeId node : nodes)
    if (auto instance = getOpen(node)) {
      graph.unite(other, addLike(node, order, graph.getNode(node).operands));
      graph.unite(other,
                  addLike(node, order, replaceWanted(node, *instance, order)));
    }
  for (ENodeId user : users)
    if (auto instance = getOpen(user)) {
      Operands operands = replaceWanted(user, *instance, order);
      if (operands != graph.getNode(user).operands)
        graph.unite(graph.getNode(user).owner, addLike(user, {}, operands));
    }
  if (!nodes.empty() && graph.getNode(nodes.front()).source &&
      isReadInRows(users, order))
    graph.unite(id, addInRows(other, nodes.front()));
}

void LayoutFinder::addAll() {
  unsigned numNodes = graph.getNumNodes();
  for (ENodeId id = 0; id < numNodes; ++id)
    if (auto instance = getOpen(id))
      if (Layout order = getGainingLayout(*instance)) {
        want(graph.getNode(id).operands[0], order);
        want(graph.getNode(id).owner, order);
      }
  for (unsigned next = 0; next < wanted.size(); ++next)
    wantAround(wanted[next]);
  for (Wanted self : wanted) {
    auto user = llvm::find_if(graph[self.first].users, [&](ENodeId id) {
      return graph.getNode(id).source != nullptr;
    });
    if (user != graph[self.first].users.end())
      others[self] = addCopy(self.first, cast<Layout>(self.second), *user);
  }
  for (Wanted self : wanted)
    if (others.contains(self) && graph.getNumNodes() < context.options.maxNodes)
      addWanted(self);
  graph.rebuild();
}

//===----------------------------------------------------------------------===//
// One graph
//===----------------------------------------------------------------------===//

LayoutFinder::Alternative LayoutFinder::getBest(ClassId id, Layout order,
                                                ENodeId user) {
  id = graph.find(id);
  if (auto known = best.find({id, order}); known != best.end())
    return known->second;
  Alternative made = makeBest(id, order, user);
  best.try_emplace({id, order}, made);
  return made;
}

LayoutFinder::Alternative LayoutFinder::makeBest(ClassId id, Layout order,
                                                 ENodeId user) {
  ClassId copy = addCopy(id, order, user);
  Alternative result{copy, getSeconds(copy)};
  auto node = chosen.find(id);
  auto instance = node == chosen.end() ? std::nullopt : getOpen(node->second);
  if (!instance || numFunctions == kMaxFunctions)
    return result;
  double before = costs.getSeconds(node->second);
  auto offer = [&](Operands operands, double more) {
    ClassId made = addLike(node->second, order, std::move(operands));
    double seconds = getSeconds(made) - before + more;
    if (seconds < result.seconds)
      result = {made, seconds};
  };
  Operands operands(graph.getNode(node->second).operands);
  offer(operands, 0);
  double more = 0;
  ++numFunctions;
  for (auto [i, operand] : llvm::enumerate(operands))
    if (canRead(*instance, i, order) && canBeIn(operand, order)) {
      Alternative other = getBest(operand, order, node->second);
      operand = other.id;
      more += other.seconds;
    }
  --numFunctions;
  offer(std::move(operands), more);
  return result;
}

/// Lets the result of `id` lie in the order of its operand, too, and all that
/// is computed of it by functions, as far as each is the only one to read it.
std::optional<LayoutChange>
LayoutFinder::followResult(ENodeId id, ClassId operand, Layout order) {
  Operands operands(graph.getNode(id).operands);
  operands[0] = operand;
  ClassId other = addLike(id, order, operands);
  while (true) {
    ClassId owner = graph.find(graph.getNode(id).owner);
    const std::vector<ENodeId> &readers = users[owner];
    if (isReadInRows(readers, order))
      return LayoutChange{owner, addInRows(other, id)};
    auto instance = readers.size() == 1 ? getOpen(readers[0]) : std::nullopt;
    if (!instance)
      return std::nullopt;
    ENodeId reader = readers[0];
    operands = Operands(graph.getNode(reader).operands);
    for (auto [i, read] : llvm::enumerate(operands))
      if (graph.find(read) == owner && canRead(*instance, i, order))
        read = other;
    if (operands == graph.getNode(reader).operands)
      return std::nullopt;
    if (!isMap(*instance))
      return LayoutChange{graph.find(graph.getNode(reader).owner),
                          addLike(reader, {}, operands)};
    other = addLike(reader, order, operands);
    id = reader;
  }
}

std::vector<LayoutChange> LayoutFinder::find(ArrayRef<ENodeId> order) {
  for (ENodeId id : order) {
    chosen[graph.find(graph.getNode(id).owner)] = id;
    for (ClassId operand : graph.getNode(id).operands)
      users[graph.find(operand)].push_back(id);
  }
  std::vector<LayoutChange> changes;
  for (ENodeId id : order) {
    auto instance = getOpen(id);
    Layout wanted = instance ? getGainingLayout(*instance) : Layout();
    Operands operands(graph.getNode(id).operands);
    if (!wanted || !canBeIn(operands[0], wanted))
      continue;
    ClassId read = operands[0], owner = graph.find(graph.getNode(id).owner);
    for (ClassId other :
         {addCopy(read, wanted, id), getBest(read, wanted, id).id}) {
      operands[0] = other;
      changes.push_back({owner, addLike(id, {}, operands)});
      if (auto change = followResult(id, other, wanted))
        changes.push_back(*change);
    }
  }
  return changes;
}

void espalier::substitution::addLayouts(EGraph &graph, SearchContext &context,
                                        NodeCosts &costs) {
  LayoutFinder(graph, context, costs).addAll();
}

std::vector<LayoutChange>
espalier::substitution::findLayouts(EGraph &graph, SearchContext &context,
                                    NodeCosts &costs, ArrayRef<ENodeId> order) {
  return LayoutFinder(graph, context, costs).find(order);
}
