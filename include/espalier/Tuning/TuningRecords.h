//===- TuningRecords.h - What was tried, and what came of it ----*- C++ -*-===//

#ifndef ESPALIER_TUNING_TUNINGRECORDS_H
#define ESPALIER_TUNING_TUNINGRECORDS_H

#include "espalier/Measurement/Database.h"
#include "espalier/Tuning/CostModel.h"
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
  /// The script of the trial that it descends from; empty if from none.
  std::string parent;
  /// Of one call, if it was measured.
  double seconds = 0;
  /// What that is the median of, the shortest first, in seconds with blanks
  /// between them; with "; " between those of one extent that stands for what
  /// is not known and of the next.
  std::string times;
  /// The seconds that its process took; not recorded.
  double wall = 0;
  /// Otherwise, why not.
  std::string error;
  Features features;
  /// A hash of the machine code, if there was any.
  std::string code;
  /// The build that tried it; empty for this one.
  std::string compiler;

  /// The medians of `times`; empty if there are none.
  std::vector<double> getMedians() const;
};

/// What a record is about: rows of other kernels, machines and builds stay.
struct TrialKey {
  std::string task;     ///< The kernel, and how it is measured.
  std::string kernel;   ///< The kernel alone.
  std::string target;   ///< The machine.
  std::string compiler; ///< The build.
};

/// The candidates of one kernel on one machine.
struct KernelSamples {
  std::string task;
  unsigned vectorBits = 0; ///< Of the machine.
  std::vector<Sample> samples;
};

/// What was faster than the default schedule when both ran in turns.
struct Winner {
  std::string rule, script;
  /// Of one call, with the script and by default.
  double seconds = 0, original = 0;
};

/// All that is recorded of one kernel on one machine.
struct RecordedKernel {
  std::string task, target;
  /// In the order in which they were added, of all builds.
  std::vector<Trial> trials;
  std::optional<Winner> winner;
};

/// The file of all trials, each one transaction, and of what won.
class TuningRecords {
public:
  static constexpr int kVersion = 5;

  /// Opens the file `path`, which is made if it is missing. Fails, leaving the
  /// file as it is, if it is something else or damaged.
  static llvm::Expected<std::unique_ptr<TuningRecords>>
  open(llvm::StringRef path);
  /// The same for a file that has to be there.
  static llvm::Expected<std::unique_ptr<TuningRecords>>
  openToWrite(llvm::StringRef path);
  /// The same for a file that is there and only read.
  static llvm::Expected<std::unique_ptr<TuningRecords>>
  openToRead(llvm::StringRef path);

  /// Fails if the file cannot be written.
  llvm::Error add(const TrialKey &key, const Trial &trial, uint64_t seed);

  /// The trials of `key`, in the order in which they were added.
  llvm::Expected<std::vector<Trial>> find(const TrialKey &key);

  /// Those of other builds that were measured, the fastest first, at most
  /// `most`.
  llvm::Expected<std::vector<Trial>> findOfOtherBuilds(const TrialKey &key,
                                                       unsigned most);

  /// All that were measured of a task and target, the fastest first, each
  /// script once, at most `most`, of whichever build.
  llvm::Expected<std::vector<Trial>> findFastest(const TrialKey &key,
                                                 unsigned most);

  /// Adds the trials of the file `path` that this one has not, and those of its
  /// winners that are faster or new. Returns the number of new trials. Fails,
  /// leaving both files as they are, if that is no file of records, or if this
  /// one cannot be written.
  llvm::Expected<uint64_t> merge(llvm::StringRef path);

  /// Removes the trials of builds other than `compiler` unless it is empty, and
  /// of each kernel and build what is not among the `most` fastest, unless that
  /// is 0. Winners stay. Returns the number of trials that went.
  llvm::Expected<uint64_t> prune(llvm::StringRef compiler, uint64_t most);

  /// Lets `winner` take the place of the last one of this kernel and target, of
  /// whichever build; with none, the default schedule won.
  llvm::Error setWinner(const TrialKey &key,
                        const std::optional<Winner> &winner);

  /// The winners for a machine, of whichever build, by their tasks.
  llvm::Expected<llvm::StringMap<Winner>> findWinners(llvm::StringRef target);

  /// All kernels, in the order in which they were begun.
  llvm::Expected<std::vector<RecordedKernel>> findAll();

  /// What is known of the candidates of a machine, or of all if that is empty,
  /// by kernel and machine, in the order in which these were begun.
  llvm::Expected<std::vector<KernelSamples>>
  findSamples(llvm::StringRef target);

private:
  llvm::Expected<std::vector<Trial>>
  findTrials(const char *statement, llvm::ArrayRef<Database::Value> values);
  llvm::Error atOnce(llvm::function_ref<llvm::Error()> change);
  llvm::Expected<uint64_t> take(Database &from, const char *select,
                                llvm::StringRef types, const char *insert);
  static llvm::Expected<std::unique_ptr<TuningRecords>>
  make(llvm::Expected<std::unique_ptr<Database>> database);

  explicit TuningRecords(std::unique_ptr<Database> database)
      : database(std::move(database)) {}

  std::unique_ptr<Database> database;
};

} // namespace espalier::tuning

#endif // ESPALIER_TUNING_TUNINGRECORDS_H
