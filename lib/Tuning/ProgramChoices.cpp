//===- ProgramChoices.cpp - What is chosen before kernels are formed ------===//

#include "espalier/Tuning/ProgramChoices.h"
#include "Script.h"
#include "espalier/Dialect/Poly/Analysis/Extents.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/Measurement/KernelCost.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

/// Another algorithm has to be faster by this, for noise.
static constexpr double kMinGain = 0.98;
/// Seconds for measuring, of a search without a limit; otherwise a share.
static constexpr double kSeconds = 60, kShare = 0.25;
/// The extent of a window that algorithms are for.
static constexpr int64_t kWindow = 3;

static constexpr llvm::StringLiteral kAlgorithms[] = {"direct", "winograd"};

//===----------------------------------------------------------------------===//
// Scripts
//===----------------------------------------------------------------------===//

static std::string makeScript(StringRef kernel, StringRef computation,
                              StringRef algorithm) {
  return llvm::formatv(R"(module attributes {{transform.with_named_sequence} {{
  transform.named_sequence @__transform_main(%module: !transform.any_op {{transform.readonly}) {{
    %sum = transform.poly.computation @{0}::@{1} of %module : (!transform.any_op) -> !transform.any_op
    transform.poly.algorithm %sum {2} : !transform.any_op
    transform.yield
  }
}
)",
                       kernel, computation, algorithm)
      .str();
}

/// Applies a script, which only says what somebody has to keep. Fails after an
/// error.
static LogicalResult applyChoice(StringRef text, ModuleOp module) {
  auto script = parseScript(text, module.getContext());
  return success(script && succeeded(applyScript(*script, module)));
}

llvm::Error tuning::applyChoices(ModuleOp module,
                                 const StatementScripts &scripts,
                                 const CodegenOptions &codegen) {
  OwningOpRef<ModuleOp> copy = module.clone();
  FirstError error(module.getContext());
  bool isApplied = false;
  for (const auto &[name, script] : scripts) {
    if (!(*copy).lookupSymbol<poly::KernelOp>(name))
      continue;
    if (failed(applyChoice(script, *copy)))
      return llvm::createStringError(error.getText());
    isApplied = true;
  }
  if (!isApplied)
    return llvm::Error::success();
  // Whether a sum can be computed so is known where kernels are formed.
  OwningOpRef<ModuleOp> formed = (*copy).clone();
  if (failed(compileToStage(*formed, Stage::Poly, codegen.pipeline)))
    return llvm::createStringError(error.getText());
  module.getBodyRegion().takeBody((*copy).getBodyRegion());
  return llvm::Error::success();
}

static std::string describeMeasuring(const MeasureOptions &options) {
  return llvm::formatv("{0} {1}", options.threads, options.constantBytes).str();
}

std::string tuning::getChoiceKey(StringRef statement,
                                 const MeasureOptions &options) {
  return ("statement " + statement + " " + describeMeasuring(options)).str();
}

std::optional<std::string>
tuning::parseChoiceKey(StringRef key, const MeasureOptions &options) {
  if (!key.consume_front("statement ") ||
      !key.consume_back(" " + describeMeasuring(options)))
    return std::nullopt;
  return key.str();
}

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

namespace {
/// Compares what a program becomes with different algorithms.
class AlgorithmChooser {
public:
  AlgorithmChooser(ModuleOp module, const TuneOptions &options);

  llvm::Error prepare();
  std::vector<TunedStatement> run();

private:
  struct Sum {
    std::string kernel, computation;
  };

  std::vector<Sum> findSums();
  /// The kernels of the program with what is chosen so far and one choice more;
  /// nothing if they cannot be formed.
  std::optional<std::vector<ProgramKernel>> form(StringRef script = "");
  double measure(ArrayRef<ProgramKernel> kernels);

  MLIRContext *context;
  const TuneOptions &options;
  KernelCost cost;
  OwningOpRef<ModuleOp> statements;
  std::vector<std::string> chosen;
};
} // namespace

static KernelCostOptions makeCostOptions(const TuneOptions &options) {
  KernelCostOptions result;
  result.measure = options.measure;
  result.budget = options.seconds > 0
                      ? std::min(kShare * options.seconds, kSeconds)
                      : kSeconds;
  return result;
}

AlgorithmChooser::AlgorithmChooser(ModuleOp module, const TuneOptions &options)
    : context(module.getContext()), options(options),
      cost(context, makeCostOptions(options), [](const std::string &) {}),
      statements(module.clone()) {}

llvm::Error AlgorithmChooser::prepare() {
  if (!(*statements)->hasAttr(poly::TargetAttr::getAttrName())) {
    context->loadDialect<poly::PolyDialect>();
    auto target = describeMachine(context, options.measure.codegen);
    if (!target)
      return target.takeError();
    (*statements)->setAttr(poly::TargetAttr::getAttrName(), *target);
  }
  if (failed(compileToStage(*statements, Stage::Statements,
                            options.measure.codegen.pipeline)))
    return llvm::createStringError("expects a model that can be compiled");
  return llvm::Error::success();
}

/// Whether a sum has a window of the extents that algorithms are for.
static bool hasWindow(poly::ComputeOp compute) {
  if (compute.getReduction() != poly::Reduction::Add)
    return false;
  IntegerSet domain = compute.getDomainSets().front();
  unsigned numResults = compute.getWriteAccesses().front().map.getNumResults();
  SmallVector<std::optional<int64_t>> extents = poly::getBoxExtents(domain);
  return llvm::count(ArrayRef(extents).drop_front(
                         std::min<size_t>(numResults, extents.size())),
                     std::optional<int64_t>(kWindow)) >= 2;
}

std::vector<AlgorithmChooser::Sum> AlgorithmChooser::findSums() {
  std::vector<Sum> sums;
  for (auto kernel : (*statements).getOps<poly::KernelOp>())
    for (poly::ComputeOp compute : kernel.getComputes())
      if (hasWindow(compute))
        sums.push_back({kernel.getSymName().str(), compute.getSymName().str()});
  return sums;
}

std::optional<std::vector<ProgramKernel>>
AlgorithmChooser::form(StringRef script) {
  // That a choice is not for a sum is no error of the user's.
  ScopedDiagnosticHandler handler(context,
                                  [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> copy = (*statements).clone();
  for (const std::string &other : chosen)
    if (failed(applyChoice(other, *copy)))
      return std::nullopt;
  if (!script.empty() && failed(applyChoice(script, *copy)))
    return std::nullopt;
  PipelineOptions pipeline = options.measure.codegen.pipeline;
  pipeline.sparse = pipeline.entries = false;
  if (failed(compileToStage(*copy, Stage::Poly, pipeline)))
    return std::nullopt;
  return collectKernels(*copy);
}

double AlgorithmChooser::measure(ArrayRef<ProgramKernel> kernels) {
  double seconds = 0;
  for (const ProgramKernel &kernel : kernels)
    seconds += kernel.numCalls * cost.getSeconds(kernel);
  return seconds;
}

/// What the program's time depends on.
static std::vector<std::pair<StringRef, unsigned>>
listTexts(ArrayRef<ProgramKernel> kernels) {
  std::vector<std::pair<StringRef, unsigned>> texts;
  for (const ProgramKernel &kernel : kernels)
    texts.push_back({kernel.module.text, kernel.numCalls});
  llvm::sort(texts);
  return texts;
}

std::vector<TunedStatement> AlgorithmChooser::run() {
  std::vector<TunedStatement> compared;
  std::vector<Sum> sums = findSums();
  if (sums.empty())
    return compared;
  std::optional<std::vector<ProgramKernel>> best = form();
  if (!best)
    return compared;
  for (const Sum &sum : sums)
    for (StringRef algorithm : kAlgorithms) {
      if (options.measure.codegen.mustStop())
        return compared;
      std::string script = makeScript(sum.kernel, sum.computation, algorithm);
      auto kernels = form(script);
      // One of the two is the default's.
      if (!kernels || listTexts(*kernels) == listTexts(*best))
        continue;
      double original = measure(*best), seconds = measure(*kernels);
      // A guess is no reason to leave the default.
      bool isMeasured = cost.getCounts().numEstimated == 0;
      bool isFaster = isMeasured && seconds < kMinGain * original;
      compared.push_back({sum.kernel, algorithm.str(), original, seconds,
                          isFaster ? script : ""});
      if (!isFaster)
        continue;
      chosen.push_back(script);
      best = std::move(kernels);
    }
  return compared;
}

llvm::Expected<std::vector<TunedStatement>>
tuning::chooseAlgorithms(ModuleOp module, const TuneOptions &options) {
  // Somebody depends on plain sums.
  if (!options.measure.codegen.pipeline.winograd)
    return std::vector<TunedStatement>();
  AlgorithmChooser chooser(module, options);
  if (llvm::Error error = chooser.prepare())
    return std::move(error);
  return chooser.run();
}
