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

} // namespace espalier

#endif // ESPALIER_LIB_PIPELINE_STAGES_H
