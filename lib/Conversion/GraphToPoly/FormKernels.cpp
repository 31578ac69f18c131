//===- FormKernels.cpp - The steps that form kernels ----------------------===//
//
// Kernels are read as a list of statements (Read/), a step rewrites the list,
// and it is written as kernels again (Emit/).
//
//===----------------------------------------------------------------------===//

#include "Entries/GroupEntries.h"
#include "FuseKernels.h"
#include "Normalize.h"
#include "Read/ReadProgram.h"
#include "StepAttributes.h"
#include "Sums/Sums.h"
#include "espalier/Conversion/LoopsToProgram/Program.h"
#include "espalier/Conversion/Passes.h"
#include "espalier/Dialect/Poly/IR/ChoiceAttributes.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringSet.h"

namespace espalier {
#define GEN_PASS_DEF_POLYFORMKERNELSPASS
#define GEN_PASS_DEF_POLYINLINEMAPSPASS
#define GEN_PASS_DEF_POLYFOLDCONSTANTSPASS
#define GEN_PASS_DEF_POLYFORWARDTAPSPASS
#define GEN_PASS_DEF_POLYWIDENOPERANDSPASS
#define GEN_PASS_DEF_POLYKEEPROWMAJORPASS
#define GEN_PASS_DEF_POLYSEPARATEGROUPSPASS
#define GEN_PASS_DEF_POLYASSIGNLAYOUTSPASS
#define GEN_PASS_DEF_POLYPADROWSPASS
#define GEN_PASS_DEF_POLYSEPARATEINTERPOLATIONPASS
#define GEN_PASS_DEF_POLYDROPPOINTSPASS
#define GEN_PASS_DEF_POLYSHARESUMSPASS
#define GEN_PASS_DEF_POLYALIGNOUTPUTSPASS
#define GEN_PASS_DEF_POLYFUSEKERNELSPASS
#define GEN_PASS_DEF_POLYSEPARATEACCUMULATORSPASS
#define GEN_PASS_DEF_POLYDECOMPOSEPHASESPASS
#define GEN_PASS_DEF_POLYGROUPENTRIESPASS
#define GEN_PASS_DEF_POLYFUSEWINDOWSPASS
#define GEN_PASS_DEF_POLYFUSEPRODUCTSPASS
#define GEN_PASS_DEF_POLYWINOGRADPASS
#define GEN_PASS_DEF_POLYTRIMWINDOWSPASS
#define GEN_PASS_DEF_POLYFUSECOPIESPASS
#define GEN_PASS_DEF_POLYAPPLYLAYOUTSPASS
#include "espalier/Conversion/Passes.h.inc"
} // namespace espalier

using namespace mlir;
using namespace espalier;
using namespace espalier::graphtopoly;

namespace {

/// What the steps have done.
struct Counts {
  unsigned kernels = 0, folded = 0, winograd = 0;
};

/// One step from a kernel for each statement to those that run. Any may be left
/// out: what is computed stays the same.
struct Step {
  StringLiteral name;
  void (*run)(DispatchVariant &variant, Counts &counts);
  /// Whether it looks at statements alone, and changes their list: then there
  /// is a kernel for each again.
  bool separates = false;
  /// What the step was called before; still read.
  StringLiteral formerName = "";

  bool isCalled(StringRef given) const {
    return !given.empty() && (given == name || given == formerName);
  }
  bool isAmong(ArrayRef<std::string> given) const {
    return llvm::any_of(given,
                        [&](StringRef other) { return isCalled(other); });
  }
};

constexpr bool kSeparates = true;

constexpr Step kSteps[] = {
    {"inline-maps", [](DispatchVariant &v, Counts &) { inlineMaps(v.program); },
     kSeparates},
    {"fold-constants",
     [](DispatchVariant &v, Counts &counts) {
       counts.folded += foldConstants(v.program, FoldedStatements::All);
     },
     kSeparates},
    {"forward-taps",
     [](DispatchVariant &v, Counts &) { forwardTaps(v.program); }, kSeparates},
    {"keep-row-major",
     [](DispatchVariant &v, Counts &) { keepRowMajor(v.program); }, kSeparates,
     "keep-rows"},
    {"separate-groups",
     [](DispatchVariant &v, Counts &) { separateGroups(v.program); },
     kSeparates},
    {"assign-layouts",
     [](DispatchVariant &v, Counts &) { assignLayouts(v.program); },
     kSeparates},
    {"widen-operands",
     [](DispatchVariant &v, Counts &) { widenOperands(v.program); },
     kSeparates},
    {"pad-rows", [](DispatchVariant &v, Counts &) { padRows(v.program); },
     kSeparates},
    {"separate-interpolation",
     [](DispatchVariant &v, Counts &) {
       separateInterpolation(v.program);
       separateWindows(v.program);
     },
     kSeparates, "separate-taps"},
    {"drop-points",
     [](DispatchVariant &v, Counts &) { dropSinglePoints(v.program); },
     kSeparates},
    {"share-sums", [](DispatchVariant &v, Counts &) { shareSums(v.program); },
     kSeparates},
    {"align-outputs",
     [](DispatchVariant &v, Counts &) { alignOutputs(v.program); }, kSeparates},
    {"fuse-kernels",
     [](DispatchVariant &v, Counts &) {
       v.fusionGroups = formFusionGroups(v.program);
     }},
    {"separate-accumulators",
     [](DispatchVariant &v, Counts &) {
       separateAccumulators(v.program, v.fusionGroups);
     }},
    {"decompose-phases",
     [](DispatchVariant &v, Counts &) {
       decomposePhases(v.program, v.fusionGroups);
     },
     !kSeparates, "split-phases"},
    {"group-entries",
     [](DispatchVariant &v, Counts &) {
       groupEntries(v.program, v.fusionGroups);
     }},
    {"fuse-windows", [](DispatchVariant &v,
                        Counts &) { fuseWindows(v.program, v.fusionGroups); }},
    {"fuse-products",
     [](DispatchVariant &v, Counts &) {
       fuseProducts(v.program, v.fusionGroups);
     }},
    {"winograd",
     [](DispatchVariant &v, Counts &counts) {
       counts.winograd += applyWinograd(v.program, v.fusionGroups);
     }},
    {"trim-windows", [](DispatchVariant &v,
                        Counts &) { trimWindows(v.program, v.fusionGroups); }},
    {"fuse-copies", [](DispatchVariant &v,
                       Counts &) { fuseCopies(v.program, v.fusionGroups); }},
};

/// Steps that run on the programs of a module.
class StepRunner {
public:
  StepRunner(ModuleOp module, ArrayRef<const Step *> steps, Form form,
             StringRef pass)
      : module(module), steps(steps), form(form), pass(pass),
        target(poly::getTarget(module)) {}

  LogicalResult run();
  Counts counts;

private:
  LogicalResult run(func::FuncOp main);
  LogicalResult runSteps(ReadBlock &read);
  void eraseUnused(const llvm::StringSet<> &names);

  ModuleOp module;
  ArrayRef<const Step *> steps;
  Form form;
  StringRef pass;
  poly::TargetAttr target;
};

} // namespace

/// Reports sums that are to be computed by an algorithm that is not for them.
static LogicalResult checkAlgorithms(const DispatchVariant &variant) {
  for (const FusionGroup &fusionGroup : variant.fusionGroups)
    for (unsigned number : fusionGroup.statements)
      if (const Statement &statement = variant.program.statements[number];
          statement.algorithm == poly::Algorithm::Winograd)
        return emitError(
            statement.loc,
            "expects a sum that Winograd's algorithm is for, to be "
            "computed by it: a convolution of f32 with constant 3x3 "
            "weights, stride 1 and no border, of an even number of "
            "rows and columns, whose result stays in its kernel");
  return success();
}

/// Reports sums whose entries are to be stored in a format that is not for
/// them.
static LogicalResult checkFormats(const DispatchVariant &variant) {
  for (const FusionGroup &fusionGroup : variant.fusionGroups)
    for (unsigned number : fusionGroup.statements)
      if (const Statement &statement = variant.program.statements[number];
          statement.format && statement.format->rows > 1)
        return emitError(statement.loc)
               << "expects a sum that '" << statement.format->str()
               << "' is for: over the entries of rows of a constant, whose "
                  "number is a multiple of "
               << statement.format->rows
               << ", where what else is read does not depend on the row";
  return success();
}

/// Reports results that are to be read in the kernel that computes them, and in
/// no other, where that is not so, or the reverse.
static LogicalResult checkFusion(const DispatchVariant &variant) {
  const StatementList &program = variant.program;
  llvm::DenseMap<ArrayId, const FusionGroup *> writer;
  for (const FusionGroup &group : variant.fusionGroups)
    for (unsigned number : group.statements)
      writer[program.getBase(program.statements[number].target)] = &group;
  for (const FusionGroup &group : variant.fusionGroups)
    for (unsigned number : group.statements)
      for (ArrayId read : getReads(program.statements[number])) {
        ArrayId array = program.getBase(read);
        std::optional<Fusion> fusion = program.arrays[array].fusion;
        bool isHere = writer.lookup(array) == &group;
        if (!fusion || isHere == (*fusion == Fusion::Fused))
          continue;
        return emitError(program.arrays[array].loc)
               << (isHere ? "expects a result that others read than the kernel "
                            "that computes it (separate), but one in it does"
                          : "expects a result that is read in the kernel that "
                            "computes it (fused), at the indices of loops that "
                            "both share and whose iterations fit in the cache, "
                            "but another kernel reads it");
      }
  return success();
}

/// Writes indices in the form that they are read in again, so that it does not
/// matter whether steps run one by one.
static void sortIndices(StatementList &program) {
  for (Statement &statement : program.statements) {
    if (statement.entries)
      statement.entries->row = program.simplify(statement.entries->row);
    for (Piece &piece : statement.pieces)
      piece.value = definition::transform(piece.value, [&](Expr e) -> Expr {
        if (e.getKind() != Expr::Kind::Apply || !isa<IndexType>(e.getType()))
          return {};
        std::optional<AffineExpr> affine = program.affine(e);
        return affine ? program.expression(program.simplify(*affine)) : Expr();
      });
  }
}

LogicalResult StepRunner::runSteps(ReadBlock &read) {
  DispatchVariant &variant = read.variant;
  StatementList &program = variant.program;
  program.vectorLanes = target.getLanes(Float32Type::get(module.getContext()));
  program.vectorRegisters = target.getRegisters();
  program.cores = target.getCores();
  program.cacheBytes = target.getL2();
  for (const Step *step : steps) {
    step->run(variant, counts);
    if (step->separates)
      variant.fusionGroups = separateKernels(program);
  }
  bool isDecided =
      form == Form::Memory ||
      llvm::is_contained(llvm::map_range(steps, [](auto s) { return s->name; }),
                         "winograd");
  if (isDecided &&
      (failed(checkAlgorithms(variant)) || failed(checkFormats(variant))))
    return failure();
  if (form == Form::Memory && failed(checkFusion(variant)))
    return failure();
  sortIndices(program);
  counts.kernels += variant.fusionGroups.size();
  return verifyWritten(variant);
}

/// The blocks of `main` that call kernels: those of the versions that it
/// chooses between, or its own.
static SmallVector<Block *> findBlocks(func::FuncOp main) {
  SmallVector<Block *> blocks;
  for (auto choice : main.getOps<scf::IfOp>())
    for (Region *region : {&choice.getThenRegion(), &choice.getElseRegion()})
      if (!region->empty() && !region->front().getOps<poly::CallOp>().empty())
        blocks.push_back(&region->front());
  Block &body = main.getBody().front();
  if (blocks.empty() || !body.getOps<poly::CallOp>().empty())
    blocks = {&body};
  return blocks;
}

/// Erases the operations in `block` that nobody uses and that do nothing.
static void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

void StepRunner::eraseUnused(const llvm::StringSet<> &names) {
  llvm::StringSet<> used;
  module.walk([&](Operation *op) {
    if (auto call = dyn_cast<poly::CallOp>(op))
      used.insert(call.getCallee());
    else if (auto global = dyn_cast<memref::GetGlobalOp>(op))
      used.insert(global.getName());
  });
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (auto symbol = dyn_cast<SymbolOpInterface>(op))
      if (symbol.isPrivate() && names.contains(symbol.getName()) &&
          !used.contains(symbol.getName()))
        op.erase();
}

/// Whether anything is chosen for what `block` calls.
static bool hasChoices(ModuleOp module, Block &block) {
  return llvm::any_of(block, [&](Operation &op) {
    if (op.hasAttr(poly::kLayoutAttr) || op.hasAttr(poly::kFusionAttr))
      return true;
    auto call = dyn_cast<poly::CallOp>(op);
    auto kernel =
        call ? module.lookupSymbol<poly::KernelOp>(call.getCallee()) : nullptr;
    return kernel &&
           llvm::any_of(kernel.getOps<poly::ComputeOp>(), [](Operation *op) {
             return op->hasAttr(poly::kAlgorithmAttr);
           });
  });
}

LogicalResult StepRunner::run(func::FuncOp main) {
  SmallVector<Block *> blocks = findBlocks(main);
  if (!llvm::any_of(blocks, [](Block *block) {
        return !block->getOps<poly::CallOp>().empty();
      }))
    return success();
  std::vector<ReadBlock> reads;
  bool separates =
      llvm::any_of(steps, [](const Step *step) { return step->separates; });
  bool fuses = llvm::any_of(
      steps, [](const Step *step) { return step->name == "fuse-kernels"; });
  for (Block *block : blocks) {
    NotRead notRead;
    FailureOr<ReadBlock> read = readKernels(main, *block, notRead);
    if (succeeded(read) && ((read->hasParts && (separates || fuses)) ||
                            (read->hasOrders && separates))) {
      read = failure();
      notRead = {main, "expects arrays that one statement each computes, in "
                       "their order"};
    }
    // What somebody has chosen must not be lost.
    if (failed(read) && (notRead.isError || hasChoices(module, *block)))
      return notRead.op->emitError(notRead.reason);
    if (failed(read)) {
      remark::missed(notRead.op->getLoc(),
                     remark::RemarkOpts::name("NotRead").category(pass))
          << notRead.reason;
      return success();
    }
    reads.push_back(std::move(*read));
  }
  // Layouts that nobody has chosen are those of memory already.
  if (steps.empty() &&
      llvm::none_of(reads, [](const ReadBlock &read) { return read.isOwn; }))
    return success();
  std::vector<DispatchVariant> variants;
  for (ReadBlock &read : reads) {
    if (failed(runSteps(read)))
      return failure();
    variants.push_back(std::move(read.variant));
  }
  llvm::StringSet<> names;
  for (ReadBlock &read : reads)
    for (Operation *op : llvm::reverse(read.operations)) {
      if (auto call = dyn_cast<poly::CallOp>(op))
        names.insert(call.getCallee());
      else if (auto global = dyn_cast<memref::GetGlobalOp>(op))
        names.insert(global.getName());
      op->erase();
    }
  eraseUnused(names);
  if (failed(emitKernels(variants, main, blocks, form)))
    return failure();
  for (Block *block : blocks)
    eraseDead(*block);
  eraseDead(main.getBody().front());
  return success();
}

LogicalResult StepRunner::run() {
  if (form == Form::Memory)
    module->removeAttr(poly::kStageAttr);
  for (auto function : llvm::to_vector(module.getOps<func::FuncOp>()))
    if (function.getBody().hasOneBlock() && failed(run(function)))
      return failure();
  return success();
}

namespace {

struct PolyFormKernelsPass
    : espalier::impl::PolyFormKernelsPassBase<PolyFormKernelsPass> {
  using PolyFormKernelsPassBase::PolyFormKernelsPassBase;

  void runOnOperation() override {
    if (failed(checkSteps()))
      return signalPassFailure();
    SmallVector<const Step *> steps;
    for (const Step &step : kSteps) {
      if (!step.isAmong(skip))
        steps.push_back(&step);
      if (step.isCalled(stopAfter))
        break;
    }
    StepRunner runner(getOperation(), steps, Form::Memory, getArgument());
    if (failed(runner.run()))
      return signalPassFailure();
    numKernels += runner.counts.kernels;
    numFolded += runner.counts.folded;
    numWinograd += runner.counts.winograd;
  }

  LogicalResult checkSteps();
};

/// Runs the step that `pass` is called after, or none.
LogicalResult runStep(Pass &pass, ModuleOp module, Form form) {
  SmallVector<const Step *> steps;
  for (const Step &step : kSteps)
    if (pass.getArgument() == ("poly-" + step.name).str())
      steps.push_back(&step);
  return StepRunner(module, steps, form, pass.getArgument()).run();
}

#define STEP_PASS(name, form)                                                  \
  struct name : espalier::impl::name##Base<name> {                             \
    void runOnOperation() override {                                           \
      if (failed(runStep(*this, getOperation(), form)))                        \
        signalPassFailure();                                                   \
    }                                                                          \
  };

STEP_PASS(PolyInlineMapsPass, Form::Attributes)
STEP_PASS(PolyFoldConstantsPass, Form::Attributes)
STEP_PASS(PolyForwardTapsPass, Form::Attributes)
STEP_PASS(PolyWidenOperandsPass, Form::Attributes)
STEP_PASS(PolyKeepRowMajorPass, Form::Attributes)
STEP_PASS(PolySeparateGroupsPass, Form::Attributes)
STEP_PASS(PolyAssignLayoutsPass, Form::Attributes)
STEP_PASS(PolyPadRowsPass, Form::Attributes)
STEP_PASS(PolySeparateInterpolationPass, Form::Attributes)
STEP_PASS(PolyDropPointsPass, Form::Attributes)
STEP_PASS(PolyShareSumsPass, Form::Attributes)
STEP_PASS(PolyAlignOutputsPass, Form::Attributes)
STEP_PASS(PolyFuseKernelsPass, Form::Attributes)
STEP_PASS(PolySeparateAccumulatorsPass, Form::Attributes)
STEP_PASS(PolyDecomposePhasesPass, Form::Attributes)
STEP_PASS(PolyGroupEntriesPass, Form::Attributes)
STEP_PASS(PolyFuseWindowsPass, Form::Attributes)
STEP_PASS(PolyFuseProductsPass, Form::Attributes)
STEP_PASS(PolyWinogradPass, Form::Attributes)
STEP_PASS(PolyTrimWindowsPass, Form::Attributes)
STEP_PASS(PolyFuseCopiesPass, Form::Attributes)
STEP_PASS(PolyApplyLayoutsPass, Form::Memory)

} // namespace

void espalier::registerFormerPassNames() {
  for (const Step &step : kSteps) {
    if (step.formerName.empty())
      continue;
    std::string name = ("poly-" + step.name).str();
    PassPipelineRegistration<>(("poly-" + step.formerName).str(),
                               "former name of " + name,
                               [name](OpPassManager &passes) {
                                 (void)parsePassPipeline(name, passes);
                               });
  }
}

LogicalResult PolyFormKernelsPass::checkSteps() {
  SmallVector<StringRef> names;
  for (const Step &step : kSteps)
    names.push_back(step.name);
  SmallVector<StringRef> given(skip.begin(), skip.end());
  if (!stopAfter.empty())
    given.push_back(stopAfter);
  for (StringRef name : given)
    if (llvm::none_of(kSteps,
                      [&](const Step &step) { return step.isCalled(name); }))
      return emitError(getOperation().getLoc(),
                       "expects a step that may be left out, which are ")
             << llvm::join(names, ", ") << ", but got '" << name << "'";
  return success();
}
