//===- Exact.cpp - Values of rules without rounding -----------------------===//

#include "Exact.h"
#include "espalier/Definition/Evaluate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace espalier;
using namespace espalier::substitution;
using namespace espalier::definition;

using Kind = ExactValue::Kind;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// The neighbours of a result that may be rounded: by one unit, or more for
/// functions of the library.
static double below(double value, unsigned units = 1) {
  for (; units != 0; --units)
    value = std::nextafter(value, -HUGE_VAL);
  return value;
}
static double above(double value, unsigned units = 1) {
  return -below(-value, units);
}

ExactValue ExactValue::get(double low, double high) {
  // What overflowed, or is nothing, says nothing.
  if (!std::isfinite(low) || !std::isfinite(high) || low > high)
    return get(Kind::Unsure);
  ExactValue value;
  value.kind = Kind::Number;
  value.low = low;
  value.high = high;
  return value;
}

ExactValue ExactValue::get(const Rational &number) {
  if (number.poisoned)
    return get(Kind::Unsure);
  double quotient = static_cast<double>(number.numerator) /
                    static_cast<double>(number.denominator);
  ExactValue value = get(below(quotient, 3), above(quotient, 3));
  value.exact = number;
  return value;
}

static bool isExact(const ExactValue &value) {
  return value.isNumber() && !value.exact.poisoned;
}

/// -1, 0 or 1, if that is certain.
static std::optional<int> getSign(const ExactValue &value) {
  switch (value.kind) {
  case Kind::MinusInfinity:
    return -1;
  case Kind::PlusInfinity:
    return 1;
  case Kind::Undefined:
  case Kind::Unsure:
    return std::nullopt;
  case Kind::Number:
    break;
  }
  if (isExact(value))
    return value.exact.isZero() ? 0 : value.exact.isPositive() ? 1 : -1;
  if (value.low > 0)
    return 1;
  if (value.high < 0)
    return -1;
  return std::nullopt;
}

static ExactValue getInfinity(int sign) {
  return ExactValue::get(sign < 0 ? Kind::MinusInfinity : Kind::PlusInfinity);
}

static ExactValue negateValue(const ExactValue &value) {
  if (value.isInfinite())
    return getInfinity(value.kind == Kind::PlusInfinity ? -1 : 1);
  if (!value.isNumber())
    return value;
  ExactValue result = ExactValue::get(-value.high, -value.low);
  result.exact = -value.exact;
  return result;
}

static ExactValue addValues(const ExactValue &lhs, const ExactValue &rhs) {
  if (lhs.isInfinite() || rhs.isInfinite()) {
    if (lhs.isInfinite() && rhs.isInfinite() && lhs.kind != rhs.kind)
      return ExactValue::get(Kind::Undefined);
    return lhs.isInfinite() ? lhs : rhs;
  }
  if (Rational sum = lhs.exact + rhs.exact; !sum.poisoned)
    return ExactValue::get(sum);
  return ExactValue::get(below(lhs.low + rhs.low), above(lhs.high + rhs.high));
}

static ExactValue multiplyValues(const ExactValue &lhs, const ExactValue &rhs) {
  if (lhs.isInfinite() || rhs.isInfinite()) {
    auto left = getSign(lhs), right = getSign(rhs);
    if (!left || !right)
      return ExactValue::get(Kind::Unsure);
    return *left * *right == 0 ? ExactValue::get(Kind::Undefined)
                               : getInfinity(*left * *right);
  }
  if (getSign(lhs) == 0 || getSign(rhs) == 0)
    return ExactValue::get(Rational::get(0));
  if (Rational product = lhs.exact * rhs.exact; !product.poisoned)
    return ExactValue::get(product);
  double products[] = {lhs.low * rhs.low, lhs.low * rhs.high,
                       lhs.high * rhs.low, lhs.high * rhs.high};
  auto [least, most] = std::minmax_element(products, products + 4);
  return ExactValue::get(below(*least), above(*most));
}

static ExactValue invert(const ExactValue &value) {
  if (value.isInfinite())
    return ExactValue::get(Rational::get(0));
  std::optional<int> sign = getSign(value);
  if (!sign)
    return ExactValue::get(Kind::Unsure);
  if (*sign == 0)
    return ExactValue::get(Kind::Undefined);
  if (isExact(value))
    return ExactValue::get(value.exact.inverse());
  return ExactValue::get(below(1 / value.high), above(1 / value.low));
}

/// At least what both are at least.
static ExactValue getMaximum(const ExactValue &lhs, const ExactValue &rhs) {
  for (auto [value, other] : {std::pair(lhs, rhs), std::pair(rhs, lhs)}) {
    if (value.kind == Kind::PlusInfinity)
      return value;
    if (value.kind == Kind::MinusInfinity)
      return other;
  }
  if (isExact(lhs) && isExact(rhs)) {
    Rational difference = lhs.exact + -rhs.exact;
    if (!difference.poisoned)
      return difference.isPositive() ? lhs : rhs;
  }
  return ExactValue::get(std::max(lhs.low, rhs.low),
                         std::max(lhs.high, rhs.high));
}

/// A value that is known not to be negative.
static ExactValue takePositive(const ExactValue &value) {
  if (!value.isNumber() || isExact(value))
    return value;
  return ExactValue::get(std::max(value.low, 0.0), value.high);
}

/// A function that never decreases, with a limit at either infinity.
static ExactValue applyMonotone(const ExactValue &value, double (*fn)(double),
                                const ExactValue &atMinusInfinity,
                                const ExactValue &atPlusInfinity) {
  if (value.isInfinite())
    return value.kind == Kind::MinusInfinity ? atMinusInfinity : atPlusInfinity;
  constexpr unsigned kUnits = 8;
  return ExactValue::get(below(fn(value.low), kUnits),
                         above(fn(value.high), kUnits));
}

/// A function that changes no faster than its argument.
static ExactValue applySlow(const ExactValue &value, double (*fn)(double)) {
  if (!value.isNumber())
    return ExactValue::get(Kind::Undefined);
  constexpr unsigned kUnits = 8;
  double middle = value.low / 2 + value.high / 2;
  double reach = above(value.high - value.low);
  return ExactValue::get(below(fn(middle) - reach, kUnits),
                         above(fn(middle) + reach, kUnits));
}

static std::optional<int64_t> getRoot(int64_t square) {
  auto root = static_cast<int64_t>(std::sqrt(static_cast<double>(square)));
  for (int64_t near : {root - 1, root, root + 1})
    if (near >= 0 && near < (int64_t(1) << 31) && near * near == square)
      return near;
  return std::nullopt;
}

static ExactValue takeRoot(const ExactValue &value) {
  std::optional<int> sign = getSign(value);
  if (sign == -1)
    return ExactValue::get(Kind::Undefined);
  if (!sign)
    return ExactValue::get(Kind::Unsure);
  if (isExact(value)) {
    auto above = getRoot(value.exact.numerator);
    auto below = getRoot(value.exact.denominator);
    if (above && below)
      return ExactValue::get(Rational::get(*above, *below));
  }
  return applyMonotone(value, std::sqrt, {}, value);
}

ExactValue espalier::substitution::evaluateExactly(ScalarFn fn,
                                                   const ExactValue &lhs,
                                                   const ExactValue &rhs) {
  auto number = [](int64_t value) {
    return ExactValue::get(Rational::get(value));
  };
  bool isBinary = getArity(fn) == 2;
  for (Kind kind : {Kind::Undefined, Kind::Unsure})
    if (lhs.kind == kind || (isBinary && rhs.kind == kind))
      return ExactValue::get(kind);
  switch (fn) {
  case ScalarFn::Add:
    return addValues(lhs, rhs);
  case ScalarFn::Sub:
    return addValues(lhs, negateValue(rhs));
  case ScalarFn::Neg:
    return negateValue(lhs);
  case ScalarFn::Mul:
    return multiplyValues(lhs, rhs);
  case ScalarFn::Div:
    return evaluateExactly(ScalarFn::Mul, lhs, invert(rhs));
  case ScalarFn::Max:
    return getMaximum(lhs, rhs);
  case ScalarFn::Min:
    return negateValue(getMaximum(negateValue(lhs), negateValue(rhs)));
  case ScalarFn::Abs:
    return getMaximum(lhs, negateValue(lhs));
  case ScalarFn::Sqrt:
    return takeRoot(lhs);
  case ScalarFn::Rsqrt:
    return invert(takeRoot(lhs));
  case ScalarFn::Exp:
    if (isExact(lhs) && lhs.exact.isZero())
      return number(1);
    return takePositive(applyMonotone(lhs, std::exp, number(0), lhs));
  case ScalarFn::Sin:
    return applySlow(lhs, std::sin);
  case ScalarFn::Cos:
    return applySlow(lhs, std::cos);
  case ScalarFn::Tanh:
    if (isExact(lhs) && lhs.exact.isZero())
      return lhs;
    return applyMonotone(lhs, std::tanh, number(-1), number(1));
  default:
    return ExactValue::get(Kind::Unsure);
  }
}

bool ExactValue::differs(const ExactValue &other) const {
  if (kind == Kind::Unsure || other.kind == Kind::Unsure)
    return false;
  if (kind != other.kind)
    return true;
  if (!isNumber())
    return false;
  if (isExact(*this) && isExact(other))
    return exact.numerator != other.exact.numerator ||
           exact.denominator != other.exact.denominator;
  return low > other.high || high < other.low;
}

llvm::raw_ostream &espalier::substitution::operator<<(llvm::raw_ostream &os,
                                                      const ExactValue &value) {
  switch (value.kind) {
  case Kind::Number:
    break;
  case Kind::MinusInfinity:
    return os << "-inf";
  case Kind::PlusInfinity:
    return os << "inf";
  case Kind::Undefined:
    return os << "undefined";
  case Kind::Unsure:
    return os << "not known";
  }
  if (!value.exact.poisoned && value.exact.denominator == 1)
    return os << value.exact.numerator;
  return os << llvm::format("%.9g", value.low / 2 + value.high / 2);
}

//===----------------------------------------------------------------------===//
// ExactEvaluator
//===----------------------------------------------------------------------===//

ExactEvaluator::ExactEvaluator(const Instances &instances,
                               llvm::ArrayRef<interpreter::Tensor> inputs,
                               llvm::function_ref<int64_t(Var)> getSize,
                               Budget &budget)
    : instances(instances), inputs(inputs), budget(budget) {
  for (const Instance &instance : instances.list) {
    auto &shape = shapes.emplace_back();
    for (const Linear &extent : instance.shape)
      shape.push_back(extent.evaluate(getSize));
    auto &numbers = parameters.emplace_back();
    for (const Linear &parameter : instance.parameters)
      numbers.push_back(parameter.evaluate(getSize));
  }
}

/// A double is a fraction, if its numbers fit.
static ExactValue getElement(double value) {
  constexpr int64_t kScale = int64_t(1) << 20;
  double scaled = value * kScale;
  if (std::fabs(scaled) < 1e15 && scaled == std::floor(scaled))
    return ExactValue::get(Rational::get(static_cast<int64_t>(scaled), kScale));
  return ExactValue::get(value, value);
}

ExactValue ExactEvaluator::get(unsigned number,
                               llvm::ArrayRef<int64_t> indices) {
  const Instance &instance = instances.list[number];
  if (!instance.node->isVariable())
    return getStep(number, instance.semantics->definition.results[0], indices);
  int64_t position = 0;
  for (auto [index, extent] : llvm::zip_equal(indices, shapes[number])) {
    if (index < 0 || index >= extent)
      return ExactValue::get(Kind::Unsure);
    position = position * extent + index;
  }
  return getElement(inputs[number].getFloat(position));
}

ExactValue ExactEvaluator::getStep(unsigned instance, unsigned number,
                                   llvm::ArrayRef<int64_t> indices) {
  const Step &step =
      instances.list[instance].semantics->definition.steps[number];
  if (step.recurrence || !budget.check())
    return ExactValue::get(Kind::Unsure);
  std::vector<int64_t> key{instance, number};
  key.insert(key.end(), indices.begin(), indices.end());
  if (auto found = known.find(key); found != known.end())
    return found->second;
  Scope scope;
  scope.instance = instance;
  for (auto [var, index] : llvm::zip_equal(step.indices, indices))
    scope.vars[var.id] = index;
  return known[key] = evaluate(step.value, scope);
}

ExactValue ExactEvaluator::evaluate(Expr expr, Scope &scope) {
  switch (expr.getKind()) {
  case Expr::Kind::Constant:
    if (std::optional<int64_t> value = expr.getInt())
      return ExactValue::get(Rational::get(*value));
    return getElement(expr.getFloat());
  case Expr::Kind::Access: {
    llvm::SmallVector<int64_t> indices;
    for (Expr operand : expr.getOperands()) {
      auto index = evaluateIndex(operand, scope);
      if (!index)
        return ExactValue::get(Kind::Unsure);
      indices.push_back(*index);
    }
    TensorRef tensor = expr.getTensor();
    if (!tensor.isOperand())
      return getStep(scope.instance, tensor.number, indices);
    return get(instances.list[scope.instance].operands[tensor.number], indices);
  }
  case Expr::Kind::Apply: {
    ExactValue lhs = evaluate(expr.getOperands().front(), scope);
    ExactValue rhs;
    if (expr.getOperands().size() == 2)
      rhs = evaluate(expr.getOperands()[1], scope);
    return evaluateExactly(expr.getFn(), lhs, rhs);
  }
  case Expr::Kind::Select: {
    auto condition = evaluateIndex(expr.getOperands()[0], scope);
    if (!condition)
      return ExactValue::get(Kind::Unsure);
    return evaluate(expr.getOperands()[*condition != 0 ? 1 : 2], scope);
  }
  case Expr::Kind::Cast: {
    Expr operand = expr.getOperands()[0];
    if (!operand.getType() || mlir::isa<mlir::FloatType>(operand.getType()))
      return evaluate(operand, scope);
    auto number = evaluateIndex(operand, scope);
    return number ? ExactValue::get(Rational::get(*number))
                  : ExactValue::get(Kind::Unsure);
  }
  case Expr::Kind::Reduce:
    return evaluateReduce(expr, scope);
  case Expr::Kind::Variable:
  case Expr::Kind::Size:
  case Expr::Kind::Parameter:
    return ExactValue::get(Kind::Unsure);
  }
  llvm_unreachable("every kind is handled above");
}

ExactValue ExactEvaluator::evaluateReduce(Expr expr, Scope &scope) {
  ExactValue result;
  switch (expr.getReduceKind()) {
  case ReduceKind::Sum:
    result = ExactValue::get(Rational::get(0));
    break;
  case ReduceKind::Product:
    result = ExactValue::get(Rational::get(1));
    break;
  case ReduceKind::Max:
    result = ExactValue::get(Kind::MinusInfinity);
    break;
  case ReduceKind::Min:
    result = ExactValue::get(Kind::PlusInfinity);
    break;
  }
  ScalarFn combine = getCombiner(expr.getReduceKind());
  auto visit = [&](auto &self, unsigned number) -> void {
    if (!budget.check()) {
      result = ExactValue::get(Kind::Unsure);
      return;
    }
    if (number < expr.getReduceVars().size()) {
      const IndexVar &var = expr.getReduceVars()[number];
      int64_t extent = evaluateExtent(var.extent, scope.instance);
      for (int64_t index = 0; index < extent; ++index) {
        scope.vars[var.id] = index;
        self(self, number + 1);
      }
      return;
    }
    std::optional<int64_t> isTaken = 1;
    if (Expr guard = expr.getGuard())
      isTaken = evaluateIndex(guard, scope);
    if (!isTaken)
      result = ExactValue::get(Kind::Unsure);
    else if (*isTaken != 0)
      result = evaluateExactly(combine, result,
                               evaluate(expr.getOperands()[0], scope));
  };
  visit(visit, 0);
  return result;
}

int64_t ExactEvaluator::evaluateExtent(Expr extent, unsigned instance) {
  llvm::SmallVector<mlir::RankedTensorType> types;
  mlir::Type type = mlir::Float64Type::get(instances.list[instance]
                                               .semantics->definition.steps[0]
                                               .elementType.getContext());
  for (unsigned operand : instances.list[instance].operands)
    types.push_back(mlir::RankedTensorType::get(shapes[operand], type));
  return definition::evaluateExtent(
      extent, instances.list[instance].semantics->definition, types,
      parameters[instance]);
}

std::optional<int64_t> ExactEvaluator::evaluateIndex(Expr expr, Scope &scope) {
  switch (expr.getKind()) {
  case Expr::Kind::Constant:
    return expr.getInt();
  case Expr::Kind::Variable:
    return scope.vars.lookup(expr.getVariable());
  case Expr::Kind::Size:
  case Expr::Kind::Parameter:
    return evaluateExtent(expr, scope.instance);
  case Expr::Kind::Cast:
    return evaluateIndex(expr.getOperands()[0], scope);
  case Expr::Kind::Select: {
    auto condition = evaluateIndex(expr.getOperands()[0], scope);
    if (!condition)
      return std::nullopt;
    return evaluateIndex(expr.getOperands()[*condition != 0 ? 1 : 2], scope);
  }
  case Expr::Kind::Apply: {
    auto lhs = evaluateIndex(expr.getOperands()[0], scope);
    std::optional<int64_t> rhs = 0;
    if (expr.getOperands().size() == 2)
      rhs = evaluateIndex(expr.getOperands()[1], scope);
    if (!lhs || !rhs)
      return std::nullopt;
    mlir::Type type = expr.getOperands()[0].getType();
    return evaluateInteger(expr.getFn(),
                           type ? IntegerFormat::get(type) : IntegerFormat(),
                           *lhs, *rhs);
  }
  case Expr::Kind::Access:
  case Expr::Kind::Reduce:
    return std::nullopt;
  }
  llvm_unreachable("every kind is handled above");
}
