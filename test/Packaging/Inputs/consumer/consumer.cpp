//===- consumer.cpp - A program that uses an installed Espalier -----------===//

#include "espalier/InitAll.h"
#include "espalier/Support/PipelineCoverage.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

// Reads a program from a file, runs a pipeline on it and prints the result.
int main(int argc, char **argv) {
  mlir::registerTransformsPasses();
  espalier::registerAllPasses();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  espalier::registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  mlir::PassManager pm(&context);
  espalier::PipelineCoverage coverage;
  coverage.watch(pm);
  if (!module || failed(mlir::parsePassPipeline(argv[2], pm)) ||
      failed(pm.run(*module)) || !coverage.findFault().empty())
    return 1;
  module->print(llvm::outs());
  return 0;
}
