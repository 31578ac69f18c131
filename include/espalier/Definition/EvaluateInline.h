//===- EvaluateInline.h - Scalar functions, for inlining --------*- C++ -*-===//
//
// The bodies behind Evaluate.h. With a constant function, the switch goes away;
// loops over many values include this.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_DEFINITION_EVALUATEINLINE_H
#define ESPALIER_DEFINITION_EVALUATEINLINE_H

#include "espalier/Definition/Evaluate.h"
#include "llvm/Support/ErrorHandling.h"
#include <cmath>
#include <limits>

namespace espalier::definition::inlined {

//===----------------------------------------------------------------------===//
// Floating point
//===----------------------------------------------------------------------===//

inline double floatMod(double lhs, double rhs) {
  double rem = std::fmod(lhs, rhs);
  return rem != 0 && (rem < 0) != (rhs < 0) ? rem + rhs : rem;
}

/// Max and min propagate NaN, as arith.maximumf and ONNX do.
inline double floatMax(double lhs, double rhs) {
  if (std::isnan(lhs) || std::isnan(rhs))
    return std::numeric_limits<double>::quiet_NaN();
  return std::fmax(lhs, rhs);
}

inline double floatMin(double lhs, double rhs) {
  if (std::isnan(lhs) || std::isnan(rhs))
    return std::numeric_limits<double>::quiet_NaN();
  return std::fmin(lhs, rhs);
}

inline bool evaluateFloatPredicate(ScalarFn fn, double lhs, double rhs) {
  switch (fn) {
  case ScalarFn::Equal:
    return lhs == rhs;
  case ScalarFn::NotEqual:
    return lhs != rhs;
  case ScalarFn::Less:
    return lhs < rhs;
  case ScalarFn::LessEqual:
    return lhs <= rhs;
  case ScalarFn::Greater:
    return lhs > rhs;
  case ScalarFn::GreaterEqual:
    return lhs >= rhs;
  case ScalarFn::IsNaN:
    return std::isnan(lhs);
  default:
    llvm_unreachable("the function is a predicate");
  }
}

inline double evaluateFloat(ScalarFn fn, double lhs, double rhs) {
  switch (fn) {
  case ScalarFn::Add:
    return lhs + rhs;
  case ScalarFn::Sub:
    return lhs - rhs;
  case ScalarFn::Mul:
    return lhs * rhs;
  case ScalarFn::Div:
    return lhs / rhs;
  case ScalarFn::FloorDiv:
    return std::floor(lhs / rhs);
  case ScalarFn::Mod:
    return floatMod(lhs, rhs);
  case ScalarFn::Rem:
    return std::fmod(lhs, rhs);
  case ScalarFn::Max:
    return floatMax(lhs, rhs);
  case ScalarFn::Min:
    return floatMin(lhs, rhs);
  case ScalarFn::Pow:
    return std::pow(lhs, rhs);
  case ScalarFn::Neg:
    return -lhs;
  case ScalarFn::Abs:
    return std::fabs(lhs);
  case ScalarFn::Sign:
    return std::isnan(lhs) ? lhs : double((lhs > 0) - (lhs < 0));
  case ScalarFn::Rsqrt:
    return 1 / std::sqrt(lhs);
#define MATH_FN(id, name, function, operation)                                 \
  case ScalarFn::id:                                                           \
    return std::function(lhs);
#include "espalier/Definition/ScalarFunctions.def"
  case ScalarFn::Floor:
    return std::floor(lhs);
  case ScalarFn::Ceil:
    return std::ceil(lhs);
  case ScalarFn::Round:
    return std::nearbyint(lhs);
  case ScalarFn::And:
  case ScalarFn::Or:
  case ScalarFn::Xor:
  case ScalarFn::Not:
    return 0;
  case ScalarFn::Equal:
  case ScalarFn::NotEqual:
  case ScalarFn::Less:
  case ScalarFn::LessEqual:
  case ScalarFn::Greater:
  case ScalarFn::GreaterEqual:
  case ScalarFn::IsNaN:
    return inlined::evaluateFloatPredicate(fn, lhs, rhs);
  }
  llvm_unreachable("every function is handled above");
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// Wrapping arithmetic; signed overflow has no meaning in C++.
struct Wrapping {
  static int64_t add(int64_t a, int64_t b) {
    return static_cast<int64_t>(uint64_t(a) + uint64_t(b));
  }
  static int64_t sub(int64_t a, int64_t b) {
    return static_cast<int64_t>(uint64_t(a) - uint64_t(b));
  }
  static int64_t mul(int64_t a, int64_t b) {
    return static_cast<int64_t>(uint64_t(a) * uint64_t(b));
  }
};

inline int64_t truncDiv(int64_t lhs, int64_t rhs, bool isSigned) {
  if (rhs == 0)
    return 0;
  if (!isSigned)
    return static_cast<int64_t>(uint64_t(lhs) / uint64_t(rhs));
  return rhs == -1 ? Wrapping::sub(0, lhs) : lhs / rhs;
}

inline int64_t truncRem(int64_t lhs, int64_t rhs, bool isSigned) {
  if (rhs == 0)
    return 0;
  if (!isSigned)
    return static_cast<int64_t>(uint64_t(lhs) % uint64_t(rhs));
  return rhs == -1 ? 0 : lhs % rhs;
}

inline int64_t floorModInteger(int64_t lhs, int64_t rhs, bool isSigned) {
  int64_t rem = truncRem(lhs, rhs, isSigned);
  return isSigned && rem != 0 && (rem < 0) != (rhs < 0) ? rem + rhs : rem;
}

inline int64_t floorDivInteger(int64_t lhs, int64_t rhs, bool isSigned) {
  int64_t quotient = truncDiv(lhs, rhs, isSigned);
  bool inexact = isSigned && rhs != 0 && truncRem(lhs, rhs, isSigned) != 0;
  return inexact && (lhs < 0) != (rhs < 0) ? quotient - 1 : quotient;
}

/// Powers by squaring; a negative exponent truncates the exact value.
inline int64_t powInteger(int64_t base, int64_t exponent, bool isSigned) {
  if (isSigned && exponent < 0) {
    if (base == 1)
      return 1;
    if (base == -1)
      return exponent % 2 == 0 ? 1 : -1;
    return 0;
  }
  int64_t result = 1;
  for (uint64_t left = exponent; left != 0; left >>= 1) {
    if (left & 1)
      result = Wrapping::mul(result, base);
    base = Wrapping::mul(base, base);
  }
  return result;
}

inline bool lessInteger(int64_t lhs, int64_t rhs, bool isSigned) {
  return isSigned ? lhs < rhs : uint64_t(lhs) < uint64_t(rhs);
}

inline int64_t evaluateInteger(ScalarFn fn, bool isSigned, int64_t lhs,
                               int64_t rhs) {
  switch (fn) {
  case ScalarFn::Add:
    return Wrapping::add(lhs, rhs);
  case ScalarFn::Sub:
    return Wrapping::sub(lhs, rhs);
  case ScalarFn::Mul:
    return Wrapping::mul(lhs, rhs);
  case ScalarFn::Div:
    return truncDiv(lhs, rhs, isSigned);
  case ScalarFn::FloorDiv:
    return floorDivInteger(lhs, rhs, isSigned);
  case ScalarFn::Mod:
    return floorModInteger(lhs, rhs, isSigned);
  case ScalarFn::Rem:
    return truncRem(lhs, rhs, isSigned);
  case ScalarFn::Max:
    return lessInteger(lhs, rhs, isSigned) ? rhs : lhs;
  case ScalarFn::Min:
    return lessInteger(rhs, lhs, isSigned) ? rhs : lhs;
  case ScalarFn::Pow:
    return powInteger(lhs, rhs, isSigned);
  case ScalarFn::And:
    return lhs & rhs;
  case ScalarFn::Or:
    return lhs | rhs;
  case ScalarFn::Xor:
    return lhs ^ rhs;
  case ScalarFn::Equal:
    return lhs == rhs;
  case ScalarFn::NotEqual:
    return lhs != rhs;
  case ScalarFn::Less:
    return lessInteger(lhs, rhs, isSigned);
  case ScalarFn::LessEqual:
    return !lessInteger(rhs, lhs, isSigned);
  case ScalarFn::Greater:
    return lessInteger(rhs, lhs, isSigned);
  case ScalarFn::GreaterEqual:
    return !lessInteger(lhs, rhs, isSigned);
  case ScalarFn::Neg:
    return Wrapping::sub(0, lhs);
  case ScalarFn::Abs:
    return isSigned && lhs < 0 ? Wrapping::sub(0, lhs) : lhs;
  case ScalarFn::Sign:
    return isSigned ? (lhs > 0) - (lhs < 0) : lhs != 0;
  case ScalarFn::Not:
    return ~lhs;
  case ScalarFn::Floor:
  case ScalarFn::Ceil:
  case ScalarFn::Round:
    return lhs;
  case ScalarFn::Rsqrt:
#define MATH_FN(id, name, function, operation) case ScalarFn::id:
#include "espalier/Definition/ScalarFunctions.def"
  case ScalarFn::IsNaN:
    return 0;
  }
  llvm_unreachable("every function is handled above");
}

} // namespace espalier::definition::inlined

#endif // ESPALIER_DEFINITION_EVALUATEINLINE_H
