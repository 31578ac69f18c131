//===- ApproximateMath.cpp - Functions on f32 as polynomials --------------===//

#include "espalier/Conversion/ProgramToLLVM/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace espalier {
#define GEN_PASS_DEF_PROGRAMAPPROXIMATEMATHPASS
#include "espalier/Conversion/ProgramToLLVM/Passes.h.inc"
} // namespace espalier

using namespace mlir;

/// Whether MLIR's polynomial for the operation called `name` is accurate to 5
/// units in the last place. Those for sine and cosine lose all digits of large
/// arguments.
static bool isAccurate(StringRef name) {
  return llvm::is_contained(
      {math::ExpOp::getOperationName(), math::ExpM1Op::getOperationName(),
       math::LogOp::getOperationName(), math::Log2Op::getOperationName(),
       math::Log1pOp::getOperationName(), math::TanhOp::getOperationName(),
       math::ErfOp::getOperationName()},
      name);
}

/// Whether the operation called `name` has no form for types below f32.
static bool needsF32(StringRef name) {
  return name.starts_with(math::MathDialect::getDialectNamespace()) &&
         name != math::FmaOp::getOperationName();
}

namespace {
struct ProgramApproximateMathPass
    : espalier::impl::ProgramApproximateMathPassBase<
          ProgramApproximateMathPass> {
  void runOnOperation() override {
    bool hasFunctions = false;
    getOperation()->walk([&](Operation *op) {
      hasFunctions |= isa_and_present<math::MathDialect>(op->getDialect());
    });
    if (!hasFunctions)
      return markAllAnalysesPreserved();
    RewritePatternSet patterns(&getContext());
    populateMathAlgebraicSimplificationPatterns(patterns);
    populateMathF32ExpansionPatterns(patterns, needsF32);
    populateMathPolynomialApproximationPatterns(patterns, isAccurate);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
