//===- NormalForm.h - Sums of products over integer domains -----*- C++ -*-===//
//
//   Sum  = [Term]    the sum of the terms
//   Term = coefficient * sum(bound: constraints) product of factors
//   Atom = an element of a variable | relu(Sum) | f(Sum..) |
//          max(bound: constraints) Sum
//
// A `Base` is floor(argument / size) * scale, the one form in which a rule's
// definitions leave linear arithmetic: it says at which channel the group of a
// feature begins. It is no bound variable, which a solver might choose, but a
// name for a value that is not known.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_SUBSTITUTION_NORMALFORM_H
#define ESPALIER_LIB_SUBSTITUTION_NORMALFORM_H

#include "ConstraintStore.h"
#include "espalier/Definition/Expr.h"
#include <chrono>
#include <vector>

namespace espalier::substitution {

/// A quotient of integers in lowest terms. What does not fit is poisoned, and
/// equals nothing.
struct Rational {
  int64_t numerator = 0, denominator = 1;
  bool poisoned = false;

  static Rational get(int64_t numerator, int64_t denominator = 1);
  Rational operator+(const Rational &other) const;
  Rational operator*(const Rational &other) const;
  Rational operator-() const { return {-numerator, denominator, poisoned}; }
  Rational inverse() const { return get(denominator, numerator); }
  bool isZero() const { return numerator == 0 && !poisoned; }
  bool isPositive() const { return numerator > 0; }
};

class Sizes;
struct Term;
using Sum = std::vector<Term>;

struct Atom {
  enum class Kind { Read, Relu, Function, Max } kind = Kind::Read;
  unsigned leaf = 0;                    ///< Read: the variable.
  llvm::SmallVector<Linear, 4> indices; ///< Read.
  definition::ScalarFn fn{};            ///< Function.
  std::vector<Sum> args;                ///< All but Read.
  llvm::SmallVector<Var, 4> bound;      ///< Max.
  Constraints constraints;              ///< Max.

  /// Whether both are written alike, but for bound variables; then they are
  /// equal.
  bool operator==(const Atom &other) const;
  /// Equal for atoms that may be equal.
  std::tuple<Kind, unsigned, unsigned> getHead() const {
    return {kind, leaf, static_cast<unsigned>(fn)};
  }
};

struct Base {
  Var var = 0;
  Linear size, scale, argument;
  Constraints facts; ///< What holds of `var`.
};

struct Term {
  Rational coefficient;
  llvm::SmallVector<Var, 4> bound;
  Constraints constraints;
  std::vector<Atom> factors;
  llvm::SmallVector<Base, 1> bases;
};

/// Puts `value` in the place of a variable that is not bound inside.
void substitute(Sum &sum, Var var, const Linear &value);
void substitute(Term &term, Var var, const Linear &value);
void substitute(Atom &atom, Var var, const Linear &value);
/// Gives all bound variables and bases, inner ones too, new numbers.
void freshen(Term &term, Var &next);
/// Calls `visit` on each variable of an index, size or constraint.
void forEachVar(const Atom &atom, llvm::function_ref<void(Var)> visit);
void forEachVar(const Term &term, llvm::function_ref<void(Var)> visit);

/// Constraints of a term and the facts about its bases.
Constraints getDomain(const Term &term);

Sum add(Sum lhs, Sum rhs);
Sum scale(Sum sum, const Rational &factor);
/// The functions in both have values: exp(a) * exp(b) = exp(a + b), the square
/// of sqrt(a) is a, and a * (1 / a) = 1.
Sum multiply(const Sum &lhs, const Sum &rhs);
/// Adds up terms that are written alike.
void mergeAlike(Sum &sum);
Sum makeConstant(const Rational &value);
Sum makeAtom(Atom atom);

/// Facts about sizes, and conditions under which something is asked.
struct Assumed {
  const ConstraintStore *facts;
  const Sizes *sizes;
  Constraints conditions;

  Assumed with(llvm::ArrayRef<Constraint> more) const {
    Assumed result = *this;
    result.conditions.append(more.begin(), more.end());
    return result;
  }
  bool isImpossible(llvm::ArrayRef<Constraint> more = {}) const;
  bool implies(const Constraint &constraint) const;
  bool areEqual(const Linear &lhs, const Linear &rhs) const;
};

/// What one proof may use up: processor time of this thread, so that what else
/// runs on the machine does not decide.
class Budget {
public:
  explicit Budget(std::chrono::nanoseconds limit) : deadline(now() + limit) {}

  /// Whether there is time left.
  bool check() {
    isSpent |= now() > deadline;
    return !isSpent;
  }

private:
  static std::chrono::nanoseconds now();

  std::chrono::nanoseconds deadline;
  bool isSpent = false;
};

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_NORMALFORM_H
