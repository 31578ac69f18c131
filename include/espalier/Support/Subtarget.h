//===- Subtarget.h - What LLVM knows of a processor -------------*- C++ -*-===//

#ifndef ESPALIER_SUPPORT_SUBTARGET_H
#define ESPALIER_SUPPORT_SUBTARGET_H

#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace espalier {

/// Makes LLVM's target of this kind of machine known. May be called any number
/// of times.
void initializeTargets();

/// The kind of machine that code is made for, which is that of this process.
llvm::Triple getTriple();

/// LLVM's target of `triple`. Fails if there is none.
llvm::Expected<const llvm::Target *> lookupTarget(const llvm::Triple &triple);

/// Describes the processor `cpu` with `features` added. LLVM takes names that
/// it does not know with no more than a message on standard error.
llvm::Expected<std::unique_ptr<llvm::MCSubtargetInfo>>
createSubtarget(llvm::StringRef cpu, llvm::StringRef features);

} // namespace espalier

#endif // ESPALIER_SUPPORT_SUBTARGET_H
