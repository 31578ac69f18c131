//===- EspalierPlugin.cpp - Espalier inside a stock mlir-opt --------------===//

#include "espalier/InitAll.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Espalier", ESPALIER_VERSION,
          [](mlir::DialectRegistry *registry) {
            espalier::registerAllDialects(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Espalier", ESPALIER_VERSION,
          [] { espalier::registerAllPasses(); }};
}
