//===- VerifyProgram.cpp - Checks of stages loops and program -------------===//

#include "espalier/Conversion/LoopsToProgram/Buffers.h"
#include "espalier/Conversion/LoopsToProgram/Passes.h"
#include "espalier/Conversion/LoopsToProgram/Program.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace espalier {
#define GEN_PASS_DEF_PROGRAMVERIFYLOOPSPASS
#define GEN_PASS_DEF_PROGRAMVERIFYPLANNEDPASS
#include "espalier/Conversion/LoopsToProgram/Passes.h.inc"
} // namespace espalier

using namespace mlir;
using namespace espalier;

/// Returns the buffer of @main that `value` is a view of: an argument, or the
/// view of the arena or the constants that stands for a buffer.
static Value findBuffer(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>()) {
    auto argument = dyn_cast<BlockArgument>(view.getViewSource());
    if (argument && isa<memref::ViewOp>(view))
      return value;
    value = view.getViewSource();
  }
  return value;
}

bool espalier::mayBeWritten(Value buffer) {
  return llvm::any_of(buffer.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<memref::LoadOp, memref::DimOp, memref::PrefetchOp, vector::LoadOp,
            vector::MaskedLoadOp, vector::GatherOp, vector::TransferReadOp>(
            user))
      return false;
    if (isa<ViewLikeOpInterface>(user))
      return llvm::any_of(user->getResults(), mayBeWritten);
    return !isMemoryEffectFree(user);
  });
}

/// Checks that no kernel gets a buffer twice and writes it: compiled kernels
/// take their arguments to be disjoint.
static LogicalResult verifyDistinct(func::CallOp call) {
  auto callee = dyn_cast_or_null<func::FuncOp>(
      SymbolTable::lookupNearestSymbolFrom(call, call.getCalleeAttr()));
  if (!callee || callee.isExternal())
    return success();
  DenseMap<Value, unsigned> first;
  for (auto [index, operand] : llvm::enumerate(call.getOperands())) {
    if (!isa<BaseMemRefType>(operand.getType()))
      continue;
    auto [it, isNew] = first.try_emplace(findBuffer(operand), index);
    if (!isNew && (mayBeWritten(callee.getArgument(index)) ||
                   mayBeWritten(callee.getArgument(it->second))))
      return call.emitError("expects a buffer of its own where the kernel "
                            "writes, but argument #")
             << index << " is the buffer of argument #" << it->second;
  }
  return success();
}

/// Checks that memory planning and packing left nothing behind, and that code
/// generation may rely on disjoint buffers.
static LogicalResult verifyPlanned(ModuleOp module) {
  FailureOr<ProgramFunctions> functions = findProgram(module);
  if (failed(functions))
    return failure();
  func::FuncOp main = functions->main;
  unsigned numArguments = main.getNumArguments();
  for (auto [name, fromEnd] :
       {std::pair(kArenaAttr, 2u), std::pair(kConstantsArgAttr, 1u)})
    if (numArguments < fromEnd ||
        !main.getArgAttr(numArguments - fromEnd, name))
      return emitError(main.getLoc(), "expects '")
             << name << "' on argument #" << fromEnd << " from the end";
  WalkResult result = main.walk([&](Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op))
      return failed(verifyDistinct(call)) ? WalkResult::interrupt()
                                          : WalkResult::advance();
    if (!isa<memref::AllocOp, memref::DeallocOp>(op))
      return WalkResult::advance();
    op->emitError("expects no allocation in @main at stage program");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct ProgramVerifyLoopsPass
    : espalier::impl::ProgramVerifyLoopsPassBase<ProgramVerifyLoopsPass> {
  void runOnOperation() override {
    if (failed(readSignature(getOperation())))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

struct ProgramVerifyPlannedPass
    : espalier::impl::ProgramVerifyPlannedPassBase<ProgramVerifyPlannedPass> {
  void runOnOperation() override {
    if (failed(verifyPlanned(getOperation())) ||
        failed(readSignature(getOperation())))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
