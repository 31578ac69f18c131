//===- HoistScratch.cpp - Moves buffers of kernels to their callers -------===//

#include "espalier/Conversion/LoopsToProgram/Passes.h"
#include "espalier/Conversion/LoopsToProgram/Program.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace espalier {
#define GEN_PASS_DEF_PROGRAMHOISTSCRATCHPASS
#include "espalier/Conversion/LoopsToProgram/Passes.h.inc"
} // namespace espalier

using namespace mlir;
using namespace espalier;

namespace {
/// A kernel, the calls of it, and its buffers that the callers can allocate.
struct Kernel {
  func::FuncOp function;
  SmallVector<func::CallOp> calls;
  SmallVector<memref::AllocOp> buffers;
  /// Those that each thread has to allocate, of a size that the callers know.
  SmallVector<memref::AllocOp> threadBuffers;
};
} // namespace

/// Collects the operations that compute `value` from the arguments of `kernel`,
/// operands first. Fails if it depends on anything else.
static LogicalResult collectSlice(Value value, func::FuncOp kernel,
                                  llvm::SetVector<Operation *> &slice) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return success(value.getParentRegion() == &kernel.getBody());
  if (slice.contains(op))
    return success();
  if (op->getNumRegions() != 0 || !isMemoryEffectFree(op))
    return failure();
  for (Value operand : op->getOperands())
    if (failed(collectSlice(operand, kernel, slice)))
      return failure();
  slice.insert(op);
  return success();
}

/// Whether callers of `kernel` can allocate what `alloc` does: it is like their
/// own buffers, and its size is known at the call.
static bool isKnownToCallers(memref::AllocOp alloc, func::FuncOp kernel) {
  MemRefType type = alloc.getType();
  if (!type.getLayout().isIdentity() || type.getMemorySpace() ||
      alloc.getAlignment().value_or(1) > uint64_t(kBufferAlignment))
    return false;
  llvm::SetVector<Operation *> slice;
  return llvm::all_of(alloc.getDynamicSizes(), [&](Value size) {
    return succeeded(collectSlice(size, kernel, slice));
  });
}

/// Whether they can do so before the call: one thread reaches it.
static bool isHoistable(memref::AllocOp alloc, func::FuncOp kernel,
                        uint64_t minBytes) {
  MemRefType type = alloc.getType();
  if (type.hasStaticShape() && type.getElementType().isIntOrIndexOrFloat()) {
    Type element = type.getElementType();
    uint64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
    if (llvm::divideCeil(bits, 8) * type.getNumElements() < minBytes)
      return false;
  }
  for (Operation *op = alloc->getParentOp(); op != kernel;
       op = op->getParentOp())
    if (!isa<scf::ForOp, scf::IfOp>(op))
      return false;
  return true;
}

/// Where memory for `call` is made: before itself, or before what asks whether
/// the data that it is about is right. Versions of a program have their own.
static Operation *getStep(func::CallOp call) {
  auto guard = dyn_cast<scf::IfOp>(call->getParentOp());
  auto test = guard ? guard.getCondition().getDefiningOp<arith::CmpIOp>()
                    : arith::CmpIOp();
  bool isGuarded =
      test && test.getLhs().getDefiningOp<memref::LoadOp>() &&
      !guard.elseBlock() &&
      llvm::all_of(call.getOperands(), [&](Value operand) {
        return !guard.getThenRegion().isAncestor(operand.getParentRegion());
      });
  return isGuarded ? guard : call;
}

/// Moves the buffers of `kernel` to its callers. Of a buffer that each thread
/// needs, callers get one that nobody uses: so its size is checked, and memory
/// for it is known to be had, where that can still be an error.
static LogicalResult hoist(Kernel &kernel) {
  func::FuncOp function = kernel.function;
  for (memref::AllocOp alloc :
       llvm::concat<memref::AllocOp>(kernel.buffers, kernel.threadBuffers)) {
    llvm::SetVector<Operation *> slice;
    for (Value size : alloc.getDynamicSizes())
      if (failed(collectSlice(size, function, slice)))
        return failure();
    for (func::CallOp &call : kernel.calls) {
      OpBuilder builder(getStep(call));
      IRMapping mapping;
      mapping.map(function.getArguments().take_front(call.getNumOperands()),
                  call.getOperands());
      for (Operation *op : slice)
        builder.clone(*op, mapping);
      auto copy =
          cast<memref::AllocOp>(builder.clone(*alloc.getOperation(), mapping));
      SmallVector<Value> operands(call.getOperands());
      operands.push_back(copy);
      builder.setInsertionPoint(call);
      auto extended =
          func::CallOp::create(builder, call.getLoc(), call.getCalleeAttr(),
                               call.getResultTypes(), operands);
      call.erase();
      call = extended;
    }
    unsigned position = function.getNumArguments();
    if (failed(function.insertArgument(position, alloc.getType(), {},
                                       alloc.getLoc())))
      return failure();
    if (llvm::is_contained(kernel.threadBuffers, alloc))
      continue;
    for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
      if (isa<memref::DeallocOp>(user))
        user->erase();
    alloc.replaceAllUsesWith(
        static_cast<Value>(function.getArgument(position)));
    alloc.erase();
  }
  return success();
}

/// Whether `main` makes the call itself, perhaps in one of its versions.
static bool isCalledBy(func::FuncOp main, func::CallOp call) {
  Operation *parent = getStep(call)->getParentOp();
  if (auto choice = dyn_cast<scf::IfOp>(parent))
    parent = choice->getParentOp();
  return parent == main;
}

FailureOr<unsigned> espalier::hoistScratch(ModuleOp module, uint64_t minBytes) {
  FailureOr<ProgramFunctions> functions = findProgram(module);
  if (failed(functions))
    return failure();
  // Kernels whose every use is a call by @main.
  llvm::MapVector<StringAttr, Kernel> kernels;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() && function != functions->main &&
        function != functions->plan)
      kernels[function.getSymNameAttr()].function = function;
  if (auto uses = SymbolTable::getSymbolUses(&module.getBodyRegion()))
    for (const SymbolTable::SymbolUse &use : *uses) {
      auto it = kernels.find(use.getSymbolRef().getRootReference());
      if (it == kernels.end())
        continue;
      auto call = dyn_cast<func::CallOp>(use.getUser());
      if (call && isCalledBy(functions->main, call))
        it->second.calls.push_back(call);
      else
        kernels.erase(it);
    }
  unsigned count = 0;
  for (auto &[name, kernel] : kernels) {
    kernel.function.walk([&, &kernel = kernel](memref::AllocOp alloc) {
      if (!isKnownToCallers(alloc, kernel.function))
        return;
      if (isHoistable(alloc, kernel.function, minBytes))
        kernel.buffers.push_back(alloc);
      else if (!alloc.getType().hasStaticShape())
        kernel.threadBuffers.push_back(alloc);
    });
    if (failed(hoist(kernel)))
      return failure();
    count += kernel.buffers.size();
  }
  return count;
}

namespace {
struct ProgramHoistScratchPass
    : espalier::impl::ProgramHoistScratchPassBase<ProgramHoistScratchPass> {
  using ProgramHoistScratchPassBase::ProgramHoistScratchPassBase;

  void runOnOperation() override {
    FailureOr<unsigned> count = hoistScratch(getOperation(), minBytes);
    if (failed(count))
      return signalPassFailure();
    numHoisted += *count;
  }
};
} // namespace
