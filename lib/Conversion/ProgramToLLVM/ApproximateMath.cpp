//===- ApproximateMath.cpp - Functions on f32 as polynomials --------------===//

#include "FunctionPatterns.h"
#include "espalier/Conversion/ProgramToLLVM/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
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
  return llvm::is_contained(
      {math::ExpM1Op::getOperationName(), math::LogOp::getOperationName(),
       math::Log2Op::getOperationName(), math::Log1pOp::getOperationName(),
       math::TanhOp::getOperationName(), math::ErfOp::getOperationName()},
      name);
}

/// Whether the operation called `name` has no form for types below f32.
static bool needsF32(StringRef name) {
  return name.starts_with(math::MathDialect::getDialectNamespace()) &&
         name != math::FmaOp::getOperationName();
}

namespace {
/// The greater (or smaller) of a value and a number: the number if the
/// comparison says so, else the value, also where that is NaN. This is one
/// instruction on x86.
template <typename Op>
struct CompareWithNumber : OpRewritePattern<Op> {
  CompareWithNumber(MLIRContext *context, arith::CmpFPredicate predicate)
      : OpRewritePattern<Op>(context), predicate(predicate) {}

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

struct ProgramApproximateMathPass
    : espalier::impl::ProgramApproximateMathPassBase<
          ProgramApproximateMathPass> {
  void runOnOperation() override {
    bool hasFunctions = false;
    getOperation()->walk([&](Operation *op) {
      hasFunctions |= isa_and_present<math::MathDialect>(op->getDialect()) ||
                      isa<arith::MaximumFOp, arith::MinimumFOp>(op);
    });
    if (!hasFunctions)
      return markAllAnalysesPreserved();
    RewritePatternSet patterns(&getContext());
    patterns.add<CompareWithNumber<arith::MaximumFOp>>(
        &getContext(), arith::CmpFPredicate::OGT);
    patterns.add<CompareWithNumber<arith::MinimumFOp>>(
        &getContext(), arith::CmpFPredicate::OLT);
    populateMathAlgebraicSimplificationPatterns(patterns);
    populateFunctionPatterns(patterns);
    populateMathF32ExpansionPatterns(patterns, needsF32);
    populateMathPolynomialApproximationPatterns(patterns, isAccurate);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
