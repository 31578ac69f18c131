//===- ArcPatterns.cpp - Inverse trigonometric functions of f32 -----------===//
//
// Polynomials around 0, which others are led back to:
//
//   atan(x) = pi/2 - atan(1 / x)                          x > 1
//   asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2))            x > 1/2
//
//===----------------------------------------------------------------------===//

#include "FunctionArithmetic.h"
#include "FunctionPatterns.h"

using namespace mlir;
using namespace espalier;

static constexpr float kPi = 0x1.921fb6p1F, kHalfPi = 0x1.921fb6p0F;
/// What is left of pi/2.
static constexpr float kHalfPiRest = -0x1.777a5cp-25F;

/// t + t z polynomial(z).
static Value emitOdd(Arithmetic &emit, Value t, Value z,
                     ArrayRef<double> coefficients) {
  return emit.fma(emit.multiply(t, z), emit.polynomial(coefficients, z), t);
}

static Value emitAtan(Arithmetic &emit, Value x) {
  Value size = emit.absolute(x);
  Value isLarge = emit.compare(arith::CmpFPredicate::OGT, size, 1);
  Value t = emit.select(isLarge, emit.divide(emit.number(1), size), size);
  Value arc = emitOdd(emit, t, emit.multiply(t, t),
                      {-0x1.de582ep-10F, 0x1.6a3072p-7F, -0x1.01822cp-5F,
                       0x1.dce018p-5F, -0x1.58ce66p-4F, 0x1.c0cd8cp-4F,
                       -0x1.24267ap-3F, 0x1.99926ap-3F, -0x1.55554p-2F});
  Value rest = emit.add(emit.subtract(emit.number(kHalfPi), arc),
                        emit.number(kHalfPiRest));
  return emit.copySign(emit.select(isLarge, rest, arc), x);
}

namespace {
struct HalfArc {
  /// Whether the argument is beyond 1/2.
  Value isLarge;
  /// The arc sine or, of such an argument, half of the arc cosine.
  Value arc;
};
} // namespace

/// The argument is not negative. Beyond 1, the root is NaN.
static HalfArc emitHalfArc(Arithmetic &emit, Value x) {
  Value half = emit.number(0.5F);
  Value isLarge = emit.compare(arith::CmpFPredicate::OGT, x, 0.5F);
  Value z = emit.select(isLarge,
                        emit.multiply(emit.subtract(emit.number(1), x), half),
                        emit.multiply(x, x));
  Value t = emit.select(isLarge, emit.squareRoot(z), x);
  return {isLarge, emitOdd(emit, t, z,
                           {0x1.59daa8p-5F, 0x1.8ba79ep-6F, 0x1.748b32p-5F,
                            0x1.330164p-4F, 0x1.5555cap-3F})};
}

static Value emitAsin(Arithmetic &emit, Value x) {
  auto [isLarge, arc] = emitHalfArc(emit, emit.absolute(x));
  Value rest =
      emit.add(emit.fma(arc, emit.number(-2), emit.number(kHalfPiRest)),
               emit.number(kHalfPi));
  return emit.copySign(emit.select(isLarge, rest, arc), x);
}

static Value emitAcos(Arithmetic &emit, Value x) {
  auto [isLarge, half] = emitHalfArc(emit, emit.absolute(x));
  Value arc = emit.copySign(half, x);
  Value isNegative = emit.compare(arith::CmpFPredicate::OLT, x, 0);
  Value turned = emit.select(isNegative, emit.number(kPi), emit.number(0));
  Value large = emit.fma(arc, emit.number(2), turned);
  return emit.select(isLarge, large, emit.subtract(emit.number(kHalfPi), arc));
}

void espalier::populateArcPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandFunction<math::AtanOp, emitAtan>,
               ExpandFunction<math::AsinOp, emitAsin>,
               ExpandFunction<math::AcosOp, emitAcos>>(patterns.getContext());
}
