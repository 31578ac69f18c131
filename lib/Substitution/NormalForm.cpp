//===- NormalForm.cpp - Sums of products over integer domains -------------===//

#include "NormalForm.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/MathExtras.h"
#include <ctime>
#include <numeric>

using namespace espalier;
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

namespace {
/// Compares what is written, up to the names of variables that are bound.
class Alike {
public:
  bool compare(const Atom &lhs, const Atom &rhs) {
    llvm::scope_exit outer([this, saved = renamed] { renamed = saved; });
    if (lhs.getHead() != rhs.getHead() || !bind(lhs.bound, rhs.bound) ||
        lhs.args.size() != rhs.args.size())
      return false;
    return compare(lhs.constraints, rhs.constraints) &&
           llvm::equal(lhs.indices, rhs.indices,
                       [&](const Linear &left, const Linear &right) {
                         return compare(left, right);
                       }) &&
           llvm::equal(lhs.args, rhs.args,
                       [&](const Sum &left, const Sum &right) {
                         return compare(left, right);
                       });
  }

  /// Coefficients aside.
  bool compareProducts(const Term &lhs, const Term &rhs) {
    llvm::scope_exit outer([this, saved = renamed] { renamed = saved; });
    return lhs.bases.empty() && rhs.bases.empty() &&
           bind(lhs.bound, rhs.bound) &&
           compare(lhs.constraints, rhs.constraints) &&
           llvm::equal(lhs.factors, rhs.factors,
                       [&](const Atom &left, const Atom &right) {
                         return compare(left, right);
                       });
  }

private:
  bool bind(llvm::ArrayRef<Var> lhs, llvm::ArrayRef<Var> rhs) {
    if (lhs.size() != rhs.size())
      return false;
    for (auto [left, right] : llvm::zip_equal(lhs, rhs))
      renamed.push_back({left, right});
    return true;
  }
  /// Whether two variables are the same, free, or bound at the same place.
  bool compare(Var lhs, Var rhs) {
    for (auto [left, right] : llvm::reverse(renamed))
      if (left == lhs || right == rhs)
        return left == lhs && right == rhs;
    return lhs == rhs;
  }
  bool compare(const Linear &lhs, const Linear &rhs) {
    if (lhs.isPoisoned() || rhs.isPoisoned() ||
        lhs.getConstant() != rhs.getConstant() ||
        lhs.getTerms().size() != rhs.getTerms().size())
      return false;
    // The order of terms is that of names.
    return llvm::all_of(lhs.getTerms(), [&](auto left) {
      return llvm::any_of(rhs.getTerms(), [&](auto right) {
        return left.second == right.second && compare(left.first, right.first);
      });
    });
  }
  bool compare(const Constraints &lhs, const Constraints &rhs) {
    return llvm::equal(lhs, rhs,
                       [&](const Constraint &left, const Constraint &right) {
                         return left.isEquality == right.isEquality &&
                                compare(left.expr, right.expr);
                       });
  }
  bool compare(const Sum &lhs, const Sum &rhs) {
    return llvm::equal(lhs, rhs, [&](const Term &left, const Term &right) {
      return (left.coefficient + -right.coefficient).isZero() &&
             compareProducts(left, right);
    });
  }

  /// Bound variables of both, inner ones last.
  llvm::SmallVector<std::pair<Var, Var>> renamed;
};
} // namespace

bool Atom::operator==(const Atom &other) const {
  return Alike().compare(*this, other);
}

void espalier::substitution::mergeAlike(Sum &sum) {
  for (unsigned i = 0; i < sum.size(); ++i)
    for (unsigned j = i + 1; j < sum.size(); ++j) {
      if (!Alike().compareProducts(sum[i], sum[j]))
        continue;
      sum[i].coefficient = sum[i].coefficient + sum[j].coefficient;
      sum.erase(sum.begin() + j--);
    }
  llvm::erase_if(sum,
                 [](const Term &term) { return term.coefficient.isZero(); });
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

static bool isFunction(const Atom &atom, definition::ScalarFn fn) {
  return atom.kind == Atom::Kind::Function && atom.fn == fn &&
         atom.args.size() == 1;
}

/// exp(a) * exp(b) = exp(a + b), and exp(0) = 1.
static void mergePowers(Term &term) {
  Sum exponent;
  unsigned count = 0;
  for (const Atom &atom : term.factors)
    if (isFunction(atom, definition::ScalarFn::Exp)) {
      exponent = add(std::move(exponent), atom.args[0]);
      ++count;
    }
  if (count < 2)
    return;
  llvm::erase_if(term.factors, [](const Atom &atom) {
    return isFunction(atom, definition::ScalarFn::Exp);
  });
  mergeAlike(exponent);
  if (exponent.empty())
    return;
  Atom power;
  power.kind = Atom::Kind::Function;
  power.fn = definition::ScalarFn::Exp;
  power.args.push_back(std::move(exponent));
  term.factors.push_back(std::move(power));
}

/// Two factors that are something simpler together: what that is.
static std::optional<Sum> takePair(const Atom &lhs, const Atom &rhs) {
  // sqrt(a) * sqrt(a) = a, which is not negative. What is bound in a sum keeps
  // apart from what is bound around it only inside of the root.
  if (isFunction(lhs, definition::ScalarFn::Sqrt) && lhs == rhs &&
      llvm::all_of(lhs.args[0], [](const Term &term) {
        return term.bound.empty() && term.bases.empty();
      }))
    return lhs.args[0];
  // a * (1 / a) = 1, as a is not 0.
  for (auto [atom, other] : {std::pair(&lhs, &rhs), {&rhs, &lhs}}) {
    if (!isFunction(*atom, definition::ScalarFn::Div))
      continue;
    const Sum &divisor = atom->args[0];
    bool isAtom = divisor.size() == 1 && divisor[0].factors.size() == 1 &&
                  divisor[0].bound.empty() && divisor[0].bases.empty() &&
                  divisor[0].constraints.empty() &&
                  !divisor[0].coefficient.poisoned;
    if (isAtom && divisor[0].factors[0] == *other)
      return makeConstant(divisor[0].coefficient.inverse());
  }
  return std::nullopt;
}

/// A product, with laws of functions used up.
static Sum reduceProduct(Term term) {
  mergePowers(term);
  for (unsigned i = 0; i < term.factors.size(); ++i)
    for (unsigned j = i + 1; j < term.factors.size(); ++j)
      if (auto simpler = takePair(term.factors[i], term.factors[j])) {
        term.factors.erase(term.factors.begin() + j);
        term.factors.erase(term.factors.begin() + i);
        return multiply({std::move(term)}, *simpler);
      }
  return {std::move(term)};
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
      product = add(std::move(product), reduceProduct(std::move(term)));
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
