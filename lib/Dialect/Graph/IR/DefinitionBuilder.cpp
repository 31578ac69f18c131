//===- DefinitionBuilder.cpp - Definitions built in C++ -------------------===//

#include "DefinitionBuilder.h"
#include "espalier/Definition/Formulas.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::graph;
using namespace espalier::definition;

DefinitionBuilder::DefinitionBuilder(ValueRange operands,
                                     ArrayRef<StringRef> names,
                                     DefinitionError error)
    : DefinitionBuilder(operands.front().getContext(), operands, names, error) {
}

DefinitionBuilder::DefinitionBuilder(MLIRContext *context, ValueRange operands,
                                     ArrayRef<StringRef> names,
                                     DefinitionError error)
    : context(context), error(error),
      types(graph::detail::getTensorTypes(operands)) {
  for (unsigned operand : llvm::seq(types.size())) {
    std::string name = names[std::min<size_t>(operand, names.size() - 1)].str();
    if (operand >= names.size() || types.size() > names.size())
      name += std::to_string(operand);
    definition.operandNames.push_back(std::move(name));
  }
}

Expr DefinitionBuilder::index(int64_t value) const {
  return cast(IndexType::get(context), constant(value));
}

Expr DefinitionBuilder::size(unsigned operand, unsigned dim) const {
  if (std::optional<int64_t> known = getStaticSize(operand, dim))
    return index(*known);
  return symbolicSize(operand, dim);
}

Expr DefinitionBuilder::symbolicSize(unsigned operand, unsigned dim) const {
  return definition::size(TensorRef::operand(operand), dim, context);
}

std::optional<int64_t> DefinitionBuilder::getStaticSize(unsigned operand,
                                                        unsigned dim) const {
  if (types[operand].isDynamicDim(dim))
    return std::nullopt;
  return types[operand].getDimSize(dim);
}

FailureOr<SmallVector<Expr>>
DefinitionBuilder::mixedIndices(ArrayRef<int64_t> entries, ValueRange values,
                                StringRef what, unsigned firstParameter) const {
  SmallVector<Expr> mixed;
  unsigned numDynamic = 0;
  for (int64_t entry : entries)
    mixed.push_back(ShapedType::isDynamic(entry)
                        ? parameter(firstParameter + numDynamic++, context)
                        : index(entry));
  if (values.size() != numDynamic)
    return fail("expects " + Twine(numDynamic) + " dynamic " + what +
                ", but got " + Twine(values.size()));
  return mixed;
}

FailureOr<SmallVector<Expr>>
DefinitionBuilder::mixedSizes(ArrayRef<int64_t> entries, ValueRange values,
                              unsigned firstParameter) const {
  for (int64_t entry : entries)
    if (entry < 0 && !ShapedType::isDynamic(entry))
      return fail("expects sizes that are not negative, but got " +
                  Twine(entry));
  return mixedIndices(entries, values, "sizes", firstParameter);
}

std::optional<int64_t> DefinitionBuilder::evaluate(Expr expr) const {
  int64_t value = evaluateExtent(expr, definition, types);
  if (ShapedType::isDynamic(value))
    return std::nullopt;
  return value;
}

Expr DefinitionBuilder::wrapIndex(Expr value, Expr extent) const {
  Expr number = cast(IndexType::get(context), value);
  Expr isNegative = apply(ScalarFn::Less, {number, index(0)});
  return clampIndex(select(isNegative, number + extent, number), extent);
}

SmallVector<IndexVar> DefinitionBuilder::makeVars(StringRef name,
                                                  ArrayRef<Expr> extents) {
  SmallVector<IndexVar> vars;
  for (auto [dim, extent] : llvm::enumerate(extents))
    vars.push_back(makeVar((name + Twine(dim)).str(), extent));
  return vars;
}

IndexVar DefinitionBuilder::makeVar(StringRef name, Expr extent) {
  return definition.makeVar(name, extent);
}

SmallVector<IndexVar> DefinitionBuilder::makeVars(StringRef name,
                                                  unsigned operand) {
  SmallVector<IndexVar> vars;
  for (unsigned dim : llvm::seq(getRank(operand)))
    vars.push_back(
        makeVar((name + Twine(dim)).str(), symbolicSize(operand, dim)));
  return vars;
}

Expr DefinitionBuilder::use(const IndexVar &var) const {
  return variable(var.id, context);
}

SmallVector<Expr> DefinitionBuilder::use(ArrayRef<IndexVar> vars) const {
  return llvm::map_to_vector(vars,
                             [&](const IndexVar &var) { return use(var); });
}

Expr DefinitionBuilder::read(unsigned operand, ArrayRef<Expr> indices) const {
  return access(TensorRef::operand(operand), indices, getElementType(operand));
}

Expr DefinitionBuilder::read(TensorRef tensor, ArrayRef<Expr> indices) const {
  if (tensor.isOperand())
    return read(tensor.number, indices);
  return access(tensor, indices, definition.steps[tensor.number].elementType);
}

FailureOr<Expr> DefinitionBuilder::readBroadcast(unsigned operand,
                                                 ArrayRef<IndexVar> vars) {
  StringRef name = definition.operandNames[operand];
  if (getRank(operand) > vars.size())
    return fail("expects " + name + " to have rank " + Twine(vars.size()) +
                " or less, but got rank " + Twine(getRank(operand)));
  SmallVector<Expr> indices;
  for (auto [dim, var] : llvm::enumerate(vars.take_back(getRank(operand)))) {
    int64_t extent = evaluateExtent(var.extent, definition, types);
    if (getStaticSize(operand, dim) == 1 && extent != 1) {
      indices.push_back(index(0));
      continue;
    }
    if (failed(requireEqual(var.extent, symbolicSize(operand, dim),
                            "extents of " + name + " that broadcast")))
      return failure();
    indices.push_back(use(var));
  }
  return read(operand, indices);
}

TensorRef DefinitionBuilder::addStep(StringRef name, ArrayRef<IndexVar> indices,
                                     Expr value) {
  return definition.addStep(
      {name.str(), value.getType(), llvm::to_vector(indices), value, {}});
}

void DefinitionBuilder::addResult(StringRef name, ArrayRef<IndexVar> indices,
                                  Expr value, Type elementType) {
  addResult(addStep(name, indices, cast(elementType, value)));
}

void DefinitionBuilder::addResult(TensorRef step) {
  definition.results.push_back(step.number);
}

void DefinitionBuilder::markRecurrence(unsigned count, unsigned position) {
  for (Step &step : MutableArrayRef(definition.steps).take_back(count))
    step.recurrence = position;
}

LogicalResult DefinitionBuilder::require(Requirement requirement) {
  std::optional<bool> met = isMet(requirement, definition, types);
  if (!met) {
    definition.requirements.push_back(std::move(requirement));
    return success();
  }
  if (*met)
    return success();
  return fail(explain(requirement.kind, requirement.rule,
                      Twine(*evaluate(requirement.value)),
                      Twine(*evaluate(requirement.bound))));
}

LogicalResult DefinitionBuilder::requireEqual(Expr lhs, Expr rhs,
                                              const Twine &rule) {
  return require({Requirement::Kind::Equal, rhs, lhs, rule.str()});
}

LogicalResult DefinitionBuilder::requireElements(Expr extent,
                                                 const Twine &where,
                                                 ArrayRef<IndexVar> readers) {
  Requirement requirement{Requirement::Kind::AtLeast, extent, index(1),
                          ("elements " + where).str()};
  for (const IndexVar &reader : readers)
    requirement.exceptions.push_back(reader.extent);
  return require(std::move(requirement));
}

LogicalResult
DefinitionBuilder::requireSameType(ArrayRef<unsigned> operands) const {
  for (unsigned operand : operands) {
    if (getElementType(operand) == getElementType(0))
      continue;
    std::string message;
    llvm::raw_string_ostream(message)
        << "expects " << definition.operandNames[operand]
        << " to have the element type of " << definition.operandNames[0] << ", "
        << getElementType(0) << ", but got " << getElementType(operand);
    return fail(message);
  }
  return success();
}

LogicalResult DefinitionBuilder::fail(const Twine &reason) const {
  error(reason);
  return failure();
}
