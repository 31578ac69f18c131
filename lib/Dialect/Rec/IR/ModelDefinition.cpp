//===- ModelDefinition.cpp - What a model applied to structures means -----===//
//
// The definition of `rec.apply` is made of those of the operators in the cells,
// each for all nodes at once. Leaves and interior nodes have arrays of their
// own, so that their loops are separate from the start:
//
//   HL[n, j] = emb[words[n], j]                        n < number of leaves
//   C0[m, j] = HL[c, j] if c < leaves else HI[c - leaves, j],
//              where c = children[m, 0]
//   HI[m, j] = tanh(C0[m, j] + C1[m, j])               a recurrence over m
//   R[r, j] = HL[v, j] if v < leaves else HI[v - leaves, j], where v = roots[r]
//
// What depends on no child stands before the recurrence, which is what other
// systems call hoisting. A value that no node has a part in (of weights alone)
// is computed once.
//
//===----------------------------------------------------------------------===//

#include "espalier/Definition/Formulas.h"
#include "espalier/Dialect/Graph/IR/CellBuilder.h"
#include "espalier/Dialect/Rec/IR/Rec.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::rec;
using namespace espalier::definition;

/// Whether an element of a tensor is read at a place that is read, too.
static bool readsAtNumbers(Expr value) {
  bool found = false;
  walk(value, [&](Expr read) {
    if (read.getKind() == Expr::Kind::Access)
      for (Expr index : read.getOperands())
        walk(index,
             [&](Expr e) { found |= e.getKind() == Expr::Kind::Access; });
  });
  return found;
}

bool espalier::rec::looksUp(graph::DefinedOpInterface op) {
  auto isNumber = [](Type type) {
    return getElementTypeOrSelf(type).isIntOrIndex();
  };
  return llvm::all_of(op->getResultTypes(), isNumber) ||
         llvm::any_of(op.getVerifiedDefinition().steps, [](const Step &step) {
           return readsAtNumbers(step.value);
         });
}

namespace {

/// The tensor operands of `rec.apply`.
enum Operand { Arity, Children, Levels, Roots, FirstArgument };

/// The names of those that are not the model's.
constexpr StringLiteral kNames[] = {"arity", "children", "levels", "roots"};

/// The indices of a cell are the node and, in what is computed for a child, the
/// child.
class ModelBuilder : private graph::CellBuilder {
public:
  ModelBuilder(ApplyOp op, ModelOp model, graph::DefinitionError error)
      : CellBuilder(op.getContext()), op(op), model(model), error(error) {}

  FailureOr<Definition> run();

private:
  LogicalResult verifyStructure();
  void addRequirements();
  /// Adds the steps of a case, whose nodes are numbered by `index`.
  void addCase(CaseOp cell, const IndexVar &index, Expr node);
  void addOperations(Block &block);
  void addOperation(Operation &op);
  void addCall(CallOp call);
  void addChildren(ChildrenOp children);

  /// The results of node `number`, at `at`, of any case.
  Expr readResult(unsigned result, Expr number, ArrayRef<Expr> at);
  /// Variables over the dimensions of `type`.
  SmallVector<IndexVar> makeVars(RankedTensorType type);
  /// A leaf's result, which is stored for each leaf unless it is the same for
  /// all and the model is specialized.
  graph::CellValue getLeafResult(unsigned result,
                                 const graph::CellValue &value);
  /// A step that has each interior node's results.
  TensorRef getInteriorResult(unsigned result);
  void addResults();

  Expr getSize(unsigned operand, unsigned dim) {
    auto type = cast<RankedTensorType>(op->getOperand(operand).getType());
    return type.isDynamicDim(dim)
               ? size(TensorRef::operand(operand), dim, context)
               : index(type.getDimSize(dim));
  }
  Expr readNumber(unsigned operand, ArrayRef<Expr> at) {
    Type type = cast<RankedTensorType>(op->getOperand(operand).getType())
                    .getElementType();
    return cast(IndexType::get(context),
                access(TensorRef::operand(operand), at, type));
  }
  RankedTensorType getResultType(unsigned result) {
    return cast<RankedTensorType>(model.getResultTypes()[result]);
  }

  ApplyOp op;
  ModelOp model;
  graph::DefinitionError error;
  Expr numLeaves, numInterior;
  SmallVector<graph::CellValue> leafResults;
  Expr cellNode;
  bool isInterior = false; ///< The cell is that of interior nodes.
};

LogicalResult ModelBuilder::verifyStructure() {
  auto refuse = [&](const Twine &rule, Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    error("expects " + rule + ", but got '" + text + "'");
    return failure();
  };
  // C3
  NodeType node = model.getNodeType();
  std::string arity = "?";
  if (node.hasFixedArity())
    arity = std::to_string(node.getArity());
  auto children = cast<RankedTensorType>(op.getChildren().getType());
  if (children.getRank() != 2 ||
      !children.getElementType().isSignlessInteger(32) ||
      children.getDimSize(1) !=
          (node.hasFixedArity() ? node.getArity() : ShapedType::kDynamic))
    return refuse("children of type tensor<?x" + arity + "xi32>", children);
  // C4
  for (unsigned operand : {Arity, Levels, Roots}) {
    auto type = cast<RankedTensorType>(op->getOperand(operand).getType());
    if (type.getRank() != 1 || !type.getElementType().isSignlessInteger(32))
      return refuse("a vector of i32 as '" + kNames[operand] + "'", type);
  }
  return success();
}

void ModelBuilder::addRequirements() {
  Expr numNodes = size(TensorRef::operand(Arity), 0, context);
  definition.requirements.push_back(
      {Requirement::Kind::AtLeast, numNodes,
       size(TensorRef::operand(Children), 0, context),
       "at least as many nodes as interior ones"});
  if (model.getBatching() == Batching::Levels)
    definition.requirements.push_back(
        {Requirement::Kind::AtLeast,
         size(TensorRef::operand(Levels), 0, context), constant(int64_t(1)),
         "a bound of levels at least"});
  llvm::SmallSetVector<unsigned, 4> features;
  model.walk([&](FeatureOp feature) {
    auto argument = cast<BlockArgument>(feature.getTensor());
    features.insert(argument.getArgNumber() - 1);
  });
  for (unsigned feature : features)
    definition.requirements.push_back(
        {Requirement::Kind::Equal,
         size(TensorRef::operand(FirstArgument + feature), 0, context),
         numNodes, "a row of features for each node"});
}

SmallVector<IndexVar> ModelBuilder::makeVars(RankedTensorType type) {
  SmallVector<IndexVar> vars;
  for (auto [dim, extent] : llvm::enumerate(type.getShape()))
    vars.push_back(
        definition.makeVar("j" + std::to_string(dim), index(extent)));
  return vars;
}

Expr ModelBuilder::readResult(unsigned result, Expr number, ArrayRef<Expr> at) {
  Type type = getResultType(result).getElementType();
  Argument leaf = leafResults[result].argument;
  if (!leaf.leading.empty())
    leaf.leading = {number};
  Expr ofLeaf = read({leaf}, at, type);
  Expr ofInterior =
      read({{getPlaceholder(result), {number - numLeaves}}}, at, type);
  return select(apply(ScalarFn::Less, {number, numLeaves}), ofLeaf, ofInterior);
}

void ModelBuilder::addCall(CallOp call) {
  Expr number =
      readNumber(Children, {use(cellIndices).front(), index(call.getChild())});
  for (auto [result, value] : llvm::enumerate(call.getResults())) {
    RankedTensorType type = getResultType(result);
    SmallVector<IndexVar> vars = makeVars(type);
    Expr child = readResult(result, number, use(vars));
    vars.insert(vars.begin(), cellIndices.front());
    TensorRef step =
        addStep("C", vars, child, type.getElementType(), /*isRecursive=*/true);
    valueOf[value] = makeValue(step, 1, /*isRecursive=*/true);
  }
}

static ReduceKind getReduceKind(Reduction reduction) {
  switch (reduction) {
  case Reduction::Add:
    return ReduceKind::Sum;
  case Reduction::Mul:
    return ReduceKind::Product;
  case Reduction::Max:
    return ReduceKind::Max;
  case Reduction::Min:
    return ReduceKind::Min;
  }
  llvm_unreachable("all kinds are handled");
}

void ModelBuilder::addChildren(ChildrenOp children) {
  IndexVar child = definition.makeVar("k", getSize(Children, 1));
  cellIndices.push_back(child);
  SmallVector<Expr> at = use(cellIndices);
  Expr number = readNumber(Children, at);
  Block &body = children.getBody().front();
  for (auto [result, value] : llvm::enumerate(body.getArguments())) {
    RankedTensorType type = getResultType(result);
    SmallVector<IndexVar> vars = makeVars(type);
    Expr ofChild = readResult(result, number, use(vars));
    vars.insert(vars.begin(), cellIndices.begin(), cellIndices.end());
    TensorRef step = addStep("C", vars, ofChild, type.getElementType(),
                             /*isRecursive=*/true);
    valueOf[value] = makeValue(step, 2, /*isRecursive=*/true);
  }
  addOperations(body);

  // Where the number of children is not fixed, the last entries of a row are
  // none.
  Expr guard;
  if (!model.getNodeType().hasFixedArity())
    guard = apply(ScalarFn::Less, {at[1], readNumber(Arity, {cellNode})});
  auto yield = cast<YieldOp>(body.back());
  for (auto [number, value] : llvm::enumerate(children.getResults())) {
    auto type = cast<RankedTensorType>(value.getType());
    auto kind = cast<ReductionAttr>(children.getReductions()[number]);
    ReduceKind reduction = getReduceKind(kind.getValue());
    SmallVector<IndexVar> vars = makeVars(type);
    const graph::CellValue &part = valueOf.at(yield.getOperand(number));
    Expr sum = reduce(reduction, child, guard,
                      read(part, use(vars), type.getElementType()),
                      getAccumulatorType(reduction, type.getElementType()));
    vars.insert(vars.begin(), cellIndices.front());
    TensorRef step =
        addStep("S", vars, sum, type.getElementType(), part.isRecursive);
    valueOf[value] = makeValue(step, 1, part.isRecursive);
  }
  cellIndices.pop_back();
}

void ModelBuilder::addOperation(Operation &op) {
  if (auto feature = dyn_cast<FeatureOp>(op)) {
    graph::CellValue &value = valueOf[feature];
    value = valueOf.at(feature.getTensor());
    value.argument.leading = {cellNode};
    value.numIndices = 1;
  } else if (auto call = dyn_cast<CallOp>(op)) {
    addCall(call);
  } else if (auto children = dyn_cast<ChildrenOp>(op)) {
    addChildren(children);
  } else {
    // What is not hoisted is computed with the nodes that need it.
    CellBuilder::addOperation(op, [&](graph::DefinedOpInterface op) {
      return isInterior && !model.getHoist() && !looksUp(op);
    });
  }
}

void ModelBuilder::addOperations(Block &block) {
  for (Operation &op : block.without_terminator())
    addOperation(op);
}

void ModelBuilder::addCase(CaseOp cell, const IndexVar &index, Expr node) {
  cellIndices = {index};
  cellNode = node;
  isInterior = cell.getKind() == Case::Interior;
  for (auto [number, argument] : llvm::enumerate(model.getTensorArguments()))
    valueOf[argument] = {{TensorRef::operand(FirstArgument + number)}};
  addOperations(cell.getBody().front());
}

graph::CellValue ModelBuilder::getLeafResult(unsigned result,
                                             const graph::CellValue &value) {
  if (model.getSpecialize() || value.numIndices != 0)
    return value;
  RankedTensorType type = getResultType(result);
  SmallVector<IndexVar> vars = makeVars(type);
  Expr element = read(value, use(vars), type.getElementType());
  vars.insert(vars.begin(), cellIndices.front());
  return makeValue(addStep("L", vars, element, type.getElementType()), 1,
                   /*isRecursive=*/false);
}

TensorRef ModelBuilder::getInteriorResult(unsigned result) {
  CaseOp cell = model.getCase(Case::Interior);
  Value yielded = cell.getBody().front().back().getOperand(result);
  const graph::CellValue &value = valueOf.at(yielded);
  // A step over all interior nodes holds the results as it is.
  if (value.numIndices == 1 && !value.argument.tensor.isOperand())
    return value.argument.tensor;
  RankedTensorType type = getResultType(result);
  SmallVector<IndexVar> vars = makeVars(type);
  Expr element = read(value, use(vars), type.getElementType());
  vars.insert(vars.begin(), cellIndices.front());
  return addStep("H", vars, element, type.getElementType(), value.isRecursive);
}

void ModelBuilder::addResults() {
  bool atRoots = op.getPlaces() == Places::Roots;
  for (unsigned result = 0; result < model.getResultTypes().size(); ++result) {
    RankedTensorType type = getResultType(result);
    IndexVar place = definition.makeVar(atRoots ? "r" : "n",
                                        getSize(atRoots ? Roots : Arity, 0));
    Expr number = use(place).front();
    if (atRoots)
      number = readNumber(Roots, number);
    SmallVector<IndexVar> vars = makeVars(type);
    Expr value = readResult(result, number, use(vars));
    vars.insert(vars.begin(), place);
    definition.results.push_back(
        addStep("R", vars, value, type.getElementType()).number);
  }
}

FailureOr<Definition> ModelBuilder::run() {
  if (failed(verifyStructure()))
    return failure();
  llvm::append_range(
      definition.operandNames,
      llvm::map_range(kNames, [](StringRef name) { return name.str(); }));
  for (unsigned number = 0; number < op.getArguments().size(); ++number)
    definition.operandNames.push_back("A" + std::to_string(number));
  numInterior = getSize(Children, 0);
  numLeaves = getSize(Arity, 0) - numInterior;
  addRequirements();

  IndexVar leaf = definition.makeVar("n", numLeaves);
  CaseOp cell = model.getCase(Case::Leaf);
  addCase(cell, leaf, use(leaf).front());
  for (auto [result, value] :
       llvm::enumerate(cell.getBody().front().back().getOperands()))
    leafResults.push_back(getLeafResult(result, valueOf.at(value)));

  IndexVar interior = definition.makeVar("m", numInterior);
  addCase(model.getCase(Case::Interior), interior,
          numLeaves + use(interior).front());
  for (unsigned result = 0; result < leafResults.size(); ++result)
    addPlaced(getInteriorResult(result));
  addResults();
  order(model.getBatching() == Batching::Levels
            ? std::optional<unsigned>(Levels)
            : std::nullopt);
  return std::move(definition);
}

} // namespace

FailureOr<Definition> ApplyOp::getDefinition(graph::DefinitionError error) {
  auto model =
      SymbolTable::lookupNearestSymbolFrom<ModelOp>(*this, getModelAttr());
  if (!model) {
    error("expects a model");
    return failure();
  }
  return ModelBuilder(*this, model, error).run();
}
