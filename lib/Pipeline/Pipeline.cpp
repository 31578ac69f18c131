//===- Pipeline.cpp - The table of stages ---------------------------------===//

#include "espalier/Pipeline/Pipeline.h"
#include "Stages.h"
#include "espalier/Conversion/LoopsToProgram/Program.h"
#include "espalier/Dialect/Poly/IR/ChoiceAttributes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace espalier;

static constexpr StageInfo kStages[] = {
#define ESPALIER_STAGE_ROW(name, spelling, summary)                            \
  {Stage::name, spelling, summary, build##name##Stage},
    ESPALIER_FOR_EACH_STAGE(ESPALIER_STAGE_ROW)
#undef ESPALIER_STAGE_ROW
};

llvm::ArrayRef<StageInfo> espalier::getStages() { return kStages; }

const StageInfo &espalier::getStageInfo(Stage stage) {
  return kStages[static_cast<size_t>(stage)];
}

std::optional<Stage> espalier::parseStage(StringRef name) {
  for (const StageInfo &info : kStages)
    if (info.name == name)
      return info.stage;
  return std::nullopt;
}

std::string espalier::listStages() {
  SmallVector<StringRef> names;
  for (const StageInfo &info : kStages)
    names.push_back(info.name);
  return llvm::join(names, ", ");
}

/// The stage that the dialects in `module` say.
static Stage deriveStage(ModuleOp module) {
  bool hasGraph = false, hasKernel = false, hasUnscheduled = false;
  bool hasFunction = false, hasLoweredFunction = false;
  module.walk([&](Operation *op) {
    StringRef dialect = op->getName().getDialectNamespace();
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    hasGraph |= dialect == "graph" || dialect == "rec" ||
                (structured && structured.hasPureTensorSemantics());
    hasFunction |= isa<func::FuncOp>(op);
    hasLoweredFunction |= isa<LLVM::LLVMFuncOp>(op);
    if (op->getName().getStringRef() != "poly.kernel")
      return;
    hasKernel = true;
    bool isScheduled = false;
    op->walk([&](Operation *inner) {
      isScheduled |= inner->getName().getStringRef() == "poly.schedule";
    });
    hasUnscheduled |= !isScheduled;
  });
  if (hasGraph)
    return Stage::Graph;
  if (hasKernel)
    return hasUnscheduled ? Stage::Poly : Stage::Scheduled;
  if (hasLoweredFunction && !hasFunction)
    return Stage::LLVM;
  auto main = module.lookupSymbol<func::FuncOp>(kMainName);
  if (!main || main.getNumArguments() == 0)
    return Stage::Loops;
  // Tensors without operators: an identity or a constant.
  if (llvm::any_of(main.getArgumentTypes(), llvm::IsaPred<TensorType>) ||
      llvm::any_of(main.getResultTypes(), llvm::IsaPred<TensorType>))
    return Stage::Graph;
  bool isPlanned =
      main.getArgAttr(main.getNumArguments() - 1, kConstantsArgAttr) != nullptr;
  return isPlanned ? Stage::Program : Stage::Loops;
}

FailureOr<Stage> espalier::detectStage(ModuleOp module) {
  Attribute attr = module->getAttr(poly::kStageAttr);
  if (!attr)
    return deriveStage(module);
  auto name = dyn_cast<StringAttr>(attr);
  if (std::optional<Stage> stage = name ? parseStage(name) : std::nullopt)
    return *stage;
  return module.emitError("expects '")
         << poly::kStageAttr << "' to be one of the stages " << listStages()
         << ", but got " << attr;
}

std::unique_ptr<Pass> espalier::createCanonicalizeOncePass() {
  return createCanonicalizerPass(
      GreedyRewriteConfig()
          .setUseTopDownTraversal()
          .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled)
          .setMaxIterations(1));
}

namespace {
/// Verifies a module at the end of a stage.
struct VerifyStagePass : PassWrapper<VerifyStagePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyStagePass)

  StringRef getArgument() const override { return "espalier-verify-stage"; }
  StringRef getDescription() const override {
    return "Verifies a module where nobody does so after each pass";
  }
  void runOnOperation() override {
    if (failed(verify(getOperation())))
      signalPassFailure();
  }
};
} // namespace

/// Adds the passes of the stages after `from`, up to `to`, and after those of
/// each stage what `finish` adds.
static void addStages(OpPassManager &manager, Stage from, Stage to,
                      const PipelineOptions &options,
                      function_ref<void()> finish) {
  for (const StageInfo &info : kStages)
    if (info.stage > from && info.stage <= to) {
      info.build(manager, options);
      manager.addPass(createMarkStagePass(info.stage));
      finish();
    }
}

void espalier::buildPipeline(OpPassManager &manager, Stage from, Stage to,
                             const PipelineOptions &options) {
  addStages(manager, from, to, options, [] {});
}

LogicalResult espalier::compileToStage(ModuleOp module, Stage to,
                                       const PipelineOptions &options) {
  FailureOr<Stage> from = detectStage(module);
  if (failed(from))
    return failure();
  PassManager manager(module->getName());
  manager.enableVerifier(false);
  if (!module->hasAttr(poly::kStageAttr))
    addChecksOfInput(manager);
  addStages(manager, *from, to, options,
            [&] { manager.addPass(std::make_unique<VerifyStagePass>()); });
  return manager.run(module);
}

namespace {
/// Says which stage a module has reached.
struct MarkStagePass : PassWrapper<MarkStagePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MarkStagePass)

  explicit MarkStagePass(Stage stage) : stage(stage) {}

  StringRef getArgument() const override { return "espalier-mark-stage"; }
  StringRef getDescription() const override {
    return "Sets the attribute with the stage of a module";
  }
  void runOnOperation() override {
    getOperation()->setAttr(
        poly::kStageAttr,
        StringAttr::get(&getContext(), getStageInfo(stage).name));
  }

  Stage stage;
};

/// Runs the passes from a module's stage to a given one.
struct CompilePass : PassWrapper<CompilePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CompilePass)

  CompilePass() = default;
  CompilePass(const CompilePass &other) : PassWrapper(other) {}
  CompilePass(StringRef target, const PipelineOptions &options) {
    to = target.str();
#define PIPELINE_OPTION(name, value, summary) name = options.name;
#include "espalier-c/PipelineOptions.def"
  }

  StringRef getArgument() const override { return "espalier-compile"; }
  StringRef getDescription() const override {
    return "Compiles a module, whatever its stage, to a given stage";
  }

  /// The passes of later stages make these.
  void getDependentDialects(DialectRegistry &registry) const override {
    OpPassManager manager(ModuleOp::getOperationName());
    buildPipeline(manager, Stage::Graph, Stage::LLVM, getOptions());
    manager.getDependentDialects(registry);
  }

  void runOnOperation() override {
    std::optional<Stage> stage = parseStage(to);
    if (!stage) {
      emitError(UnknownLoc::get(&getContext()), "expects one of the stages ")
          << listStages() << ", but got '" << to << "'";
      return signalPassFailure();
    }
    FailureOr<Stage> from = detectStage(getOperation());
    if (failed(from))
      return signalPassFailure();
    OpPassManager manager(ModuleOp::getOperationName());
    if (!getOperation()->hasAttr(poly::kStageAttr))
      addChecksOfInput(manager);
    buildPipeline(manager, *from, *stage, getOptions());
    if (failed(runPipeline(manager, getOperation())))
      signalPassFailure();
  }

  PipelineOptions getOptions() const {
    PipelineOptions options;
#define PIPELINE_OPTION(name, value, summary) options.name = name;
#include "espalier-c/PipelineOptions.def"
    return options;
  }

  Option<std::string> to{*this, "to", llvm::cl::desc("Stage to stop at"),
                         llvm::cl::init("llvm")};
#define PIPELINE_OPTION(name, value, summary)                                  \
  Option<bool> name{*this, #name, llvm::cl::desc(summary),                     \
                    llvm::cl::init(value)};
#include "espalier-c/PipelineOptions.def"
};
} // namespace

std::unique_ptr<Pass> espalier::createMarkStagePass(Stage stage) {
  return std::make_unique<MarkStagePass>(stage);
}

std::unique_ptr<Pass>
espalier::createCompilePass(StringRef to, const PipelineOptions &options) {
  return std::make_unique<CompilePass>(to, options);
}

void espalier::registerPipelines() {
  PassRegistration<CompilePass>();
  for (const StageInfo &info : kStages) {
    if (info.stage == Stage::Graph)
      continue;
    std::string name = ("espalier-" + info.name).str();
    std::string summary =
        ("The step to stage " + info.name + ": " + info.summary).str();
    StageBuilder build = info.build;
    Stage stage = info.stage;
    registerPassPipeline(
        name, summary,
        [build, stage](OpPassManager &manager, StringRef text,
                       function_ref<LogicalResult(const Twine &)> error) {
          if (!text.empty())
            return error("expects no options, but got '" + text + "'");
          build(manager, PipelineOptions());
          manager.addPass(createMarkStagePass(stage));
          return success();
        },
        [](function_ref<void(const detail::PassOptions &)>) {});
  }
}
