//===- Stages.h - The passes of each stage ----------------------*- C++ -*-===//

#ifndef ESPALIER_LIB_PIPELINE_STAGES_H
#define ESPALIER_LIB_PIPELINE_STAGES_H

#include "espalier/Pipeline/Pipeline.h"

namespace espalier {

// One builder per stage; each adds the passes from the stage before.
#define ESPALIER_STAGE_BUILDER(name, spelling, summary)                        \
  void build##name##Stage(mlir::OpPassManager &manager,                        \
                          const PipelineOptions &options);
ESPALIER_FOR_EACH_STAGE(ESPALIER_STAGE_BUILDER)
#undef ESPALIER_STAGE_BUILDER

/// Adds the passes that check what somebody wrote, before all stages.
void addChecksOfInput(mlir::OpPassManager &manager);

/// Canonicalizes a stage's code in one sweep. What a change makes possible is
/// looked at again within it; a second sweep costs as much as the first, to
/// find that nothing is left.
std::unique_ptr<mlir::Pass> createCanonicalizeOncePass();

} // namespace espalier

#endif // ESPALIER_LIB_PIPELINE_STAGES_H
