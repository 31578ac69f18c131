//===- ChildProcess.h - A function in a process of its own ------*- C++ -*-===//

#ifndef ESPALIER_SUPPORT_CHILDPROCESS_H
#define ESPALIER_SUPPORT_CHILDPROCESS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <chrono>
#include <memory>
#include <string>

namespace espalier {

/// There is no child process to be had, whatever it should do.
class NoChildProcess
    : public llvm::ErrorInfo<NoChildProcess, llvm::StringError> {
public:
  static char ID;
  explicit NoChildProcess(const llvm::Twine &message)
      : ErrorInfo(message, llvm::inconvertibleErrorCode()) {}
};

/// Runs `function` in a child process and returns its result. Fails if the
/// child takes longer than `timeLimit` or `memoryLimit` bytes more than this
/// process, or if it crashes, or if there is no memory for the result; with
/// `NoChildProcess` if it cannot be started. What it prints is lost.
///
/// With `mustStop`, which is asked every few milliseconds, the child is ended
/// as soon as that says so, and not by the Ctrl-C of a terminal, which both
/// processes get: what the child was about is then known to be nobody's fault.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
runInChild(llvm::function_ref<std::string()> function,
           std::chrono::milliseconds timeLimit, uint64_t memoryLimit,
           llvm::function_ref<bool()> mustStop = nullptr);

} // namespace espalier

#endif // ESPALIER_SUPPORT_CHILDPROCESS_H
