//===- RankMessages.h - What ranks tell each other --------------*- C++ -*-===//
//
// Rank 0 sends a kernel to a rank, which measures its default schedule, and
// then jobs of it, one at a time; each is answered by an outcome. Before that,
// the rank introduces itself, and it says all the time that it is alive. Texts
// in JSON, since each is small beside what it costs to measure.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_TUNING_MEASURING_RANKMESSAGES_H
#define ESPALIER_LIB_TUNING_MEASURING_RANKMESSAGES_H

#include "Measurer.h"
#include "llvm/Support/JSON.h"
#include <variant>

namespace espalier::tuning {

/// The machine of a rank, and how it measures.
struct Introduction {
  std::string host;
  std::string machine;  ///< In MLIR's text form.
  std::string target;   ///< The same of the one that code is made for.
  std::string settings; ///< A hash of the build and of all options.

  /// Fails if the machine cannot be described, in the dialects of `context`.
  static llvm::Expected<Introduction> make(mlir::MLIRContext *context,
                                           const CodegenOptions &options);
};

struct Alive {};

/// The rank measures no more.
struct Fault {
  std::string reason;
};

/// A kernel with its number on rank 0, and how it is measured.
struct KernelToMeasure {
  unsigned number = 0;
  KernelModule module;
  /// But for how code is made, which is the rank's own choice.
  MeasureOptions measure;
};

/// One job of the kernel with a number.
struct JobOfKernel {
  unsigned kernel = 0;
  Job job;
};

using RankMessage = std::variant<Introduction, Alive, Fault, Outcome,
                                 KernelToMeasure, JobOfKernel>;

std::string printMessage(const Introduction &introduction);
std::string printMessage(const Alive &alive);
std::string printMessage(const Fault &fault);
std::string printMessage(const Outcome &outcome);
std::string printMessage(const KernelToMeasure &kernel);
std::string printMessage(const JobOfKernel &job);

/// Fails with what is wrong if `bytes` is none of these.
llvm::Expected<RankMessage> parseMessage(llvm::StringRef bytes);

} // namespace espalier::tuning

#endif // ESPALIER_LIB_TUNING_MEASURING_RANKMESSAGES_H
