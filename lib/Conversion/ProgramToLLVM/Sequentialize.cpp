//===- Sequentialize.cpp - Parallel loops that start no threads -----------===//

#include "espalier/Conversion/ProgramToLLVM/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"

namespace espalier {
#define GEN_PASS_DEF_PROGRAMSEQUENTIALIZEPASS
#include "espalier/Conversion/ProgramToLLVM/Passes.h.inc"
} // namespace espalier

using namespace mlir;

namespace {
struct ProgramSequentializePass
    : espalier::impl::ProgramSequentializePassBase<ProgramSequentializePass> {
  using ProgramSequentializePassBase::ProgramSequentializePassBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<scf::ParallelOp> loops;
    getOperation().walk([&](scf::ParallelOp loop) {
      bool isNested = loop->getParentOfType<scf::ParallelOp>() != nullptr;
      if ((all || isNested) && loop.getNumReductions() == 0)
        loops.push_back(loop);
    });
    for (scf::ParallelOp loop : loops) {
      rewriter.setInsertionPoint(loop);
      if (failed(scf::parallelForToNestedFors(rewriter, loop))) {
        loop.emitError("expects a parallel loop without reductions");
        return signalPassFailure();
      }
    }
  }
};
} // namespace
