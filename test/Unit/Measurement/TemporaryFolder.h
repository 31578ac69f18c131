//===- TemporaryFolder.h - A folder for one test ----------------*- C++ -*-===//

#ifndef ESPALIER_TEST_UNIT_MEASUREMENT_TEMPORARYFOLDER_H
#define ESPALIER_TEST_UNIT_MEASUREMENT_TEMPORARYFOLDER_H

#include "llvm/Support/FileSystem.h"
#include <string>

namespace espalier {

/// A folder that is removed at the end.
class TemporaryFolder {
public:
  TemporaryFolder() {
    llvm::sys::fs::createUniqueDirectory("espalier-optimize", path);
  }
  ~TemporaryFolder() { llvm::sys::fs::remove_directories(path); }

  /// The path of a file in it.
  std::string get(llvm::StringRef name) const {
    return (path.str() + "/" + name).str();
  }

private:
  llvm::SmallString<128> path;
};

} // namespace espalier

#endif // ESPALIER_TEST_UNIT_MEASUREMENT_TEMPORARYFOLDER_H
