//===- Tuner.h - Searches for faster schedules ------------------*- C++ -*-===//
//
// Each kernel of the programs is a task (Ansor, section 6). A candidate is a
// sketch with everything selected; it is applied with the checks of any script,
// compiled and run in a child process, and its results are compared with those
// of the default schedule.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_TUNING_TUNER_H
#define ESPALIER_TUNING_TUNER_H

#include "espalier/Measurement/MeasureKernel.h"
#include "espalier/Tuning/Objective.h"
#include "espalier/Tuning/TuningRecords.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>

namespace espalier::tuning {

class Messenger;

/// How far the search has come.
struct TuneProgress {
  unsigned trials = 0, failures = 0;
  double elapsed = 0; ///< Seconds.
  /// The seconds of all calls of kernels, by default and with the best scripts;
  /// of several models, as `combineSeconds` makes one number of them.
  double original = 0, best = 0;
};

/// X(enumerator, spelling): how candidates are chosen, each with what the ones
/// before it have.
#define ESPALIER_FOR_EACH_SEARCH(X)                                            \
  X(Random, "random")       /* Any. */                                         \
  X(Evolution, "evolution") /* Descendants of the fastest. */                  \
  X(Drafts, "drafts")       /* Of many, those that an estimate ranks first. */ \
  X(Model, "model")         /* Of these, those that trees do. */

enum class Search {
#define ESPALIER_SEARCH(name, spelling) name,
  ESPALIER_FOR_EACH_SEARCH(ESPALIER_SEARCH)
#undef ESPALIER_SEARCH
};

/// Nothing if there is no such search.
std::optional<Search> parseSearch(llvm::StringRef spelling);

/// A rule of the user's that derives sketches.
struct SketchRule {
  std::string name;
  /// Gets the texts of a module that is one kernel, without a schedule, and of
  /// the script of its default schedule, which is empty if that is the order of
  /// the program. Returns scripts whose choices, if there are any, have lists
  /// of options. Fails with what is wrong, which is reported; the search goes
  /// on without.
  std::function<llvm::Expected<std::vector<std::string>>(
      llvm::StringRef kernel, llvm::StringRef script)>
      derive;
};

/// A model that is searched for, maybe with others.
struct ModelToTune {
  /// At stage `graph`; stays as it is.
  mlir::ModuleOp module;
  /// How much its time counts.
  double weight = 1;
  /// The seconds of all its calls of kernels that are good enough; 0 for no
  /// such target. The search ends once all models have a target and reach it.
  double target = 0;
};

struct TuneOptions {
  /// What constants take is that of each model.
  MeasureOptions measure;
  Objective objective = Objective::Sum;
  Search search = Search::Model;
  /// XGBoost's shared library; without it, trees rank that were trained before,
  /// or the estimate alone.
  std::string modelLibrary;
  /// Whether trees that this project ships with rank as long as none are
  /// trained here.
  bool usesShipped = true;
  /// Beside those of this library.
  std::vector<SketchRule> rules;
  /// Whether convolutions are computed in other ways, too, and statements fused
  /// and split, where that is faster; kernels are searched after that.
  bool choosesAlgorithms = true;
  /// Candidates of all kernels of all models together.
  unsigned trials = 64;
  /// Seconds after which no candidate is begun, choices included; 0 for no
  /// limit.
  double seconds = 0;
  /// Ends the search of a kernel after so many trials that found nothing
  /// faster; 0 for never.
  unsigned patience = 0;
  uint64_t seed = 0;
  /// The file of all trials, which is read first; empty for none.
  std::string records;
  /// Of several processes, of which this is rank 0: the others, which call
  /// `measureForRanks`, measure all candidates. Null to measure here.
  Messenger *messenger = nullptr;
  /// A rank that says nothing for so long is lost; each says something several
  /// times a second, also while it measures.
  std::chrono::milliseconds silence{30000};
  /// Called after each trial. May be null.
  std::function<void(const TuneProgress &)> progress;
  /// For tests: the seconds of a script, instead of a run. May be null.
  std::function<double(llvm::StringRef script)> simulate;
  /// For tests: called in the process of a candidate before it runs, with its
  /// script and with what it has to compute. May be null.
  std::function<void(llvm::StringRef script,
                     llvm::ArrayRef<MeasuredOutput> expected)>
      interfere;
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

/// A statement for which something else was chosen than by default.
struct TunedStatement {
  /// What the program calls its kernel at stage `statements`.
  std::string name;
  /// The command, as `algorithm`, and what it was tried with.
  std::string command, option;
  /// Seconds of all kernels of the program, before and with it.
  double original = 0, seconds = 0;
  /// The script that chooses it; empty if it is not faster.
  std::string script;
};

/// What was found for one model.
struct TunedModel {
  /// A transform script for the kernels of the program that are faster with it.
  std::string script;
  std::vector<TunedKernel> kernels;
  /// Choices before kernels are formed that were compared.
  std::vector<TunedStatement> statements;
};

struct TuneResult {
  std::vector<TunedModel> models;
  /// Why there was no model of costs; empty if there was or none was wanted.
  std::string modelFault;
  /// Whether trees that were trained before ranked in its place.
  bool isRankedByShipped = false;
  /// What is wrong with rules of the user's, by rule and kernel.
  std::vector<std::string> ruleFaults;
  /// Which ranks could not measure, or were lost, and why.
  std::vector<std::string> rankFaults;
  /// Whether the options' `isCancelled` ended the search; then scripts are
  /// empty, and the records have what was tried.
  bool isInterrupted = false;
};

/// How well costs are predicted of the candidates of a kernel.
struct JudgedKernel {
  std::string task;
  size_t numCandidates = 0;
  /// Rank correlations with what was measured: of the model that was trained on
  /// all other kernels, and of the estimate.
  double model = 0, estimate = 0;
  /// The same of the trees that this project ships with for the machine; 0
  /// without any.
  double shipped = 0;
  /// By candidate: its speed, of that of the fastest, and what the model says.
  std::vector<double> measured, predicted;
};

/// Judges the model of costs by the file `records`: kernel by kernel, each of
/// which the model never saw. Kernels with few candidates are left out.
llvm::Expected<std::vector<JudgedKernel>>
judgeModel(llvm::StringRef records, llvm::StringRef modelLibrary);

/// Trains the model of costs by all kernels of the file `records`, and returns
/// what it has learned as text, which `TrainedTrees` reads. Fails where there
/// are few candidates.
llvm::Expected<std::string> trainTrees(llvm::StringRef records,
                                       llvm::StringRef modelLibrary);

/// A record that was tried again.
struct ReplayedTrial {
  std::string kernel;
  /// What the record says; `original.compiler` is empty if that is this build.
  Trial original;
  Trial now;
};

/// Tries again, of each kernel of `module`, which is at stage `graph` and stays
/// as it is, the `most` fastest scripts that the options' file of records has
/// of any build, with all checks; the file stays as it is. Fails if the module
/// cannot be compiled, the file cannot be read, or no processes are to be had.
llvm::Expected<std::vector<ReplayedTrial>>
replayRecords(mlir::ModuleOp module, const TuneOptions &options, unsigned most);

/// Looks for better schedules of the kernels of `models`, of which those that
/// are measured alike are one task. Fails if there is no model, if one cannot
/// be compiled, if a weight is not above 0, if the objective needs targets and
/// they are not there or the other way round, or if records cannot be read or
/// written; trials that were made are in the records then.
llvm::Expected<TuneResult> tuneModels(llvm::ArrayRef<ModelToTune> models,
                                      const TuneOptions &options);

} // namespace espalier::tuning

#endif // ESPALIER_TUNING_TUNER_H
