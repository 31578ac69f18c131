//===- Linear.cpp - Linear forms over numbered variables ------------------===//

#include "Linear.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace espalier::substitution;

Linear Linear::var(Var var, int64_t coefficient) {
  Linear result;
  if (coefficient != 0)
    result.terms.push_back({var, coefficient});
  return result;
}

std::optional<int64_t> Linear::getValue() const {
  if (!terms.empty() || poisoned)
    return std::nullopt;
  return constant;
}

std::optional<Var> Linear::getVar() const {
  if (terms.size() != 1 || terms[0].second != 1 || constant != 0 || poisoned)
    return std::nullopt;
  return terms[0].first;
}

int64_t Linear::getCoefficient(Var var) const {
  for (auto [other, coefficient] : terms)
    if (other == var)
      return coefficient;
  return 0;
}

bool Linear::any(llvm::function_ref<bool(Var)> predicate) const {
  return llvm::any_of(terms, [&](auto term) { return predicate(term.first); });
}

Linear &Linear::add(const Linear &other, int64_t factor) {
  poisoned |= other.poisoned;
  int64_t product;
  poisoned |= llvm::MulOverflow(other.constant, factor, product);
  poisoned |= llvm::AddOverflow(constant, product, constant);
  decltype(terms) sum;
  const auto *lhs = terms.begin();
  const auto *rhs = other.terms.begin();
  while (lhs != terms.end() || rhs != other.terms.end()) {
    if (rhs == other.terms.end() ||
        (lhs != terms.end() && lhs->first < rhs->first)) {
      sum.push_back(*lhs++);
      continue;
    }
    poisoned |= llvm::MulOverflow(rhs->second, factor, product);
    if (lhs != terms.end() && lhs->first == rhs->first)
      poisoned |= llvm::AddOverflow(product, (lhs++)->second, product);
    if (product != 0)
      sum.push_back({rhs->first, product});
    ++rhs;
  }
  terms = std::move(sum);
  return *this;
}

Linear Linear::operator*(int64_t factor) const {
  Linear result;
  result.add(*this, factor);
  return result;
}

void Linear::substitute(Var var, const Linear &value) {
  int64_t coefficient = getCoefficient(var);
  if (coefficient == 0)
    return;
  llvm::erase_if(terms, [&](auto term) { return term.first == var; });
  add(value, coefficient);
}

Linear Linear::rename(llvm::function_ref<Var(Var)> to) const {
  Linear result(constant);
  result.poisoned = poisoned;
  for (auto [var, coefficient] : terms)
    result += Linear::var(to(var), coefficient);
  return result;
}

int64_t Linear::evaluate(llvm::function_ref<int64_t(Var)> value) const {
  int64_t result = constant;
  for (auto [var, coefficient] : terms)
    result += coefficient * value(var);
  return result;
}

int64_t Linear::getGcd() const {
  int64_t gcd = 0;
  for (auto [var, coefficient] : terms)
    gcd = std::gcd(gcd, coefficient);
  return gcd;
}

void Linear::divide(int64_t divisor) {
  for (auto &[var, coefficient] : terms)
    coefficient /= divisor;
  constant = llvm::divideFloorSigned(constant, divisor);
}

void Linear::reduce() {
  int64_t gcd = std::gcd(getGcd(), constant);
  if (gcd > 1)
    divide(gcd);
}

std::optional<bool> Constraint::normalize() {
  if (expr.isPoisoned())
    return std::nullopt;
  int64_t gcd = expr.getGcd();
  if (gcd == 0)
    return isEquality ? expr.getConstant() == 0 : expr.getConstant() >= 0;
  if (isEquality) {
    if (expr.getConstant() % gcd != 0)
      return false;
    // One sign for each equality.
    if (expr.getTerms().front().second < 0)
      expr = expr * -1;
  }
  if (gcd > 1)
    expr.divide(gcd);
  return std::nullopt;
}

Constraints espalier::substitution::negate(const Constraint &constraint) {
  Constraint below{constraint.expr * -1 - Linear(1), false};
  if (!constraint.isEquality)
    return {below};
  return {below, {constraint.expr - Linear(1), false}};
}
