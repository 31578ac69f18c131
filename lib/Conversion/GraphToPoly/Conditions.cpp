//===- Conditions.cpp - Conditions as integer sets ------------------------===//

#include "StatementList.h"
#include "espalier/Definition/Evaluate.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

/// The sets where `lhs` <= `rhs`, or where lhs == rhs, or their complements.
static SmallVector<Conjunction> compare(ScalarFn fn, AffineExpr lhs,
                                        AffineExpr rhs) {
  switch (fn) {
  case ScalarFn::Less:
    return {{{rhs - lhs - 1, false}}};
  case ScalarFn::LessEqual:
    return {{{rhs - lhs, false}}};
  case ScalarFn::Greater:
    return {{{lhs - rhs - 1, false}}};
  case ScalarFn::GreaterEqual:
    return {{{lhs - rhs, false}}};
  case ScalarFn::Equal:
    return {{{lhs - rhs, true}}};
  case ScalarFn::NotEqual:
    return {{{rhs - lhs - 1, false}}, {{lhs - rhs - 1, false}}};
  default:
    return {};
  }
}

static ScalarFn complement(ScalarFn fn) {
  switch (fn) {
  case ScalarFn::Less:
    return ScalarFn::GreaterEqual;
  case ScalarFn::LessEqual:
    return ScalarFn::Greater;
  case ScalarFn::Greater:
    return ScalarFn::LessEqual;
  case ScalarFn::GreaterEqual:
    return ScalarFn::Less;
  case ScalarFn::Equal:
    return ScalarFn::NotEqual;
  case ScalarFn::NotEqual:
    return ScalarFn::Equal;
  default:
    return fn;
  }
}

static SmallVector<Conjunction> intersect(ArrayRef<Conjunction> lhs,
                                          ArrayRef<Conjunction> rhs) {
  SmallVector<Conjunction> result;
  for (const Conjunction &a : lhs)
    for (const Conjunction &b : rhs) {
      result.push_back(a);
      llvm::append_range(result.back(), b);
    }
  return result;
}

std::optional<SmallVector<Conjunction>>
espalier::graphtopoly::getConjunctions(const StatementList &program,
                                       Expr condition, bool negate) {
  if (!condition)
    return negate ? SmallVector<Conjunction>{}
                  : SmallVector<Conjunction>{Conjunction{}};
  if (condition.getKind() != Expr::Kind::Apply)
    return std::nullopt;
  ArrayRef<Expr> args = condition.getOperands();
  ScalarFn fn = condition.getFn();
  if (fn == ScalarFn::Not)
    return getConjunctions(program, args[0], !negate);
  if (fn == ScalarFn::And || fn == ScalarFn::Or) {
    auto lhs = getConjunctions(program, args[0], negate);
    auto rhs = getConjunctions(program, args[1], negate);
    if (!lhs || !rhs)
      return std::nullopt;
    if ((fn == ScalarFn::And) != negate)
      return intersect(*lhs, *rhs);
    // a or b, as disjoint sets: a, or b without a.
    auto notLhs = getConjunctions(program, args[0], !negate);
    llvm::append_range(*lhs, intersect(*notLhs, *rhs));
    return lhs;
  }
  if (args.size() != 2)
    return std::nullopt;
  std::optional<AffineExpr> lhs = program.affine(args[0]);
  std::optional<AffineExpr> rhs = program.affine(args[1]);
  SmallVector<Conjunction> result;
  if (lhs && rhs)
    result = compare(negate ? complement(fn) : fn, *lhs, *rhs);
  if (result.empty())
    return std::nullopt;
  return result;
}

std::pair<Expr, Expr>
espalier::graphtopoly::separateAffine(const StatementList &program,
                                      Expr condition) {
  if (!condition || getConjunctions(program, condition))
    return {condition, Expr()};
  if (condition.getKind() != Expr::Kind::Apply ||
      condition.getFn() != ScalarFn::And)
    return {Expr(), condition};
  auto [affine, rest] = separateAffine(program, condition.getOperands()[0]);
  auto [more, other] = separateAffine(program, condition.getOperands()[1]);
  return {conjoin(affine, more), conjoin(rest, other)};
}

/// The element that leaves every other unchanged under `kind`.
Expr espalier::graphtopoly::getNeutral(ReduceKind kind, Type type) {
  if (type.isIntOrIndex())
    return constant(getNeutralInteger(kind, IntegerFormat::get(type)));
  return constant(getNeutralFloat(kind));
}
