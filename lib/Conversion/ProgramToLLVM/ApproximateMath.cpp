//===- ApproximateMath.cpp - Functions on f32 as polynomials --------------===//

#include "FunctionPatterns.h"
#include "espalier/Conversion/ProgramToLLVM/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace espalier {
#define GEN_PASS_DEF_PROGRAMAPPROXIMATEMATHPASS
#include "espalier/Conversion/ProgramToLLVM/Passes.h.inc"
} // namespace espalier

using namespace mlir;
using namespace espalier;

/// Whether MLIR's polynomial for the operation called `name` is accurate to 5
/// units in the last place, and no pattern of ours is there instead.
static bool isAccurate(StringRef name) {
  return llvm::is_contained({math::LogOp::getOperationName(),
                             math::Log2Op::getOperationName(),
                             math::TanhOp::getOperationName()},
                            name);
}

/// Whether the operation called `name` has no form for types below f32.
static bool needsF32(StringRef name) {
  return name.starts_with(math::MathDialect::getDialectNamespace()) &&
         name != math::FmaOp::getOperationName();
}

/// Whether x86 compares values of the type, one or a vector of them.
static bool isPlainFloat(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  Type element = vector ? vector.getElementType() : type;
  return (element.isF32() || element.isF64()) &&
         (!vector || (vector.getRank() == 1 && !vector.isScalable()));
}

namespace {
/// The greater (or smaller) of a value and a number: the number if the
/// comparison says so, else the value, also where that is NaN. This is one
/// instruction on x86.
template <typename Op>
struct CompareWithNumber : OpRewritePattern<Op> {
  CompareWithNumber(MLIRContext *context, arith::CmpFPredicate predicate,
                    PatternBenefit benefit)
      : OpRewritePattern<Op>(context, benefit), predicate(predicate) {}

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    for (auto [number, value] : {std::pair(op.getRhs(), op.getLhs()),
                                 std::pair(op.getLhs(), op.getRhs())}) {
      APFloat constant(0.0);
      if (!matchPattern(number, m_ConstantFloat(&constant)) || constant.isNaN())
        continue;
      Value wins = arith::CmpFOp::create(rewriter, op.getLoc(), predicate,
                                         number, value);
      rewriter.replaceOpWithNewOp<arith::SelectOp>(op, wins, number, value);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no operand is a number");
  }

  arith::CmpFPredicate predicate;
};

/// A maximum or minimum that is NaN if an operand is, without an order between
/// the zeros: two instructions less on x86.
template <typename Op, typename LLVMOp>
struct IgnoreSignOfZero : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!isPlainFloat(op.getType()))
      return rewriter.notifyMatchFailure(op, "not f32 or f64");
    // The first operand is the one that x86 looks for NaN in. The left one is
    // what was combined before, which there is to wait for.
    rewriter.replaceOpWithNewOp<LLVMOp>(op, op.getType(), op.getRhs(),
                                        op.getLhs(), LLVM::FastmathFlags::nsz);
    return success();
  }
};

/// The maximum or minimum of a vector's lanes: that of numbers, which x86 has,
/// unless a lane is NaN.
struct ReduceNumbers : OpRewritePattern<vector::ReductionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::ReductionOp op,
                                PatternRewriter &rewriter) const override {
    using vector::CombiningKind;
    bool isMaximum = op.getKind() == CombiningKind::MAXIMUMF;
    if ((!isMaximum && op.getKind() != CombiningKind::MINIMUMF) ||
        !isPlainFloat(op.getSourceVectorType()))
      return rewriter.notifyMatchFailure(op, "no maximum of f32 or f64");
    Location loc = op.getLoc();
    Value lanes = op.getVector();
    Value isNaN = arith::CmpFOp::create(
        rewriter, loc, arith::CmpFPredicate::UNO, lanes, lanes);
    Value anyNaN =
        vector::ReductionOp::create(rewriter, loc, CombiningKind::OR, isNaN);
    Value numbers = vector::ReductionOp::create(
        rewriter, loc,
        isMaximum ? CombiningKind::MAXNUMF : CombiningKind::MINNUMF, lanes,
        arith::FastMathFlags::nnan | arith::FastMathFlags::nsz);
    auto type = cast<FloatType>(op.getType());
    Value nan = arith::ConstantFloatOp::create(
        rewriter, loc, type, APFloat::getNaN(type.getFloatSemantics()));
    Value result = arith::SelectOp::create(rewriter, loc, anyNaN, nan, numbers);
    if (Value more = op.getAcc())
      result = isMaximum
                   ? arith::MaximumFOp::create(rewriter, loc, result, more)
                         .getResult()
                   : arith::MinimumFOp::create(rewriter, loc, result, more)
                         .getResult();
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct ProgramApproximateMathPass
    : espalier::impl::ProgramApproximateMathPassBase<
          ProgramApproximateMathPass> {
  void runOnOperation() override {
    bool hasFunctions = false;
    getOperation()->walk([&](Operation *op) {
      hasFunctions |= isa_and_present<math::MathDialect>(op->getDialect()) ||
                      isa<arith::MaximumFOp, arith::MinimumFOp, arith::TruncFOp,
                          arith::RemFOp, arith::DivSIOp, arith::DivUIOp,
                          arith::FloorDivSIOp, arith::RemSIOp, arith::RemUIOp,
                          vector::ReductionOp>(op);
    });
    if (!hasFunctions)
      return markAllAnalysesPreserved();
    RewritePatternSet patterns(&getContext());
    patterns.add<CompareWithNumber<arith::MaximumFOp>>(
        &getContext(), arith::CmpFPredicate::OGT, /*benefit=*/2);
    patterns.add<CompareWithNumber<arith::MinimumFOp>>(
        &getContext(), arith::CmpFPredicate::OLT, /*benefit=*/2);
    patterns.add<IgnoreSignOfZero<arith::MaximumFOp, LLVM::MaximumOp>,
                 IgnoreSignOfZero<arith::MinimumFOp, LLVM::MinimumOp>,
                 ReduceNumbers>(&getContext());
    populateMathAlgebraicSimplificationPatterns(patterns);
    populateFunctionPatterns(patterns);
    populateHyperbolicPatterns(patterns);
    populateArcPatterns(patterns);
    populateQuotientPatterns(patterns);
    populateShortFloatPatterns(patterns);
    populateMathF32ExpansionPatterns(patterns, needsF32);
    populateMathPolynomialApproximationPatterns(patterns, isAccurate);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
