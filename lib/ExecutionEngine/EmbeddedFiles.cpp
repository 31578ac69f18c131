//===- EmbeddedFiles.cpp - Files that travel inside the compiler ----------===//

#include "Codegen.h"
#include "espalier/Support/Embed.h"

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
