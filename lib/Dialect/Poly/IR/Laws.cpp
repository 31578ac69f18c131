//===- Laws.cpp - Proofs about combiners ----------------------------------===//

#include "Laws.h"
#include "LawProver.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace espalier::poly;

/// In how many cases two sides are compared.
static constexpr unsigned kMaxCases = 512;

std::string Prover::describe(Z3_model model, Type type, Z3_ast term) {
  Z3_ast value = nullptr;
  if (!Z3_model_eval(context, model, term, /*completion=*/true, &value) ||
      !value)
    return "?";
  if (type.isInteger(1))
    return Z3_ast_to_string(context, value);
  std::string text = Z3_get_numeral_string(context, value);
  if (isa<FloatType>(type)) {
    Z3_ast bound = nullptr;
    Z3_model_eval(context, model, getInfinity(false), /*completion=*/true,
                  &bound);
    std::string most = Z3_get_numeral_string(context, bound);
    return text == most ? "inf" : text == "-" + most ? "-inf" : text;
  }
  APInt number(getWidth(type) + 1, text, 10);
  return llvm::toString(number.trunc(getWidth(type)), 10, /*Signed=*/true);
}

std::string Prover::describe(Z3_model model) {
  std::vector<std::string> parts;
  for (auto &[name, values] : unknowns) {
    auto texts = llvm::map_to_vector(values, [&](auto value) {
      return describe(model, value.first, value.second);
    });
    parts.push_back((name + " = (" + llvm::join(texts, ", ") + ")").str());
  }
  return llvm::join(parts, ", ");
}

Z3_lbool Prover::check(ArrayRef<Z3_ast> path, Z3_ast question,
                       std::string &example) {
  Z3_solver_reset(context, solver);
  for (Z3_ast fact : llvm::concat<const Z3_ast>(facts, path))
    Z3_solver_assert(context, solver, fact);
  Z3_solver_assert(context, solver, question);
  Z3_lbool answer = Z3_solver_check(context, solver);
  if (answer == Z3_L_TRUE) {
    example = describe(Z3_solver_get_model(context, solver));
    // Small numbers are easier to read.
    for (auto &[name, values] : unknowns)
      for (auto [type, term] : values)
        if (isa<FloatType>(type)) {
          Z3_ast bounds[] = {Z3_mk_le(context, term, getNumber(10)),
                             Z3_mk_ge(context, term, getNumber(-10))};
          Z3_solver_assert(context, solver, Z3_mk_and(context, 2, bounds));
        }
    if (Z3_solver_check(context, solver) == Z3_L_TRUE)
      example = describe(Z3_solver_get_model(context, solver));
  }
  return Z3_get_error_code(context) == Z3_OK ? answer : Z3_L_UNDEF;
}

void Prover::addOrder() {
  auto addSame = [&](Z3_ast left, Z3_ast right, Z3_ast expLeft,
                     Z3_ast expRight) {
    facts.push_back(Z3_mk_iff(context, Z3_mk_le(context, left, right),
                              Z3_mk_le(context, expLeft, expRight)));
  };
  for (auto &[term, pair] : exponentials) {
    addSame(term, getNumber(0), pair.first, getNumber(1));
    addSame(getNumber(0), term, getNumber(1), pair.first);
    for (auto &[other, otherPair] : exponentials)
      if (term != other)
        addSame(term, other, pair.first, otherPair.first);
  }
}

SmallVector<std::pair<Z3_ast, Z3_ast>>
Prover::getReplacements(Z3_ast condition) {
  if (!isOf(condition, {Z3_OP_EQ}))
    return {};
  Terms sides = getOperands(condition);
  auto own = exponentials.find(sides[0]), other = exponentials.find(sides[1]);
  if (own == exponentials.end() || other == exponentials.end())
    return {};
  return {{sides[0], sides[1]},
          {own->second.first, other->second.first},
          {own->second.second, other->second.second}};
}

static constexpr StringLiteral kUndecided = "this is not decided";

std::string Prover::compareInCases(Z3_ast lhs, Z3_ast rhs, Terms &path,
                                   unsigned &numCases) {
  if (Z3_is_eq_ast(context, lhs, rhs))
    return "";
  std::string example;
  Z3_ast isEqual = Z3_mk_eq(context, lhs, rhs);
  llvm::DenseSet<Z3_ast> seen;
  Z3_ast condition = findCondition(isEqual, seen);
  if (!condition) {
    bool isReal =
        Z3_get_sort_kind(context, Z3_get_sort(context, lhs)) == Z3_REAL_SORT;
    if (isReal && isZeroPolynomial(makeBinary(Z3_mk_sub, lhs, rhs)))
      return "";
    Z3_lbool answer = check(path, Z3_mk_not(context, isEqual), example);
    if (answer == Z3_L_FALSE)
      return "";
    return answer == Z3_L_TRUE ? "this may not hold for " + example
                               : kUndecided.str();
  }
  for (bool holds : {true, false}) {
    if (++numCases > kMaxCases)
      return kUndecided.str();
    Z3_ast truth = holds ? Z3_mk_true(context) : Z3_mk_false(context);
    SmallVector<std::pair<Z3_ast, Z3_ast>> known{{condition, truth}};
    if (holds)
      known.append(getReplacements(condition));
    auto assume = [&](Z3_ast term) {
      for (auto [from, to] : known)
        term = replace(term, from, to);
      return simplify(term);
    };
    path.push_back(holds ? condition : Z3_mk_not(context, condition));
    std::string fault;
    if (check(path, Z3_mk_true(context), example) != Z3_L_FALSE)
      fault = compareInCases(assume(lhs), assume(rhs), path, numCases);
    path.pop_back();
    if (!fault.empty())
      return fault;
  }
  return "";
}

std::string Prover::findFault(ArrayRef<Z3_ast> lhs, ArrayRef<Z3_ast> rhs) {
  addOrder();
  SmallVector<Z3_ast> differences;
  for (auto [left, right] : llvm::zip_equal(lhs, rhs))
    differences.push_back(Z3_mk_not(context, Z3_mk_eq(context, left, right)));
  std::string example;
  if (!hasFunctions) {
    Z3_ast question = Z3_mk_or(context, differences.size(), differences.data());
    Z3_lbool answer = check({}, question, example);
    if (answer == Z3_L_FALSE)
      return "";
    if (answer == Z3_L_TRUE)
      return "this does not hold for " + example;
  }
  for (auto [left, right] : llvm::zip_equal(lhs, rhs)) {
    Terms path;
    unsigned numCases = 0;
    if (std::string fault = compareInCases(left, right, path, numCases);
        !fault.empty())
      return fault;
  }
  return "";
}

std::string espalier::poly::findLawFault(CombinerOp combiner, Law law) {
  Prover prover;
  auto types = llvm::map_to_vector(combiner.getNeutral(), [](Attribute value) {
    return cast<TypedAttr>(value).getType();
  });
  Terms a = prover.makeUnknown("a", types);
  if (law == Law::Neutral)
    return prover.findFault(
        prover.combine(combiner, a,
                       prover.getConstants(combiner.getNeutral().getValue())),
        a);
  Terms b = prover.makeUnknown("b", types);
  Terms ab = prover.combine(combiner, a, b);
  if (law == Law::Commutative)
    return prover.findFault(ab, prover.combine(combiner, b, a));
  Terms c = prover.makeUnknown("c", types);
  return prover.findFault(
      prover.combine(combiner, ab, c),
      prover.combine(combiner, a, prover.combine(combiner, b, c)));
}

std::string espalier::poly::findUpdateFault(ComputeOp compute,
                                            CombinerOp combiner,
                                            ArrayRef<unsigned> elements) {
  Prover prover;
  Block &body = compute.getBody().front();
  auto types = llvm::map_to_vector(elements, [&](unsigned number) {
    return body.getArgument(number).getType();
  });
  auto update = [&](ArrayRef<Z3_ast> from) {
    llvm::SmallDenseMap<Value, Z3_ast> values;
    for (auto [number, term] : llvm::zip_equal(elements, from))
      values[body.getArgument(number)] = term;
    return prover.apply(body, std::move(values));
  };
  Terms a = prover.makeUnknown("a", types);
  Terms alone = update(prover.getConstants(combiner.getNeutral().getValue()));
  return prover.findFault(update(a), prover.combine(combiner, a, alone));
}
