//===- Unfold.cpp - Puts definitions in the place of operators ------------===//

#include "Unfold.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier::proof;
using namespace espalier::definition;

/// Longer sums are not looked at.
static constexpr size_t kMaxTerms = 2048;

Sum Unfolder::fail(llvm::StringRef reason) {
  if (error.empty())
    error = reason.str();
  return {};
}

/// Products and roots are taken apart: `a * b` is not 0 where neither is, and
/// `sqrt(a)` where a is positive.
void Unfolder::demand(Demand::Kind kind, Sum value) {
  bool isProduct = kind == Demand::Kind::NotZero && value.size() == 1 &&
                   value[0].isPlain() && !value[0].factors.empty() &&
                   value[0].coefficient != Fraction(0, 1);
  if (isProduct && value[0].factors.size() > 1) {
    for (const Atom &atom : value[0].factors)
      demand(kind, makeAtom(atom));
    return;
  }
  if (isProduct && value[0].factors[0].isFunction("sqrt"))
    return demand(Demand::Kind::Positive, value[0].factors[0].args[0]);
  Atom at;
  at.kind = Atom::Kind::Max;
  at.bound = bound;
  at.conditions = where;
  at.args.push_back(std::move(value));
  demands.push_back({kind, std::move(at)});
}

std::optional<Index>
espalier::proof::translate(Expr expr, const Use &use, const Instance &instance,
                           llvm::ArrayRef<Instance> instances,
                           const std::map<unsigned, Index> &variables) {
  auto recurse = [&](Expr part) {
    return translate(part, use, instance, instances, variables);
  };
  switch (expr.getKind()) {
  case Expr::Kind::Constant:
    if (auto value = expr.getInt())
      return Index(*value);
    return std::nullopt;
  case Expr::Kind::Variable: {
    auto known = variables.find(expr.getVariable());
    return known == variables.end() ? std::nullopt
                                    : std::optional(known->second);
  }
  case Expr::Kind::Parameter:
    return instance.parameters[expr.getNumber()];
  case Expr::Kind::Size: {
    TensorRef tensor = expr.getTensor();
    if (tensor.isOperand())
      return instances[use.operands[tensor.number]].shape[expr.getNumber()];
    const Step &step = instance.semantics->definition.steps[tensor.number];
    return recurse(step.indices[expr.getNumber()].extent);
  }
  case Expr::Kind::Cast:
    return recurse(expr.getOperands()[0]);
  case Expr::Kind::Apply:
    break;
  default:
    return std::nullopt;
  }
  if (expr.getOperands().size() != 2)
    return std::nullopt;
  auto lhs = recurse(expr.getOperands()[0]);
  auto rhs = recurse(expr.getOperands()[1]);
  if (!lhs || !rhs)
    return std::nullopt;
  switch (expr.getFn()) {
  case ScalarFn::Add:
    return *lhs + *rhs;
  case ScalarFn::Sub:
    return *lhs - *rhs;
  case ScalarFn::Mul:
    return *lhs * *rhs;
  case ScalarFn::FloorDiv:
    return Index::quotient(*lhs, *rhs);
  case ScalarFn::Mod:
    return *lhs - Index::quotient(*lhs, *rhs) * *rhs;
  case ScalarFn::Max:
    return Index::larger(*lhs, *rhs);
  case ScalarFn::Min:
    return *lhs + *rhs - Index::larger(*lhs, *rhs);
  default:
    return std::nullopt;
  }
}

std::optional<Index> Unfolder::getIndex(Expr expr, const Scope &scope) {
  return translate(expr, statement.uses[scope.use], instances[scope.use],
                   instances, scope.variables);
}

Sum Unfolder::unfold(unsigned use, const std::vector<Index> &indices) {
  const Use &node = statement.uses[use];
  if (node.node.isVariable()) {
    Atom atom;
    atom.name = node.name;
    atom.indices = indices;
    return makeAtom(std::move(atom));
  }
  return unfoldStep(use, instances[use].semantics->definition.results[0],
                    indices);
}

Sum Unfolder::unfoldStep(unsigned use, unsigned number,
                         const std::vector<Index> &indices) {
  const Step &step = instances[use].semantics->definition.steps[number];
  if (step.recurrence || step.indices.size() != indices.size())
    return fail("a definition that refers to itself");
  Scope scope{use, {}};
  for (auto [variable, index] : llvm::zip_equal(step.indices, indices))
    scope.variables[variable.id] = index;
  return evaluate(step.value, scope);
}

Sum Unfolder::evaluate(Expr expr, const Scope &scope) {
  if (!error.empty())
    return {};
  switch (expr.getKind()) {
  case Expr::Kind::Constant:
    if (auto value = expr.getInt())
      return makeConstant(Fraction(*value, 1));
    return fail("a number that is not whole");
  case Expr::Kind::Access: {
    std::vector<Index> indices;
    for (Expr operand : expr.getOperands())
      if (auto index = getIndex(operand, scope))
        indices.push_back(*index);
      else
        return fail("an index that is not made of sizes");
    TensorRef tensor = expr.getTensor();
    return tensor.isOperand()
               ? unfold(statement.uses[scope.use].operands[tensor.number],
                        indices)
               : unfoldStep(scope.use, tensor.number, indices);
  }
  case Expr::Kind::Apply:
    return evaluateApply(expr, scope);
  case Expr::Kind::Select:
    return evaluateSelect(expr, scope);
  case Expr::Kind::Reduce:
    return evaluateReduce(expr, scope);
  case Expr::Kind::Cast: {
    Expr operand = expr.getOperands()[0];
    if (mlir::isa_and_nonnull<mlir::FloatType>(operand.getType()) ||
        operand.getKind() == Expr::Kind::Constant)
      return evaluate(operand, scope);
    return fail("an index as a value");
  }
  case Expr::Kind::Variable:
  case Expr::Kind::Size:
  case Expr::Kind::Parameter:
    return fail("an index as a value");
  }
  llvm_unreachable("every kind is handled above");
}

Sum Unfolder::evaluateApply(Expr expr, const Scope &scope) {
  std::vector<Sum> args;
  for (Expr operand : expr.getOperands())
    args.push_back(evaluate(operand, scope));
  if (!error.empty())
    return {};
  auto apply = [](llvm::StringRef name, Sum arg) {
    return makeAtom(makeFunction(name, std::move(arg)));
  };
  Fraction minusOne(-1, 1);
  switch (expr.getFn()) {
  case ScalarFn::Add:
    return add(std::move(args[0]), args[1]);
  case ScalarFn::Sub:
    return add(std::move(args[0]), scale(std::move(args[1]), minusOne));
  case ScalarFn::Neg:
    return scale(std::move(args[0]), minusOne);
  case ScalarFn::Mul:
    if (args[0].size() * args[1].size() > kMaxTerms)
      return fail("a product of too many terms");
    return multiply(args[0], args[1]);
  case ScalarFn::Max:
  case ScalarFn::Min: {
    // max(a, b) = b + relu(a - b), and max(a, 0) = relu(a).
    Sum excess = apply("relu", add(args[0], scale(args[1], minusOne)));
    freshen(excess, next);
    return expr.getFn() == ScalarFn::Max
               ? add(std::move(args[1]), excess)
               : add(std::move(args[0]), scale(std::move(excess), minusOne));
  }
  case ScalarFn::Div: {
    const Sum &divisor = args[1];
    bool isNumber = divisor.size() == 1 && divisor[0].factors.empty() &&
                    divisor[0].isPlain() &&
                    divisor[0].coefficient != Fraction(0, 1);
    if (!isNumber) {
      demand(Demand::Kind::NotZero, args[1]);
      return multiply(args[0], apply("div", args[1]));
    }
    Fraction factor = divisor[0].coefficient;
    return scale(std::move(args[0]), Fraction(factor.den, factor.num));
  }
  case ScalarFn::Sqrt:
    demand(Demand::Kind::NotNegative, args[0]);
    break;
  case ScalarFn::Log:
  case ScalarFn::Rsqrt:
    demand(Demand::Kind::Positive, args[0]);
    break;
  case ScalarFn::Abs:
  case ScalarFn::Ceil:
  case ScalarFn::Cos:
  case ScalarFn::Erf:
  case ScalarFn::Exp:
  case ScalarFn::Floor:
  case ScalarFn::Round:
  case ScalarFn::Sign:
  case ScalarFn::Sin:
  case ScalarFn::Tanh:
    break;
  default:
    return fail("a function that may have no value");
  }
  return apply(getName(expr.getFn()), std::move(args[0]));
}

Sum Unfolder::evaluateSelect(Expr expr, const Scope &scope) {
  Sum result;
  for (bool isTrue : {true, false}) {
    auto pieces = getCondition(expr.getOperands()[0], isTrue, scope);
    if (!pieces)
      return fail("a condition that is not made of sizes");
    for (const Conditions &piece : *pieces) {
      size_t count = where.size();
      llvm::append_range(where, piece);
      Sum branch = evaluate(expr.getOperands()[isTrue ? 1 : 2], scope);
      where.resize(count);
      for (Term &term : branch)
        llvm::append_range(term.conditions, piece);
      result = add(std::move(result), branch);
    }
  }
  return result;
}

Sum Unfolder::evaluateReduce(Expr expr, const Scope &scope) {
  bool isSum = expr.getReduceKind() == ReduceKind::Sum;
  if (!isSum && expr.getReduceKind() != ReduceKind::Max)
    return fail("a reduction other than sums and maxima");
  Scope inner = scope;
  Names names;
  Conditions box;
  for (const IndexVar &variable : expr.getReduceVars()) {
    auto extent = getIndex(variable.extent, scope);
    if (!extent)
      return fail("an extent that is not made of sizes");
    names.push_back("v" + std::to_string(next++));
    Index index = Index::variable(names.back());
    inner.variables[variable.id] = index;
    box.push_back(Condition::atLeast(index, 0));
    box.push_back(Condition::less(index, *extent));
  }
  std::optional<Clause> pieces = Clause{{}};
  if (Expr guard = expr.getGuard())
    pieces = getCondition(guard, true, inner);
  if (!pieces || (!isSum && pieces->size() != 1))
    return fail("a condition that is not made of sizes");
  Sum result;
  for (const Conditions &piece : *pieces) {
    Conditions domain = box;
    llvm::append_range(domain, piece);
    size_t numBound = bound.size(), numConditions = where.size();
    llvm::append_range(bound, names);
    llvm::append_range(where, domain);
    Sum body = evaluate(expr.getOperands()[0], inner);
    bound.resize(numBound);
    where.resize(numConditions);
    if (!isSum) {
      Atom max;
      max.kind = Atom::Kind::Max;
      max.bound = names;
      max.conditions = domain;
      max.args.push_back(std::move(body));
      demand(Demand::Kind::NotEmpty, makeAtom(max));
      return makeAtom(std::move(max));
    }
    for (Term &term : body) {
      llvm::append_range(term.bound, names);
      llvm::append_range(term.conditions, domain);
    }
    result = add(std::move(result), body);
  }
  // The pieces and terms share names.
  freshen(result, next);
  return result;
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

std::optional<Clause> Unfolder::compare(Expr expr, bool isTrue,
                                        const Scope &scope) {
  if (expr.getOperands().size() != 2)
    return std::nullopt;
  auto lhs = getIndex(expr.getOperands()[0], scope);
  auto rhs = getIndex(expr.getOperands()[1], scope);
  if (!lhs || !rhs)
    return std::nullopt;
  Condition condition;
  switch (expr.getFn()) {
  case ScalarFn::NotEqual:
    isTrue = !isTrue;
    [[fallthrough]];
  case ScalarFn::Equal:
    condition = Condition::equal(*lhs, *rhs);
    break;
  case ScalarFn::Less:
    condition = Condition::less(*lhs, *rhs);
    break;
  case ScalarFn::LessEqual:
    condition = Condition::atLeast(*rhs, *lhs);
    break;
  case ScalarFn::Greater:
    condition = Condition::less(*rhs, *lhs);
    break;
  case ScalarFn::GreaterEqual:
    condition = Condition::atLeast(*lhs, *rhs);
    break;
  default:
    return std::nullopt;
  }
  if (isTrue)
    return Clause{{condition}};
  Clause result;
  for (const Condition &option : condition.negate())
    result.push_back({option});
  return result;
}

std::optional<Clause> Unfolder::getCondition(Expr expr, bool isTrue,
                                             const Scope &scope) {
  if (expr.getKind() == Expr::Kind::Constant) {
    bool holds = (expr.getInt().value_or(0) != 0) == isTrue;
    return Clause(holds ? 1 : 0);
  }
  if (expr.getKind() != Expr::Kind::Apply)
    return std::nullopt;
  ScalarFn fn = expr.getFn();
  if (fn == ScalarFn::Not)
    return getCondition(expr.getOperands()[0], !isTrue, scope);
  if (fn != ScalarFn::And && fn != ScalarFn::Or)
    return compare(expr, isTrue, scope);
  Expr lhs = expr.getOperands()[0], rhs = expr.getOperands()[1];
  // Both, or: the first, and where it does not hold, the second.
  bool isBoth = (fn == ScalarFn::And) == isTrue;
  auto first = getCondition(lhs, isTrue, scope);
  auto second = getCondition(rhs, isTrue, scope);
  auto other = isBoth ? first : getCondition(lhs, !isTrue, scope);
  if (!first || !second || !other)
    return std::nullopt;
  Clause result = isBoth ? Clause() : *first;
  for (const Conditions &left : *other)
    for (const Conditions &right : *second) {
      result.push_back(left);
      llvm::append_range(result.back(), right);
    }
  return result;
}
