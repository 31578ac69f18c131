//===- Search.h - What searches of a program begin with ---------*- C++ -*-===//

#ifndef ESPALIER_LIB_TUNING_SEARCH_H
#define ESPALIER_LIB_TUNING_SEARCH_H

#include "espalier/Measurement/KernelCost.h"
#include "espalier/Tuning/CostModel.h"
#include "espalier/Tuning/Tuner.h"
#include "mlir/IR/Diagnostics.h"

namespace espalier::tuning {

/// The kernels that `module`, which is at stage `graph`, becomes, each once,
/// whichever arguments are constants.
llvm::Expected<std::vector<ProgramKernel>>
collectTasks(mlir::ModuleOp module, const TuneOptions &options);

/// Adds the samples of one kernel to those that a model is trained on, unless
/// they are so few that the best tells not how good the others are.
void addSamples(llvm::ArrayRef<Sample> kernel, std::vector<Sample> &all);

/// A context in which candidates are made, and which child processes go on
/// with: it has no threads. What is wrong with a candidate is no diagnostic.
class SearchContext {
public:
  /// Has the dialects of the context of `module`, and what compilation needs.
  explicit SearchContext(mlir::ModuleOp module);

  mlir::MLIRContext *get() { return &context; }

private:
  mlir::MLIRContext context;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace espalier::tuning

#endif // ESPALIER_LIB_TUNING_SEARCH_H
