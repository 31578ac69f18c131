//===- ChildProcess.h - A function in a process of its own ------*- C++ -*-===//

#ifndef ESPALIER_SUPPORT_CHILDPROCESS_H
#define ESPALIER_SUPPORT_CHILDPROCESS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <chrono>
#include <string>

namespace espalier {

/// Runs `function` in a child process and returns its result. Fails if the
/// child takes longer than `timeLimit` or `memoryLimit` bytes more than this
/// process, or if it crashes. What it prints is lost.
llvm::Expected<std::string>
runInChild(llvm::function_ref<std::string()> function,
           std::chrono::milliseconds timeLimit, uint64_t memoryLimit);

} // namespace espalier

#endif // ESPALIER_SUPPORT_CHILDPROCESS_H
