//===- TuningRecords.h - What was tried, and what came of it ----*- C++ -*-===//

#ifndef ESPALIER_TUNING_TUNINGRECORDS_H
#define ESPALIER_TUNING_TUNINGRECORDS_H

#include "espalier/Measurement/Database.h"
#include "llvm/ADT/StringMap.h"
#include <optional>
#include <vector>

namespace espalier::tuning {

/// X(enumerator, spelling): what became of a candidate.
#define ESPALIER_FOR_EACH_TRIAL_STATUS(X)                                      \
  X(Measured, "measured")                                                      \
  X(Refused, "refused") /* A command does not fit, or changes results. */      \
  X(NotCompiled, "not compiled")                                               \
  X(Failed, "failed") /* It crashed, or exceeded a limit. */                   \
  X(Wrong, "wrong")   /* It computes something else. */

enum class TrialStatus {
#define ESPALIER_TRIAL_STATUS(name, spelling) name,
  ESPALIER_FOR_EACH_TRIAL_STATUS(ESPALIER_TRIAL_STATUS)
#undef ESPALIER_TRIAL_STATUS
};

llvm::StringRef getSpelling(TrialStatus status);

/// A candidate and what became of it.
struct Trial {
  /// The rule of its sketch.
  std::string rule;
  /// A transform script for the kernel, with everything selected.
  std::string script;
  TrialStatus status = TrialStatus::Failed;
  /// Of one call, if it was measured.
  double seconds = 0;
  /// Otherwise, why not.
  std::string error;
};

/// What a record is about: rows of other kernels, machines and builds stay.
struct TrialKey {
  std::string task;     ///< The kernel, and how it is measured.
  std::string target;   ///< The machine.
  std::string compiler; ///< The build.
};

/// What was faster than the default schedule when both ran in turns.
struct Winner {
  std::string rule, script;
  /// Of one call, with the script and by default.
  double seconds = 0, original = 0;
};

/// The file of all trials, each one transaction, and of what won.
class TuningRecords {
public:
  static constexpr int kVersion = 3;

  /// Opens the file `path`, which is made if it is missing. Fails, leaving the
  /// file as it is, if it is something else or damaged.
  static llvm::Expected<std::unique_ptr<TuningRecords>>
  open(llvm::StringRef path);
  /// The same for a file that is there and only read.
  static llvm::Expected<std::unique_ptr<TuningRecords>>
  openToRead(llvm::StringRef path);

  /// Fails if the file cannot be written.
  llvm::Error add(const TrialKey &key, const Trial &trial, uint64_t seed);

  /// The trials of `key`, in the order in which they were added.
  llvm::Expected<std::vector<Trial>> find(const TrialKey &key);

  /// Lets `winner` take the place of the last one of this task and target, of
  /// whichever build; with none, the default schedule won.
  llvm::Error setWinner(const TrialKey &key,
                        const std::optional<Winner> &winner);

  /// The winners for a machine, of whichever build, by their tasks.
  llvm::Expected<llvm::StringMap<Winner>> findWinners(llvm::StringRef target);

private:
  static llvm::Expected<std::unique_ptr<TuningRecords>>
  make(llvm::Expected<std::unique_ptr<Database>> database);

  explicit TuningRecords(std::unique_ptr<Database> database)
      : database(std::move(database)) {}

  std::unique_ptr<Database> database;
};

} // namespace espalier::tuning

#endif // ESPALIER_TUNING_TUNINGRECORDS_H
