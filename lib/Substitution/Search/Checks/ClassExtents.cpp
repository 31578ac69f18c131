//===- ClassExtents.cpp - The extents of what a graph computes ------------===//

#include "ClassExtents.h"
#include "espalier/Definition/Definition.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;
using namespace espalier::substitution;
using espalier::substitution::Constraint;

//===----------------------------------------------------------------------===//
// One operator
//===----------------------------------------------------------------------===//

namespace {
/// Reads extents off the operations that an operator of an e-graph becomes.
class DefinitionReader {
public:
  /// `arguments` are the extents of the arguments of the block that has the
  /// operations.
  DefinitionReader(ClassExtents &classes, ArrayRef<TensorExtents> arguments)
      : classes(classes), arguments(arguments) {}

  TensorExtents read(Value value, SmallVectorImpl<Constraint> *agreements) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return arguments[argument.getArgNumber()];
    auto type = cast<RankedTensorType>(value.getType());
    auto op = dyn_cast<graph::DefinedOpInterface>(value.getDefiningOp());
    FailureOr<Definition> definition =
        op ? op.getDefinition([](const Twine &) {}) : FailureOr<Definition>();
    TensorExtents result;
    if (succeeded(definition))
      for (Value operand : op.getTensorOperands())
        llvm::append_range(result.needs, read(operand, agreements).needs);
    unsigned number = cast<OpResult>(value).getResultNumber();
    for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
      if (!ShapedType::isDynamic(extent)) {
        result.forms.push_back(Linear(extent));
        continue;
      }
      auto form = failed(definition)
                      ? std::nullopt
                      : toLinear(getIndices(*definition, number)[dim].extent,
                                 *definition, op);
      result.forms.push_back(form ? *form : classes.getTable().makeUnknown());
      // Below 0, an extent is 0.
      Constraint fits = Constraint::atLeast(result.forms.back(), 1);
      if (form && !classes.getFacts().implies(fits))
        result.needs.push_back(fits);
    }
    if (succeeded(definition) && agreements)
      addAgreements(*definition, op, *agreements);
    return result;
  }

private:
  static ArrayRef<IndexVar> getIndices(const Definition &definition,
                                       unsigned result) {
    return definition.steps[definition.results[result]].indices;
  }

  void addAgreements(const Definition &definition, graph::DefinedOpInterface op,
                     SmallVectorImpl<Constraint> &agreements) {
    for (const Requirement &requirement : definition.requirements) {
      if (requirement.kind != Requirement::Kind::Equal ||
          !requirement.exceptions.empty())
        continue;
      auto value = toLinear(requirement.value, definition, op);
      auto bound = toLinear(requirement.bound, definition, op);
      if (value && bound)
        agreements.push_back(Constraint::equal(*value, *bound));
    }
  }

  std::optional<Linear> toLinear(Expr expr, const Definition &definition,
                                 graph::DefinedOpInterface op) {
    switch (expr.getKind()) {
    case Expr::Kind::Constant:
      return expr.getInt() ? std::optional(Linear(*expr.getInt()))
                           : std::nullopt;
    case Expr::Kind::Size: {
      TensorRef tensor = expr.getTensor();
      if (!tensor.isOperand())
        return toLinear(
            definition.steps[tensor.number].indices[expr.getNumber()].extent,
            definition, op);
      return read(op.getTensorOperands()[tensor.number], nullptr)
          .forms[expr.getNumber()];
    }
    case Expr::Kind::Parameter:
      return readIndex(op.getParameterOperands()[expr.getNumber()]);
    case Expr::Kind::Apply:
      return applyToLinear(expr, definition, op);
    default:
      return std::nullopt;
    }
  }

  std::optional<Linear> applyToLinear(Expr expr, const Definition &definition,
                                      graph::DefinedOpInterface op) {
    if (getArity(expr.getFn()) != 2)
      return std::nullopt;
    auto lhs = toLinear(expr.getOperands()[0], definition, op);
    auto rhs = toLinear(expr.getOperands()[1], definition, op);
    if (!lhs || !rhs)
      return std::nullopt;
    switch (expr.getFn()) {
    case ScalarFn::Add:
      return *lhs + *rhs;
    case ScalarFn::Sub:
      return *lhs - *rhs;
    case ScalarFn::Mul:
      if (rhs->getValue())
        return *lhs * *rhs->getValue();
      if (lhs->getValue())
        return *rhs * *lhs->getValue();
      return std::nullopt;
    case ScalarFn::FloorDiv:
      if (rhs->getValue().value_or(0) < 1)
        return std::nullopt;
      return classes.getTable().getQuotient(*lhs, *rhs->getValue());
    default:
      return std::nullopt;
    }
  }

  std::optional<Linear> readIndex(Value value) {
    APInt number;
    if (matchPattern(value, m_ConstantInt(&number)))
      return Linear(number.getSExtValue());
    auto dim = value.getDefiningOp<tensor::DimOp>();
    std::optional<int64_t> index = dim ? dim.getConstantIndex() : std::nullopt;
    if (!index)
      return std::nullopt;
    TensorExtents extents = read(dim.getSource(), nullptr);
    // MLIR leaves other dimensions undefined.
    if (*index < 0 || *index >= static_cast<int64_t>(extents.forms.size()))
      return std::nullopt;
    return extents.forms[*index];
  }

  ClassExtents &classes;
  ArrayRef<TensorExtents> arguments;
};
} // namespace

TensorExtents ClassExtents::makeUnknown(RankedTensorType type) {
  TensorExtents result;
  for (int64_t extent : type.getShape())
    result.forms.push_back(ShapedType::isDynamic(extent) ? table.makeUnknown()
                                                         : Linear(extent));
  return result;
}

TensorExtents ClassExtents::computeOperator(ENodeId id,
                                            Agreements *agreements) {
  std::optional<OperatorInstance> instance = graph.getInstance(id);
  if (!instance)
    return makeUnknown(
        cast<RankedTensorType>(graph[graph.getNode(id).owner].type));
  std::vector<TensorExtents> arguments;
  for (ClassId operand : graph.getNode(id).operands)
    arguments.push_back(get(operand));
  // The operations are only looked at.
  Block block;
  Location loc = UnknownLoc::get(graph.getContext());
  for (RankedTensorType type : instance->operands)
    block.addArgument(type, loc);
  OpBuilder builder(graph.getContext());
  builder.setInsertionPointToEnd(&block);
  Value value = createOperation(builder, loc, *instance, block.getArguments());
  return DefinitionReader(*this, arguments).read(value, agreements);
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

TensorExtents ClassExtents::compute(ClassId id) {
  auto type = cast<RankedTensorType>(graph[id].type);
  // What came first needs what was there before.
  ENodeId first = *llvm::min_element(graph[id].nodes);
  const ENode &node = graph.getNode(first);
  TensorExtents result;
  if (type.hasStaticShape() || node.kind == ENode::Kind::Operation ||
      node.kind == ENode::Kind::Result) {
    result = makeUnknown(type);
  } else if (node.kind == ENode::Kind::Operator) {
    result = computeOperator(first, nullptr);
  } else {
    auto value = Value::getFromOpaquePointer(node.entity);
    for (auto [dim, extent] : llvm::enumerate(type.getShape()))
      result.forms.push_back(ShapedType::isDynamic(extent)
                                 ? table.getEntry(value, dim)
                                 : Linear(extent));
  }
  // A type may say more than the node from which it came.
  for (auto [form, extent] : llvm::zip_equal(result.forms, type.getShape()))
    if (!ShapedType::isDynamic(extent))
      form = Linear(extent);
  return result;
}

const TensorExtents &ClassExtents::get(ClassId id) {
  id = graph.find(id);
  auto [entry, isNew] = known.try_emplace(id, nullptr);
  if (isNew) {
    auto result = std::make_unique<TensorExtents>(compute(id));
    return *(known[id] = std::move(result));
  }
  // It needs itself, which united classes may.
  if (!entry->second)
    entry->second = std::make_unique<TensorExtents>(
        makeUnknown(cast<RankedTensorType>(graph[id].type)));
  return *entry->second;
}

void ClassExtents::addAgreements(ENodeId id) {
  const ENode &node = graph.getNode(id);
  auto isStatic = [&](ClassId operand) {
    auto type = dyn_cast_or_null<RankedTensorType>(graph[operand].type);
    return !type || type.hasStaticShape();
  };
  if (node.kind != ENode::Kind::Operator ||
      llvm::all_of(node.operands, isStatic))
    return;
  SmallVector<Constraint> agreements;
  TensorExtents extents = computeOperator(id, &agreements);
  bool isExact = llvm::all_of(extents.needs, [&](const Constraint &need) {
    return getFacts().implies(need);
  });
  if (isExact)
    facts.add(agreements);
}

const ConstraintStore &ClassExtents::learn(ConstraintStore &facts,
                                           unsigned &numLearned) const {
  for (; numLearned < table.size(); ++numLearned) {
    const ExtentInfo &info = table[numLearned];
    Linear self = Linear::var(numLearned);
    if (info.isEntry())
      facts.add(Constraint::atLeast(self, 1));
    if (!info.isQuotient())
      continue;
    Linear rest = info.dividend - self * info.divisor;
    facts.add(Constraint::atLeast(rest, 0));
    facts.add(Constraint::atLeast(Linear(info.divisor - 1), rest));
  }
  return facts;
}
