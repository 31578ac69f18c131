//===- Task.h - The search for one kernel -----------------------*- C++ -*-===//

#ifndef ESPALIER_LIB_TUNING_TASK_H
#define ESPALIER_LIB_TUNING_TASK_H

#include "Measuring/Measurer.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/Measurement/KernelCost.h"
#include "espalier/Tuning/Allocation.h"
#include "espalier/Tuning/BenchPath.h"
#include "espalier/Tuning/Branches.h"
#include "espalier/Tuning/Evolution.h"
#include "espalier/Tuning/Sketch.h"
#include "espalier/Tuning/Tuner.h"
#include "espalier/Tuning/TuningRecords.h"
#include "llvm/ADT/StringSet.h"
#include <set>

namespace espalier::tuning {

/// A candidate that was measured, or was refused.
struct Candidate {
  unsigned sketch = 0;
  Selection selection;
  Trial trial;
};

/// A candidate that was chosen, and how it is measured; what comes of that is
/// not yet in the trial.
struct Attempt : Candidate {
  Turn turn;
};

/// Says in `trial` what became of it.
void completeTrial(Trial &trial, Outcome outcome);

/// A kernel, its space, and what was tried of it.
class Task {
public:
  /// `context` has the dialects of kernels and scripts, and no threads: its
  /// child processes go on with it. All that the task measures, `measurer`
  /// does.
  static llvm::Expected<std::unique_ptr<Task>>
  create(const ProgramKernel &kernel, mlir::MLIRContext *context,
         const TuneOptions &options, Measurer &measurer);

  const ProgramKernel &getKernel() const { return kernel; }
  const TrialKey &getKey() const { return key; }
  /// What is wrong with the rules of the user's.
  llvm::ArrayRef<std::string> getRuleFaults() const { return ruleFaults; }
  poly::TargetAttr getTarget() const { return poly::getTarget(*module); }
  bool hasSpace() const { return !sketches.empty(); }

  /// Measures the default schedule, to which candidates are compared. Returns
  /// why that cannot be done; empty if it is. Fails where nothing can be
  /// measured.
  llvm::Expected<std::string> measureDefault();

  /// Tries the default schedule's script once. Fails if that is no candidate,
  /// or where there are no processes to be had.
  llvm::Expected<std::vector<PathStep>> tracePath() const;

  /// Tries the script of a record again, with all checks. Fails where there are
  /// no processes to be had.
  llvm::Expected<Trial> replay(const Trial &trial) const;

  /// Takes a trial that was made before.
  void recall(const Trial &trial);

  /// Lets a script of another build be tried first.
  void suggest(const Trial &trial);

  /// Whether the next trial is one that nobody has chosen yet.
  bool needsDrafts() const {
    return options.search >= Search::Drafts && numDefaults == sketches.size() &&
           numSuggested == suggested.size() && drafts.empty();
  }
  /// Chooses candidates for the next trials: many drafts, of which the estimate
  /// keeps some, and `model`, from which generations descend, few; null for
  /// none.
  void chooseDrafts(Sketch::Random &random, CostModel *model);

  /// Chooses the next candidate. Nothing if all were chosen. Several may be
  /// chosen before any is measured; until it is taken, each counts as a trial
  /// that found nothing faster.
  std::optional<Attempt> chooseNext(Sketch::Random &random);

  /// Takes a candidate that was chosen, in the order of choices, after it has
  /// been tried.
  void take(Attempt attempt);

  /// What is known of the candidates.
  std::vector<Sample> getSamples() const;

  /// Measures the best candidates and the default again in turns; `winner` is
  /// the best of them, or nothing if that is the default. Returns whether there
  /// was something to compare.
  llvm::Expected<bool> findWinner(std::optional<Winner> &winner);

  /// What that tried of several schedules by size; nothing if there was none.
  const std::optional<Trial> &getBranched() const { return branched; }

  /// How many candidates `findWinner` will run.
  unsigned countFinalRuns() const;

  unsigned getNumTrials() const { return numTrials; }
  unsigned getNumFailures() const { return numFailures; }
  /// Trials since one was the fastest, of this search.
  unsigned getNumSinceGain() const {
    unsigned numChosen = bests.size() - std::min(bests.size(), numTrials + 1ul);
    return numSinceGain - numRecalled + numChosen;
  }
  double getOriginal() const { return original; }
  double getBest() const;
  /// What counts when the next task is chosen, as long as this one stays as it
  /// is.
  TaskHistory getHistory(double slope) const {
    return {slope, bests, kernel.work.flops, kind};
  }

private:
  /// A candidate that is measured again, in turns with others.
  struct Finalist {
    Trial trial; ///< What was said before.
    std::vector<double> times;
    unsigned numWins = 0;
  };

  Task(const ProgramKernel &kernel, const TuneOptions &options,
       Measurer &measurer)
      : kernel(kernel), options(options), measurer(measurer) {}

  const MeasureOptions &getMeasure() const { return options.measure; }
  Proposal proposeAny(Sketch::Random &random) const;
  Proposal proposeDescendant(Sketch::Random &random) const;
  Proposal propose(Sketch::Random &random);
  Proposal breed(const Proposal &mother, const Proposal &father,
                 Sketch::Random &random) const;
  Draft makeDraft(Proposal proposed) const;
  bool mayBranch() const;
  mlir::OwningOpRef<mlir::ModuleOp> makeBranched() const;
  llvm::Expected<std::vector<Finalist>> chooseFinalists();
  Features describe(mlir::ModuleOp script) const;
  Job makeJob(std::string script) const;
  Job limitJob(std::string script) const;
  Trial makeTrial(mlir::ModuleOp script, llvm::StringRef rule) const;
  llvm::Expected<Trial> runScript(mlir::ModuleOp script,
                                  llvm::StringRef rule) const;
  bool isHopeless(unsigned sketch) const;
  void deriveByRule(const SketchRule &rule);
  void add(Candidate candidate);
  void addMeasured(Candidate candidate);

  ProgramKernel kernel;
  const TuneOptions &options;
  Measurer &measurer;
  unsigned number = 0; ///< Of the kernel, there.
  TrialKey key;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Where it is measured, if branches may be told apart; see `findPoints`.
  std::vector<SizePoint> points;
  std::vector<Sketch> sketches;
  std::vector<std::string> ruleFaults;
  double original = 0;
  std::string originalCode; ///< Of the default schedule.
  /// What candidates have to come near to: the seconds of the fastest one, by
  /// extent, and those of its process.
  std::vector<double> rival;
  double rivalWall = 0;
  std::string kind; ///< What its largest computation is.
  /// By default, and after each trial; what was chosen has the best so far.
  std::vector<double> bests;
  unsigned numTrials = 0, numFailures = 0, numSinceGain = 0;
  unsigned numRecalled = 0; ///< Of those since a gain, from records.
  unsigned numDefaults = 0; ///< Sketches whose default was proposed.
  /// What was fast in other builds, and how many of it was proposed.
  std::vector<Proposal> suggested;
  unsigned numSuggested = 0;
  /// Those that were measured, the fastest first.
  std::vector<Candidate> population;
  std::optional<Trial> branched;
  std::vector<unsigned> numRefused; ///< By sketch.
  llvm::StringSet<> seen;
  llvm::StringMap<unsigned> numFailed; ///< In earlier searches, by script.
  std::set<std::pair<unsigned, Selection>> tried;
  std::vector<Sample> samples;
  Features originalFeatures; ///< Of the default schedule.
  /// Those that were chosen, the first to be tried at the end.
  std::vector<Draft> drafts;
};

} // namespace espalier::tuning

#endif // ESPALIER_LIB_TUNING_TASK_H
