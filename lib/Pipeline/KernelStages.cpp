//===- KernelStages.cpp - The passes from graph to loops ------------------===//

#include "Stages.h"
#include "espalier/Conversion/Passes.h"
#include "espalier/Dialect/Graph/Transforms/Passes.h"
#include "espalier/Dialect/Poly/Analysis/Passes.h"
#include "espalier/Dialect/Poly/Program/Passes.h"
#include "espalier/Dialect/Poly/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace espalier;

void espalier::addChecksOfInput(OpPassManager &manager) {
  manager.addNestedPass<poly::KernelOp>(
      poly::createPolyVerifyAccessesPass({/*types=*/true}));
}

void espalier::buildGraphStage(OpPassManager &, const PipelineOptions &) {}

void espalier::buildStatementsStage(OpPassManager &manager,
                                    const PipelineOptions &options) {
  manager.addPass(createCanonicalizerPass());
  if (options.sparse)
    manager.addPass(graph::createGraphSparsifyPass());
  manager.addPass(createCSEPass());
  // Of other front ends; each of the two leaves the other's functions alone.
  manager.addNestedPass<func::FuncOp>(createLinalgElementwiseOpFusionPass());
  manager.addPass(createConvertLinalgToPolyPass());
  manager.addPass(createConvertGraphToPolyPass(
      {/*fold=*/true, /*entries=*/options.sparse || options.entries}));
  // Models have become kernels where they are applied.
  manager.addPass(createSymbolDCEPass());
  manager.addPass(poly::createPolyNameKernelsPass({/*merge=*/false}));
}

void espalier::buildPolyStage(OpPassManager &manager,
                              const PipelineOptions &options) {
  PolyFormKernelsPassOptions kernels;
  if (!options.winograd)
    kernels.skip = {"winograd"};
  manager.addPass(createPolyFormKernelsPass(kernels));
  manager.addPass(poly::createPolyPushUpdatesPass());
  manager.addNestedPass<poly::KernelOp>(poly::createPolyPushReductionsPass());
  manager.addPass(poly::createPolyStoreInPlacePass());
  manager.addPass(poly::createPolyCollapseDimensionsPass());
  manager.addPass(poly::createPolyNameKernelsPass());
}

void espalier::buildScheduledStage(OpPassManager &manager,
                                   const PipelineOptions &options) {
  if (options.threads && options.overlap)
    manager.addPass(poly::createPolyOverlapCallsPass());
  auto &kernels = manager.nest<poly::KernelOp>();
  kernels.addPass(poly::createPolyDefaultSchedulePass({options.fuse}));
  kernels.addPass(poly::createPolyVerifySchedulePass());
}

void espalier::buildLoopsStage(OpPassManager &manager,
                               const PipelineOptions &) {
  manager.addNestedPass<poly::KernelOp>(poly::createPolyVerifyAccessesPass());
  manager.addPass(createPolyAddMainPass());
  manager.addPass(createPolyCheckGivensPass());
  manager.addPass(createConvertPolyToLoopsPass());
  manager.addPass(createCSEPass());
  manager.addPass(createCanonicalizeOncePass());
  manager.addPass(createCSEPass());
}
