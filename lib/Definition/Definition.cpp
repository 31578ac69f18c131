//===- Definition.cpp - What an operator means ----------------------------===//

#include "espalier/Definition/Definition.h"
#include "espalier/Definition/Evaluate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;

IndexVar Definition::makeVar(StringRef name, Expr extent) {
  return {nextVar++, name.str(), extent};
}

TensorRef Definition::addStep(Step step) {
  steps.push_back(std::move(step));
  return TensorRef::step(steps.size() - 1);
}

Expr Definition::getExtent(TensorRef tensor, unsigned dim,
                           MLIRContext *context) const {
  return tensor.isOperand() ? size(tensor, dim, context)
                            : steps[tensor.number].indices[dim].extent;
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

int64_t
definition::evaluateExtent(Expr extent, const Definition &definition,
                           ArrayRef<RankedTensorType> operands,
                           ArrayRef<std::optional<int64_t>> parameters) {
  auto evaluate = [&](Expr expr) {
    return evaluateExtent(expr, definition, operands, parameters);
  };
  switch (extent.getKind()) {
  case Expr::Kind::Constant:
    return extent.getInt().value_or(ShapedType::kDynamic);
  case Expr::Kind::Size: {
    TensorRef tensor = extent.getTensor();
    if (tensor.isOperand())
      return operands[tensor.number].getDimSize(extent.getNumber());
    return evaluate(
        definition.steps[tensor.number].indices[extent.getNumber()].extent);
  }
  case Expr::Kind::Parameter:
    if (extent.getNumber() < parameters.size())
      return parameters[extent.getNumber()].value_or(ShapedType::kDynamic);
    return ShapedType::kDynamic;
  case Expr::Kind::Apply: {
    SmallVector<int64_t, 2> args;
    for (Expr operand : extent.getOperands()) {
      args.push_back(evaluate(operand));
      if (ShapedType::isDynamic(args.back()))
        return ShapedType::kDynamic;
    }
    return evaluateInteger(extent.getFn(), {}, args.front(), args.back());
  }
  case Expr::Kind::Select: {
    int64_t condition = evaluate(extent.getOperands()[0]);
    if (ShapedType::isDynamic(condition))
      return ShapedType::kDynamic;
    return evaluate(extent.getOperands()[condition ? 1 : 2]);
  }
  default:
    return ShapedType::kDynamic;
  }
}

bool definition::isTooLarge(Expr extent, const Definition &definition,
                            ArrayRef<RankedTensorType> operands) {
  auto evaluate = [&](Expr expr) {
    return evaluateExtent(expr, definition, operands);
  };
  auto isPartTooLarge = [&](Expr expr) {
    return isTooLarge(expr, definition, operands);
  };
  if (extent.getKind() == Expr::Kind::Select) {
    int64_t condition = evaluate(extent.getOperands()[0]);
    return !ShapedType::isDynamic(condition) &&
           isPartTooLarge(extent.getOperands()[condition ? 1 : 2]);
  }
  if (extent.getKind() != Expr::Kind::Apply)
    return false;
  if (llvm::any_of(extent.getOperands(), isPartTooLarge))
    return true;
  int64_t lhs = evaluate(extent.getOperands().front());
  int64_t rhs = evaluate(extent.getOperands().back()), result;
  if (ShapedType::isDynamic(lhs) || ShapedType::isDynamic(rhs))
    return false;
  switch (extent.getFn()) {
  case ScalarFn::Add:
    return llvm::AddOverflow(lhs, rhs, result);
  case ScalarFn::Sub:
    return llvm::SubOverflow(lhs, rhs, result);
  case ScalarFn::Mul:
    return llvm::MulOverflow(lhs, rhs, result);
  default:
    return false;
  }
}

bool definition::holds(Requirement::Kind kind, int64_t value, int64_t bound) {
  switch (kind) {
  case Requirement::Kind::Equal:
    return value == bound;
  case Requirement::Kind::AtMost:
    return value <= bound;
  case Requirement::Kind::AtLeast:
    return value >= bound;
  }
  llvm_unreachable("every kind is handled above");
}

std::string definition::explain(Requirement::Kind kind, StringRef rule,
                                const Twine &value, const Twine &bound) {
  StringRef comparison = kind == Requirement::Kind::Equal    ? " is needed"
                         : kind == Requirement::Kind::AtMost ? " is the most"
                                                             : " is the least";
  return ("expects " + rule + ", but got " + value + " where " + bound +
          comparison)
      .str();
}

std::optional<bool>
definition::isMet(const Requirement &requirement, const Definition &definition,
                  ArrayRef<RankedTensorType> operands,
                  ArrayRef<std::optional<int64_t>> parameters) {
  auto evaluate = [&](Expr expr) {
    return evaluateExtent(expr, definition, operands, parameters);
  };
  int64_t value = evaluate(requirement.value);
  int64_t bound = evaluate(requirement.bound);
  bool isKnown = !ShapedType::isDynamic(value) && !ShapedType::isDynamic(bound);
  if (isKnown && holds(requirement.kind, value, bound))
    return true;
  for (Expr exception : requirement.exceptions) {
    int64_t extent = evaluate(exception);
    isKnown &= !ShapedType::isDynamic(extent);
    if (!ShapedType::isDynamic(extent) && extent <= 0)
      return true;
  }
  if (isKnown)
    return false;
  return std::nullopt;
}

SmallVector<RankedTensorType>
definition::inferResultTypes(const Definition &definition,
                             ArrayRef<RankedTensorType> operands,
                             ArrayRef<std::optional<int64_t>> parameters) {
  SmallVector<RankedTensorType> types;
  for (unsigned result : definition.results) {
    const Step &step = definition.steps[result];
    SmallVector<int64_t> shape;
    for (const IndexVar &index : step.indices) {
      int64_t extent =
          evaluateExtent(index.extent, definition, operands, parameters);
      shape.push_back(ShapedType::isDynamic(extent)
                          ? extent
                          : std::max<int64_t>(extent, 0));
    }
    types.push_back(RankedTensorType::get(shape, step.elementType));
  }
  return types;
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

namespace {
/// Counts the floating-point functions of one evaluation of an expression. A
/// select counts as its dearer branch.
class FlopCounter {
public:
  FlopCounter(const Definition &definition, ArrayRef<RankedTensorType> operands)
      : definition(definition), operands(operands) {}

  double getPoints(ArrayRef<IndexVar> indices) {
    double points = 1;
    for (const IndexVar &index : indices) {
      int64_t extent = evaluateExtent(index.extent, definition, operands);
      isKnown &= !ShapedType::isDynamic(extent);
      points *= static_cast<double>(std::max<int64_t>(extent, 0));
    }
    return points;
  }

  double count(Expr expr) {
    ArrayRef<Expr> args = expr.getOperands();
    switch (expr.getKind()) {
    case Expr::Kind::Apply: {
      double flops = isa_and_nonnull<FloatType>(args[0].getType()) ? 1 : 0;
      for (Expr arg : args)
        flops += count(arg);
      return flops;
    }
    case Expr::Kind::Select:
      return count(args[0]) + std::max(count(args[1]), count(args[2]));
    case Expr::Kind::Cast:
      return count(args[0]);
    case Expr::Kind::Reduce:
      return getPoints(expr.getReduceVars()) *
             (count(args[0]) + (isa<FloatType>(expr.getType()) ? 1 : 0));
    default:
      return 0;
    }
  }

  double countReduced(Expr expr) {
    if (expr.getKind() == Expr::Kind::Reduce)
      return count(expr);
    double flops = 0;
    for (Expr operand : expr.getOperands())
      flops += countReduced(operand);
    return flops;
  }

  bool isKnown = true;

private:
  const Definition &definition;
  ArrayRef<RankedTensorType> operands;
};
} // namespace

static double getBytes(Type elementType) {
  return elementType.isIntOrFloat()
             ? llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8)
             : 8;
}

std::optional<Cost>
definition::estimateCost(const Definition &definition,
                         ArrayRef<RankedTensorType> operands) {
  Cost cost;
  FlopCounter counter(definition, operands);
  for (const Step &step : definition.steps) {
    double points = counter.getPoints(step.indices);
    cost.flops += points * counter.count(step.value);
    cost.reducedFlops += points * counter.countReduced(step.value);
  }
  for (unsigned result : definition.results) {
    const Step &step = definition.steps[result];
    cost.bytes += counter.getPoints(step.indices) * getBytes(step.elementType);
  }
  for (RankedTensorType type : operands) {
    if (!type.hasStaticShape())
      return std::nullopt;
    double points = 1;
    for (int64_t extent : type.getShape())
      points *= static_cast<double>(extent);
    cost.bytes += points * getBytes(type.getElementType());
  }
  if (!counter.isKnown)
    return std::nullopt;
  return cost;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

void definition::print(const Definition &definition, llvm::raw_ostream &os) {
  llvm::DenseMap<VarId, std::string> varNames;
  for (const Step &step : definition.steps) {
    for (const IndexVar &index : step.indices)
      varNames[index.id] = index.name;
    walk(step.value, [&](Expr expr) {
      for (const IndexVar &var : expr.getReduceVars())
        varNames[var.id] = var.name;
    });
  }
  auto tensorName = [&](TensorRef tensor) {
    return tensor.isOperand() ? definition.operandNames[tensor.number]
                              : definition.steps[tensor.number].name;
  };
  auto varName = [&](VarId id) { return varNames.lookup(id); };
  for (const Step &step : definition.steps) {
    os << step.name << '[';
    llvm::interleaveComma(step.indices, os,
                          [&](const IndexVar &index) { os << index.name; });
    os << "] = ";
    print(step.value, os, tensorName, varName);
    os << '\n';
  }
}
