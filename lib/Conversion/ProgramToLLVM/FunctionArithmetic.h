//===- FunctionArithmetic.h - What functions are made of --------*- C++ -*-===//

#ifndef ESPALIER_CONVERSION_PROGRAMTOLLVM_FUNCTIONARITHMETIC_H
#define ESPALIER_CONVERSION_PROGRAMTOLLVM_FUNCTIONARITHMETIC_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"

namespace espalier {

/// 1.5 * 2^23: numbers up to 2^22 that are added to it are rounded to integers.
inline constexpr float kRounder = 0x1.8p23F;

/// Operations on f32, or on vectors of it, at one place.
struct Arithmetic {
  Arithmetic(mlir::PatternRewriter &rewriter, mlir::Value x)
      : rewriter(rewriter), loc(x.getLoc()), type(x.getType()),
        integers(withElements(rewriter.getI32Type())) {}

  /// `type` with other elements.
  mlir::Type withElements(mlir::Type element) const {
    if (auto vector = llvm::dyn_cast<mlir::VectorType>(type))
      return vector.clone(element);
    return element;
  }

  mlir::Value constant(mlir::TypedAttr value) {
    if (auto vector = llvm::dyn_cast<mlir::VectorType>(type))
      value = mlir::DenseElementsAttr::get(vector.clone(value.getType()),
                                           static_cast<mlir::Attribute>(value));
    return mlir::arith::ConstantOp::create(rewriter, loc, value);
  }
  mlir::Value number(float value) {
    return constant(rewriter.getF32FloatAttr(value));
  }
  mlir::Value integer(int32_t value) {
    return constant(rewriter.getI32IntegerAttr(value));
  }
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c) {
    return mlir::math::FmaOp::create(rewriter, loc, a, b, c);
  }
  template <typename Op>
  mlir::Value apply(mlir::Value a, mlir::Value b) {
    return Op::create(rewriter, loc, a, b);
  }
  mlir::Value add(mlir::Value a, mlir::Value b) {
    return apply<mlir::arith::AddFOp>(a, b);
  }
  mlir::Value subtract(mlir::Value a, mlir::Value b) {
    return apply<mlir::arith::SubFOp>(a, b);
  }
  mlir::Value multiply(mlir::Value a, mlir::Value b) {
    return apply<mlir::arith::MulFOp>(a, b);
  }
  mlir::Value divide(mlir::Value a, mlir::Value b) {
    return apply<mlir::arith::DivFOp>(a, b);
  }
  mlir::Value absolute(mlir::Value a) {
    return mlir::math::AbsFOp::create(rewriter, loc, a);
  }
  mlir::Value squareRoot(mlir::Value a) {
    return mlir::math::SqrtOp::create(rewriter, loc, a);
  }
  mlir::Value copySign(mlir::Value a, mlir::Value sign) {
    return apply<mlir::math::CopySignOp>(a, sign);
  }
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a,
                      float b) {
    return mlir::arith::CmpFOp::create(rewriter, loc, predicate, a, number(b));
  }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) {
    return mlir::arith::SelectOp::create(rewriter, loc, condition, a, b);
  }
  mlir::Value bits(mlir::Value a) {
    return mlir::arith::BitcastOp::create(rewriter, loc, integers, a);
  }
  mlir::Value fromBits(mlir::Value a) {
    return mlir::arith::BitcastOp::create(rewriter, loc, type, a);
  }
  /// The polynomial with the coefficients from the highest power on.
  mlir::Value polynomial(llvm::ArrayRef<float> coefficients, mlir::Value x) {
    mlir::Value sum = number(coefficients.front());
    for (float coefficient : coefficients.drop_front())
      sum = fma(sum, x, number(coefficient));
    return sum;
  }
  /// The argument `x - n (parts[0] + parts[1] + ...)`, and `n` plus `kRounder`
  /// and `more`, for the integer `n` next to `x * scale`.
  std::pair<mlir::Value, mlir::Value> reduce(mlir::Value x, float scale,
                                             llvm::ArrayRef<float> parts,
                                             float more = 0) {
    mlir::Value rounder = number(kRounder + more);
    mlir::Value sum = fma(x, number(scale), rounder);
    mlir::Value n = subtract(sum, rounder);
    for (float part : parts)
      x = fma(n, number(-part), x);
    return {x, sum};
  }

  mlir::PatternRewriter &rewriter;
  mlir::Location loc;
  mlir::Type type, integers;
};

/// Replaces an operation on f32, or on vectors of it, by what `emit` makes of
/// its operand.
template <typename Op, mlir::Value (*emit)(Arithmetic &, mlir::Value)>
struct ExpandFunction : mlir::OpRewritePattern<Op> {
  using mlir::OpRewritePattern<Op>::OpRewritePattern;

  llvm::LogicalResult
  matchAndRewrite(Op op, mlir::PatternRewriter &rewriter) const override {
    if (!mlir::getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "not f32");
    Arithmetic arithmetic(rewriter, op.getOperand());
    rewriter.replaceOp(op, emit(arithmetic, op.getOperand()));
    return llvm::success();
  }
};

} // namespace espalier

#endif // ESPALIER_CONVERSION_PROGRAMTOLLVM_FUNCTIONARITHMETIC_H
