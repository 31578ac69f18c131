//===- PolyToLoops.cpp - Code for scheduled kernels -----------------------===//

#include "KernelLoops.h"
#include "espalier/Conversion/Passes.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Threading.h"
#include "llvm/Support/DebugLog.h"

namespace espalier {
#define GEN_PASS_DEF_CONVERTPOLYTOLOOPSPASS
#include "espalier/Conversion/Passes.h.inc"
} // namespace espalier

#define DEBUG_TYPE "convert-poly-to-loops"

using namespace mlir;
using namespace espalier;

namespace {

struct ConvertPolyToLoopsPass
    : espalier::impl::ConvertPolyToLoopsPassBase<ConvertPolyToLoopsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    OpBuilder builder(&getContext());
    auto kernels = llvm::to_vector(module.getOps<poly::KernelOp>());
    // Scanning takes most of the time and changes nothing.
    std::vector<polyhedral::Ast> asts(kernels.size());
    LogicalResult scanned = failableParallelForEachN(
        &getContext(), 0, kernels.size(), [&](size_t number) {
          poly::KernelOp kernel = kernels[number];
          poly::KernelModel model = poly::buildModel(kernel);
          llvm::Expected<polyhedral::Ast> ast =
              poly::scanKernel(model, kernel.getSchedule());
          if (!ast)
            return LogicalResult(kernel.emitError("cannot be scanned: ")
                                 << llvm::toString(ast.takeError()));
          asts[number] = std::move(*ast);
          return success();
        });
    if (failed(scanned))
      return signalPassFailure();
    for (auto [kernel, ast] : llvm::zip_equal(kernels, asts)) {
      if (failed(polytoloops::KernelLoops(kernel, builder).emit(*ast)))
        return signalPassFailure();
      kernel.erase();
    }
    module.walk([&](poly::CallOp call) {
      builder.setInsertionPoint(call);
      func::CallOp::create(builder, call.getLoc(), call.getCallee(),
                           TypeRange(), call.getArguments());
      call.erase();
    });
  }
};

} // namespace
