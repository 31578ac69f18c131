//===- Split.cpp - Splits a program into modules per kernel ---------------===//

#include "Codegen.h"
#include "espalier/Conversion/ProgramToLLVM/EntryPoints.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace espalier;

/// Kernels below this number of operations share a module, since an empty one
/// costs some milliseconds, too.
static constexpr size_t kOperationsPerModule = 1000;

namespace {
/// Functions that are compiled together.
struct Part {
  SmallVector<LLVM::LLVMFuncOp> functions;
  size_t numOperations = 0;

  StringRef getName() const {
    return LLVM::LLVMFuncOp(functions.front()).getSymName();
  }
};
} // namespace

static size_t countOperations(Operation *op) {
  size_t count = 0;
  op->walk([&](Operation *) { ++count; });
  return count;
}

/// Whether the entry points should be able to inline `function`.
static bool callsFunctions(LLVM::LLVMFuncOp function,
                           const SymbolTable &symbols) {
  WalkResult result = function.walk([&](LLVM::CallOp call) {
    auto callee = call.getCallee()
                      ? symbols.lookup<LLVM::LLVMFuncOp>(*call.getCallee())
                      : LLVM::LLVMFuncOp();
    return callee && !callee.isExternal() ? WalkResult::interrupt()
                                          : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// Makes the symbols of `module` visible to its other parts, and to nobody else
/// except where they form the C ABI.
static void exportSymbols(ModuleOp module, StringRef program) {
  for (Operation &op : *module.getBody()) {
    if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op)) {
      bool isEntryPoint = function.getName() == getPlanSymbol(program) ||
                          function.getName() == getRunSymbol(program) ||
                          function.getName() == getCheckSymbol(program);
      if (!function.isExternal() && !isEntryPoint)
        function.setVisibility_(LLVM::Visibility::Hidden);
      function.setLinkage(LLVM::Linkage::External);
    } else if (auto global = dyn_cast<LLVM::GlobalOp>(op)) {
      global.setVisibility_(LLVM::Visibility::Hidden);
      global.setLinkage(LLVM::Linkage::External);
    }
  }
}

/// Adds to `part` what its functions refer to: declarations of functions and
/// variables, copies of everything else.
static void addReferences(ModuleOp part, const SymbolTable &symbols) {
  OpBuilder builder = OpBuilder::atBlockBegin(part.getBody());
  llvm::SmallDenseSet<StringAttr> present;
  SmallVector<Operation *> pending;
  for (Operation &op : *part.getBody()) {
    present.insert(SymbolTable::getSymbolName(&op));
    pending.push_back(&op);
  }
  while (!pending.empty()) {
    auto uses = SymbolTable::getSymbolUses(pending.pop_back_val());
    if (!uses)
      continue;
    for (const SymbolTable::SymbolUse &use : *uses) {
      StringAttr name = use.getSymbolRef().getRootReference();
      Operation *definition = symbols.lookup(name);
      if (!definition || !present.insert(name).second)
        continue;
      if (auto function = dyn_cast<LLVM::LLVMFuncOp>(definition)) {
        auto declaration =
            cast<LLVM::LLVMFuncOp>(builder.cloneWithoutRegions(*function));
        declaration.setLinkage(LLVM::Linkage::External);
      } else if (auto global = dyn_cast<LLVM::GlobalOp>(definition)) {
        auto declaration =
            cast<LLVM::GlobalOp>(builder.cloneWithoutRegions(*global));
        declaration.removeValueAttr();
      } else {
        pending.push_back(builder.clone(*definition));
      }
    }
  }
}

std::vector<OwningOpRef<ModuleOp>> espalier::splitByKernel(ModuleOp module,
                                                           StringRef program) {
  SymbolTable symbols(module);
  exportSymbols(module, program);
  Part entry, open;
  std::vector<Part> parts;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (function.isExternal())
      continue;
    bool isKernel = function.getVisibility_() == LLVM::Visibility::Hidden &&
                    !callsFunctions(function, symbols);
    Part &part = isKernel ? open : entry;
    part.functions.push_back(function);
    part.numOperations += countOperations(function);
    if (open.numOperations >= kOperationsPerModule)
      parts.push_back(std::exchange(open, {}));
  }
  if (!open.functions.empty())
    parts.push_back(open);
  parts.push_back(entry);
  std::sort(parts.begin(), parts.end(), [](const Part &a, const Part &b) {
    // The name settles ties, so that the order is the same every time.
    return std::pair(b.numOperations, a.getName()) <
           std::pair(a.numOperations, b.getName());
  });

  std::vector<OwningOpRef<ModuleOp>> result;
  for (Part &part : parts) {
    OwningOpRef<ModuleOp> target = ModuleOp::create(module.getLoc());
    // Variables are defined beside the entry points.
    if (part.functions == entry.functions)
      for (auto global :
           llvm::make_early_inc_range(module.getOps<LLVM::GlobalOp>()))
        target->push_back(global->clone());
    for (LLVM::LLVMFuncOp function : part.functions)
      target->push_back(function->clone());
    addReferences(*target, symbols);
    result.push_back(std::move(target));
  }
  return result;
}
