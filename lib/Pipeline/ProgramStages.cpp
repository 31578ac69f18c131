//===- ProgramStages.cpp - The passes from loops to LLVM ------------------===//

#include "Stages.h"
#include "espalier/Conversion/LoopsToProgram/Passes.h"
#include "espalier/Conversion/ProgramToLLVM/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace espalier;

void espalier::buildProgramStage(OpPassManager &manager,
                                 const PipelineOptions &options) {
  manager.addPass(createProgramVerifyLoopsPass());
  manager.addPass(createProgramHoistScratchPass());
  // Sizes become products of the inputs' extents, which planning relies on.
  manager.addPass(memref::createResolveShapedTypeResultDimsPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  // Layers repeat: kernels that are equal, or store the same elsewhere, are
  // compiled once.
  manager.addPass(func::createDuplicateFunctionEliminationPass());
  manager.addPass(createProgramShareKernelsPass());
  ProgramPlanMemoryPassOptions planning;
  planning.separate = !options.arena;
  manager.addPass(createProgramPlanMemoryPass(planning));
  manager.addPass(createProgramPackConstantsPass());
  manager.addPass(createProgramCheckSizesPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  if (options.arena)
    manager.addPass(createProgramVerifyPlannedPass());
}

namespace {
/// Converts the few operations on vectors that functions of the C library, one
/// lane at a time, have left. It takes long to look for them with patterns.
struct ConvertLanesPass
    : PassWrapper<ConvertLanesPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConvertLanesPass)

  StringRef getArgument() const override { return "convert-lanes"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect>();
  }
  void runOnOperation() override {
    WalkResult found = getOperation().walk([](Operation *op) {
      return isa_and_present<vector::VectorDialect>(op->getDialect())
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    OpPassManager patterns(func::FuncOp::getOperationName());
    patterns.addPass(createConvertVectorToLLVMPass());
    if (found.wasInterrupted() && failed(runPipeline(patterns, getOperation())))
      signalPassFailure();
  }
};
} // namespace

/// Lowers loops and vectors of one function as far as it does not depend on
/// other functions, so that functions are handled in parallel.
static void addFunctionPasses(OpPassManager &manager) {
  manager.addPass(createProgramJoinSumsPass());
  manager.addPass(createProgramApproximateMathPass());
  manager.addPass(vector::createLowerVectorMultiReductionPass());
  manager.addPass(createProgramSplitMasksPass());
  manager.addPass(createConvertVectorToSCFPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createProgramMarkNoWrapPass());
  manager.addPass(createSCFToControlFlowPass());
  ConvertVectorToLLVMPassOptions vectors;
  vectors.vectorTransposeLowering =
      vector::VectorTransposeLowering::Shuffle16x16;
  manager.addPass(createConvertVectorToLLVMPass(vectors));
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  arith::ArithExpandOpsPassOptions expansion;
  expansion.includeBf16 = true;
  manager.addPass(arith::createArithExpandOpsPass(expansion));
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createConvertIndexToLLVMPass());
  manager.addPass(createArithToLLVMConversionPass());
}

void espalier::buildLLVMStage(OpPassManager &manager,
                              const PipelineOptions &options) {
  manager.addPass(createProgramAddEntryPointsPass());
  ProgramSequentializePassOptions sequentialize;
  sequentialize.all = !options.threads;
  manager.addNestedPass<func::FuncOp>(
      createProgramSequentializePass(sequentialize));
  manager.addPass(createConvertSCFToOpenMPPass());
  ProgramHoistBuffersPassOptions buffers;
  if (!options.arena)
    buffers.maxStackBytes = 0;
  manager.addNestedPass<func::FuncOp>(createProgramHoistBuffersPass(buffers));
  manager.addNestedPass<func::FuncOp>(createProgramMergeParallelPass());
  manager.addPass(createProgramShareLoopsPass());
  // Removes the allocation scopes that the conversion to OpenMP leaves.
  manager.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  // Integer powers become functions, lane by lane.
  manager.addPass(createConvertMathToFuncs());
  addFunctionPasses(manager.nest<func::FuncOp>());
  // Functions of the C library take one lane at a time.
  manager.addPass(createConvertMathToLibmPass());
  manager.addNestedPass<func::FuncOp>(std::make_unique<ConvertLanesPass>());
  manager.addPass(createConvertOpenMPToLLVMPass());
  FinalizeMemRefToLLVMConversionPassOptions memrefs;
  memrefs.useAlignedAlloc = true;
  manager.addPass(createFinalizeMemRefToLLVMConversionPass(memrefs));
  manager.addPass(createConvertFuncToLLVMPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createUBToLLVMConversionPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  manager.addNestedPass<LLVM::LLVMFuncOp>(createProgramAnnotateAliasesPass());
}
