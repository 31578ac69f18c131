//===- FuseKernels.h - Steps that make one kernel of several ----*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_FUSEKERNELS_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_FUSEKERNELS_H

#include "StatementList.h"

namespace espalier::graphtopoly {

/// Pools a contraction's result in its kernel, row by row of the windows.
void fuseWindows(StatementList &program,
                 llvm::SmallVectorImpl<FusionGroup> &fusionGroups);

/// Computes two products with rows between them in one kernel, block by block.
void fuseProducts(StatementList &program,
                  llvm::SmallVectorImpl<FusionGroup> &fusionGroups);

/// Rearranges the operands of a batch of contractions right before these.
void fuseCopies(StatementList &program,
                llvm::SmallVectorImpl<FusionGroup> &fusionGroups);

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_FUSEKERNELS_H
