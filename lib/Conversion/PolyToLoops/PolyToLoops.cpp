//===- PolyToLoops.cpp - Code for scheduled kernels -----------------------===//

#include "KernelLoops.h"
#include "espalier/Conversion/Passes.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "espalier/Polyhedral/Storage.h"
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
  /// Emits a function in place of `kernel`.
  LogicalResult convert(poly::KernelOp kernel, OpBuilder &builder) {
    poly::KernelModel model = poly::buildModel(kernel);
    polyhedral::ScheduleTree tree =
        poly::buildScheduleTree(model, kernel.getSchedule());
    auto ast = polyhedral::scanSchedule(model.program, tree.get());
    if (!ast)
      return kernel.emitError("cannot be scanned: ")
             << llvm::toString(ast.takeError());
    auto loops = polyhedral::findPrivateLoops(model.program, tree.get());
    if (!loops)
      return kernel.emitError(llvm::toString(loops.takeError()));
    polytoloops::PrivateLoops privateLoops;
    for (auto [storage, set] : llvm::zip_equal(model.program.storages, *loops))
      privateLoops[model.arrays[storage.array]] = set;
    return polytoloops::KernelLoops(kernel, privateLoops, builder).emit(**ast);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    OpBuilder builder(&getContext());
    for (auto kernel : llvm::to_vector(module.getOps<poly::KernelOp>())) {
      if (failed(convert(kernel, builder)))
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
