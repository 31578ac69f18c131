//===- CompiledProgram.h - Machine code and constants -----------*- C++ -*-===//

#ifndef ESPALIER_EXECUTIONENGINE_COMPILEDPROGRAM_H
#define ESPALIER_EXECUTIONENGINE_COMPILEDPROGRAM_H

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>
#include <vector>

namespace espalier {

/// What is said of a compiled program beside its code.
struct ProgramInfo {
  /// The program's name, part of its symbols.
  std::string name;
  /// The CPU and the differences to it that the code is for.
  std::string cpu;
  std::string features;
  /// Whether the code calls the OpenMP runtime.
  bool threads = false;
  /// Number of kernels, and of seconds that their compilation took.
  uint64_t numKernels = 0;
  double compileSeconds = 0;
  /// The text of the C header with the typed entry point.
  std::string header;
  /// What optimization of the graph did, as JSON; empty if there was none.
  std::string optimization;
};

/// Relocatable objects that together form a program, and its constants. The
/// bytes may lie in a mapped file. Copies share them.
class CompiledProgram {
public:
  using Buffer = std::shared_ptr<llvm::MemoryBuffer>;

  CompiledProgram(ProgramInfo info, std::vector<Buffer> objects,
                  Buffer constants)
      : info(std::move(info)), objects(std::move(objects)),
        constants(std::move(constants)) {}

  const ProgramInfo &getInfo() const { return info; }

  /// The relocatable objects, without constants.
  llvm::ArrayRef<Buffer> getObjects() const { return objects; }

  /// The blob of constants, which starts at a multiple of 64 bytes.
  llvm::MemoryBufferRef getConstants() const {
    return constants->getMemBufferRef();
  }

  /// Returns the same program with `text` about its optimization.
  CompiledProgram withOptimization(std::string text) const;

  /// Writes the program to the file `path`, which appears complete or not at
  /// all. `key` says what it is the program of.
  llvm::Error save(llvm::StringRef path, llvm::StringRef key) const;

  /// Reads what `save` wrote with the same key, by mapping the file. Every part
  /// is compared with its checksum, so that a damaged file is an error; one
  /// that somebody made with the right checksums is trusted as code is.
  static llvm::Expected<CompiledProgram> load(llvm::StringRef path,
                                              llvm::StringRef key);

private:
  ProgramInfo info;
  std::vector<Buffer> objects;
  Buffer constants;
  /// The mapped file that the above point into, if any.
  Buffer file;
};

} // namespace espalier

#endif // ESPALIER_EXECUTIONENGINE_COMPILEDPROGRAM_H
