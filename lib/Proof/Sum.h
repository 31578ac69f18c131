//===- Sum.h - Sums of products over integer points -------------*- C++ -*-===//
//
// What an element of a result is: numbers times sums, over integer points that
// fulfil conditions, of products of elements, functions and maxima.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_PROOF_SUM_H
#define ESPALIER_LIB_PROOF_SUM_H

#include "Index.h"
#include "mlir/Analysis/Presburger/Fraction.h"

namespace espalier::proof {

using Fraction = mlir::presburger::Fraction;

struct Term;
using Sum = std::vector<Term>;
using Names = std::vector<std::string>;

/// A factor.
struct Atom {
  enum class Kind {
    Read,     ///< `name` at `indices`: an element of a variable.
    Function, ///< `name` of `args`: `relu`, `exp`, `div` (the reciprocal)...
    Max,      ///< Of the only argument, over points.
  } kind = Kind::Read;
  std::string name;
  std::vector<Index> indices;
  std::vector<Sum> args;
  Names bound;           ///< Max.
  Conditions conditions; ///< Max.

  bool isFunction(llvm::StringRef fn) const {
    return kind == Kind::Function && name == fn;
  }
};

/// A number times the sum, over the bound variables that fulfil the conditions,
/// of the product of the factors.
struct Term {
  Fraction coefficient{1, 1};
  Names bound;
  Conditions conditions;
  std::vector<Atom> factors;

  /// Neither a sum nor under a condition.
  bool isPlain() const { return bound.empty() && conditions.empty(); }
};

/// What must hold for a side to have values, at all points that fulfil
/// conditions. The points and the sum are those of a maximum.
struct Demand {
  enum class Kind { NotZero, NotNegative, Positive, NotEmpty } kind;
  Atom at;

  std::string str() const;
};

Sum makeConstant(const Fraction &value);
Sum makeAtom(Atom atom);
Atom makeFunction(llvm::StringRef name, Sum arg);
Sum add(Sum lhs, const Sum &rhs);
Sum scale(Sum sum, const Fraction &factor);
/// Bound variables of the two must differ.
Sum multiply(const Sum &lhs, const Sum &rhs);

/// Replaces a variable, or any part, everywhere.
void substitute(Conditions &conditions, llvm::StringRef part,
                const Index &value);
void substitute(Atom &atom, llvm::StringRef part, const Index &value);
void substitute(Term &term, llvm::StringRef part, const Index &value);
void substitute(Sum &sum, llvm::StringRef part, const Index &value);
/// New names in goals are v0, v1.., and never as large.
constexpr unsigned kMaxVariable = 1'000'000'000;

/// Gives bound variables new names, from v`next` on, inner ones too.
void freshen(Atom &atom, unsigned &next);
void freshen(Term &term, unsigned &next);
void freshen(Sum &sum, unsigned &next);

/// Calls `visit` for each index, and what conditions compare with 0.
void walk(const Atom &atom, llvm::function_ref<void(const Index &)> visit);
void walk(const Term &term, llvm::function_ref<void(const Index &)> visit);
void walk(const Sum &sum, llvm::function_ref<void(const Index &)> visit);

/// As nested lists. Sums that differ in the names of bound variables alone are
/// printed alike if `isCanonical`.
SExpr print(Sum sum, bool isCanonical = false);
SExpr print(const Atom &atom);

} // namespace espalier::proof

#endif // ESPALIER_LIB_PROOF_SUM_H
