//===- Task.h - The search for one kernel -----------------------*- C++ -*-===//

#ifndef ESPALIER_LIB_TUNING_TASK_H
#define ESPALIER_LIB_TUNING_TASK_H

#include "espalier/Measurement/KernelCost.h"
#include "espalier/Tuning/Sketch.h"
#include "espalier/Tuning/TuningRecords.h"
#include "llvm/ADT/StringSet.h"

namespace espalier::tuning {

/// A kernel, its space, and what was tried of it.
class Task {
public:
  /// `context` has the dialects of kernels and scripts, and no threads: its
  /// child processes go on with it.
  static llvm::Expected<std::unique_ptr<Task>>
  create(const ProgramKernel &kernel, mlir::MLIRContext *context,
         const MeasureOptions &options);

  const ProgramKernel &getKernel() const { return kernel; }
  const TrialKey &getKey() const { return key; }
  bool hasSpace() const { return !sketches.empty(); }

  /// Measures the default schedule, to which candidates are compared.
  llvm::Error measureDefault();

  /// Takes a trial that was made before.
  void recall(const Trial &trial);

  /// Makes the next trial. Nothing if all candidates were tried.
  std::optional<Trial> tryNext(Sketch::Random &random);

  /// Measures the best candidates and the default again in turns; `winner` is
  /// the best of them, or nothing if that is the default. Returns whether there
  /// was something to compare.
  bool findWinner(std::optional<Winner> &winner);

  unsigned getNumTrials() const { return numTrials; }
  unsigned getNumFailures() const { return numFailures; }
  double getOriginal() const { return original; }
  double getBest() const;
  /// Seconds of the program that another trial is likely to save: the gradient
  /// of Ansor, section 6.2, by what earlier ones saved.
  double estimateGain() const;

private:
  /// A candidate that was measured, or was refused.
  struct Candidate {
    unsigned sketch = 0;
    Selection selection;
    Trial trial;
  };

  Task(const ProgramKernel &kernel, const MeasureOptions &options)
      : kernel(kernel), options(options) {}

  std::pair<unsigned, Selection> propose(Sketch::Random &random);
  Trial run(const Sketch &sketch, const Selection &selection) const;
  bool isHopeless(unsigned sketch) const;
  void add(Candidate candidate);
  std::string evaluate(mlir::ModuleOp script,
                       llvm::ArrayRef<MeasuredOutput> expected,
                       bool returnsOutputs) const;

  ProgramKernel kernel;
  const MeasureOptions &options;
  TrialKey key;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<Sketch> sketches;
  std::vector<MeasuredOutput> expected;
  double original = 0;
  unsigned numTrials = 0, numFailures = 0, numSinceGain = 0;
  unsigned numDefaults = 0; ///< Sketches whose default was proposed.
  /// Those that were measured, the fastest first.
  std::vector<Candidate> population;
  std::vector<unsigned> numRefused; ///< By sketch.
  llvm::StringSet<> seen;
};

} // namespace espalier::tuning

#endif // ESPALIER_LIB_TUNING_TASK_H
