//===- QuasiAffine.cpp - Expressions by the values of others --------------===//

#include "espalier/Polyhedral/QuasiAffine.h"

using namespace mlir;
using namespace espalier::polyhedral;

namespace {
/// (value mod modulus) floordiv divisor; without modulus if that is 0.
struct Digit {
  explicit Digit(AffineExpr expr);
  Digit(AffineExpr value, int64_t modulus, int64_t divisor)
      : value(value), modulus(modulus), divisor(divisor) {}

  AffineExpr value;
  int64_t modulus = 0;
  int64_t divisor = 1;
};
} // namespace

Digit::Digit(AffineExpr expr) : value(expr) {
  auto take = [&](AffineExprKind kind, int64_t &number) {
    if (value.getKind() != kind)
      return;
    auto binary = cast<AffineBinaryOpExpr>(value);
    auto rhs = dyn_cast<AffineConstantExpr>(binary.getRHS());
    if (rhs && rhs.getValue() > 0) {
      number = rhs.getValue();
      value = binary.getLHS();
    }
  };
  take(AffineExprKind::FloorDiv, divisor);
  take(AffineExprKind::Mod, modulus);
}

/// `digit` as a function of `own`, which is the digit `other`; null if that one
/// does not say.
static AffineExpr expressInOne(const Digit &digit, const Digit &other,
                               AffineExpr own) {
  if (digit.value != other.value || digit.divisor % other.divisor != 0 ||
      digit.modulus % other.divisor != 0)
    return {};
  if (digit.modulus != other.modulus) {
    if (digit.modulus == 0 || other.modulus % digit.modulus != 0)
      return {};
    own = own % (digit.modulus / other.divisor);
  }
  return own.floorDiv(digit.divisor / other.divisor);
}

static AffineExpr writeDigit(const Digit &digit,
                             llvm::ArrayRef<AffineExpr> values) {
  MLIRContext *context = digit.value.getContext();
  for (auto [number, value] : llvm::enumerate(values))
    if (AffineExpr own = expressInOne(digit, Digit(value),
                                      getAffineDimExpr(number, context)))
      return own;
  // A higher digit, and what is below it.
  for (auto [number, value] : llvm::enumerate(values)) {
    Digit high(value);
    bool isAbove = high.divisor > digit.divisor &&
                   (digit.modulus == 0 || high.divisor < digit.modulus);
    if (high.value != digit.value || high.modulus != digit.modulus ||
        !isAbove || high.divisor % digit.divisor != 0 ||
        digit.modulus % high.divisor != 0)
      continue;
    if (AffineExpr low =
            writeDigit(Digit(digit.value, high.divisor, digit.divisor), values))
      return getAffineDimExpr(number, context) *
                 (high.divisor / digit.divisor) +
             low;
  }
  return {};
}

AffineExpr espalier::polyhedral::expressIn(AffineExpr expr,
                                           llvm::ArrayRef<AffineExpr> values) {
  if (AffineExpr own = writeDigit(Digit(expr), values))
    return own;
  if (expr.isSymbolicOrConstant())
    return expr;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return {};
  AffineExpr lhs = expressIn(binary.getLHS(), values);
  AffineExpr rhs = expressIn(binary.getRHS(), values);
  return lhs && rhs ? getAffineBinaryOpExpr(expr.getKind(), lhs, rhs)
                    : AffineExpr();
}
