//===- Calls.cpp - Kernels as a program calls them ------------------------===//

#include "Calls.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace espalier::poly;

std::string espalier::poly::quote(KernelOp kernel) {
  return "@" + kernel.getSymName().str();
}

static KernelOp getCallee(CallOp call) {
  return SymbolTable::lookupNearestSymbolFrom<KernelOp>(call,
                                                        call.getCalleeAttr());
}

llvm::Expected<CallOp> espalier::poly::findCall(KernelOp kernel) {
  SmallVector<CallOp> calls;
  if (Operation *module = kernel->getParentOp())
    module->walk([&](CallOp call) {
      if (getCallee(call) == kernel)
        calls.push_back(call);
    });
  if (calls.size() == 1)
    return calls.front();
  return refuse("expects one call of " + quote(kernel) + ", but got " +
                Twine(calls.size()));
}

bool espalier::poly::writesArgument(KernelOp kernel, unsigned number) {
  return llvm::any_of(kernel.getComputes(), [&](ComputeOp compute) {
    return llvm::is_contained(compute.getWrites(), kernel.getArgument(number));
  });
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// What a buffer is a view of.
static Value getRoot(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  return buffer;
}

/// Whether `root` is memory of its own.
static bool isOwn(Value root) {
  if (auto argument = dyn_cast<BlockArgument>(root))
    return isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return isa<memref::AllocOp, memref::AllocaOp, memref::GetGlobalOp>(
      root.getDefiningOp());
}

bool espalier::poly::mayOverlap(Value first, Value second) {
  first = getRoot(first);
  second = getRoot(second);
  if (first == second || !isOwn(first) || !isOwn(second))
    return true;
  auto constant = first.getDefiningOp<memref::GetGlobalOp>();
  auto other = second.getDefiningOp<memref::GetGlobalOp>();
  return constant && other && constant.getNameAttr() == other.getNameAttr();
}

/// Whether one of two calls writes what the other uses.
static bool conflict(CallOp first, CallOp second) {
  KernelOp here = getCallee(first), there = getCallee(second);
  for (auto [number, value] : llvm::enumerate(first.getArguments()))
    for (auto [place, other] : llvm::enumerate(second.getArguments()))
      if (isa<MemRefType>(value.getType()) &&
          isa<MemRefType>(other.getType()) && mayOverlap(value, other) &&
          (!there || writesArgument(here, number) ||
           writesArgument(there, place)))
        return true;
  return false;
}

llvm::Error espalier::poly::checkDelay(CallOp first, CallOp second) {
  if (first->getBlock() != second->getBlock() ||
      !first->isBeforeInBlock(second))
    return refuse("expects the call of " + quote(getCallee(first)) +
                  " before that of " + quote(getCallee(second)) +
                  ", in one block");
  for (Operation *op = first->getNextNode(); op != second;
       op = op->getNextNode()) {
    if (isMemoryEffectFree(op) || hasSingleEffect<MemoryEffects::Allocate>(op))
      continue;
    auto call = dyn_cast<CallOp>(op);
    if (call && !conflict(first, call))
      continue;
    return refuse("expects nothing between the calls of " +
                  quote(getCallee(first)) + " and " + quote(getCallee(second)) +
                  " that depends on the first, but got " +
                  (call ? "a call of @" + call.getCallee().str()
                        : "'" + op->getName().getStringRef().str() + "'"));
  }
  return llvm::Error::success();
}
