//===- FunctionPatterns.cpp - Exponential and trigonometric functions -----===//
//
// Each reduces its argument to a small one, whose function is a polynomial:
// exp(x) = 2^n exp(r) with r = x - n ln 2, and sin(x) is plus or minus sin(r)
// or cos(r) with r = x - n pi/2, and tan(x) a quotient of both. The multiple n
// r is subtracted in parts, each with one rounding. Where n is rounded by
// adding `getRounder()`, the last bits of the sum are those of n, as an
// integer.
//
// What becomes f16 or bf16 at once, as in f16(1 / (1 + exp(-x))), has fewer
// digits, and takes polynomials with fewer terms. Rounding to f16 alone has an
// error of half a unit in the last place; the polynomials add a hundredth.
//
//===----------------------------------------------------------------------===//

#include "FunctionPatterns.h"
#include "FunctionArithmetic.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include <limits>

using namespace mlir;
using namespace espalier;

/// Whether `op` rounds to f16 or bf16.
static bool isRoundingToShort(Operation *op) {
  return isa<arith::TruncFOp>(op) &&
         getElementTypeOrSelf(op->getResult(0)).getIntOrFloatBitWidth() == 16;
}

bool espalier::becomesShort(Value value) {
  return llvm::all_of(value.getUsers(), isRoundingToShort);
}

/// Whether a value that is positive, or not a number, has no other users than
/// roundings to 16 bits, and operations whose results have no greater relative
/// error and are such values again, or are rounded at once.
static bool isNeededShort(Value value) {
  auto isPositive = [](Value operand) {
    APFloat number(0.0F);
    return matchPattern(operand, m_ConstantFloat(&number)) &&
           number.isFiniteNonZero() && !number.isNegative();
  };
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (!isa<arith::AddFOp, arith::MulFOp, arith::DivFOp>(user))
      return isRoundingToShort(user);
    Value other = user->getOperand(1 - use.getOperandNumber());
    if (isPositive(other))
      return isNeededShort(user->getResult(0));
    return isa<arith::MulFOp>(user) && other.getDefiningOp<arith::ExtFOp>() &&
           becomesShort(user->getResult(0));
  });
}

Value espalier::emitUnlessAny(Arithmetic &emit, Value exceptions,
                              ValueRange operands, LaneEmitter emitLane,
                              LaneEmitter emitVector) {
  PatternRewriter &rewriter = emit.rewriter;
  Location loc = emit.loc;
  Value any = vector::ReductionOp::create(
      rewriter, loc, vector::CombiningKind::OR, exceptions);
  auto choice = scf::IfOp::create(rewriter, loc, emit.type, any,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(rewriter, loc, emitVector(emit, operands));
  rewriter.setInsertionPointToStart(choice.thenBlock());
  auto index = [&](int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value).getResult();
  };
  int64_t numLanes = cast<VectorType>(emit.type).getNumElements();
  auto loop = scf::ForOp::create(rewriter, loc, index(0), index(numLanes),
                                 index(1), operands.front());
  scf::YieldOp::create(rewriter, loc, loop.getResults());
  rewriter.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> lanes;
  for (Value operand : operands)
    lanes.push_back(vector::ExtractOp::create(rewriter, loc, operand,
                                              loop.getInductionVar()));
  Value results = vector::InsertOp::create(rewriter, loc, emitLane(emit, lanes),
                                           loop.getRegionIterArg(0),
                                           loop.getInductionVar());
  scf::YieldOp::create(rewriter, loc, results);
  return choice.getResult(0);
}

namespace {
/// exp(x) as 2 exp(r) times 2^(n-1), which overflows where the result does.
struct ExpandExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;

  /// The values of n for which 2^(n-1) would have the exponents of zero and of
  /// infinity.
  static constexpr float kLeast = -126, kGreatest = 129, kLn2 = 0x1.62e43p-1F;

  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "not f32");
    Arithmetic emit(rewriter, op.getOperand());
    // So far out, 2^(n-1) is zero or infinity, and the result with it. NaN is
    // neither greater nor less.
    Value x = emit.apply<arith::MaximumFOp>(op.getOperand(),
                                            emit.number(kLeast * kLn2));
    x = emit.apply<arith::MinimumFOp>(x, emit.number(kGreatest * kLn2));
    // The bits of 2^(n-1) are n - kLeast, from the 23rd on.
    constexpr float more = -kLeast, scale = 0x1.715476p0F;
    bool isShort = isNeededShort(op);
    auto [r, sum] =
        isShort ? emit.reduce(x, scale, {kLn2}, more)
                : emit.reduce(x, scale, {0x1.62e4p-1F, 0x1.7f7d1cp-20F}, more);
    Value twice =
        isShort
            ? emit.polynomial({0x1.53a02p-4F, 0x1.57e202p-2F, 0x1.0005bcp0F,
                               0x1.fffb3p0F, 0x1.ffffe8p0F},
                              r)
            : emit.polynomial({0x1.6a23bap-9F, 0x1.123a2cp-6F, 0x1.5558f4p-4F,
                               0x1.55549p-2F, 0x1.fffffcp-1F, 2.0F, 2.0F},
                              r);
    Value half = emit.fromBits(
        emit.apply<arith::ShLIOp>(emit.bits(sum), emit.integer(23)));
    rewriter.replaceOp(op, emit.multiply(twice, half));
    return success();
  }
};

/// erf(x) as x times a polynomial of its square, where the result is rounded to
/// 16 bits. It is 1 in f16 from `kLargest` on.
struct ExpandShortErf : OpRewritePattern<math::ErfOp> {
  using OpRewritePattern::OpRewritePattern;

  static constexpr float kLargest = 0x1.4ccccp1F;

  LogicalResult matchAndRewrite(math::ErfOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32() || !becomesShort(op))
      return rewriter.notifyMatchFailure(op, "not f32 that becomes short");
    Arithmetic emit(rewriter, op.getOperand());
    Value x =
        emit.apply<arith::MaximumFOp>(op.getOperand(), emit.number(-kLargest));
    x = emit.apply<arith::MinimumFOp>(x, emit.number(kLargest));
    Value square = emit.multiply(x, x);
    Value factor = emit.polynomial(
        {-0x1.468174p-27F, 0x1.a974c4p-22F, -0x1.fecaap-18F, 0x1.7db17cp-14F,
         -0x1.966d46p-11F, 0x1.4d6148p-8F, -0x1.b5e102p-6F, 0x1.cde072p-4F,
         -0x1.81231p-2F, 0x1.20dd6cp0F},
        square);
    rewriter.replaceOp(op, emit.multiply(x, factor));
    return success();
  }
};

/// erf(x) as x plus x times a polynomial of its square or, from `kFar` on, as a
/// polynomial of the distance from the middle between there and `kOne`, where
/// it is 1. Neither needs a division, and near 1 the error is less than that of
/// a quotient of two polynomials. Even and odd powers of the distance are added
/// apart: half as many steps wait for each other.
Value emitErf(Arithmetic &emit, Value x) {
  constexpr float kFar = 1.5F, kOne = 0x1.ea8f5cp1F, kMiddle = 0x1.5547aep1F;
  Value near = emit.polynomial(
      {-0x1.8029dp-18F, 0x1.8412acp-14F, -0x1.a6a26ap-11F, 0x1.53292cp-8F,
       -0x1.b7bb44p-6F, 0x1.ce274ap-4F, -0x1.812712p-2F, 0x1.06eba8p-3F},
      emit.multiply(x, x));
  Value size = emit.absolute(x);
  Value distance =
      emit.subtract(emit.apply<arith::MinimumFOp>(size, emit.number(kOne)),
                    emit.number(kMiddle));
  Value square = emit.multiply(distance, distance);
  Value even =
      emit.polynomial({0x1.873122p-15F, 0x1.f97726p-17F, -0x1.0f2262p-9F,
                       -0x1.2d28d4p-8F, -0x1.42876cp-9F, 0x1.ffeaa8p-1F},
                      square);
  Value odd = emit.polynomial({-0x1.2b1b4p-13F, 0x1.6dedfep-11F, 0x1.e27408p-9F,
                               0x1.0a83ap-8F, 0x1.e3c7fcp-11F},
                              square);
  Value far = emit.fma(odd, distance, even);
  return emit.select(emit.compare(arith::CmpFPredicate::OLT, size, kFar),
                     emit.fma(x, near, x), emit.copySign(far, x));
}

/// Whether the last bit of an integer is 1.
Value isOdd(Arithmetic &emit, Value integer) {
  Type bits = emit.withElements(emit.rewriter.getI1Type());
  return arith::TruncIOp::create(emit.rewriter, emit.loc, bits, integer);
}

/// Sine, or cosine as the sine that is a quarter of a turn ahead.
template <int32_t quartersAhead>
Value emitSine(Arithmetic &emit, Value sine, Value cosine, Value quarters) {
  if (quartersAhead)
    quarters = emit.apply<arith::AddIOp>(quarters, emit.integer(quartersAhead));
  // The first bit chooses the function, the second one the sign.
  Value result = emit.select(isOdd(emit, quarters), cosine, sine);
  Value turned = emit.apply<arith::ShLIOp>(
      emit.apply<arith::AndIOp>(quarters, emit.integer(2)), emit.integer(30));
  return emit.fromBits(emit.apply<arith::XOrIOp>(emit.bits(result), turned));
}

/// A quarter of a turn ahead, the tangent is -1 over what it was.
Value emitTangent(Arithmetic &emit, Value sine, Value cosine, Value quarters) {
  Value isTurned = isOdd(emit, quarters);
  Value minus = arith::NegFOp::create(emit.rewriter, emit.loc, cosine);
  return emit.divide(emit.select(isTurned, minus, sine),
                     emit.select(isTurned, sine, cosine));
}

/// What `finish` makes of the sine and cosine of an argument that is reduced by
/// multiples of pi/2, and of the integer whose last bits say how many.
template <typename Op, Value (*finish)(Arithmetic &, Value sine, Value cosine,
                                       Value quarters)>
struct ExpandPeriodic : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || type.getRank() != 1 || type.isScalable() ||
        !type.getElementType().isF32())
      return rewriter.notifyMatchFailure(op, "not a vector of f32");
    Arithmetic emit(rewriter, op.getOperand());
    Value large = emit.compare(arith::CmpFPredicate::OGT,
                               emit.absolute(op.getOperand()), kLargest);
    rewriter.replaceOp(op, emitUnlessAny(emit, large, op.getOperand(), emitLane,
                                         emitPolynomials));
    return success();
  }

private:
  /// Arguments up to this one are reduced well by three parts of pi/2.
  static constexpr float kLargest = 71476.0F;

  static Value emitPolynomials(Arithmetic &emit, ValueRange operands) {
    auto [r, sum] =
        emit.reduce(operands.front(), 0x1.45f306p-1F,
                    {0x1.921fbp0F, 0x1.5110b4p-22F, 0x1.84698ap-48F});
    Value n = emit.bits(sum);
    Value square = emit.multiply(r, r);
    Value sine = emit.polynomial(
        {0x1.6cd18ep-19F, -0x1.a00f7ep-13F, 0x1.111108p-7F, -0x1.555556p-3F},
        square);
    // A zero that is added to the cube keeps the sign of r = -0.
    sine = emit.fma(emit.fma(r, square, emit.number(0)), sine, r);
    Value cosine = emit.polynomial(
        {0x1.99eb1ep-16F, -0x1.6c0c32p-10F, 0x1.55554ap-5F, -0.5F, 1.0F},
        square);
    return finish(emit, sine, cosine, n);
  }

  /// By the library, in f64, which none of these patterns matches.
  static Value emitLane(Arithmetic &emit, ValueRange operands) {
    PatternRewriter &rewriter = emit.rewriter;
    Value wide = arith::ExtFOp::create(rewriter, emit.loc,
                                       rewriter.getF64Type(), operands.front());
    wide = Op::create(rewriter, emit.loc, wide);
    return arith::TruncFOp::create(rewriter, emit.loc, emit.element, wide);
  }
};
} // namespace

void espalier::populateFunctionPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandExp, ExpandFunction<math::ErfOp, emitErf>,
               ExpandPeriodic<math::SinOp, emitSine<0>>,
               ExpandPeriodic<math::CosOp, emitSine<1>>,
               ExpandPeriodic<math::TanOp, emitTangent>>(patterns.getContext());
  // Before that of all digits.
  patterns.add<ExpandShortErf>(patterns.getContext(), /*benefit=*/2);
}
