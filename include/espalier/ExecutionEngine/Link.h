//===- Link.h - Libraries and objects of compiled programs ------*- C++ -*-===//

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

/// Writes `program` to `path` and its C header beside it: as a relocatable
/// object if `path` ends in `.o`, as a shared library if it ends in `.so`;
/// fails for other names. Either contains the runtime, of which several objects
/// in one link share one copy, and needs the C library, libm and, if the
/// program uses threads, libomp.so.5. Both files appear complete or not at all.
llvm::Error linkProgram(const CompiledProgram &program, llvm::StringRef path,
                        const LinkOptions &options = {});

} // namespace espalier

#endif // ESPALIER_EXECUTIONENGINE_LINK_H
