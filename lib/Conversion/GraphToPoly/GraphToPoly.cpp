//===- GraphToPoly.cpp - Kernel formation ---------------------------------===//

#include "StepProgram.h"
#include "espalier/Conversion/Passes.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace espalier {
#define GEN_PASS_DEF_CONVERTGRAPHTOPOLYPASS
#include "espalier/Conversion/Passes.h.inc"
} // namespace espalier

using namespace mlir;
using namespace espalier;
using namespace espalier::graphtopoly;

namespace {

struct ConvertGraphToPolyPass
    : espalier::impl::ConvertGraphToPolyPassBase<ConvertGraphToPolyPass> {
  using ConvertGraphToPolyPassBase::ConvertGraphToPolyPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    poly::TargetAttr target = poly::getTarget(module);
    for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
      if (!llvm::any_of(function.getFunctionType().getInputs(),
                        llvm::IsaPred<TensorType>) &&
          !llvm::any_of(function.getFunctionType().getResults(),
                        llvm::IsaPred<TensorType>))
        continue;
      FailureOr<StepProgram> program = buildStepProgram(function);
      if (failed(program))
        return signalPassFailure();
      program->vectorLanes = target.getLanes(Float32Type::get(&getContext()));
      program->vectorRegisters = target.getRegisters();
      program->cacheBytes = target.getL2();
      numFolded += foldConstants(*program, FoldedStatements::Computing);
      normalize(*program);
      inlineMaps(*program);
      numFolded += foldConstants(*program, FoldedStatements::All);
      keepRows(*program);
      assignLayouts(*program);
      separateTaps(*program);
      alignOutputs(*program);
      SmallVector<Cluster> clusters = formClusters(*program);
      separateAccumulators(*program, clusters);
      splitPhases(*program, clusters);
      fuseWindows(*program, clusters);
      if (winograd)
        numWinograd += applyWinograd(*program, clusters);
      storeInPlace(*program, clusters);
      numKernels += clusters.size();
      numStatements += program->statements.size();
      if (failed(emitKernels(*program, clusters)))
        return signalPassFailure();
    }
  }
};

} // namespace
