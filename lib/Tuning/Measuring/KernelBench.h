//===- KernelBench.h - A kernel that is measured here -----------*- C++ -*-===//

#ifndef ESPALIER_LIB_TUNING_MEASURING_KERNELBENCH_H
#define ESPALIER_LIB_TUNING_MEASURING_KERNELBENCH_H

#include "Measurer.h"

namespace espalier::tuning {

/// A kernel that candidates are tried on, on this machine, each in a child
/// process.
class KernelBench {
public:
  /// `payload` is the module of `kernel`, in a context without threads; it
  /// outlives the bench, and only child processes change it. Of `options`, all
  /// but how to measure counts.
  KernelBench(mlir::ModuleOp payload, const KernelModule &kernel,
              const MeasureOptions &measure, const TuneOptions &options)
      : payload(payload), kernel(kernel), measure(measure), options(options) {}

  /// Tries a candidate. The first time that it is the default schedule, what
  /// that computes is kept, and all others are compared with it; it fails if
  /// there is nothing to compare. Fails where there are no processes to be had.
  llvm::Expected<Outcome> run(const Job &job);

  /// Applies `script`, unless it is empty, compiles and runs, all in this
  /// process, which is a child. Prints the outcome.
  std::string evaluate(llvm::StringRef script, bool returnsOutputs,
                       MeasureOptions measure) const;

private:
  mlir::ModuleOp payload;
  KernelModule kernel;
  MeasureOptions measure;
  const TuneOptions &options;
  std::vector<MeasuredOutput> expected;
};

} // namespace espalier::tuning

#endif // ESPALIER_LIB_TUNING_MEASURING_KERNELBENCH_H
