//===- Exact.h - Values of rules without rounding ---------------*- C++ -*-===//
//
// Evaluates instances by their definitions, as they stand, where numbers are
// fractions, or intervals that certainly contain them. A maximum over nothing
// is -inf, and functions of infinities are what they tend to. Undefined are a
// quotient by 0, a root of a negative number, inf - inf and 0 * inf, and what
// is made of what is undefined.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_SUBSTITUTION_EXACT_H
#define ESPALIER_LIB_SUBSTITUTION_EXACT_H

#include "NormalForm.h"
#include "Typing.h"
#include "espalier/Interpreter/Tensor.h"
#include <map>

namespace espalier::substitution {

/// A value, or what is known of it.
struct ExactValue {
  enum class Kind { Number, MinusInfinity, PlusInfinity, Undefined, Unsure };
  Kind kind = Kind::Unsure;
  /// Of a number: its value, or poisoned.
  Rational exact{0, 1, true};
  double low = 0, high = 0; ///< Of a number that is not exact.

  static ExactValue get(const Rational &value);
  static ExactValue get(double low, double high);
  static ExactValue get(Kind kind) { return {kind}; }

  bool isNumber() const { return kind == Kind::Number; }
  bool isInfinite() const {
    return kind == Kind::MinusInfinity || kind == Kind::PlusInfinity;
  }
  /// Whether it is a number or an infinity for sure.
  bool isDefined() const { return isNumber() || isInfinite(); }
  /// Whether two values are certainly not the same.
  bool differs(const ExactValue &other) const;
};

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const ExactValue &value);

/// The value of a function; `rhs` is not used by those of one argument.
ExactValue evaluateExactly(definition::ScalarFn fn, const ExactValue &lhs,
                           const ExactValue &rhs);

/// Evaluates elements of instances at known sizes. An element is evaluated when
/// it is read.
class ExactEvaluator {
public:
  /// `inputs` are the tensors of variables, by number of instance; their
  /// elements are taken as they are.
  ExactEvaluator(const Instances &instances,
                 llvm::ArrayRef<interpreter::Tensor> inputs,
                 llvm::function_ref<int64_t(Var)> getSize, Budget &budget);

  ExactValue get(unsigned instance, llvm::ArrayRef<int64_t> indices);
  llvm::ArrayRef<int64_t> getShape(unsigned instance) const {
    return shapes[instance];
  }

private:
  struct Scope {
    unsigned instance = 0;
    llvm::DenseMap<definition::VarId, int64_t> vars;
  };
  using Expr = definition::Expr;

  ExactValue getStep(unsigned instance, unsigned step,
                     llvm::ArrayRef<int64_t> indices);
  ExactValue evaluate(Expr expr, Scope &scope);
  ExactValue evaluateReduce(Expr expr, Scope &scope);
  /// Of an index or a condition; nothing if it depends on elements.
  std::optional<int64_t> evaluateIndex(Expr expr, Scope &scope);
  int64_t evaluateExtent(Expr extent, unsigned instance);

  const Instances &instances;
  llvm::ArrayRef<interpreter::Tensor> inputs;
  Budget &budget;
  std::vector<llvm::SmallVector<int64_t>> shapes;
  std::vector<llvm::SmallVector<std::optional<int64_t>>> parameters;
  std::map<std::vector<int64_t>, ExactValue> known; ///< instance, step, indices
};

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_EXACT_H
