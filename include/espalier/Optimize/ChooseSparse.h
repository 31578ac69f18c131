//===- ChooseSparse.h - Which weights are sparse ----------------*- C++ -*-===//

#ifndef ESPALIER_OPTIMIZE_CHOOSESPARSE_H
#define ESPALIER_OPTIMIZE_CHOOSESPARSE_H

#include "espalier/Optimize/OptimizeProgram.h"

namespace espalier {

/// Stores the constants of `module`, which is at stage `graph`, without their
/// zeros where that makes the operator that reads them faster: each one is
/// compiled both ways, by itself, and run in turns. Times are those of the
/// table where it has them; after the seconds of `options.cost`, operators that
/// it has not stay dense. Returns one object for each operator that was looked
/// at: its node, density, both times and the choice. On failure an error was
/// reported.
mlir::FailureOr<llvm::json::Array> chooseSparse(mlir::ModuleOp module,
                                                const OptimizeOptions &options);

} // namespace espalier

#endif // ESPALIER_OPTIMIZE_CHOOSESPARSE_H
