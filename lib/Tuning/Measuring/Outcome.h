//===- Outcome.h - What becomes of one candidate ----------------*- C++ -*-===//

#ifndef ESPALIER_LIB_TUNING_MEASURING_OUTCOME_H
#define ESPALIER_LIB_TUNING_MEASURING_OUTCOME_H

#include "espalier/Measurement/MeasureKernel.h"
#include "espalier/Tuning/TuningRecords.h"

namespace espalier::tuning {

/// What a child process says: a status, then a time and what was computed, or a
/// reason.
struct Outcome {
  TrialStatus status = TrialStatus::Failed;
  double seconds = 0;
  std::string times; ///< As records keep them.
  double wall = 0;   ///< Seconds that the process took.
  std::vector<MeasuredOutput> outputs;
  std::string error;
  std::string code; ///< A hash of the machine code.

  /// Multiplies all times of runs; `wall` stays.
  void scale(double factor);

  static std::string print(TrialStatus status, const llvm::Twine &text) {
    return (llvm::Twine(static_cast<unsigned>(status)) + "\n" + text).str();
  }
  static std::string print(const MeasuredProgram &measured,
                           llvm::StringRef code, bool withOutputs);
  static Outcome parse(llvm::StringRef text);
};

/// Prints times as records keep them: the shortest first, by what stands for
/// sizes that are not known.
std::string printTimes(llvm::ArrayRef<std::vector<double>> times);

/// Parses what that prints; empty if it is nothing of the kind.
std::vector<std::vector<double>> parseTimes(llvm::StringRef text);

/// Runs `evaluate`, which prints an outcome, in a child process. Fails if there
/// are no processes to be had.
llvm::Expected<Outcome> runOutcome(llvm::function_ref<std::string()> evaluate,
                                   const MeasureOptions &options);

} // namespace espalier::tuning

#endif // ESPALIER_LIB_TUNING_MEASURING_OUTCOME_H
