//===- OptimizeProgram.h - Faster programs by substitutions -----*- C++ -*-===//

#ifndef ESPALIER_OPTIMIZE_OPTIMIZEPROGRAM_H
#define ESPALIER_OPTIMIZE_OPTIMIZEPROGRAM_H

#include "espalier/Measurement/ComparePrograms.h"
#include "espalier/Measurement/KernelCost.h"
#include "espalier/Substitution/Search/Search.h"
#include "llvm/Support/JSON.h"

namespace espalier {

/// X(enumerator, spelling): how to look for substitutions.
#define ESPALIER_FOR_EACH_OPTIMIZATION(X)                                      \
  X(None, "none")                                                              \
  X(EGraph, "egraph")                                                          \
  X(Ilp, "ilp")                                                                \
  X(Backtracking, "backtracking")

enum class Optimization {
#define ESPALIER_OPTIMIZATION_ENUMERATOR(name, spelling) name,
  ESPALIER_FOR_EACH_OPTIMIZATION(ESPALIER_OPTIMIZATION_ENUMERATOR)
#undef ESPALIER_OPTIMIZATION_ENUMERATOR
};

/// Returns the optimization with this spelling, or nothing.
std::optional<Optimization> parseOptimization(llvm::StringRef text);

/// Returns all spellings, separated by commas, for messages.
std::string listOptimizations();

struct OptimizeOptions {
  Optimization optimization = Optimization::None;
  /// What `optimization` does not decide of the search.
  substitution::SearchOptions search;
  KernelCostOptions cost;
  CompareOptions compare;
  /// Whether the report has the graph before and after, and the proofs of the
  /// substitutions that were made.
  bool explains = false;
};

/// What was done, for people and programs that read JSON: the substitutions and
/// how often each was made, the predicted and the measured times, and why which
/// program was chosen.
using OptimizeReport = llvm::json::Object;

/// Makes `module`, which is at stage `graph`, faster as far as costs predict,
/// by the substitutions that come with the compiler. On failure an error was
/// reported.
mlir::FailureOr<OptimizeReport> optimizeModule(mlir::ModuleOp module,
                                               const OptimizeOptions &options);

/// As `compileCached`, but optimizes first, and compares both programs by
/// running them: the result is the optimized one only if it is faster and its
/// outputs are the same but for rounding. What was done is in the program's
/// information. A module at a later stage is compiled as it is.
mlir::FailureOr<CompiledProgram>
compileOptimized(mlir::ModuleOp module, const CodegenOptions &codegen,
                 const CacheOptions &cache, const OptimizeOptions &options,
                 CacheResult *result = nullptr);

} // namespace espalier

#endif // ESPALIER_OPTIMIZE_OPTIMIZEPROGRAM_H
