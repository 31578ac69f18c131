//===- Linear.h - Linear forms over numbered variables ----------*- C++ -*-===//
//
// Index expressions and the conditions on them, as the verifier keeps them:
// sums of integer multiples of variables. A number that does not fit makes a
// form `poisoned`; sets made of it are unknown, so that nothing is proved by
// an overflow.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_SUBSTITUTION_LINEAR_H
#define ESPALIER_LIB_SUBSTITUTION_LINEAR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <utility>

namespace espalier::substitution {

using Var = unsigned;

class Linear {
public:
  Linear() = default;
  Linear(int64_t constant) : constant(constant) {}
  static Linear var(Var var, int64_t coefficient = 1);

  llvm::ArrayRef<std::pair<Var, int64_t>> getTerms() const { return terms; }
  int64_t getConstant() const { return constant; }
  bool isPoisoned() const { return poisoned; }
  /// The value, if no variable occurs.
  std::optional<int64_t> getValue() const;
  /// The variable, if the form is just that.
  std::optional<Var> getVar() const;
  int64_t getCoefficient(Var var) const;
  bool contains(Var var) const { return getCoefficient(var) != 0; }
  bool any(llvm::function_ref<bool(Var)> predicate) const;

  Linear &operator+=(const Linear &other) { return add(other, 1); }
  Linear &operator-=(const Linear &other) { return add(other, -1); }
  Linear operator+(const Linear &other) const { return Linear(*this) += other; }
  Linear operator-(const Linear &other) const { return Linear(*this) -= other; }
  Linear operator*(int64_t factor) const;
  /// What is poisoned equals nothing.
  bool operator==(const Linear &other) const {
    return constant == other.constant && terms == other.terms && !poisoned &&
           !other.poisoned;
  }
  bool operator<(const Linear &other) const {
    return constant != other.constant ? constant < other.constant
                                      : terms < other.terms;
  }

  /// Puts `value` where `var` is.
  void substitute(Var var, const Linear &value);
  /// Puts other variables in the place of these.
  Linear rename(llvm::function_ref<Var(Var)> to) const;
  /// The value at a point.
  int64_t evaluate(llvm::function_ref<int64_t(Var)> value) const;

  /// Divides by the greatest common divisor of coefficients and constant.
  void reduce();
  /// The greatest common divisor of the coefficients; 0 if there are none.
  int64_t getGcd() const;
  /// Divides coefficients by `divisor`, and the constant rounded down.
  void divide(int64_t divisor);

private:
  Linear &add(const Linear &other, int64_t factor);

  llvm::SmallVector<std::pair<Var, int64_t>, 4> terms; ///< By variable.
  int64_t constant = 0;
  bool poisoned = false;
};

/// `expr` == 0 or `expr` >= 0.
struct Constraint {
  Linear expr;
  bool isEquality = false;

  static Constraint equal(const Linear &lhs, const Linear &rhs) {
    return {lhs - rhs, true};
  }
  static Constraint atLeast(const Linear &lhs, const Linear &rhs) {
    return {lhs - rhs, false};
  }
  static Constraint less(const Linear &lhs, const Linear &rhs) {
    return {rhs - lhs - Linear(1), false};
  }
  /// Brings the constraint to lowest terms. True, false, or it depends.
  std::optional<bool> normalize();
  bool operator==(const Constraint &other) const {
    return isEquality == other.isEquality && expr == other.expr;
  }
};

using Constraints = llvm::SmallVector<Constraint, 4>;

/// The constraints one of which holds where `constraint` does not.
Constraints negate(const Constraint &constraint);

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_LINEAR_H
