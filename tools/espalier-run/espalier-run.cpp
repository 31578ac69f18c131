//===- espalier-run.cpp - Compiles a module and runs it -------------------===//

#include "Run.h"
#include "espalier/InitAll.h"
#include "espalier/Support/WorkerPool.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "llvm/Support/InitLLVM.h"

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  espalier::run::RunOptions options =
      espalier::run::parseCommandLine(argc, argv);
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  espalier::registerAllDialects(registry);
  espalier::registerCompilation(registry);
  espalier::WorkerPool workers;
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.setThreadPool(workers);
  return espalier::run::run(context, options);
}
