//===- Partition.h - Part of the classes, and its file ----------*- C++ -*-===//

#ifndef ESPALIER_LIB_SUBSTITUTION_GENERATOR_PARTITION_H
#define ESPALIER_LIB_SUBSTITUTION_GENERATOR_PARTITION_H

#include "Classes.h"
#include "llvm/ADT/Twine.h"

namespace espalier::substitution::generator {

using ErrorFunction = llvm::function_ref<void(const llvm::Twine &)>;

/// The classes of some of the fingerprints.
struct Partition {
  EnumerationCounts enumeration;
  ClassCounts counts;
  std::vector<ClassCodes> classes;
};

/// Appends a partition to a string, and takes it off the front again. Fails if
/// there is none.
void write(const Partition &partition, std::string &bytes);
bool read(llvm::StringRef &bytes, Partition &partition);

/// Writes a partition to a file such that it is there whole or not at all.
/// `key` says what was enumerated.
bool save(const Partition &partition, llvm::StringRef path, llvm::StringRef key,
          ErrorFunction error);
enum class Loaded { Yes, NoFile, Failed };
/// Reads a file that `save` wrote, which must be intact and of the same key.
Loaded load(Partition &partition, llvm::StringRef path, llvm::StringRef key,
            ErrorFunction error);

} // namespace espalier::substitution::generator

#endif // ESPALIER_LIB_SUBSTITUTION_GENERATOR_PARTITION_H
