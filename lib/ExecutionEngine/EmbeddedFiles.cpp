//===- EmbeddedFiles.cpp - Files that travel inside the compiler ----------===//

#include "Codegen.h"

// NOLINTBEGIN: assembly
#define ESPALIER_EMBED(symbol, path)                                           \
  __asm__(".section .rodata\n"                                                 \
          ".balign 16\n" #symbol ":\n"                                         \
          ".incbin \"" path "\"\n" #symbol "_end:\n"                           \
          ".byte 0\n"                                                          \
          ".previous\n");                                                      \
  extern "C" __attribute__((visibility("hidden"))) const char symbol[];        \
  extern "C" __attribute__((visibility("hidden"))) const char symbol##_end[];
// NOLINTEND

ESPALIER_EMBED(espalierRuntimeArchive, ESPALIER_RUNTIME_ARCHIVE)
ESPALIER_EMBED(espalierRuntimeHeader, ESPALIER_RUNTIME_HEADER)

llvm::StringRef espalier::getEmbeddedRuntimeArchive() {
  return {
      espalierRuntimeArchive,
      static_cast<size_t>(espalierRuntimeArchive_end - espalierRuntimeArchive)};
}

llvm::StringRef espalier::getEmbeddedRuntimeHeader() {
  return {espalierRuntimeHeader, static_cast<size_t>(espalierRuntimeHeader_end -
                                                     espalierRuntimeHeader)};
}
