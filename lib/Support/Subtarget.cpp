//===- Subtarget.cpp - What LLVM knows of a processor ---------------------===//

#include "espalier/Support/Subtarget.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include <mutex>

using namespace espalier;

void espalier::initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
  });
}

llvm::Triple espalier::getTriple() {
  return llvm::Triple(llvm::sys::getDefaultTargetTriple());
}

llvm::Expected<const llvm::Target *>
espalier::lookupTarget(const llvm::Triple &triple) {
  initializeTargets();
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return llvm::createStringError(error);
  return target;
}

llvm::Expected<std::unique_ptr<llvm::MCSubtargetInfo>>
espalier::createSubtarget(llvm::StringRef cpu, llvm::StringRef features) {
  llvm::Triple triple = getTriple();
  llvm::Expected<const llvm::Target *> target = lookupTarget(triple);
  if (!target)
    return target.takeError();
  return std::unique_ptr<llvm::MCSubtargetInfo>(
      (*target)->createMCSubtargetInfo(triple, cpu, features));
}
