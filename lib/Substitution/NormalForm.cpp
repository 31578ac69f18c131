//===- NormalForm.cpp - Sums of products over integer domains -------------===//

#include "NormalForm.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <ctime>
#include <numeric>

using namespace espalier::substitution;

//===----------------------------------------------------------------------===//
// Rational
//===----------------------------------------------------------------------===//

Rational Rational::get(int64_t numerator, int64_t denominator) {
  constexpr int64_t kLimit = std::numeric_limits<int64_t>::max();
  if (denominator == 0 || numerator < -kLimit || denominator < -kLimit)
    return {0, 1, true};
  int64_t gcd = std::gcd(numerator, denominator);
  if (denominator < 0)
    gcd = -gcd;
  return {numerator / gcd, denominator / gcd, false};
}

Rational Rational::operator+(const Rational &other) const {
  int64_t left, right, sum, below;
  bool overflow = llvm::MulOverflow(numerator, other.denominator, left);
  overflow |= llvm::MulOverflow(other.numerator, denominator, right);
  overflow |= llvm::MulOverflow(denominator, other.denominator, below);
  overflow |= llvm::AddOverflow(left, right, sum);
  if (overflow || poisoned || other.poisoned)
    return {0, 1, true};
  return get(sum, below);
}

Rational Rational::operator*(const Rational &other) const {
  int64_t above, below;
  bool overflow = llvm::MulOverflow(numerator, other.numerator, above);
  overflow |= llvm::MulOverflow(denominator, other.denominator, below);
  if (overflow || poisoned || other.poisoned)
    return {0, 1, true};
  return get(above, below);
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

/// Calls `visit` on each linear form that a term or an atom is made of.
template <typename AtomT, typename Fn>
static void forEachLinearOfAtom(AtomT &atom, Fn visit);

template <typename TermT, typename Fn>
static void forEachLinearOfTerm(TermT &term, Fn visit) {
  for (auto &constraint : term.constraints)
    visit(constraint.expr);
  for (auto &base : term.bases) {
    visit(base.size);
    visit(base.scale);
    visit(base.argument);
    for (auto &fact : base.facts)
      visit(fact.expr);
  }
  for (auto &atom : term.factors)
    forEachLinearOfAtom(atom, visit);
}

template <typename AtomT, typename Fn>
static void forEachLinearOfAtom(AtomT &atom, Fn visit) {
  for (auto &index : atom.indices)
    visit(index);
  for (auto &constraint : atom.constraints)
    visit(constraint.expr);
  for (auto &arg : atom.args)
    for (auto &term : arg)
      forEachLinearOfTerm(term, visit);
}

void espalier::substitution::substitute(Term &term, Var var,
                                        const Linear &value) {
  forEachLinearOfTerm(term,
                      [&](Linear &linear) { linear.substitute(var, value); });
}

void espalier::substitution::substitute(Atom &atom, Var var,
                                        const Linear &value) {
  forEachLinearOfAtom(atom,
                      [&](Linear &linear) { linear.substitute(var, value); });
}

void espalier::substitution::substitute(Sum &sum, Var var,
                                        const Linear &value) {
  for (Term &term : sum)
    substitute(term, var, value);
}

using Renaming = llvm::DenseMap<Var, Var>;

/// A function that renames variables in a linear form.
static auto renameBy(const Renaming &renamed) {
  return [&renamed](Linear &linear) {
    linear = linear.rename([&](Var var) {
      auto known = renamed.find(var);
      return known == renamed.end() ? var : known->second;
    });
  };
}

void espalier::substitution::freshen(Term &term, Var &next) {
  // From the inside out: what is bound inside keeps apart from what is bound
  // in another factor, even if it has the same number.
  for (Atom &atom : term.factors) {
    for (Sum &arg : atom.args)
      for (Term &inner : arg)
        freshen(inner, next);
    Renaming renamed;
    for (Var &var : atom.bound)
      var = renamed[var] = next++;
    if (!renamed.empty())
      forEachLinearOfAtom(atom, renameBy(renamed));
  }
  Renaming renamed;
  for (Var &var : term.bound)
    var = renamed[var] = next++;
  for (Base &base : term.bases)
    base.var = renamed[base.var] = next++;
  if (!renamed.empty())
    forEachLinearOfTerm(term, renameBy(renamed));
}

void espalier::substitution::forEachVar(const Term &term,
                                        llvm::function_ref<void(Var)> visit) {
  forEachLinearOfTerm(term, [&](const Linear &linear) {
    for (auto [var, coefficient] : linear.getTerms())
      visit(var);
  });
}

void espalier::substitution::forEachVar(const Atom &atom,
                                        llvm::function_ref<void(Var)> visit) {
  forEachLinearOfAtom(atom, [&](const Linear &linear) {
    for (auto [var, coefficient] : linear.getTerms())
      visit(var);
  });
}

Constraints espalier::substitution::getDomain(const Term &term) {
  Constraints domain = term.constraints;
  for (const Base &base : term.bases)
    domain.append(base.facts.begin(), base.facts.end());
  return domain;
}

static bool areAlike(const Term &lhs, const Term &rhs) {
  return !lhs.coefficient.poisoned && !rhs.coefficient.poisoned &&
         lhs.coefficient.numerator == rhs.coefficient.numerator &&
         lhs.coefficient.denominator == rhs.coefficient.denominator &&
         lhs.bound == rhs.bound && lhs.constraints == rhs.constraints &&
         lhs.factors == rhs.factors && lhs.bases.empty() && rhs.bases.empty();
}

bool Atom::operator==(const Atom &other) const {
  if (getHead() != other.getHead() || !(indices == other.indices) ||
      bound != other.bound || !(constraints == other.constraints))
    return false;
  return llvm::equal(args, other.args, [](const Sum &lhs, const Sum &rhs) {
    return llvm::equal(lhs, rhs, areAlike);
  });
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Sum espalier::substitution::add(Sum lhs, Sum rhs) {
  for (Term &term : rhs)
    lhs.push_back(std::move(term));
  return lhs;
}

Sum espalier::substitution::scale(Sum sum, const Rational &factor) {
  for (Term &term : sum)
    term.coefficient = term.coefficient * factor;
  return sum;
}

Sum espalier::substitution::multiply(const Sum &lhs, const Sum &rhs) {
  Sum product;
  product.reserve(lhs.size() * rhs.size());
  for (const Term &left : lhs)
    for (const Term &right : rhs) {
      Term term = left;
      term.coefficient = left.coefficient * right.coefficient;
      llvm::append_range(term.bound, right.bound);
      llvm::append_range(term.constraints, right.constraints);
      llvm::append_range(term.factors, right.factors);
      llvm::append_range(term.bases, right.bases);
      product.push_back(std::move(term));
    }
  return product;
}

Sum espalier::substitution::makeConstant(const Rational &value) {
  if (value.isZero())
    return {};
  Term term;
  term.coefficient = value;
  return {term};
}

Sum espalier::substitution::makeAtom(Atom atom) {
  Term term;
  term.coefficient = Rational::get(1);
  term.factors.push_back(std::move(atom));
  return {term};
}

//===----------------------------------------------------------------------===//
// Budget
//===----------------------------------------------------------------------===//

std::chrono::nanoseconds Budget::now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) +
         std::chrono::nanoseconds(time.tv_nsec);
}

//===----------------------------------------------------------------------===//
// Assumed
//===----------------------------------------------------------------------===//

bool Assumed::isImpossible(llvm::ArrayRef<Constraint> more) const {
  // What is asked decides; conditions that it has nothing to do with do not.
  llvm::SmallVector<Constraint, 16> query;
  for (const Constraint &constraint : more) {
    Constraint simple = facts->simplify(constraint);
    std::optional<bool> decided = simple.normalize();
    if (decided && !*decided)
      return true;
    if (!decided)
      query.push_back(simple);
  }
  if (!more.empty() && query.empty())
    return false;
  Constraints simplified;
  for (const Constraint &condition : conditions) {
    Constraint simple = facts->simplify(condition);
    std::optional<bool> decided = simple.normalize();
    if (decided && !*decided)
      return true;
    if (!decided)
      simplified.push_back(simple);
  }
  if (more.empty())
    return facts->isImpossible(simplified);
  return facts->isImpossible(getConnected(simplified, query));
}

bool Assumed::implies(const Constraint &constraint) const {
  Constraint simple = facts->simplify(constraint);
  if (std::optional<bool> decided = simple.normalize())
    return *decided;
  for (const Constraint &condition : conditions) {
    Constraint known = facts->simplify(condition);
    known.normalize();
    if (known == simple)
      return true;
  }
  if (llvm::is_contained(facts->getRest(), simple))
    return true;
  return llvm::all_of(negate(simple), [&](const Constraint &opposite) {
    return isImpossible(opposite);
  });
}

bool Assumed::areEqual(const Linear &lhs, const Linear &rhs) const {
  return implies(Constraint::equal(lhs, rhs));
}
