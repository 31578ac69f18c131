//===- Tuner.h - Searches for faster schedules ------------------*- C++ -*-===//
//
// Each kernel of a program is a task (Ansor, section 6). A candidate is a
// sketch with everything selected; it is applied with the checks of any script,
// compiled and run in a child process, and its results are compared with those
// of the default schedule.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_TUNING_TUNER_H
#define ESPALIER_TUNING_TUNER_H

#include "espalier/Measurement/MeasureKernel.h"
#include "mlir/IR/BuiltinOps.h"

namespace espalier::tuning {

/// How far the search has come.
struct TuneProgress {
  unsigned trials = 0, failures = 0;
  double elapsed = 0; ///< Seconds.
  /// The seconds of all calls of kernels, by default and with the best scripts.
  double original = 0, best = 0;
};

struct TuneOptions {
  MeasureOptions measure;
  /// Candidates of all kernels together.
  unsigned trials = 64;
  /// Seconds after which no candidate is begun; 0 for no limit.
  double seconds = 0;
  uint64_t seed = 0;
  /// The file of all trials, which is read first; empty for none.
  std::string records;
  /// Called after each trial. May be null.
  std::function<void(const TuneProgress &)> progress;
};

/// What was found for one kernel of the program.
struct TunedKernel {
  std::string name;
  unsigned numCalls = 0;
  /// Seconds of one call.
  double original = 0, best = 0;
  unsigned trials = 0, failures = 0;
  /// The rule of the best script; empty if that is the default schedule.
  std::string rule;
  /// Why it was not tuned, if it was not.
  std::string reason;
};

struct TuneResult {
  /// A transform script for the kernels of the program that are faster with it.
  std::string script;
  std::vector<TunedKernel> kernels;
  /// Whether the options' `isCancelled` ended the search; then the script is
  /// empty, and the records have what was tried.
  bool isInterrupted = false;
};

/// Looks for better schedules of the kernels of `module`, which is at stage
/// `graph` and stays as it is. Fails if it cannot be compiled, or if records
/// cannot be read or written; trials that were made are in the records then.
llvm::Expected<TuneResult> tuneModule(mlir::ModuleOp module,
                                      const TuneOptions &options);

} // namespace espalier::tuning

#endif // ESPALIER_TUNING_TUNER_H
