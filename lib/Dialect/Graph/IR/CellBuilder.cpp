//===- CellBuilder.cpp - Definitions made of cells ------------------------===//

#include "espalier/Dialect/Graph/IR/CellBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::graph;
using namespace espalier::definition;

//===----------------------------------------------------------------------===//
// What a cell may have
//===----------------------------------------------------------------------===//

static LogicalResult verifyConstant(Operation &op, Attribute value) {
  Type type = getElementTypeOrSelf(op.getResult(0).getType());
  bool isNumber =
      isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type);
  if (type.isSignlessInteger())
    isNumber =
        llvm::is_contained({1, 8, 16, 32, 64}, type.getIntOrFloatBitWidth());
  if (!isNumber)
    return op.emitOpError("expects numbers that operators work on, but got ")
           << type;
  auto elements = dyn_cast<DenseElementsAttr>(value);
  if (elements && elements.isSplat())
    return success();
  return op.emitOpError("expects one value for all elements in a cell, but "
                        "got several; they can be an argument of the model");
}

/// Checks that no extent of a result is taken for known that is not. Loops have
/// the extents of types.
static LogicalResult verifyExtents(DefinedOpInterface op) {
  SmallVector<RankedTensorType> inferred =
      inferResultTypes(op.getVerifiedDefinition(), op.getTensorOperandTypes());
  for (auto [expected, result] : llvm::zip_equal(inferred, op->getResults())) {
    auto type = cast<RankedTensorType>(result.getType());
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (expected.isDynamicDim(dim) && !type.isDynamicDim(dim))
        return op->emitOpError("expects result #")
               << result.getResultNumber() << " of type " << expected
               << " in a cell, but got " << type;
  }
  return success();
}

Type graph::dropEncoding(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor
             ? RankedTensorType::get(tensor.getShape(), tensor.getElementType())
             : type;
}

LogicalResult graph::verifyCellOp(Operation &op) {
  Attribute constant;
  if (op.getNumResults() == 1 &&
      matchPattern(op.getResult(0), m_Constant(&constant)) &&
      isa<RankedTensorType>(op.getResult(0).getType()))
    return verifyConstant(op, constant);
  auto defined = dyn_cast<DefinedOpInterface>(op);
  if (!defined || isa<SymbolUserOpInterface>(op))
    return op.emitOpError("expects to be outside of a cell, which is made of "
                          "operators on tensors");
  if (!defined.getParameterOperands().empty())
    return op.emitOpError("expects tensors as the only operands in a cell");
  for (const Step &step : defined.getVerifiedDefinition().steps)
    if (step.recurrence)
      return op.emitOpError("expects to be outside of a cell, as it is a "
                            "recurrence itself");
  return verifyExtents(defined);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Expr CellBuilder::index(int64_t value) const {
  return cast(IndexType::get(context), constant(value));
}

SmallVector<Expr> CellBuilder::use(ArrayRef<IndexVar> vars) const {
  return llvm::map_to_vector(
      vars, [&](const IndexVar &var) { return variable(var.id, context); });
}

Expr CellBuilder::read(const CellValue &value, ArrayRef<Expr> at,
                       Type type) const {
  SmallVector<Expr> indices(ArrayRef<Expr>(value.argument.leading));
  llvm::append_range(indices, at);
  return access(value.argument.tensor, indices, type);
}

TensorRef CellBuilder::addStep(StringRef name, ArrayRef<IndexVar> vars,
                               Expr value, Type type, bool isRecursive) {
  std::string unique = (name + Twine(definition.steps.size())).str();
  Step step{unique, type, llvm::to_vector(vars), cast(type, value),
            std::nullopt};
  if (isRecursive)
    recursive.insert(definition.steps.size());
  return definition.addStep(std::move(step));
}

CellValue CellBuilder::makeValue(TensorRef step, unsigned numIndices,
                                 bool isRecursive) const {
  CellValue value{{step}, numIndices, isRecursive};
  llvm::append_range(value.argument.leading,
                     use(ArrayRef(cellIndices).take_front(numIndices)));
  return value;
}

void CellBuilder::addConstant(Value value, Attribute splat) {
  auto type = cast<RankedTensorType>(value.getType());
  Expr number;
  if (auto real = dyn_cast<FloatAttr>(splat))
    number = constant(real.getValueAsDouble());
  else
    number = constant(cast<IntegerAttr>(splat).getInt());
  SmallVector<IndexVar> vars;
  for (auto [dim, extent] : llvm::enumerate(type.getShape()))
    vars.push_back(
        definition.makeVar("j" + std::to_string(dim), index(extent)));
  TensorRef step = addStep("K", vars, cast(type.getElementType(), number),
                           type.getElementType());
  valueOf[value] = makeValue(step, 0, false);
}

void CellBuilder::addOperator(
    DefinedOpInterface op, llvm::function_ref<bool(DefinedOpInterface)> keep) {
  SmallVector<Argument> arguments;
  unsigned numIndices = 0;
  bool isRecursive = false;
  for (Value operand : op->getOperands()) {
    const CellValue &value = valueOf.at(operand);
    arguments.push_back(value.argument);
    numIndices = std::max(numIndices, value.numIndices);
    isRecursive |= value.isRecursive;
  }
  isRecursive |= numIndices != 0 && keep(op);
  unsigned first = definition.steps.size();
  SmallVector<TensorRef> results =
      instantiate(definition, op.getVerifiedDefinition(), arguments,
                  ArrayRef(cellIndices).take_front(numIndices), context);
  if (isRecursive)
    for (unsigned step = first; step < definition.steps.size(); ++step)
      recursive.insert(step);
  for (auto [value, step] : llvm::zip_equal(op->getResults(), results))
    valueOf[value] = makeValue(step, numIndices, isRecursive);
}

void CellBuilder::addOperation(
    Operation &op, llvm::function_ref<bool(DefinedOpInterface)> keep) {
  ElementsAttr constant;
  if (op.getNumResults() == 1 &&
      matchPattern(op.getResult(0), m_Constant(&constant)))
    addConstant(op.getResult(0), constant.getSplatValue<Attribute>());
  else
    addOperator(cast<DefinedOpInterface>(op), keep);
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

llvm::DenseSet<unsigned> CellBuilder::getRepeated() const {
  llvm::DenseSet<unsigned> repeated(placed.begin(), placed.end());
  for (unsigned step = definition.steps.size(); step-- > 0;)
    if (repeated.contains(step))
      walk(definition.steps[step].value, [&](Expr e) {
        if (e.getKind() == Expr::Kind::Access && !e.getTensor().isOperand() &&
            e.getTensor().number < step)
          repeated.insert(e.getTensor().number);
      });
  llvm::DenseSet<unsigned> result;
  for (unsigned step : recursive)
    if (repeated.contains(step))
      result.insert(step);
  return result;
}

void CellBuilder::order(std::optional<unsigned> levels) {
  unsigned numSteps = definition.steps.size();
  unsigned firstResult = numSteps - definition.results.size();
  llvm::DenseSet<unsigned> repeated = getRepeated();
  SmallVector<unsigned> order, after;
  for (unsigned step = 0; step < firstResult; ++step)
    if (!recursive.contains(step))
      order.push_back(step);
    else if (!repeated.contains(step))
      after.push_back(step);
  for (unsigned step = 0; step < firstResult; ++step)
    if (repeated.contains(step)) {
      definition.steps[step].recurrence = 0;
      definition.steps[step].levels = levels;
      order.push_back(step);
    }
  llvm::append_range(order, after);
  llvm::append_range(order, definition.results);

  SmallVector<unsigned> place(numSteps);
  for (auto [number, step] : llvm::enumerate(order))
    place[step] = number;
  auto rename = [&](Expr expr) {
    return transform(expr, [&](Expr e) -> Expr {
      if (e.getKind() != Expr::Kind::Access || e.getTensor().isOperand())
        return {};
      unsigned step = e.getTensor().number;
      if (~step < placed.size())
        step = placed[~step];
      return access(TensorRef::step(place[step]), e.getOperands(), e.getType());
    });
  };
  SmallVector<Step> steps;
  for (unsigned step : order) {
    steps.push_back(std::move(definition.steps[step]));
    steps.back().value = rename(steps.back().value);
  }
  definition.steps = std::move(steps);
  for (unsigned &result : definition.results)
    result = place[result];
}
