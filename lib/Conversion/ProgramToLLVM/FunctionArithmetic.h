//===- FunctionArithmetic.h - What functions are made of --------*- C++ -*-===//

#ifndef ESPALIER_CONVERSION_PROGRAMTOLLVM_FUNCTIONARITHMETIC_H
#define ESPALIER_CONVERSION_PROGRAMTOLLVM_FUNCTIONARITHMETIC_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"
#include <cmath>

namespace espalier {

/// Operations on f32 or f64, or on vectors of one of them, at one place.
struct Arithmetic {
  Arithmetic(mlir::PatternRewriter &rewriter, mlir::Value x)
      : rewriter(rewriter), loc(x.getLoc()), type(x.getType()),
        element(llvm::cast<mlir::FloatType>(mlir::getElementTypeOrSelf(type))),
        integers(withElements(rewriter.getIntegerType(element.getWidth()))) {}

  /// The number of digits behind the first one.
  unsigned getNumDigits() { return element.getFPMantissaWidth() - 1; }
  /// 1.5 * 2^23 of f32: smaller numbers than a quarter of it that are added to
  /// it are rounded to integers.
  double getRounder() { return std::ldexp(1.5, getNumDigits()); }

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
  mlir::Value number(double value) {
    return constant(rewriter.getFloatAttr(element, value));
  }
  mlir::Value integer(int64_t value) {
    return constant(
        rewriter.getIntegerAttr(mlir::getElementTypeOrSelf(integers), value));
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
                      mlir::Value b) {
    return mlir::arith::CmpFOp::create(rewriter, loc, predicate, a, b);
  }
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a,
                      double b) {
    return compare(predicate, a, number(b));
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
  mlir::Value polynomial(llvm::ArrayRef<double> coefficients, mlir::Value x) {
    mlir::Value sum = number(coefficients.front());
    for (double coefficient : coefficients.drop_front())
      sum = fma(sum, x, number(coefficient));
    return sum;
  }
  /// The argument `x - n (parts[0] + parts[1] + ...)`, and `n` plus
  /// `getRounder()` and `more`, for the integer `n` next to `x * scale`.
  std::pair<mlir::Value, mlir::Value> reduce(mlir::Value x, double scale,
                                             llvm::ArrayRef<double> parts,
                                             double more = 0) {
    mlir::Value rounder = number(getRounder() + more);
    mlir::Value sum = fma(x, number(scale), rounder);
    mlir::Value n = subtract(sum, rounder);
    for (double part : parts)
      x = fma(n, number(-part), x);
    return {x, sum};
  }

  mlir::PatternRewriter &rewriter;
  mlir::Location loc;
  mlir::Type type;
  mlir::FloatType element;
  mlir::Type integers;
};

/// Makes a value of lanes, or of vectors of them, at the place of an
/// arithmetic.
using LaneEmitter = mlir::Value (*)(Arithmetic &, mlir::ValueRange);

/// What `emitVector` makes of vectors, unless a lane of `exceptions` is set:
/// then what `emitLane` makes of each of their lanes.
mlir::Value emitUnlessAny(Arithmetic &emit, mlir::Value exceptions,
                          mlir::ValueRange operands, LaneEmitter emitLane,
                          LaneEmitter emitVector);

/// Replaces an operation on numbers of `width` bits, or on vectors of them, by
/// what `emit` makes of its operand.
template <typename Op, mlir::Value (*emit)(Arithmetic &, mlir::Value),
          unsigned width = 32>
struct ExpandFunction : mlir::OpRewritePattern<Op> {
  using mlir::OpRewritePattern<Op>::OpRewritePattern;

  llvm::LogicalResult
  matchAndRewrite(Op op, mlir::PatternRewriter &rewriter) const override {
    if (mlir::getElementTypeOrSelf(op.getType()).getIntOrFloatBitWidth() !=
        width)
      return rewriter.notifyMatchFailure(op, "numbers of another width");
    Arithmetic arithmetic(rewriter, op.getOperand());
    rewriter.replaceOp(op, emit(arithmetic, op.getOperand()));
    return llvm::success();
  }
};

} // namespace espalier

#endif // ESPALIER_CONVERSION_PROGRAMTOLLVM_FUNCTIONARITHMETIC_H
