//===- OutputFile.h - Files that appear complete or not at all --*- C++ -*-===//

#ifndef ESPALIER_SUPPORT_OUTPUTFILE_H
#define ESPALIER_SUPPORT_OUTPUTFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace espalier {

/// A file that has no name until it is published: nothing of it stays when the
/// process ends before, even by a signal that cannot be caught.
class OutputFile {
public:
  /// Makes an empty file in `folder`, or in memory where that file system has
  /// no files without names. `mode` is what the process's mask is applied to.
  static llvm::Expected<OutputFile> create(llvm::StringRef folder,
                                           unsigned mode = 0666);
  OutputFile(OutputFile &&other) : descriptor(other.descriptor) {
    other.descriptor = -1;
  }
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile();

  /// Returns a path by which this process and its children open the file.
  std::string getPath() const;

  /// Appends what `print` prints. Fails, without a path in the message, if that
  /// is not stored.
  llvm::Error
  write(llvm::function_ref<void(llvm::raw_ostream &stream)> print) const;

  /// Gives the file the name `path`, in place of a file that has it.
  llvm::Error publish(llvm::StringRef path) const;

private:
  explicit OutputFile(int descriptor) : descriptor(descriptor) {}

  int descriptor;
};

/// Writes what `print` prints to the file `path`, which appears complete or not
/// at all. What is no ordinary file, such as a terminal, is written directly.
llvm::Error
writeFile(llvm::StringRef path,
          llvm::function_ref<void(llvm::raw_ostream &stream)> print);

} // namespace espalier

#endif // ESPALIER_SUPPORT_OUTPUTFILE_H
