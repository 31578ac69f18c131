//===- NameKernels.cpp - What kernels are called --------------------------===//

#include "KernelArguments.h"
#include "espalier/Dialect/Poly/IR/Origin.h"
#include "espalier/Dialect/Poly/IR/Poly.h"
#include "espalier/Dialect/Poly/Program/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/xxhash.h"

namespace espalier::poly {
#define GEN_PASS_DEF_POLYNAMEKERNELSPASS
#include "espalier/Dialect/Poly/Program/Passes.h.inc"
} // namespace espalier::poly

using namespace mlir;
using namespace espalier::poly;

/// Operators that a name lists.
static constexpr size_t kMaxOperators = 4;

namespace {
/// Kernels by what they do, whatever their names: layers of a network repeat.
struct KernelInfo : llvm::DenseMapInfo<KernelOp> {
  static unsigned getHashValue(KernelOp kernel) {
    llvm::hash_code hash = hash_value(kernel.getFunctionType());
    kernel.getBody().walk([&](Operation *op) {
      hash = llvm::hash_combine(hash,
                                OperationEquivalence::computeHash(
                                    op, OperationEquivalence::ignoreHashValue,
                                    OperationEquivalence::ignoreHashValue,
                                    OperationEquivalence::IgnoreLocations));
    });
    return hash;
  }
  static bool isEqual(KernelOp lhs, KernelOp rhs) {
    if (lhs == rhs)
      return true;
    for (KernelOp special : {getEmptyKey(), getTombstoneKey()})
      if (lhs == special || rhs == special)
        return false;
    return lhs.getFunctionType() == rhs.getFunctionType() &&
           lhs->getDiscardableAttrDictionary() ==
               rhs->getDiscardableAttrDictionary() &&
           lhs.getArgAttrsAttr() == rhs.getArgAttrsAttr() &&
           OperationEquivalence::isRegionEquivalentTo(
               &lhs.getBody(), &rhs.getBody(),
               OperationEquivalence::IgnoreLocations);
  }
};
} // namespace

/// Puts the constants of a block to its start in the order of their uses:
/// folding leaves them in an order that tells what was folded when.
static void orderConstants(Block &block) {
  llvm::SetVector<Operation *> constants;
  block.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (Operation *constant = operand.getDefiningOp();
          constant && constant->getBlock() == &block &&
          constant->hasTrait<OpTrait::ConstantLike>())
        constants.insert(constant);
  });
  for (Operation *constant : llvm::reverse(constants))
    constant->moveBefore(&block, block.begin());
}

/// Lists the operators that a kernel is of; empty if nothing says that.
static std::string listOperators(KernelOp kernel) {
  SmallVector<StringRef> operators = getOperators(kernel);
  if (operators.size() > kMaxOperators)
    operators.truncate(kMaxOperators);
  return llvm::join(operators, "_");
}

/// A hash of the kernel's text under a name that all have.
static std::string hashText(KernelOp kernel) {
  kernel.setSymName("kernel");
  std::string text;
  llvm::raw_string_ostream os(text);
  kernel->print(os, OpPrintingFlags().useLocalScope());
  return llvm::utohexstr(uint32_t(llvm::xxh3_64bits(text)),
                         /*LowerCase=*/true, /*Width=*/8);
}

namespace {
struct PolyNameKernelsPass
    : espalier::poly::impl::PolyNameKernelsPassBase<PolyNameKernelsPass> {
  using PolyNameKernelsPassBase::PolyNameKernelsPassBase;

  void runOnOperation() override {
    llvm::StringSet<> names;
    SmallVector<std::pair<KernelOp, std::string>> unnamed;
    for (Operation &op : *getOperation().getBody()) {
      auto kernel = dyn_cast<KernelOp>(op);
      std::string operators =
          kernel && kernel.isPrivate() ? listOperators(kernel) : "";
      if (!operators.empty())
        unnamed.push_back({kernel, operators});
      else if (auto symbol = dyn_cast<SymbolOpInterface>(op))
        names.insert(symbol.getName());
    }
    llvm::StringMap<SmallVector<CallOp>> calls;
    getOperation().walk(
        [&](CallOp call) { calls[call.getCallee()].push_back(call); });
    llvm::StringMap<StringAttr> nameOf; // By the name of before.
    llvm::DenseSet<KernelOp, KernelInfo> kernels;
    for (auto &[kernel, operators] : unnamed) {
      kernel.walk(
          [](ComputeOp compute) { orderConstants(compute.getBody().front()); });
      if (merge)
        eraseUnusedArguments(kernel, calls.lookup(kernel.getSymName()));
      StringAttr &name = nameOf[kernel.getSymName()];
      auto [first, isNew] = kernels.insert(kernel);
      if (!isNew && merge) {
        name = (*first).getSymNameAttr();
        kernel.erase();
        ++numMerged;
        continue;
      }
      std::string stem = operators + "_" + hashText(kernel), unique = stem;
      for (unsigned number = 1; !names.insert(unique).second; ++number)
        unique = stem + "_" + std::to_string(number);
      kernel.setSymName(unique);
      name = kernel.getSymNameAttr();
    }
    for (auto &[before, own] : calls)
      if (StringAttr name = nameOf.lookup(before))
        for (CallOp call : own)
          call.setCallee(name);
  }
};
} // namespace
