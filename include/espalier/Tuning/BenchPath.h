//===- BenchPath.h - What trying one candidate costs ------------*- C++ -*-===//

#ifndef ESPALIER_TUNING_BENCHPATH_H
#define ESPALIER_TUNING_BENCHPATH_H

#include "espalier/Tuning/Tuner.h"

namespace espalier::tuning {

/// A step on the way of a candidate, and the seconds of processor time that it
/// takes, in whichever process.
struct PathStep {
  std::string name;
  double seconds = 0;
};

/// The way of one candidate of a kernel, its default schedule's script: medians
/// of several times. `run`, which depends on the kernel, is the last step but
/// one; `exit` is the end of its process.
struct KernelPath {
  std::string name;
  std::vector<PathStep> steps;
  /// The median of all steps together but for `run`.
  double seconds = 0;
  /// Why there is no candidate, if there is none.
  std::string reason;
};

/// Tries the same candidate of each kernel of `module` `repeats` times, which
/// is at stage `graph` and stays as it is. Nothing is recorded. Fails if the
/// module cannot be compiled, or if no processes are to be had.
llvm::Expected<std::vector<KernelPath>>
benchPath(mlir::ModuleOp module, const TuneOptions &options, unsigned repeats);

} // namespace espalier::tuning

#endif // ESPALIER_TUNING_BENCHPATH_H
