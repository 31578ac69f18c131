//===- AnnotateAliases.cpp - States that buffers do not overlap -----------===//

#include "espalier/Conversion/ProgramToLLVM/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMInterfaces.h"
#include "llvm/ADT/MapVector.h"

namespace espalier {
#define GEN_PASS_DEF_PROGRAMANNOTATEALIASESPASS
#include "espalier/Conversion/ProgramToLLVM/Passes.h.inc"
} // namespace espalier

using namespace mlir;

/// Returns what was inserted into `container` at `position`, or null.
static Value findInserted(Value container, ArrayRef<int64_t> position) {
  while (auto insert = container.getDefiningOp<LLVM::InsertValueOp>()) {
    if (insert.getPosition() == position)
      return insert.getValue();
    container = insert.getContainer();
  }
  return nullptr;
}

/// Returns the argument or allocation that `pointer` points into, or null.
static Value findBuffer(Value pointer, LLVM::LLVMFuncOp function) {
  while (pointer) {
    if (auto argument = dyn_cast<BlockArgument>(pointer))
      return argument.getOwner() == &function.getBody().front() ? pointer
                                                                : Value();
    Operation *op = pointer.getDefiningOp();
    if (auto address = dyn_cast<LLVM::GEPOp>(op)) {
      pointer = address.getBase();
    } else if (auto extract = dyn_cast<LLVM::ExtractValueOp>(op)) {
      pointer = findInserted(extract.getContainer(), extract.getPosition());
    } else if (auto call = dyn_cast<LLVM::CallOp>(op)) {
      bool allocates = call.getCallee() == StringRef("malloc") ||
                       call.getCallee() == StringRef("aligned_alloc");
      return allocates ? pointer : Value();
    } else {
      return isa<LLVM::AllocaOp>(op) ? pointer : Value();
    }
  }
  return nullptr;
}

namespace {
struct ProgramAnnotateAliasesPass
    : espalier::impl::ProgramAnnotateAliasesPassBase<
          ProgramAnnotateAliasesPass> {
  void runOnOperation() override {
    LLVM::LLVMFuncOp function = getOperation();
    if (function.isExternal())
      return markAllAnalysesPreserved();
    llvm::MapVector<Value, SmallVector<LLVM::AliasAnalysisOpInterface>>
        accesses;
    function.walk([&](LLVM::AliasAnalysisOpInterface op) {
      SmallVector<Value> pointers = op.getAccessedOperands();
      if (pointers.size() != 1)
        return;
      if (Value buffer = findBuffer(pointers.front(), function))
        accesses[buffer].push_back(op);
    });
    if (accesses.size() < 2)
      return;

    Builder builder(&getContext());
    StringAttr name = function.getSymNameAttr();
    auto domain =
        LLVM::AliasScopeDomainAttr::get(&getContext(), name, StringAttr());
    SmallVector<Attribute> scopes;
    for (size_t i = 0; i < accesses.size(); ++i)
      scopes.push_back(LLVM::AliasScopeAttr::get(
          &getContext(),
          builder.getStringAttr(name.getValue() + "#" + Twine(i)), domain,
          StringAttr()));
    for (auto [index, entry] : llvm::enumerate(accesses)) {
      SmallVector<Attribute> others(scopes);
      others.erase(others.begin() + index);
      ArrayAttr own = builder.getArrayAttr(scopes[index]);
      ArrayAttr rest = builder.getArrayAttr(others);
      for (LLVM::AliasAnalysisOpInterface access : entry.second) {
        access.setAliasScopes(own);
        access.setNoAliasScopes(rest);
      }
    }
  }
};
} // namespace
