//===- Driver.cpp - Runs passes as mlir-opt does --------------------------===//

#include "Driver.h"
#include "espalier/Pipeline/Pipeline.h"
#include "espalier/Support/PipelineCoverage.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

namespace cl = llvm::cl;

llvm::LogicalResult espalier::runDriver(int argc, char **argv,
                                        DialectRegistry &registry) {
  static const std::string help =
      "Compile the module, after other passes, to a stage: " + listStages();
  static cl::opt<std::string> compileTo("compile-to", cl::value_desc("stage"),
                                        cl::desc(help));
  auto [input, output] = registerAndParseCLIOptions(
      argc, argv, "Espalier pass driver\n", registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return MlirOptMain(argc, argv, input, output, registry);

  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> source = openInputFile(input, &error);
  std::unique_ptr<llvm::ToolOutputFile> result =
      source ? openOutputFile(output, &error) : nullptr;
  if (result) {
    PipelineCoverage coverage;
    MlirOptMainConfig extended = config;
    extended.setPassPipelineSetupFn([&](PassManager &pm) {
      coverage.watch(pm);
      if (failed(config.setupPassPipeline(pm)))
        return failure();
      if (compileTo.getNumOccurrences())
        pm.addPass(createCompilePass(compileTo));
      return success();
    });
    if (failed(
            MlirOptMain(result->os(), std::move(source), registry, extended)))
      return failure();
    error = coverage.findFault();
  }
  if (!error.empty()) {
    llvm::errs() << "error: " << error << "\n";
    return failure();
  }
  result->keep();
  return success();
}
