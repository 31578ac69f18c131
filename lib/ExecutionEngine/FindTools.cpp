//===- FindTools.cpp - Finds compilers, libraries and ourselves -----------===//

#include "Codegen.h"
#include "espalier/ExecutionEngine/LoadedProgram.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <link.h>

using namespace espalier;

llvm::Expected<std::string> espalier::findCompiler(llvm::StringRef toolsDir) {
  static constexpr llvm::StringLiteral kNames[] = {"clang-22", "clang", "gcc",
                                                   "cc"};
  llvm::StringRef folder =
      toolsDir.empty() ? ESPALIER_LLVM_TOOLS_DIR : toolsDir;
  for (llvm::StringRef name : kNames) {
    if (auto found = llvm::sys::findProgramByName(name, {folder}))
      return *found;
    if (!toolsDir.empty())
      continue;
    if (auto found = llvm::sys::findProgramByName(name))
      return *found;
  }
  return llvm::createStringError(
      "expects a C compiler to link with, but found none of " +
      llvm::join(llvm::ArrayRef(kNames), ", ") + " in " + folder +
      (toolsDir.empty() ? " and on the PATH; install clang-22" : ""));
}

std::vector<std::string> espalier::getOpenMPCandidates() {
  return {ESPALIER_LLVM_LIBRARY_DIR "/libomp.so.5", "libomp.so.5",
          "/usr/lib/x86_64-linux-gnu/libomp.so.5",
          "/usr/lib/aarch64-linux-gnu/libomp.so.5"};
}

namespace {
/// The object file whose code is looked for, and its build ID.
struct OwnObject {
  uintptr_t address;
  std::string buildId;
};
} // namespace

/// Reads the build ID among the notes of `info` if it holds the address looked
/// for.
static int visitObject(dl_phdr_info *info, size_t, void *data) {
  auto &own = *static_cast<OwnObject *>(data);
  bool holdsAddress = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto &segment = info->dlpi_phdr[i];
    uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    holdsAddress |= segment.p_type == PT_LOAD && own.address >= begin &&
                    own.address < begin + segment.p_memsz;
  }
  if (!holdsAddress)
    return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto &segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE)
      continue;
    auto *position =
        reinterpret_cast<const char *>(info->dlpi_addr + segment.p_vaddr);
    const char *end = position + segment.p_memsz;
    while (position + sizeof(ElfW(Nhdr)) <= end) {
      auto *note = reinterpret_cast<const ElfW(Nhdr) *>(position);
      const char *name = position + sizeof(*note);
      const char *value = name + ((note->n_namesz + 3) & ~3u);
      if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
          llvm::StringRef(name, 3) == "GNU")
        own.buildId = llvm::toHex(llvm::StringRef(value, note->n_descsz));
      position = value + ((note->n_descsz + 3) & ~3u);
    }
  }
  return 1;
}

std::string espalier::getCompilerIdentity() {
  static const std::string identity = [] {
    OwnObject own{reinterpret_cast<uintptr_t>(&visitObject), ""};
    dl_iterate_phdr(visitObject, &own);
    return std::string(LLVM_VERSION_STRING) + "-" + own.buildId;
  }();
  return identity;
}
