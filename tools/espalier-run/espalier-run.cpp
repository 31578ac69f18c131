//===- espalier-run.cpp - Compiles a module and runs it -------------------===//

#include "Run.h"
#include "espalier/InitAll.h"
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
  mlir::MLIRContext context(registry);
  return espalier::run::run(context, options);
}
