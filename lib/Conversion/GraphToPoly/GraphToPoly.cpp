//===- GraphToPoly.cpp - Kernel formation ---------------------------------===//

#include "Emit/KernelEmitter.h"
#include "espalier/Conversion/Passes.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"

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

/// What the steps have done.
struct Counts {
  unsigned folded = 0, winograd = 0;
};

/// One step from the definitions of operators to kernels. All but those that
/// are needed to write kernels at all may be left out: what is computed stays
/// the same.
struct Step {
  StringLiteral name;
  void (*run)(Version &version, Counts &counts);
  bool isNeeded = false;
};

constexpr Step kSteps[] = {
    {"fold-computing",
     [](Version &v, Counts &counts) {
       counts.folded += foldConstants(v.program, FoldedStatements::Computing);
     }},
    {"normalize", [](Version &v, Counts &) { normalize(v.program); },
     /*isNeeded=*/true},
    {"inline-maps", [](Version &v, Counts &) { inlineMaps(v.program); }},
    {"fold-all",
     [](Version &v, Counts &counts) {
       counts.folded += foldConstants(v.program, FoldedStatements::All);
     }},
    {"keep-rows", [](Version &v, Counts &) { keepRows(v.program); }},
    {"assign-layouts", [](Version &v, Counts &) { assignLayouts(v.program); }},
    {"pad-rows", [](Version &v, Counts &) { padRows(v.program); }},
    {"separate-taps", [](Version &v, Counts &) { separateTaps(v.program); }},
    {"align-outputs", [](Version &v, Counts &) { alignOutputs(v.program); }},
    {"form-kernels",
     [](Version &v, Counts &) { v.clusters = formClusters(v.program); },
     /*isNeeded=*/true},
    {"separate-accumulators",
     [](Version &v, Counts &) { separateAccumulators(v.program, v.clusters); }},
    {"split-phases",
     [](Version &v, Counts &) { splitPhases(v.program, v.clusters); }},
    {"fuse-windows",
     [](Version &v, Counts &) { fuseWindows(v.program, v.clusters); }},
    {"winograd",
     [](Version &v, Counts &counts) {
       counts.winograd += applyWinograd(v.program, v.clusters);
     }},
};

struct ConvertGraphToPolyPass
    : espalier::impl::ConvertGraphToPolyPassBase<ConvertGraphToPolyPass> {
  using ConvertGraphToPolyPassBase::ConvertGraphToPolyPassBase;

  void runOnOperation() override {
    if (failed(checkSteps()))
      return signalPassFailure();
    ModuleOp module = getOperation();
    poly::TargetAttr target = poly::getTarget(module);
    for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
      if (!llvm::any_of(function.getFunctionType().getInputs(),
                        llvm::IsaPred<TensorType>) &&
          !llvm::any_of(function.getFunctionType().getResults(),
                        llvm::IsaPred<TensorType>))
        continue;
      if (failed(convert(function, target)))
        return signalPassFailure();
    }
  }

  LogicalResult convert(func::FuncOp function, poly::TargetAttr target) {
    FailureOr<scf::IfOp> choice = findChoice(function);
    if (failed(choice) || failed(verifyDims(function)))
      return failure();
    SmallVector<Block *, 2> blocks{nullptr};
    if (*choice)
      blocks = {choice->thenBlock(), choice->elseBlock()};
    std::vector<Version> versions;
    for (Block *block : blocks) {
      FailureOr<StepProgram> program = buildStepProgram(function, block);
      if (failed(program))
        return failure();
      versions.push_back({std::move(*program), {}});
      formKernels(versions.back(), target);
      if (failed(verifyWritten(versions.back())))
        return failure();
    }
    return emitKernels(versions, *choice);
  }

  LogicalResult checkSteps();
  void formKernels(Version &version, poly::TargetAttr target);

  Counts counts;
};

} // namespace

LogicalResult ConvertGraphToPolyPass::checkSteps() {
  SmallVector<StringRef> names;
  for (const Step &step : kSteps)
    if (!step.isNeeded)
      names.push_back(step.name);
  SmallVector<StringRef> given(skip.begin(), skip.end());
  if (!stopAfter.empty())
    given.push_back(stopAfter);
  for (StringRef name : given)
    if (!llvm::is_contained(names, name))
      return emitError(getOperation().getLoc(),
                       "expects a step that may be left out, which are ")
             << llvm::join(names, ", ") << ", but got '" << name << "'";
  return success();
}

void ConvertGraphToPolyPass::formKernels(Version &version,
                                         poly::TargetAttr target) {
  StepProgram &program = version.program;
  program.vectorLanes = target.getLanes(Float32Type::get(&getContext()));
  program.vectorRegisters = target.getRegisters();
  program.cacheBytes = target.getL2();
  bool isStopped = false;
  for (const Step &step : kSteps) {
    if (step.isNeeded || !(isStopped || llvm::is_contained(skip, step.name)))
      step.run(version, counts);
    isStopped |= step.name == stopAfter;
  }
  numFolded += std::exchange(counts.folded, 0);
  numWinograd += std::exchange(counts.winograd, 0);
  numKernels += version.clusters.size();
  numStatements += program.statements.size();
}
