//===- consumer.cpp - A program that uses an installed Espalier -----------===//

#include "espalier/InitAll.h"
#include "espalier/Support/PipelineCoverage.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

int main() {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  espalier::registerAllDialects(registry);
  espalier::registerAllPasses();
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "func.func @f() { %unused = arith.constant 1 : i32 return }", &context);
  mlir::PassManager pm(&context);
  espalier::PipelineCoverage coverage;
  coverage.watch(pm);
  pm.addPass(mlir::createCanonicalizerPass());
  if (!module || failed(pm.run(*module)) || !coverage.findFault().empty())
    return 1;
  module->print(llvm::outs());
  return 0;
}
