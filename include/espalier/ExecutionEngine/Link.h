//===- Link.h - Shared libraries of compiled programs -----------*- C++ -*-===//

#ifndef ESPALIER_EXECUTIONENGINE_LINK_H
#define ESPALIER_EXECUTIONENGINE_LINK_H

#include "espalier/ExecutionEngine/CompiledProgram.h"

namespace espalier {

/// Where the tools are. Empty paths stand for looking in the folder of LLVM's
/// tools, then where the system looks for programs and libraries.
struct LinkOptions {
  /// A C compiler, which is only used for linking.
  std::string compiler;
  /// The OpenMP runtime.
  std::string ompLibrary;
};

/// Writes `program` as a shared library to `path`, which should end in `.so`,
/// and its C header beside it. The library contains the runtime and needs the C
/// library, libm and, if it uses threads, libomp.so.5. Both files appear
/// complete or not at all.
llvm::Error linkSharedLibrary(const CompiledProgram &program,
                              llvm::StringRef path,
                              const LinkOptions &options = {});

} // namespace espalier

#endif // ESPALIER_EXECUTIONENGINE_LINK_H
