//===- Evaluate.h - Values of scalar functions ------------------*- C++ -*-===//
//
// The meaning of `ScalarFunctions.def` on numbers. Floating-point values of any
// width are computed as `double`; integers as `int64_t`, wrapped to the width
// of their type after each function.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_DEFINITION_EVALUATE_H
#define ESPALIER_DEFINITION_EVALUATE_H

#include "espalier/Definition/Expr.h"
#include "llvm/Support/MathExtras.h"

namespace espalier::definition {

/// How integers of a type are represented in an `int64_t`.
struct IntegerFormat {
  unsigned width = 64;
  bool isSigned = true;

  /// Returns the format of an integer or index type; `i1` is unsigned.
  static IntegerFormat get(mlir::Type type);
  /// Reduces `value` to the width, sign- or zero-extended.
  int64_t wrap(int64_t value) const {
    if (width >= 64)
      return value;
    if (isSigned)
      return llvm::SignExtend64(static_cast<uint64_t>(value), width);
    return static_cast<int64_t>(static_cast<uint64_t>(value) &
                                llvm::maskTrailingOnes<uint64_t>(width));
  }
};

/// Evaluates a function of floating-point operands whose result is a number.
double evaluateFloat(ScalarFn fn, double lhs, double rhs = 0);
/// Evaluates a function of floating-point operands whose result is Boolean.
bool evaluateFloatPredicate(ScalarFn fn, double lhs, double rhs = 0);
/// Evaluates a function of integer operands. Division by zero gives zero, so
/// that every function is total. Functions that make no sense on integers
/// (such as `exp`) return zero; `isSupportedOnIntegers` tells them.
int64_t evaluateInteger(ScalarFn fn, IntegerFormat format, int64_t lhs,
                        int64_t rhs = 0);
/// Returns true if `fn` has a meaning on integers.
bool isSupportedOnIntegers(ScalarFn fn);
/// Returns true if `fn` has a meaning on floating-point numbers.
bool isSupportedOnFloats(ScalarFn fn);

/// Converts to an integer by truncation; values out of range saturate and NaN
/// gives zero.
int64_t convertToInteger(double value, IntegerFormat format);
/// Converts an integer of the format to a double.
double convertToFloat(int64_t value, IntegerFormat format);
/// Rounds to the precision of a floating-point type.
double roundTo(mlir::FloatType type, double value);

/// The value that leaves a reduction unchanged.
double getNeutralFloat(ReduceKind kind);
int64_t getNeutralInteger(ReduceKind kind, IntegerFormat format);

} // namespace espalier::definition

#endif // ESPALIER_DEFINITION_EVALUATE_H
