//===- QuotientPatterns.cpp - Exact quotients and remainders of vectors ---===//
//
// Processors divide vectors of floats, and no integers. Let q be the quotient
// x / y of integers of w bits, rounded to a float with p digits. If x / y is no
// integer, it is 1 / |y| or more away from one, and the rounding moves it by
// 2^-p |x / y| <= 2^(w-p) / |y| at most, which is less for p > w. So the
// integer part of q is that of x / y, and so is its floor, for up to 16 bits in
// f32 (p = 24) and up to 32 in f64 (p = 53).
//
// The remainder of floats is x - n y with n the integer part of x / y. Rounding
// is monotone, so that the integer part of q is n or n + 1, and an integer, if
// it is less than 2^(p-1). Either way, x - q y is a multiple of the last digit
// of x or y, no larger than y, and so a float, which a fused operation finds:
// the remainder, or what is less by y. Where quotients are larger, and where
// there is none, the library is called. The same for the wider type would find
// more in f32, at half of the rate.
//
//===----------------------------------------------------------------------===//

#include "FunctionArithmetic.h"
#include "FunctionPatterns.h"
#include "mlir/IR/Matchers.h"
#include <limits>

using namespace mlir;
using namespace espalier;

/// Whether the type is a vector that has one dimension.
static bool isPlainVector(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getRank() == 1 && !vector.isScalable();
}

namespace {
/// A quotient or remainder of integers, by a quotient of floats.
template <typename Op, typename ToFloat, typename ToInteger>
struct DivideFloats : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType(), element = getElementTypeOrSelf(type);
    if (!isPlainVector(type) || !element.isInteger() ||
        element.getIntOrFloatBitWidth() > 32)
      return rewriter.notifyMatchFailure(op, "no vector of up to 32 bits");
    if (matchPattern(op.getRhs(), m_Constant()))
      return rewriter.notifyMatchFailure(op, "LLVM divides by constants well");
    Location loc = op.getLoc();
    Type real = cast<VectorType>(type).clone(
        element.getIntOrFloatBitWidth() > 16 ? rewriter.getF64Type()
                                             : rewriter.getF32Type());
    Value x = op.getLhs(), y = op.getRhs();
    Value ratio = arith::DivFOp::create(
        rewriter, loc, ToFloat::create(rewriter, loc, real, x),
        ToFloat::create(rewriter, loc, real, y));
    if (std::is_same_v<Op, arith::FloorDivSIOp>)
      ratio = math::FloorOp::create(rewriter, loc, ratio);
    Value quotient = ToInteger::create(rewriter, loc, type, ratio);
    if (isa<arith::RemSIOp, arith::RemUIOp>(op)) {
      Value whole = arith::MulIOp::create(rewriter, loc, quotient, y);
      quotient = arith::SubIOp::create(rewriter, loc, x, whole);
    }
    rewriter.replaceOp(op, quotient);
    return success();
  }
};

/// The remainder of f32 or f64.
struct SubtractMultiple : OpRewritePattern<arith::RemFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::RemFOp op,
                                PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getType());
    if (!isPlainVector(op.getType()) || !(element.isF32() || element.isF64()))
      return rewriter.notifyMatchFailure(op, "no vector of f32 or f64");
    Value x = op.getLhs(), y = op.getRhs();
    Arithmetic emit(rewriter, x);
    Value size = emit.absolute(y);
    // Infinite divisors would be multiplied by 0; NaN is not less.
    Value isNear = emit.compare(
        arith::CmpFPredicate::OLT, emit.absolute(x),
        emit.multiply(size,
                      emit.number(std::ldexp(1, emit.getNumDigits() - 1))));
    Value isFinite = emit.compare(arith::CmpFPredicate::OLT, size,
                                  std::numeric_limits<double>::infinity());
    Value isEasy = emit.apply<arith::AndIOp>(isNear, isFinite);
    Value all = emit.constant(rewriter.getBoolAttr(true));
    rewriter.replaceOp(op, emitUnlessAny(emit,
                                         emit.apply<arith::XOrIOp>(isEasy, all),
                                         {x, y}, emitLane, emitVector));
    return success();
  }

private:
  static Value emitVector(Arithmetic &emit, ValueRange operands) {
    Value x = emit.absolute(operands[0]), y = emit.absolute(operands[1]);
    Value quotient =
        math::FloorOp::create(emit.rewriter, emit.loc, emit.divide(x, y));
    Value minus = arith::NegFOp::create(emit.rewriter, emit.loc, quotient);
    Value rest = emit.fma(minus, y, x);
    Value isLess = emit.compare(arith::CmpFPredicate::OLT, rest, 0);
    rest = emit.select(isLess, emit.add(rest, y), rest);
    return emit.copySign(rest, operands[0]);
  }

  static Value emitLane(Arithmetic &emit, ValueRange operands) {
    return emit.apply<arith::RemFOp>(operands[0], operands[1]);
  }
};
} // namespace

void espalier::populateQuotientPatterns(RewritePatternSet &patterns) {
  patterns
      .add<DivideFloats<arith::DivSIOp, arith::SIToFPOp, arith::FPToSIOp>,
           DivideFloats<arith::FloorDivSIOp, arith::SIToFPOp, arith::FPToSIOp>,
           DivideFloats<arith::RemSIOp, arith::SIToFPOp, arith::FPToSIOp>,
           DivideFloats<arith::DivUIOp, arith::UIToFPOp, arith::FPToUIOp>,
           DivideFloats<arith::RemUIOp, arith::UIToFPOp, arith::FPToUIOp>,
           SubtractMultiple>(patterns.getContext());
}
