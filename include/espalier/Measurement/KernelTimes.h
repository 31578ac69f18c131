//===- KernelTimes.h - The table of measured kernels ------------*- C++ -*-===//

#ifndef ESPALIER_MEASUREMENT_KERNELTIMES_H
#define ESPALIER_MEASUREMENT_KERNELTIMES_H

#include "espalier/Measurement/Database.h"
#include <optional>

namespace espalier {

/// What was found out about a kernel.
struct KernelTime {
  /// The median of the measured times; nothing if measuring failed.
  std::optional<double> seconds;
  /// Why measuring failed.
  std::string error;
};

/// A file with the times of kernels, which several processes may use at once.
/// Each record is one transaction: a process that ends in between loses none.
/// Rows of other machines and of other versions of the compiler stay, unread.
class KernelTimes {
public:
  /// The version of the table that is read and written.
  static constexpr int kVersion = 1;

  /// Opens the file `path`, which is made if it is missing, for the kernels of
  /// the compiler `compiler`. Fails, leaving the file as it is, if that is no
  /// table of this version or is damaged.
  static llvm::Expected<std::unique_ptr<KernelTimes>>
  open(llvm::StringRef path, llvm::StringRef compiler);

  /// Returns the record of the kernel called `key`, if there is one. Fails if
  /// the file cannot be read.
  llvm::Expected<std::optional<KernelTime>> find(llvm::StringRef key);

  /// Adds a record, in place of an earlier one. `label` is for readers of the
  /// table. Fails if the file cannot be written.
  llvm::Error store(llvm::StringRef key, const KernelTime &time,
                    llvm::StringRef label);

private:
  KernelTimes(std::unique_ptr<Database> database, std::string compiler)
      : database(std::move(database)), compiler(std::move(compiler)) {}

  std::unique_ptr<Database> database;
  std::string compiler;
};

} // namespace espalier

#endif // ESPALIER_MEASUREMENT_KERNELTIMES_H
