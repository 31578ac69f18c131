//===- LoopTags.h - Loops with names ----------------------------*- C++ -*-===//

#ifndef ESPALIER_LIB_DIALECT_POLY_ANALYSIS_LOOPTAGS_H
#define ESPALIER_LIB_DIALECT_POLY_ANALYSIS_LOOPTAGS_H

#include "espalier/Dialect/Poly/Analysis/Model.h"

namespace espalier::poly {

/// Scans the schedule of a kernel, like `scanKernel`; the tags of loops from
/// bands with names are arrays of their kinds and names.
llvm::Expected<polyhedral::Ast> scanWithNames(KernelOp kernel,
                                              const KernelModel &model);

/// The name of a loop with such a tag, and its kind if it is not sequential.
std::pair<std::string, std::string> describeLoop(mlir::Attribute tag);

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_ANALYSIS_LOOPTAGS_H
