//===- Measurer.h - Who measures candidates ---------------------*- C++ -*-===//

#ifndef ESPALIER_LIB_TUNING_MEASURING_MEASURER_H
#define ESPALIER_LIB_TUNING_MEASURING_MEASURER_H

#include "Outcome.h"
#include "espalier/Tuning/Tuner.h"

namespace espalier::tuning {

/// One candidate to measure.
struct Job {
  /// The text of a transform script for the kernel; empty for the default
  /// schedule.
  std::string script;
  /// See `MeasureOptions`.
  std::vector<double> best;
  std::chrono::milliseconds timeLimit{0};
};

/// Candidates of one kernel that are measured one after the other on one
/// machine, so that noise is the same for all.
struct Turn {
  unsigned kernel = 0;
  std::vector<Job> jobs;
};

/// Measures candidates, here or elsewhere.
class Measurer {
public:
  /// Takes what became of all jobs of the turn with a number. What it fails
  /// with ends the measuring.
  using Done = llvm::function_ref<llvm::Error(size_t turn,
                                              std::vector<Outcome> outcomes)>;

  virtual ~Measurer() = default;

  /// Adds a kernel, whose first job has to be its default schedule, and returns
  /// its number. `payload` is the module of `kernel`; see `KernelBench`.
  virtual unsigned addKernel(mlir::ModuleOp payload, const KernelModule &kernel,
                             const MeasureOptions &measure) = 0;

  /// How many candidates should be chosen before any of them is measured.
  virtual unsigned getBatch() const { return 1; }

  /// Measures `turns`, and tells `done` of each as soon as it is over, in any
  /// order. Of those that an interrupt ends, nobody is told. Fails where
  /// nothing can be measured any more, which says nothing of candidates.
  virtual llvm::Error measure(llvm::ArrayRef<Turn> turns, Done done) = 0;

  /// Who could not measure, and why.
  virtual std::vector<std::string> getFaults() const { return {}; }

  /// What becomes of one job; it has failed if it was interrupted.
  llvm::Expected<Outcome> measureOne(unsigned kernel, Job job);
};

/// Measures in child processes of this one, one after the other, or asks the
/// options for simulated times.
std::unique_ptr<Measurer> makeLocalMeasurer(const TuneOptions &options);

/// Lets the ranks of the options' messenger measure, which call
/// `measureForRanks`. Those of another kind of machine, or of other options,
/// are refused. `context` has the dialects of targets. Fails if the machine of
/// this rank cannot be described.
llvm::Expected<std::unique_ptr<Measurer>>
makeRankMeasurer(const TuneOptions &options, mlir::MLIRContext *context);

} // namespace espalier::tuning

#endif // ESPALIER_LIB_TUNING_MEASURING_MEASURER_H
