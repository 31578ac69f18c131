//===- Pipeline.h - The stages of a compilation -----------------*- C++ -*-===//
//
// The one list of stages and, per stage, of the passes that reach it from the
// stage before. Every stage ends in a check of its property.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_PIPELINE_PIPELINE_H
#define ESPALIER_PIPELINE_PIPELINE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include <optional>

namespace espalier {

/// X(enumerator, spelling, summary), in the order of compilation.
#define ESPALIER_FOR_EACH_STAGE(X)                                             \
  X(Graph, "graph", "operators on tensors, or linalg on tensors")              \
  X(Statements, "statements", "a kernel for each statement of an operator")    \
  X(Poly, "poly", "kernels of computations over integer domains")              \
  X(Scheduled, "scheduled", "every kernel has a schedule tree")                \
  X(Loops, "loops", "kernels are functions of scf, vector and memref")         \
  X(Program, "program", "buffers in one arena, constants in one blob")         \
  X(LLVM, "llvm", "functions of the LLVM dialect with the C ABI")

/// The stages of a compilation.
enum class Stage {
#define ESPALIER_STAGE_ENUMERATOR(name, spelling, summary) name,
  ESPALIER_FOR_EACH_STAGE(ESPALIER_STAGE_ENUMERATOR)
#undef ESPALIER_STAGE_ENUMERATOR
};

/// What the pipeline needs to know beside the module.
struct PipelineOptions {
#define PIPELINE_OPTION(name, value, summary) bool name = value;
#include "espalier-c/PipelineOptions.def"
};

/// Adds the passes that lead to a stage from the one before it.
using StageBuilder = void (*)(mlir::OpPassManager &, const PipelineOptions &);

/// One row of the table of stages.
struct StageInfo {
  Stage stage;
  llvm::StringLiteral name;
  llvm::StringLiteral summary;
  StageBuilder build;
};

/// Returns the table of all stages, in the order of compilation.
llvm::ArrayRef<StageInfo> getStages();

/// Returns the row of `stage`.
const StageInfo &getStageInfo(Stage stage);

/// Returns the stage with the given spelling, or nothing.
std::optional<Stage> parseStage(llvm::StringRef name);

/// Returns the spellings of all stages, separated by commas, for messages.
std::string listStages();

/// Returns the stage that `module` is at: its attribute `espalier.stage`, which
/// the pipeline sets, or what the dialects in it say. Reports an error if the
/// attribute is no stage.
mlir::FailureOr<Stage> detectStage(mlir::ModuleOp module);

/// Makes the pass that a stage ends with: it sets the attribute.
std::unique_ptr<mlir::Pass> createMarkStagePass(Stage stage);

/// Adds to `manager`, which is anchored on a module, the passes that lead from
/// `from` to `to`: none if `from` is not before `to`.
void buildPipeline(mlir::OpPassManager &manager, Stage from, Stage to,
                   const PipelineOptions &options = {});

/// Runs `module`, at whichever stage it is, to stage `to`. On failure an error
/// was reported. It is verified after each stage; where a pass is to blame for
/// an invalid module, `espalier-opt --compile-to`, which verifies after each
/// pass, says which one.
mlir::LogicalResult compileToStage(mlir::ModuleOp module, Stage to,
                                   const PipelineOptions &options = {});

/// Makes a pass that runs the passes from the stage of the module at hand to
/// the stage called `to`.
std::unique_ptr<mlir::Pass>
createCompilePass(llvm::StringRef to, const PipelineOptions &options = {});

/// Registers `espalier-compile`, as which `createCompilePass` is known to pass
/// pipelines, and one pipeline `espalier-<stage>` for each step of the table.
void registerPipelines();

} // namespace espalier

#endif // ESPALIER_PIPELINE_PIPELINE_H
