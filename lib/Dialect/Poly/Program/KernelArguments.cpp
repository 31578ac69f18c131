//===- KernelArguments.cpp - What a kernel is called with -----------------===//

#include "KernelArguments.h"
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

namespace {
/// From the parameters of before, and the values that are read, to symbols.
struct Symbols {
  SmallVector<AffineExpr> parameters;
  unsigned numParameters; ///< That there are now.

  /// For an expression that has `numSymbols`.
  SmallVector<AffineExpr> get(unsigned numSymbols, MLIRContext *context) const {
    SmallVector<AffineExpr> result(parameters);
    for (unsigned s = parameters.size(); s < numSymbols; ++s)
      result.push_back(
          getAffineSymbolExpr(s - parameters.size() + numParameters, context));
    return result;
  }
  AffineMap rewrite(AffineMap map) const {
    unsigned numData = map.getNumSymbols() - parameters.size();
    return map.replaceDimsAndSymbols({},
                                     get(map.getNumSymbols(), map.getContext()),
                                     map.getNumDims(), numParameters + numData);
  }
  IntegerSet rewrite(IntegerSet set) const {
    unsigned numData = set.getNumSymbols() - parameters.size();
    return set.replaceDimsAndSymbols({},
                                     get(set.getNumSymbols(), set.getContext()),
                                     set.getNumDims(), numParameters + numData);
  }
};
} // namespace

/// Rewrites an attribute of maps and sets over the parameters.
static Attribute rewrite(Attribute attr, const Symbols &symbols) {
  if (auto map = dyn_cast_or_null<AffineMapAttr>(attr))
    return AffineMapAttr::get(symbols.rewrite(map.getValue()));
  if (auto set = dyn_cast_or_null<IntegerSetAttr>(attr))
    return IntegerSetAttr::get(symbols.rewrite(set.getValue()));
  if (auto array = dyn_cast_or_null<ArrayAttr>(attr))
    return ArrayAttr::get(attr.getContext(),
                          llvm::map_to_vector(array, [&](Attribute element) {
                            return rewrite(element, symbols);
                          }));
  return attr;
}

static void rewriteParameters(KernelOp kernel, const Symbols &symbols) {
  for (ComputeOp compute : kernel.getComputes()) {
    compute.setDomainAttr(
        cast<ArrayAttr>(rewrite(compute.getDomainAttr(), symbols)));
    if (compute.getWhereAttr())
      compute.setWhereAttr(
          cast<IntegerSetAttr>(rewrite(compute.getWhereAttr(), symbols)));
    compute.setReadMapsAttr(
        cast<ArrayAttr>(rewrite(compute.getReadMapsAttr(), symbols)));
    compute.setWriteMapsAttr(
        cast<ArrayAttr>(rewrite(compute.getWriteMapsAttr(), symbols)));
  }
  for (ArrayOp array : kernel.getArrays())
    if (array.getExtentsAttr())
      array.setExtentsAttr(
          cast<AffineMapAttr>(rewrite(array.getExtentsAttr(), symbols)));
  for (StringRef name :
       {KernelOp::getShapeAttrName(), KernelOp::getBoundAttrName()})
    for (BlockArgument argument : kernel.getArguments())
      if (Attribute attr = kernel.getArgAttr(argument.getArgNumber(), name))
        kernel.setArgAttr(argument.getArgNumber(), name,
                          rewrite(attr, symbols));
  StringRef name = KernelOp::getAssumptionsAttrName();
  if (Attribute attr = kernel->getAttr(name))
    kernel->setAttr(name, rewrite(attr, symbols));
}

BlockArgument espalier::poly::addArgument(KernelCall call, Value value) {
  auto [op, kernel] = call;
  unsigned number = kernel.getNumArguments();
  unsigned numParameters = kernel.getNumParameters();
  if (isa<IndexType>(value.getType())) {
    Symbols symbols{{}, numParameters + 1};
    for (unsigned s = 0; s < numParameters; ++s)
      symbols.parameters.push_back(getAffineSymbolExpr(s, kernel.getContext()));
    rewriteParameters(kernel, symbols);
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
  for (Operation &op : kernel.getBody().getOps())
    visit(op.getAttrDictionary());
  return used;
}

void espalier::poly::eraseUnusedArguments(KernelCall call) {
  auto [op, kernel] = call;
  unsigned numParameters = kernel.getNumParameters();
  llvm::BitVector used = findUsedSymbols(kernel, numParameters);
  llvm::BitVector unused(kernel.getNumArguments());
  MLIRContext *context = kernel.getContext();
  Symbols symbols{{}, 0};
  for (BlockArgument argument : kernel.getArguments()) {
    bool isParameter = isa<IndexType>(argument.getType());
    bool isUsed = !argument.use_empty() ||
                  (isParameter && used[symbols.parameters.size()]);
    if (!isUsed)
      unused.set(argument.getArgNumber());
    if (isParameter)
      symbols.parameters.push_back(
          isUsed ? getAffineSymbolExpr(symbols.numParameters++, context)
                 : getAffineConstantExpr(0, context));
  }
  if (unused.none())
    return;
  rewriteParameters(kernel, symbols);
  (void)kernel.eraseArguments(unused);
  SmallVector<Value> operands;
  for (auto [number, operand] : llvm::enumerate(op.getArguments()))
    if (!unused[number])
      operands.push_back(operand);
  op.getArgumentsMutable().assign(operands);
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
