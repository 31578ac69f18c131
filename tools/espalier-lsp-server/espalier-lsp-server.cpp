//===- espalier-lsp-server.cpp - Language server for MLIR files -----------===//

#include "espalier/InitAll.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  espalier::registerAllDialects(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry));
}
