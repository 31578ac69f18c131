//===- ShortFloatPatterns.cpp - Fewer conversions of f16 and bf16 ---------===//
//
// What is computed of f16 and bf16 is f32, and rounded: few machines have
// instructions for more. These patterns save conversions and divisions, and
// change no bit of a result, but for the bits of what is not a number, and the
// sign of a zero that a maximum chooses among zeros.
//
//===----------------------------------------------------------------------===//

#include "FunctionPatterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace espalier;

static bool isShort(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF16() || element.isBF16();
}

/// A scalar, or vector, of f32 that equals the number everywhere.
static Value makeNumber(OpBuilder &builder, Location loc, Type type,
                        APFloat number) {
  bool losesInfo;
  number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  TypedAttr value = builder.getFloatAttr(builder.getF32Type(), number);
  if (auto vector = dyn_cast<VectorType>(type))
    value = DenseElementsAttr::get(vector, static_cast<Attribute>(value));
  return arith::ConstantOp::create(builder, loc, value);
}

namespace {
/// The sign changes in f32, where that is part of another instruction.
struct NegateWide : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    auto negation = op.getIn().getDefiningOp<arith::NegFOp>();
    if (!negation)
      return rewriter.notifyMatchFailure(op, "no change of sign");
    Value wide = arith::ExtFOp::create(rewriter, op.getLoc(), op.getType(),
                                       negation.getOperand());
    rewriter.replaceOpWithNewOp<arith::NegFOp>(op, wide);
    return success();
  }
};

/// The maximum or minimum of a number and a value that was rounded is that of
/// the value, rounded: rounding keeps order, and the number.
template <typename Op>
struct RoundAfterComparing : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    for (auto [number, value] : {std::pair(op.getRhs(), op.getLhs()),
                                 std::pair(op.getLhs(), op.getRhs())}) {
      auto rounding = value.template getDefiningOp<arith::TruncFOp>();
      APFloat constant(0.0);
      if (!isShort(op.getType()) || !rounding ||
          !getElementTypeOrSelf(rounding.getIn()).isF32() ||
          !rounding->hasOneUse() ||
          !matchPattern(number, m_ConstantFloat(&constant)))
        continue;
      Value wide = rounding.getIn();
      wide = Op::create(
          rewriter, op.getLoc(), wide,
          makeNumber(rewriter, op.getLoc(), wide.getType(), constant));
      rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), wide);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no number and value of 16 bits");
  }
};

/// A quotient of f16 and a number that is f16 too is a product. Let the
/// quotient be a normal number, m one in the middle of two neighbours in f16,
/// and a and b the operands' digits as integers below 2^11. Then a/b and m are
/// no closer than 1/(2^12 a) of the quotient, more than 2^-23. The product by a
/// rounded reciprocal is within that, and so it is rounded as the quotient is.
/// Where the quotient is subnormal, all operands are tried.
struct MultiplyByReciprocal : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    auto quotient = op.getIn().getDefiningOp<arith::DivFOp>();
    if (!quotient || !getElementTypeOrSelf(op.getType()).isF16() ||
        !getElementTypeOrSelf(quotient.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "no quotient that becomes f16");
    auto operand = quotient.getLhs().getDefiningOp<arith::ExtFOp>();
    APFloat divisor(0.0F);
    if (!operand || !getElementTypeOrSelf(operand.getIn()).isF16() ||
        !matchPattern(quotient.getRhs(), m_ConstantFloat(&divisor)) ||
        !isReplaceable(divisor))
      return rewriter.notifyMatchFailure(op, "no operands that are f16");
    APFloat reciprocal(1.0F / divisor.convertToFloat());
    Value product = arith::MulFOp::create(
        rewriter, op.getLoc(), quotient.getLhs(),
        makeNumber(rewriter, op.getLoc(), quotient.getType(), reciprocal));
    rewriter.modifyOpInPlace(op, [&] { op.getInMutable().assign(product); });
    return success();
  }

private:
  /// Whether products with the reciprocal are rounded as quotients are.
  static bool isReplaceable(const APFloat &divisor) {
    APFloat half = divisor;
    bool losesInfo;
    half.convert(APFloat::IEEEhalf(), APFloat::rmNearestTiesToEven, &losesInfo);
    if (losesInfo || !half.isFiniteNonZero())
      return false;
    // In units of the smallest number of f16, of which all are multiples. Those
    // below 2^10 are subnormal. Operands are digits times powers of two.
    float size = std::abs(divisor.convertToFloat()), reciprocal = 1.0F / size;
    for (float first = 1.0F, power = 1.0F; first * power < size * 0x1p10F;
         first = 0x1p10F, power *= 2.0F)
      for (float digits = first; digits != 0x1p11F; ++digits) {
        float x = digits * power;
        if (std::nearbyint(x / size) != std::nearbyint(x * reciprocal))
          return false;
      }
    return true;
  }
};
} // namespace

void espalier::populateShortFloatPatterns(RewritePatternSet &patterns) {
  patterns.add<NegateWide, MultiplyByReciprocal>(patterns.getContext());
  // Before comparisons become selections.
  patterns.add<RoundAfterComparing<arith::MaximumFOp>,
               RoundAfterComparing<arith::MinimumFOp>>(patterns.getContext(),
                                                       /*benefit=*/3);
}
