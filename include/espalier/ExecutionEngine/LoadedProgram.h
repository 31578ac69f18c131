//===- LoadedProgram.h - A compiled program in this process -----*- C++ -*-===//

#ifndef ESPALIER_EXECUTIONENGINE_LOADEDPROGRAM_H
#define ESPALIER_EXECUTIONENGINE_LOADEDPROGRAM_H

#include "espalier-c/Runtime.h"
#include "espalier/ExecutionEngine/CompiledProgram.h"

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace espalier {

/// A program whose code is linked into this process. Owns code and constants.
class LoadedProgram {
public:
  /// Links `program` into this process. `ompLibrary` is the OpenMP runtime for
  /// a program with threads; if it is empty, libomp.so.5 is looked for. Fails
  /// if a symbol is missing. Whether this machine can execute the code is
  /// checked when a context is made.
  static llvm::Expected<std::unique_ptr<LoadedProgram>>
  create(CompiledProgram program, llvm::StringRef ompLibrary = "");

  ~LoadedProgram();
  LoadedProgram(const LoadedProgram &) = delete;
  LoadedProgram &operator=(const LoadedProgram &) = delete;

  /// The description from which contexts are made. Lives as long as this.
  const espalier_program *getProgram() const { return description; }

  /// What was linked.
  const CompiledProgram &getCompiled() const { return compiled; }

private:
  explicit LoadedProgram(CompiledProgram program);

  CompiledProgram compiled;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  const espalier_program *description = nullptr;
};

/// Returns the paths and names under which the OpenMP runtime is looked for.
std::vector<std::string> getOpenMPCandidates();

} // namespace espalier

#endif // ESPALIER_EXECUTIONENGINE_LOADEDPROGRAM_H
