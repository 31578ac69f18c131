//===- PolyToLoops.cpp - Code for scheduled kernels -----------------------===//

#include "KernelLoops.h"
#include "espalier/Conversion/Passes.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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
    for (auto kernel : llvm::to_vector(module.getOps<poly::KernelOp>())) {
      poly::KernelModel model = poly::buildModel(kernel);
      llvm::Expected<polyhedral::Ast> ast =
          poly::scanKernel(model, kernel.getSchedule());
      if (!ast) {
        kernel.emitError("cannot be scanned: ")
            << llvm::toString(ast.takeError());
        return signalPassFailure();
      }
      if (failed(polytoloops::KernelLoops(kernel, builder).emit(**ast)))
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
