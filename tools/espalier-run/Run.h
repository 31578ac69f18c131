//===- Run.h - Compiles, runs and stores one program ------------*- C++ -*-===//

#ifndef ESPALIER_TOOLS_ESPALIERRUN_RUN_H
#define ESPALIER_TOOLS_ESPALIERRUN_RUN_H

#include "espalier/ExecutionEngine/Compile.h"
#include "espalier/ExecutionEngine/Link.h"
#include "mlir/IR/MLIRContext.h"

namespace espalier::run {

/// What the command line asks for.
struct RunOptions {
  std::string inputFile;
  std::string outputFile;
  CacheOptions cache;
  std::vector<std::string> inputs;
  /// 0 for OpenMP's default.
  int numThreads = 0;
  /// Timed repetitions after the first run.
  unsigned repeat = 0;
  bool printOutputs = true;
  CodegenOptions codegen;
  LinkOptions link;
};

/// Reads the command line. Prints the help, or an error, and ends the process
/// where that is all there is to do.
RunOptions parseCommandLine(int argc, char **argv);

/// Does what `options` ask and returns the exit code of the process.
int run(mlir::MLIRContext &context, const RunOptions &options);

} // namespace espalier::run

#endif // ESPALIER_TOOLS_ESPALIERRUN_RUN_H
