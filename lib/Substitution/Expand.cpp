//===- Expand.cpp - Expands a rule's outputs by definitions ---------------===//

#include "Expand.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/Twine.h"

using namespace espalier;
using namespace espalier::substitution;
using namespace espalier::definition;

/// Longer sums are not looked at.
static constexpr size_t kMaxTerms = 512;

Sum Expander::fail(const llvm::Twine &reason) {
  if (error.empty())
    error = reason.str();
  return {};
}

void Expander::Pending::attachTo(Sum &sum) const {
  for (Term &term : sum) {
    llvm::append_range(term.bound, bound);
    llvm::append_range(term.constraints, constraints);
    llvm::append_range(term.bases, bases);
  }
}

static void restrict(Sum &sum, const Constraints &constraints) {
  for (Term &term : sum)
    llvm::append_range(term.constraints, constraints);
}

Sum Expander::expand(unsigned number, llvm::ArrayRef<Linear> indices,
                     const Assumed &assumed) {
  if (!budget.check())
    return fail("timeout");
  const Instance &instance = instances.list[number];
  if (instance.node->isVariable()) {
    Atom read;
    read.leaf = number;
    for (const Linear &index : indices)
      read.indices.push_back(sizes.facts.simplify(index));
    return makeAtom(std::move(read));
  }
  return expandStep(instance, instance.semantics->definition.results[0],
                    indices, assumed);
}

Sum Expander::expandStep(const Instance &instance, unsigned number,
                         llvm::ArrayRef<Linear> indices,
                         const Assumed &assumed) {
  const Step &step = instance.semantics->definition.steps[number];
  if (step.recurrence)
    return fail("recurrence");
  Scope scope(instance);
  for (auto [var, index] : llvm::zip_equal(step.indices, indices))
    scope.vars[var.id] = index;
  return evaluate(step.value, scope, assumed);
}

Sum Expander::evaluate(Expr expr, const Scope &scope, const Assumed &assumed) {
  if (!error.empty() || !budget.check())
    return fail("timeout");
  switch (expr.getKind()) {
  case Expr::Kind::Constant:
    if (std::optional<int64_t> value = expr.getInt())
      return makeConstant(Rational::get(*value));
    return fail("fractional constant");
  case Expr::Kind::Access:
    return evaluateAccess(expr, scope, assumed);
  case Expr::Kind::Apply:
    return evaluateApply(expr, scope, assumed);
  case Expr::Kind::Select:
    return evaluateSelect(expr, scope, assumed);
  case Expr::Kind::Reduce:
    return evaluateReduce(expr, scope, assumed);
  case Expr::Kind::Cast:
    // Numbers are real; an index or a condition as a value is not supported.
    if (mlir::isa_and_nonnull<mlir::FloatType>(
            expr.getOperands()[0].getType()) ||
        expr.getOperands()[0].getKind() == Expr::Kind::Constant)
      return evaluate(expr.getOperands()[0], scope, assumed);
    return fail("conversion of an index to a value");
  case Expr::Kind::Variable:
  case Expr::Kind::Size:
  case Expr::Kind::Parameter:
    return fail("index as a value");
  }
  llvm_unreachable("every kind is handled above");
}

Sum Expander::evaluateAccess(Expr expr, const Scope &scope,
                             const Assumed &assumed) {
  Pending pending;
  llvm::SmallVector<Linear, 4> indices;
  undecided.reset();
  for (Expr operand : expr.getOperands()) {
    auto index = evaluateIndex(operand, scope, assumed, pending);
    if (!index && undecided)
      return distinguish(*undecided, assumed, [&](const Assumed &decided) {
        return evaluateAccess(expr, scope, decided);
      });
    if (!index)
      return fail("index that is not linear");
    indices.push_back(*index);
  }
  Assumed inside = assumed.with(pending.constraints);
  for (const Base &base : pending.bases)
    inside = inside.with(base.facts);
  TensorRef tensor = expr.getTensor();
  Sum sum =
      tensor.isOperand()
          ? expand(scope.instance.operands[tensor.number], indices, inside)
          : expandStep(scope.instance, tensor.number, indices, inside);
  pending.attachTo(sum);
  return sum;
}

Sum Expander::distinguish(const Constraint &condition, const Assumed &assumed,
                          llvm::function_ref<Sum(const Assumed &)> evaluate) {
  Constraints options{condition};
  llvm::append_range(options, negate(condition));
  Sum result;
  for (const Constraint &option : options) {
    if (assumed.isImpossible(option))
      continue;
    Sum part = evaluate(assumed.with(option));
    restrict(part, {option});
    result = add(std::move(result), std::move(part));
  }
  return result;
}

/// What a function asks of its argument; nothing if any will do.
static std::optional<Demand::Kind> getDemand(ScalarFn fn) {
  switch (fn) {
  case ScalarFn::Div: // Of one argument it is the reciprocal.
    return Demand::Kind::NotZero;
  case ScalarFn::Sqrt:
    return Demand::Kind::NotNegative;
  case ScalarFn::Log:
  case ScalarFn::Rsqrt:
    return Demand::Kind::Positive;
  default:
    return std::nullopt;
  }
}

static bool isTotal(ScalarFn fn) {
  switch (fn) {
  case ScalarFn::Abs:
  case ScalarFn::Sign:
  case ScalarFn::Exp:
  case ScalarFn::Sin:
  case ScalarFn::Cos:
  case ScalarFn::Tanh:
  case ScalarFn::Erf:
  case ScalarFn::Floor:
  case ScalarFn::Ceil:
  case ScalarFn::Round:
    return true;
  default:
    return false;
  }
}

bool Expander::demand(ScalarFn fn, const Sum &argument,
                      const Assumed &assumed) {
  std::optional<Demand::Kind> kind = getDemand(fn);
  if (kind)
    forEachCell(argument, assumed, [&](Sum value, const Assumed &inside) {
      demands.push_back({*kind, std::move(value), inside.conditions});
    });
  return kind || isTotal(fn);
}

Sum Expander::evaluateApply(Expr expr, const Scope &scope,
                            const Assumed &assumed) {
  std::vector<Sum> args;
  for (Expr operand : expr.getOperands())
    args.push_back(evaluate(operand, scope, assumed));
  if (!error.empty())
    return {};
  Rational minusOne = Rational::get(-1);
  switch (expr.getFn()) {
  case ScalarFn::Add:
    return add(std::move(args[0]), std::move(args[1]));
  case ScalarFn::Sub:
    return add(std::move(args[0]), scale(std::move(args[1]), minusOne));
  case ScalarFn::Neg:
    return scale(std::move(args[0]), minusOne);
  case ScalarFn::Mul:
    if (args[0].size() * args[1].size() > kMaxTerms)
      return fail("too many terms");
    return multiply(args[0], args[1]);
  case ScalarFn::Max:
  case ScalarFn::Min: {
    // max(a, b) = b + relu(a - b), min(a, b) = a - relu(a - b).
    bool isMax = expr.getFn() == ScalarFn::Max;
    Sum difference = add(args[0], scale(args[1], minusOne));
    Sum excess = makeRelu(std::move(difference), assumed);
    return isMax ? add(std::move(args[1]), std::move(excess))
                 : add(std::move(args[0]), scale(std::move(excess), minusOne));
  }
  case ScalarFn::Div: {
    const Sum &divisor = args[1];
    bool isNumber = divisor.size() == 1 && divisor[0].factors.empty() &&
                    divisor[0].bound.empty() && divisor[0].constraints.empty();
    // Of one argument it is the reciprocal.
    if (!isNumber) {
      demand(ScalarFn::Div, divisor, assumed);
      return multiply(args[0], makeFunction(ScalarFn::Div, {args[1]}, assumed));
    }
    return scale(std::move(args[0]), divisor[0].coefficient.inverse());
  }
  default:
    if (args.size() != 1 || !demand(expr.getFn(), args[0], assumed))
      return fail("function " + getName(expr.getFn()));
    return makeFunction(expr.getFn(), std::move(args), assumed);
  }
}

Sum Expander::evaluateSelect(Expr expr, const Scope &scope,
                             const Assumed &assumed) {
  Sum result;
  for (bool isTrue : {true, false}) {
    Pending pending;
    undecided.reset();
    auto pieces = evaluateCondition(expr.getOperands()[0], isTrue, scope,
                                    assumed, pending);
    if (!pieces && undecided)
      return distinguish(*undecided, assumed, [&](const Assumed &decided) {
        return evaluateSelect(expr, scope, decided);
      });
    if (!pieces)
      return fail("condition that is not linear");
    for (const Constraints &piece : *pieces) {
      Assumed inside = assumed.with(pending.constraints).with(piece);
      if (inside.isImpossible(piece))
        continue;
      Sum branch = evaluate(expr.getOperands()[isTrue ? 1 : 2], scope, inside);
      restrict(branch, piece);
      pending.attachTo(branch);
      result = add(std::move(result), std::move(branch));
    }
  }
  return result;
}

Sum Expander::evaluateReduce(Expr expr, const Scope &scope,
                             const Assumed &assumed) {
  bool isSum = expr.getReduceKind() == ReduceKind::Sum;
  if (!isSum && expr.getReduceKind() != ReduceKind::Max)
    return fail("reduction " + getName(expr.getReduceKind()));
  Scope inner = scope;
  llvm::SmallVector<Var, 4> bound;
  Constraints box;
  for (const IndexVar &var : expr.getReduceVars()) {
    auto extent = translateExtent(var.extent, instances, scope.instance, sizes);
    if (!extent)
      return fail("extent");
    if (extent->getValue() == 1) {
      inner.vars[var.id] = Linear(0);
      continue;
    }
    bound.push_back(makeVar());
    Linear index = Linear::var(bound.back());
    inner.vars[var.id] = index;
    box.push_back(Constraint::atLeast(index, 0));
    box.push_back(Constraint::less(index, *extent));
  }
  std::vector<Constraints> pieces{{}};
  Pending pending;
  if (Expr guard = expr.getGuard()) {
    auto found =
        evaluateCondition(guard, true, inner, assumed.with(box), pending);
    if (!found)
      return fail("condition that is not linear");
    pieces = std::move(*found);
  }
  if (pieces.empty() || (!isSum && pieces.size() != 1))
    return isSum ? Sum() : fail("maximum over a union");
  Sum result;
  for (const Constraints &piece : pieces) {
    Constraints domain = box;
    llvm::append_range(domain, piece);
    Sum body = evaluate(expr.getOperands()[0], inner, assumed.with(domain));
    if (!error.empty())
      return {};
    if (!isSum) {
      if (!pending.bound.empty() || !pending.bases.empty())
        return fail("maximum over a domain that is not linear");
      // It would be no number, and what is said of maxima is said of numbers.
      if (!isNeverEmpty(bound, domain, assumed))
        return fail("a maximum may be over nothing");
      return makeMax(bound, domain, std::move(body), assumed);
    }
    for (Term &term : body)
      llvm::append_range(term.bound, bound);
    restrict(body, domain);
    pending.attachTo(body);
    result = add(std::move(result), std::move(body));
  }
  // Pieces share their variables; terms must not.
  for (Term &term : result)
    freshen(term, nextVar);
  simplify(result, assumed);
  return result;
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

llvm::SmallVector<std::pair<Linear, Linear>>
espalier::substitution::getShifts(const Linear &size, const Linear &scale,
                                  const Sizes &sizes) {
  llvm::SmallVector<std::pair<Linear, Linear>> shifts;
  auto getProducts = [&](const Linear &factor) {
    llvm::SmallVector<std::pair<Linear, Linear>> products; // other, product
    for (Var var = 0; var < sizes.size(); ++var) {
      if (sizes[var].kind != SizeInfo::Kind::Product)
        continue;
      Linear a = sizes.facts.simplify(sizes[var].a);
      Linear b = sizes.facts.simplify(sizes[var].b);
      Linear product = sizes.facts.simplify(Linear::var(var));
      if (a == factor)
        products.push_back({b, product});
      if (b == factor)
        products.push_back({a, product});
    }
    return products;
  };
  auto bySize = getProducts(size), byScale = getProducts(scale);
  for (const auto &[v, product] : bySize)
    for (const auto &[w, scaled] : byScale)
      if (v == w)
        shifts.push_back({product, scaled});
  return shifts;
}

Constraints espalier::substitution::getRemainderFacts(const Base &base) {
  Linear value = Linear::var(base.var);
  return {Constraint::atLeast(base.argument, value),
          Constraint::less(base.argument, value + base.size)};
}

Constraints espalier::substitution::getBaseFacts(const Base &base,
                                                 const Sizes &sizes,
                                                 const Assumed &assumed) {
  Linear value = Linear::var(base.var);
  Constraints facts{Constraint::atLeast(value, 0)};
  if (base.size == base.scale)
    llvm::append_range(facts, getRemainderFacts(base));
  for (const auto &[limit, image] : getShifts(base.size, base.scale, sizes)) {
    if (assumed.implies(Constraint::less(base.argument, limit)))
      facts.push_back(Constraint::atLeast(image - base.scale, value));
    else if (assumed.implies(Constraint::atLeast(base.argument, limit)))
      facts.push_back(Constraint::atLeast(value, image));
  }
  return facts;
}

std::optional<Linear>
Expander::makeBase(const Linear &value, const Linear &size, const Linear &scale,
                   const Assumed &assumed, Pending &pending) {
  if (!assumed.implies(Constraint::atLeast(value, 0)))
    return std::nullopt;
  // Few multiples of the size are told apart one by one.
  for (int64_t multiple = 0; multiple < kMaxMultiples; ++multiple) {
    if (assumed.implies(Constraint::less(value, size * (multiple + 1))))
      return scale * multiple;
    if (assumed.implies(Constraint::atLeast(value, size * (multiple + 1))))
      continue;
    if (assumed.implies(Constraint::less(value, size * kMaxMultiples))) {
      undecided = Constraint::less(value, size * (multiple + 1));
      return std::nullopt;
    }
    break;
  }
  std::optional<int64_t> divisor = size.getValue(), factor = scale.getValue();
  if (divisor == 1 && factor)
    return value * *factor;
  if (divisor && *divisor > 0 && factor) {
    // A variable that has one value: adding over it changes nothing.
    Var quotient = makeVar();
    pending.bound.push_back(quotient);
    Linear multiple = Linear::var(quotient, *divisor);
    pending.constraints.push_back(Constraint::atLeast(value, multiple));
    pending.constraints.push_back(
        Constraint::less(value, multiple + Linear(*divisor)));
    return Linear::var(quotient, *factor);
  }
  Base base{makeVar(), size, scale, value, {}};
  base.facts = getBaseFacts(base, sizes, assumed);
  Linear result = Linear::var(base.var);
  baseVars.push_back(base.var);
  pending.bases.push_back(std::move(base));
  return result;
}

std::optional<Linear> Expander::evaluateIndex(Expr expr, const Scope &scope,
                                              const Assumed &assumed,
                                              Pending &pending) {
  if (isExtent(expr))
    return translateExtent(expr, instances, scope.instance, sizes);
  auto getOperand = [&](Expr of, unsigned number) {
    return evaluateIndex(of.getOperands()[number], scope, assumed, pending);
  };
  switch (expr.getKind()) {
  case Expr::Kind::Variable:
    if (auto known = scope.vars.find(expr.getVariable());
        known != scope.vars.end())
      return known->second;
    return std::nullopt;
  case Expr::Kind::Cast:
    return getOperand(expr, 0);
  case Expr::Kind::Apply:
    break;
  default:
    return std::nullopt;
  }
  auto isQuotient = [](Expr operand) {
    return operand.getKind() == Expr::Kind::Apply &&
           operand.getFn() == ScalarFn::FloorDiv && !isExtent(operand) &&
           isExtent(operand.getOperands()[1]);
  };
  ScalarFn fn = expr.getFn();
  if (fn == ScalarFn::Mul)
    for (unsigned side : {0u, 1u}) {
      Expr quotient = expr.getOperands()[side];
      Expr other = expr.getOperands()[1 - side];
      if (!isQuotient(quotient) || !isExtent(other))
        continue;
      auto value = getOperand(quotient, 0), size = getOperand(quotient, 1);
      auto scale = getOperand(expr, 1 - side);
      if (!value || !size || !scale)
        return std::nullopt;
      return makeBase(*value, *size, *scale, assumed, pending);
    }
  if (expr.getOperands().size() != 2)
    return std::nullopt;
  auto lhs = getOperand(expr, 0), rhs = getOperand(expr, 1);
  if (!lhs || !rhs)
    return std::nullopt;
  switch (fn) {
  case ScalarFn::Add:
    return *lhs + *rhs;
  case ScalarFn::Sub:
    return *lhs - *rhs;
  case ScalarFn::Mul:
    if (auto factor = rhs->getValue())
      return *lhs * *factor;
    if (auto factor = lhs->getValue())
      return *rhs * *factor;
    return std::nullopt;
  case ScalarFn::FloorDiv:
    return makeBase(*lhs, *rhs, 1, assumed, pending);
  case ScalarFn::Mod: {
    auto base = makeBase(*lhs, *rhs, *rhs, assumed, pending);
    if (!base)
      return std::nullopt;
    return *lhs - *base;
  }
  default:
    return std::nullopt;
  }
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

std::optional<std::vector<Constraints>>
Expander::compare(Expr condition, bool isTrue, const Scope &scope,
                  const Assumed &assumed, Pending &pending) {
  if (condition.getOperands().size() != 2)
    return std::nullopt;
  auto lhs = evaluateIndex(condition.getOperands()[0], scope, assumed, pending);
  auto rhs = evaluateIndex(condition.getOperands()[1], scope, assumed, pending);
  if (!lhs || !rhs)
    return std::nullopt;
  Constraint constraint;
  switch (condition.getFn()) {
  case ScalarFn::NotEqual:
    isTrue = !isTrue;
    [[fallthrough]];
  case ScalarFn::Equal:
    constraint = Constraint::equal(*lhs, *rhs);
    break;
  case ScalarFn::Less:
    constraint = Constraint::less(*lhs, *rhs);
    break;
  case ScalarFn::LessEqual:
    constraint = Constraint::atLeast(*rhs, *lhs);
    break;
  case ScalarFn::Greater:
    constraint = Constraint::less(*rhs, *lhs);
    break;
  case ScalarFn::GreaterEqual:
    constraint = Constraint::atLeast(*lhs, *rhs);
    break;
  default:
    return std::nullopt;
  }
  Constraints options{constraint};
  if (!isTrue)
    options = negate(constraint);
  std::vector<Constraints> pieces;
  for (Constraint option : options) {
    std::optional<bool> decided = option.normalize();
    if (!decided)
      pieces.push_back({option});
    else if (*decided)
      pieces.push_back({});
  }
  return pieces;
}

std::optional<std::vector<Constraints>>
Expander::evaluateCondition(Expr condition, bool isTrue, const Scope &scope,
                            const Assumed &assumed, Pending &pending) {
  auto recurse = [&](Expr part, bool value) {
    return evaluateCondition(part, value, scope, assumed, pending);
  };
  if (condition.getKind() == Expr::Kind::Constant) {
    bool holds = (condition.getInt().value_or(0) != 0) == isTrue;
    return std::vector<Constraints>(holds ? 1 : 0);
  }
  if (condition.getKind() != Expr::Kind::Apply)
    return std::nullopt;
  ScalarFn fn = condition.getFn();
  if (fn == ScalarFn::Not)
    return recurse(condition.getOperands()[0], !isTrue);
  if (fn != ScalarFn::And && fn != ScalarFn::Or)
    return compare(condition, isTrue, scope, assumed, pending);
  Expr lhs = condition.getOperands()[0], rhs = condition.getOperands()[1];
  // Both, or: the first, and where it is not, the second.
  bool isBoth = (fn == ScalarFn::And) == isTrue;
  auto first = recurse(lhs, isTrue), second = recurse(rhs, isTrue);
  auto otherwise = isBoth ? first : recurse(lhs, !isTrue);
  if (!first || !second || !otherwise)
    return std::nullopt;
  std::vector<Constraints> pieces;
  if (!isBoth)
    pieces = *first;
  for (const Constraints &left : *otherwise)
    for (const Constraints &right : *second) {
      pieces.push_back(left);
      llvm::append_range(pieces.back(), right);
    }
  return pieces;
}
