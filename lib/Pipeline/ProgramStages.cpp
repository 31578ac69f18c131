//===- ProgramStages.cpp - The passes from loops to LLVM ------------------===//

#include "Stages.h"
#include "espalier/Conversion/LoopsToProgram/Passes.h"
#include "espalier/Conversion/ProgramToLLVM/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/Passes.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace espalier;

namespace {
/// Runs passes where there is an operation that they are about. To look for one
/// takes a fraction of the time in which they would find nothing to do.
struct RunWherePresentPass : PassWrapper<RunWherePresentPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RunWherePresentPass)

  using Filter = bool (*)(Operation *);

  RunWherePresentPass(Filter isMeant, OpPassManager passes)
      : isMeant(isMeant), passes(std::move(passes)) {}

  StringRef getArgument() const override { return "run-where-present"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    passes.getDependentDialects(registry);
  }
  void runOnOperation() override {
    WalkResult found = getOperation()->walk([&](Operation *op) {
      return isMeant(op) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (found.wasInterrupted() && failed(runPipeline(passes, getOperation())))
      signalPassFailure();
  }

  Filter isMeant;
  OpPassManager passes;
};
} // namespace

/// Adds a pass that changes nothing without one of the operations `isMeant`.
static void addWhere(OpPassManager &manager,
                     RunWherePresentPass::Filter isMeant,
                     std::unique_ptr<Pass> pass) {
  OpPassManager inner(manager.getOpAnchorName());
  inner.addPass(std::move(pass));
  manager.addPass(
      std::make_unique<RunWherePresentPass>(isMeant, std::move(inner)));
}

template <typename DialectT>
static bool isOf(Operation *op) {
  return isa_and_present<DialectT>(op->getDialect());
}

/// Whether `op` is what `memref-expand-strided-metadata` expands.
static bool isView(Operation *op) {
  return isa<ViewLikeOpInterface, memref::ExtractStridedMetadataOp,
             memref::ExtractAlignedPointerAsIndexOp>(op);
}

void espalier::buildProgramStage(OpPassManager &manager,
                                 const PipelineOptions &options) {
  manager.addPass(createProgramVerifyLoopsPass());
  manager.addPass(createProgramHoistScratchPass());
  // Sizes become products of the inputs' extents, which planning relies on.
  addWhere(
      manager, [](Operation *op) { return isa<ShapedDimOpInterface>(op); },
      memref::createResolveShapedTypeResultDimsPass());
  manager.addPass(createCanonicalizeOncePass());
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
  manager.addPass(createCanonicalizeOncePass());
  manager.addPass(createCSEPass());
  if (options.arena)
    manager.addPass(createProgramVerifyPlannedPass());
}

/// Lowers loops and vectors of one function as far as it does not depend on
/// other functions, so that functions are handled in parallel.
static void addFunctionPasses(OpPassManager &manager) {
  manager.addPass(createProgramJoinSumsPass());
  manager.addPass(createProgramPairProductsPass());
  manager.addPass(createProgramApproximateMathPass());
  addWhere(
      manager,
      [](Operation *op) { return isa<vector::MultiDimReductionOp>(op); },
      vector::createLowerVectorMultiReductionPass());
  manager.addPass(createProgramSplitMasksPass());
  addWhere(
      manager, [](Operation *op) { return isa<VectorTransferOpInterface>(op); },
      createConvertVectorToSCFPass());
  addWhere(manager, isOf<affine::AffineDialect>, createLowerAffinePass());
  manager.addPass(createProgramMarkNoWrapPass());
  manager.addPass(createSCFToControlFlowPass());
  ConvertVectorToLLVMPassOptions vectors;
  vectors.vectorTransposeLowering =
      vector::VectorTransposeLowering::Shuffle16x16;
  vectors.x86Vector = true;
  manager.addPass(createConvertVectorToLLVMPass(vectors));
  addWhere(manager, isView, memref::createExpandStridedMetadataPass());
  addWhere(manager, isOf<affine::AffineDialect>, createLowerAffinePass());
  arith::ArithExpandOpsPassOptions expansion;
  expansion.includeBf16 = true;
  manager.addPass(arith::createArithExpandOpsPass(expansion));
  addWhere(manager, isOf<math::MathDialect>, createConvertMathToLLVMPass());
  addWhere(manager, isOf<index::IndexDialect>, createConvertIndexToLLVMPass());
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
  manager.addNestedPass<func::FuncOp>(createCanonicalizeOncePass());
  // Integer powers become functions, lane by lane.
  addWhere(manager, isOf<math::MathDialect>, createConvertMathToFuncs());
  addFunctionPasses(manager.nest<func::FuncOp>());
  // Functions of the C library take one lane at a time.
  addWhere(manager, isOf<math::MathDialect>, createConvertMathToLibmPass());
  // The few operations on vectors that these leave.
  addWhere(manager.nest<func::FuncOp>(), isOf<vector::VectorDialect>,
           createConvertVectorToLLVMPass());
  manager.addPass(createConvertOpenMPToLLVMPass());
  FinalizeMemRefToLLVMConversionPassOptions memrefs;
  memrefs.useAlignedAlloc = true;
  manager.addPass(createFinalizeMemRefToLLVMConversionPass(memrefs));
  manager.addPass(createConvertFuncToLLVMPass());
  addWhere(manager, isOf<cf::ControlFlowDialect>,
           createConvertControlFlowToLLVMPass());
  addWhere(manager, isOf<ub::UBDialect>, createUBToLLVMConversionPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  manager.addNestedPass<LLVM::LLVMFuncOp>(createProgramAnnotateAliasesPass());
}
