//===- KernelArguments.cpp - What a kernel is called with -----------------===//

#include "KernelArguments.h"
#include "espalier/Dialect/Poly/IR/Parameters.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace espalier::poly;

BlockArgument KernelCall::findArgument(Value value) {
  for (auto [operand, argument] :
       llvm::zip_equal(call.getArguments(), kernel.getArguments()))
    if (operand == value)
      return argument;
  return {};
}

BlockArgument espalier::poly::addArgument(KernelCall call, Value value) {
  auto [op, kernel] = call;
  unsigned number = kernel.getNumArguments();
  unsigned numParameters = kernel.getNumParameters();
  if (isa<IndexType>(value.getType())) {
    SmallVector<AffineExpr> same;
    for (unsigned s = 0; s < numParameters; ++s)
      same.push_back(getAffineSymbolExpr(s, kernel.getContext()));
    replaceParameters(kernel, same, numParameters + 1);
  }
  (void)kernel.insertArgument(number, value.getType(), {}, value.getLoc());
  op.getArgumentsMutable().append(value);
  return kernel.getArgument(number);
}

void espalier::poly::replaceOperand(KernelCall call, BlockArgument argument,
                                    Value value) {
  auto [op, kernel] = call;
  argument.setType(value.getType());
  kernel.setType(FunctionType::get(kernel.getContext(),
                                   kernel.getBody().getArgumentTypes(), {}));
  op->setOperand(argument.getArgNumber(), value);
}

/// The parameters that sets and maps of a kernel use.
static llvm::BitVector findUsedSymbols(KernelOp kernel,
                                       unsigned numParameters) {
  llvm::BitVector used(numParameters);
  auto visit = [&](Attribute attr) {
    attr.walk([&](Attribute part) {
      auto find = [&](AffineExpr expr) {
        expr.walk([&](AffineExpr e) {
          auto symbol = dyn_cast<AffineSymbolExpr>(e);
          if (symbol && symbol.getPosition() < numParameters)
            used.set(symbol.getPosition());
        });
      };
      if (auto map = dyn_cast<AffineMapAttr>(part))
        llvm::for_each(map.getValue().getResults(), find);
      if (auto set = dyn_cast<IntegerSetAttr>(part))
        llvm::for_each(set.getValue().getConstraints(), find);
    });
  };
  visit(kernel->getAttrDictionary());
  kernel.getBody().walk([&](Operation *op) { visit(op->getAttrDictionary()); });
  return used;
}

void espalier::poly::eraseUnusedArguments(KernelOp kernel,
                                          ArrayRef<CallOp> calls) {
  unsigned numParameters = kernel.getNumParameters();
  llvm::BitVector used = findUsedSymbols(kernel, numParameters);
  llvm::BitVector unused(kernel.getNumArguments());
  MLIRContext *context = kernel.getContext();
  SmallVector<AffineExpr> parameters;
  unsigned count = 0;
  for (BlockArgument argument : kernel.getArguments()) {
    bool isParameter = isa<IndexType>(argument.getType());
    bool isUsed =
        !argument.use_empty() || (isParameter && used[parameters.size()]);
    if (!isUsed)
      unused.set(argument.getArgNumber());
    if (isParameter)
      parameters.push_back(isUsed ? getAffineSymbolExpr(count++, context)
                                  : getAffineConstantExpr(0, context));
  }
  if (unused.none())
    return;
  replaceParameters(kernel, parameters, count);
  (void)kernel.eraseArguments(unused);
  for (CallOp call : calls) {
    SmallVector<Value> operands;
    for (auto [number, operand] : llvm::enumerate(call.getArguments()))
      if (!unused[number])
        operands.push_back(operand);
    call.getArgumentsMutable().assign(operands);
  }
}

void espalier::poly::updateAccesses(
    ComputeOp compute, llvm::function_ref<void(ComputeAccess &)> edit) {
  auto update = [&](SmallVector<ComputeAccess> accesses,
                    MutableOperandRange arrays) {
    SmallVector<Value> memory;
    SmallVector<Attribute> maps;
    for (ComputeAccess &access : accesses) {
      edit(access);
      memory.push_back(access.array);
      maps.push_back(AffineMapAttr::get(access.map));
    }
    arrays.assign(memory);
    return ArrayAttr::get(compute.getContext(), maps);
  };
  compute.setReadMapsAttr(
      update(compute.getReadAccesses(), compute.getReadsMutable()));
  compute.setWriteMapsAttr(
      update(compute.getWriteAccesses(), compute.getWritesMutable()));
}
