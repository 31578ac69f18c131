//===- Link.h - Shared libraries of compiled programs -----------*- C++ -*-===//

#ifndef ESPALIER_EXECUTIONENGINE_LINK_H
#define ESPALIER_EXECUTIONENGINE_LINK_H

#include "espalier/ExecutionEngine/CompiledProgram.h"

namespace espalier {

/// Where the tools are.
struct LinkOptions {
  /// The only folder to look in for a C compiler, which is used for linking. If
  /// empty, that is the folder of LLVM's tools, then where the system looks for
  /// programs.
  std::string toolsDir;
  /// The OpenMP runtime. If empty, libomp.so.5 is looked for.
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
