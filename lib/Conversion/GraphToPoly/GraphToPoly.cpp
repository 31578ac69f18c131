//===- GraphToPoly.cpp - From operators to kernels ------------------------===//

#include "Emit/KernelEmitter.h"
#include "Normalize.h"
#include "espalier/Conversion/LoopsToProgram/VerifyEncodings.h"
#include "espalier/Conversion/Passes.h"
#include "espalier/Dialect/Poly/IR/ChoiceAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace espalier {
#define GEN_PASS_DEF_CONVERTGRAPHTOPOLYPASS
#include "espalier/Conversion/Passes.h.inc"
} // namespace espalier

using namespace mlir;
using namespace espalier;
using namespace espalier::graphtopoly;

/// Returns the choice between two versions that `function` makes, which is null
/// if it makes none. Reports several, one without versions of the same tensors,
/// and a function of several blocks.
static FailureOr<scf::IfOp> findChoice(func::FuncOp function) {
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitError("expects a function of one block");
  scf::IfOp choice;
  for (auto op : function.getOps<scf::IfOp>()) {
    if (choice)
      return op.emitError("expects one choice between versions of the "
                          "function, but got another");
    if (!op.elseBlock() || op.getNumResults() == 0 ||
        !llvm::all_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>))
      return op.emitError("expects two versions of ranked tensors");
    choice = op;
  }
  return choice;
}

/// Reports extents that no tensor has, which MLIR leaves undefined.
static LogicalResult verifyDims(func::FuncOp function) {
  WalkResult result = function.walk([](tensor::DimOp op) {
    std::optional<int64_t> index = op.getConstantIndex();
    auto type = dyn_cast<RankedTensorType>(op.getSource().getType());
    if (!type || !index || (*index >= 0 && *index < type.getRank()))
      return WalkResult::advance();
    op.emitError("expects a dimension below the rank ")
        << type.getRank() << ", but got " << *index;
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct ConvertGraphToPolyPass
    : espalier::impl::ConvertGraphToPolyPassBase<ConvertGraphToPolyPass> {
  using ConvertGraphToPolyPassBase::ConvertGraphToPolyPassBase;

  void runOnOperation() override {
    getOperation()->removeAttr(poly::kStageAttr);
    for (auto function :
         llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (!llvm::any_of(function.getFunctionType().getInputs(),
                        llvm::IsaPred<TensorType>) &&
          !llvm::any_of(function.getFunctionType().getResults(),
                        llvm::IsaPred<TensorType>))
        continue;
      if (failed(convert(function)))
        return signalPassFailure();
    }
  }

  LogicalResult convert(func::FuncOp function) {
    FailureOr<scf::IfOp> choice = findChoice(function);
    if (failed(choice) || failed(verifyDims(function)) ||
        failed(verifyEncodings(function)))
      return failure();
    SmallVector<Block *, 2> blocks{nullptr};
    if (*choice)
      blocks = {choice->thenBlock(), choice->elseBlock()};
    std::vector<DispatchVariant> variants;
    for (Block *block : blocks) {
      FailureOr<StatementList> program = buildStatements(function, block);
      if (failed(program))
        return failure();
      llvm::DenseSet<ArrayId> askedFor = findAskedFor(*program);
      if (fold)
        numFolded += foldConstants(*program, FoldedStatements::Computing);
      normalize(*program);
      FailureOr<unsigned> sums = storeEntries(*program, entries, askedFor);
      if (failed(sums))
        return failure();
      numSparse += *sums;
      separateStrides(*program);
      numStatements += program->statements.size();
      SmallVector<FusionGroup> kernels = separateKernels(*program);
      variants.push_back({std::move(*program), std::move(kernels)});
    }
    return emitKernels(variants, *choice);
  }
};
} // namespace
