//===- Evaluate.cpp - Values of scalar functions --------------------------===//

#include "espalier/Definition/Evaluate.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;

IntegerFormat IntegerFormat::get(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return {integer.getWidth(),
            !integer.isUnsigned() && integer.getWidth() != 1};
  return {64, true};
}

int64_t IntegerFormat::wrap(int64_t value) const {
  if (width >= 64)
    return value;
  if (isSigned)
    return llvm::SignExtend64(static_cast<uint64_t>(value), width);
  return static_cast<int64_t>(static_cast<uint64_t>(value) &
                              llvm::maskTrailingOnes<uint64_t>(width));
}

//===----------------------------------------------------------------------===//
// Floating point
//===----------------------------------------------------------------------===//

static double floatMod(double lhs, double rhs) {
  double rem = std::fmod(lhs, rhs);
  return rem != 0 && (rem < 0) != (rhs < 0) ? rem + rhs : rem;
}

/// Max and min propagate NaN, as arith.maximumf and ONNX do.
static double floatMax(double lhs, double rhs) {
  if (std::isnan(lhs) || std::isnan(rhs))
    return std::numeric_limits<double>::quiet_NaN();
  return std::fmax(lhs, rhs);
}

static double floatMin(double lhs, double rhs) {
  if (std::isnan(lhs) || std::isnan(rhs))
    return std::numeric_limits<double>::quiet_NaN();
  return std::fmin(lhs, rhs);
}

double definition::evaluateFloat(ScalarFn fn, double lhs, double rhs) {
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
  case ScalarFn::Exp:
    return std::exp(lhs);
  case ScalarFn::Log:
    return std::log(lhs);
  case ScalarFn::Sqrt:
    return std::sqrt(lhs);
  case ScalarFn::Rsqrt:
    return 1 / std::sqrt(lhs);
  case ScalarFn::Sin:
    return std::sin(lhs);
  case ScalarFn::Cos:
    return std::cos(lhs);
  case ScalarFn::Tanh:
    return std::tanh(lhs);
  case ScalarFn::Erf:
    return std::erf(lhs);
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
    return evaluateFloatPredicate(fn, lhs, rhs);
  }
  llvm_unreachable("every function is handled above");
}

bool definition::evaluateFloatPredicate(ScalarFn fn, double lhs, double rhs) {
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

bool definition::isSupportedOnFloats(ScalarFn fn) {
  return fn != ScalarFn::And && fn != ScalarFn::Or && fn != ScalarFn::Xor &&
         fn != ScalarFn::Not;
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

namespace {
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
} // namespace

static int64_t truncDiv(int64_t lhs, int64_t rhs, bool isSigned) {
  if (rhs == 0)
    return 0;
  if (!isSigned)
    return static_cast<int64_t>(uint64_t(lhs) / uint64_t(rhs));
  return rhs == -1 ? Wrapping::sub(0, lhs) : lhs / rhs;
}

static int64_t truncRem(int64_t lhs, int64_t rhs, bool isSigned) {
  if (rhs == 0)
    return 0;
  if (!isSigned)
    return static_cast<int64_t>(uint64_t(lhs) % uint64_t(rhs));
  return rhs == -1 ? 0 : lhs % rhs;
}

static int64_t floorModInteger(int64_t lhs, int64_t rhs, bool isSigned) {
  int64_t rem = truncRem(lhs, rhs, isSigned);
  return isSigned && rem != 0 && (rem < 0) != (rhs < 0) ? rem + rhs : rem;
}

static int64_t floorDivInteger(int64_t lhs, int64_t rhs, bool isSigned) {
  int64_t quotient = truncDiv(lhs, rhs, isSigned);
  bool inexact = isSigned && rhs != 0 && truncRem(lhs, rhs, isSigned) != 0;
  return inexact && (lhs < 0) != (rhs < 0) ? quotient - 1 : quotient;
}

/// Powers by squaring; a negative exponent truncates the exact value.
static int64_t powInteger(int64_t base, int64_t exponent, bool isSigned) {
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

static bool lessInteger(int64_t lhs, int64_t rhs, bool isSigned) {
  return isSigned ? lhs < rhs : uint64_t(lhs) < uint64_t(rhs);
}

static int64_t evaluateUnwrapped(ScalarFn fn, bool isSigned, int64_t lhs,
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
  case ScalarFn::Exp:
  case ScalarFn::Log:
  case ScalarFn::Sqrt:
  case ScalarFn::Rsqrt:
  case ScalarFn::Sin:
  case ScalarFn::Cos:
  case ScalarFn::Tanh:
  case ScalarFn::Erf:
  case ScalarFn::IsNaN:
    return 0;
  }
  llvm_unreachable("every function is handled above");
}

int64_t definition::evaluateInteger(ScalarFn fn, IntegerFormat format,
                                    int64_t lhs, int64_t rhs) {
  return format.wrap(evaluateUnwrapped(fn, format.isSigned, lhs, rhs));
}

bool definition::isSupportedOnIntegers(ScalarFn fn) {
  switch (fn) {
  case ScalarFn::Exp:
  case ScalarFn::Log:
  case ScalarFn::Sqrt:
  case ScalarFn::Rsqrt:
  case ScalarFn::Sin:
  case ScalarFn::Cos:
  case ScalarFn::Tanh:
  case ScalarFn::Erf:
    return false;
  default:
    return true;
  }
}

//===----------------------------------------------------------------------===//
// Conversions and neutral elements
//===----------------------------------------------------------------------===//

int64_t definition::convertToInteger(double value, IntegerFormat format) {
  if (format.width == 1)
    return value != 0;
  if (std::isnan(value))
    return 0;
  double limit = std::ldexp(1.0, int(format.width) - (format.isSigned ? 1 : 0));
  if (value >= limit) // The greatest integer; 2^w - 1 as a bit pattern.
    return format.isSigned ? static_cast<int64_t>(llvm::maskTrailingOnes<uint64_t>(
                                 format.width - 1))
                           : static_cast<int64_t>(
                                 llvm::maskTrailingOnes<uint64_t>(format.width));
  if (format.isSigned)
    return value < -limit ? llvm::minIntN(format.width)
                          : static_cast<int64_t>(value);
  return value <= 0 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(value));
}

double definition::convertToFloat(int64_t value, IntegerFormat format) {
  return format.isSigned ? static_cast<double>(value)
                         : static_cast<double>(static_cast<uint64_t>(value));
}

double definition::roundTo(FloatType type, double value) {
  if (type.isF64())
    return value;
  if (type.isF32())
    return static_cast<float>(value);
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return number.convertToDouble();
}

double definition::getNeutralFloat(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return 0;
  case ReduceKind::Product:
    return 1;
  case ReduceKind::Max:
    return -std::numeric_limits<double>::infinity();
  case ReduceKind::Min:
    return std::numeric_limits<double>::infinity();
  }
  llvm_unreachable("every kind is handled above");
}

int64_t definition::getNeutralInteger(ReduceKind kind, IntegerFormat format) {
  switch (kind) {
  case ReduceKind::Sum:
    return 0;
  case ReduceKind::Product:
    return 1;
  case ReduceKind::Max:
    return format.isSigned ? llvm::minIntN(format.width) : 0;
  case ReduceKind::Min:
    return static_cast<int64_t>(llvm::maskTrailingOnes<uint64_t>(
        format.isSigned ? format.width - 1 : format.width));
  }
  llvm_unreachable("every kind is handled above");
}
