//===- Evaluate.cpp - Values of scalar functions --------------------------===//

#include "espalier/Definition/EvaluateInline.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;

IntegerFormat IntegerFormat::get(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return {integer.getWidth(),
            !integer.isUnsigned() && integer.getWidth() != 1};
  return {64, true};
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

double definition::evaluateFloat(ScalarFn fn, double lhs, double rhs) {
  return inlined::evaluateFloat(fn, lhs, rhs);
}

bool definition::evaluateFloatPredicate(ScalarFn fn, double lhs, double rhs) {
  return inlined::evaluateFloatPredicate(fn, lhs, rhs);
}

bool definition::isSupportedOnFloats(ScalarFn fn) {
  return fn != ScalarFn::And && fn != ScalarFn::Or && fn != ScalarFn::Xor &&
         fn != ScalarFn::Not;
}

int64_t definition::evaluateInteger(ScalarFn fn, IntegerFormat format,
                                    int64_t lhs, int64_t rhs) {
  return format.wrap(inlined::evaluateInteger(fn, format.isSigned, lhs, rhs));
}

bool definition::isSupportedOnIntegers(ScalarFn fn) {
  switch (fn) {
  case ScalarFn::Rsqrt:
#define MATH_FN(id, name, function, operation) case ScalarFn::id:
#include "espalier/Definition/ScalarFunctions.def"
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
    return format.isSigned
               ? static_cast<int64_t>(
                     llvm::maskTrailingOnes<uint64_t>(format.width - 1))
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
