//===- Driver.h - Runs passes as mlir-opt does ------------------*- C++ -*-===//

#ifndef ESPALIER_TOOLS_ESPALIEROPT_DRIVER_H
#define ESPALIER_TOOLS_ESPALIEROPT_DRIVER_H

#include "mlir/IR/DialectRegistry.h"

namespace espalier {

/// Does what `mlir::MlirOptMain` does with the command line, and two things
/// more: `--compile-to=<stage>` compiles, after the passes that were asked for;
/// and passes that were asked for and did not run are an error.
llvm::LogicalResult runDriver(int argc, char **argv,
                              mlir::DialectRegistry &registry);

} // namespace espalier

#endif // ESPALIER_TOOLS_ESPALIEROPT_DRIVER_H
