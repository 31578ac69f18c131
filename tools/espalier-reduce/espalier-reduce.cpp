//===- espalier-reduce.cpp - Shrinks an input that shows a fault ----------===//

#include "espalier/InitAll.h"
#include "espalier/Support/WorkerPool.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  espalier::registerAllPasses();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  espalier::registerAllDialects(registry);
  espalier::WorkerPool workers;
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.setThreadPool(workers);
  return failed(mlir::mlirReduceMain(argc, argv, context));
}
