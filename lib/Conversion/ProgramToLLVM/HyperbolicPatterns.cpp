//===- HyperbolicPatterns.cpp - Hyperbolic functions ----------------------===//
//
// Those with a difference of exponentials are made of expm1(x) = exp(x) - 1,
// and their inverses of log1p(x) = log(1 + x), which are accurate where results
// are small:
//
//   sinh(x) = (e + e / (e + 1)) / 2                       e = expm1(|x|)
//   asinh(x) = log1p(|x| + x^2 / (1 + sqrt(1 + x^2)))
//   acosh(x) = log1p(d + sqrt(d^2 + 2 d))                 d = x - 1
//   atanh(x) = log1p(2 |x| / (1 - |x|)) / 2
//   tanh(x) = e / (e + 2)                                 e = expm1(2 |x|)
//
// with the sign of x. So are they in W. Kahan, Branch Cuts for Complex
// Elementary Functions (1987), and in the libraries of C.
//
//===----------------------------------------------------------------------===//

#include "FunctionArithmetic.h"
#include "FunctionPatterns.h"
#include <algorithm>
#include <limits>

using namespace mlir;
using namespace espalier;

static constexpr float kInfinity = std::numeric_limits<float>::infinity();
static constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
static constexpr float kLn2 = 0x1.62e43p-1F;
/// ln 2 in two parts, of which multiples of the first one are exact.
static constexpr double kLn2Parts[] = {0x1.62e4p-1F, 0x1.7f7d1cp-20F};
/// From here on, 1 beside the argument's square is lost, and the square may not
/// be a number any more.
static constexpr float kFar = 0x1p60F;

namespace {
/// The numbers `power` = 2^(n-2), a quarter of what may be too large, and `p`,
/// with exp(x) = 4 power (1 + p).
struct Exponential {
  Value power, p;
};
} // namespace

/// Takes numbers from -30, below which exp(x) - 1 is -1, to 89.6, whose
/// hyperbolic sine and cosine are infinite, for any that lie outside.
static Exponential emitExponential(Arithmetic &emit, Value x) {
  x = emit.apply<arith::MaximumFOp>(x, emit.number(-30));
  x = emit.apply<arith::MinimumFOp>(x, emit.number(89.6F));
  // The bits of 2^(n-2) are n + 125, from the 23rd on.
  auto [r, sum] = emit.reduce(x, 0x1.715476p0F, kLn2Parts, /*more=*/125);
  Value power = emit.fromBits(
      emit.apply<arith::ShLIOp>(emit.bits(sum), emit.integer(23)));
  Value rest =
      emit.polynomial({0x1.a242f6p-13F, 0x1.6d4292p-10F, 0x1.111004p-7F,
                       0x1.5554f2p-5F, 0x1.555556p-3F, 0.5F},
                      r);
  return {power, emit.fma(emit.multiply(r, r), rest, r)};
}

/// (exp(x) - 1) / 4.
static Value emitQuarterOfExpM1(Arithmetic &emit, Value x) {
  auto [power, p] = emitExponential(emit, x);
  return emit.fma(power, p, emit.subtract(power, emit.number(0.25F)));
}

/// log(1 + x) = n ln 2 + log(1 + m), with m from -1/4 to 1/2, plus `more`, if
/// that is there.
static Value emitLog1p(Arithmetic &emit, Value x, Value more = {}) {
  Value sum = emit.add(x, emit.number(1));
  // The bits of n 2^23, of those of the sum.
  Value shifted = emit.apply<arith::AndIOp>(
      emit.apply<arith::SubIOp>(emit.bits(sum), emit.integer(0x3f400000)),
      emit.integer(-0x800000));
  // m = (1 + x) 2^-n - 1, with one rounding for all that 1 + x may have lost.
  Value quarter = emit.number(0.25F);
  Value power = emit.fromBits(
      emit.apply<arith::SubIOp>(emit.integer(0x40800000), shifted));
  Value m = emit.fma(emit.multiply(x, quarter), power,
                     emit.fma(power, quarter, emit.number(-1)));
  Value n = arith::SIToFPOp::create(
      emit.rewriter, emit.loc, emit.type,
      emit.apply<arith::ShRSIOp>(shifted, emit.integer(23)));
  Value rest = emit.polynomial(
      {-0x1.7a7bc2p-5F, 0x1.b19e7ep-4F, -0x1.0e1444p-3F, 0x1.284a34p-3F,
       -0x1.54dcb4p-3F, 0x1.996b02p-3F, -0x1.000084p-2F, 0x1.5555a2p-2F, -0.5F},
      m);
  Value result = emit.fma(emit.multiply(m, m), rest, m);
  for (double part : llvm::reverse(kLn2Parts))
    result = emit.fma(n, emit.number(part), result);
  if (more)
    result = emit.add(result, more);
  auto where = [&](arith::CmpFPredicate predicate, float number, Value value) {
    result = emit.select(emit.compare(predicate, sum, number), value, result);
  };
  using arith::CmpFPredicate;
  // So small a number is its own logarithm, with the sign of a zero.
  where(CmpFPredicate::OEQ, 1, x);
  where(CmpFPredicate::OEQ, 0, emit.number(-kInfinity));
  where(CmpFPredicate::ULT, 0, emit.number(kNaN));
  where(CmpFPredicate::OEQ, kInfinity, sum);
  return result;
}

/// The logarithm of an argument that is as large as twice `x` where `x` is far,
/// given the argument less 1 otherwise.
static Value emitLogOfTwice(Arithmetic &emit, Value x, Value near) {
  Value isFar = emit.compare(arith::CmpFPredicate::OGT, x, kFar);
  return emitLog1p(emit, emit.select(isFar, x, near),
                   emit.select(isFar, emit.number(kLn2), emit.number(0)));
}

static Value emitExpM1(Arithmetic &emit, Value x) {
  Value result = emit.multiply(emitQuarterOfExpM1(emit, x), emit.number(4));
  return emit.copySign(result, x);
}

static Value emitSinh(Arithmetic &emit, Value x) {
  Value quarter = emitQuarterOfExpM1(emit, emit.absolute(x));
  Value exponential = emit.fma(quarter, emit.number(4), emit.number(1));
  Value half = emit.add(quarter, emit.divide(quarter, exponential));
  return emit.copySign(emit.multiply(half, emit.number(2)), x);
}

static Value emitCosh(Arithmetic &emit, Value x) {
  auto [power, p] = emitExponential(emit, emit.absolute(x));
  Value quarter = emit.fma(power, p, power);
  return emit.fma(quarter, emit.number(2),
                  emit.divide(emit.number(0.125F), quarter));
}

static Value emitPlainLog1p(Arithmetic &emit, Value x) {
  return emitLog1p(emit, x);
}

static Value emitAsinh(Arithmetic &emit, Value x) {
  Value size = emit.absolute(x), one = emit.number(1);
  Value square = emit.multiply(size, size);
  Value root = emit.squareRoot(emit.add(square, one));
  Value near = emit.add(size, emit.divide(square, emit.add(root, one)));
  return emit.copySign(emitLogOfTwice(emit, size, near), x);
}

static Value emitAcosh(Arithmetic &emit, Value x) {
  Value less = emit.subtract(x, emit.number(1));
  Value square = emit.fma(less, less, emit.add(less, less));
  Value near = emit.add(less, emit.squareRoot(square));
  return emit.select(emit.compare(arith::CmpFPredicate::OGE, x, 1),
                     emitLogOfTwice(emit, x, near), emit.number(kNaN));
}

static Value emitAtanh(Arithmetic &emit, Value x) {
  Value size = emit.absolute(x);
  Value ratio =
      emit.divide(emit.add(size, size), emit.subtract(emit.number(1), size));
  return emit.copySign(emit.multiply(emitLog1p(emit, ratio), emit.number(0.5F)),
                       x);
}

/// tanh(x) of f64. From 20 on, which is taken for what lies beyond, it is 1.
static Value emitWideTanh(Arithmetic &emit, Value x) {
  Value size = emit.absolute(x);
  size = emit.apply<arith::MinimumFOp>(size, emit.number(20));
  // The bits of 2^n are n + 1023, from the 52nd on; multiples of the first part
  // of ln 2 are exact.
  auto [r, sum] =
      emit.reduce(emit.add(size, size), 0x1.71547652b82fep0,
                  {0x1.62e42feep-1, 0x1.a39ef35793c76p-33}, /*more=*/1023);
  Value power = emit.fromBits(
      emit.apply<arith::ShLIOp>(emit.bits(sum), emit.integer(52)));
  // The terms of exp(r) - 1 - r from the second on; the first one that is left
  // out is less than a twentieth of a unit in the last place.
  SmallVector<double> coefficients{0.5};
  for (int term = 3; term <= 13; ++term)
    coefficients.push_back(coefficients.back() / term);
  std::reverse(coefficients.begin(), coefficients.end());
  Value p = emit.fma(emit.multiply(r, r), emit.polynomial(coefficients, r), r);
  Value e = emit.fma(power, p, emit.subtract(power, emit.number(1)));
  return emit.copySign(emit.divide(e, emit.add(e, emit.number(2))), x);
}

void espalier::populateHyperbolicPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandFunction<math::ExpM1Op, emitExpM1>,
               ExpandFunction<math::Log1pOp, emitPlainLog1p>,
               ExpandFunction<math::SinhOp, emitSinh>,
               ExpandFunction<math::CoshOp, emitCosh>,
               ExpandFunction<math::AsinhOp, emitAsinh>,
               ExpandFunction<math::AcoshOp, emitAcosh>,
               ExpandFunction<math::AtanhOp, emitAtanh>,
               ExpandFunction<math::TanhOp, emitWideTanh, /*width=*/64>>(
      patterns.getContext());
}
