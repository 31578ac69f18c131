//===- ProgramChoices.cpp - What is chosen before kernels are formed ------===//

#include "espalier/Tuning/ProgramChoices.h"
#include "Script.h"
#include "espalier/Dialect/Poly/Analysis/Extents.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"
#include <array>
#include <chrono>

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

/// Another program has to be faster by this, for noise.
static constexpr double kMinGain = 0.98;
/// Seconds for choosing, of a search without a limit; otherwise a share.
static constexpr double kSeconds = 60, kShare = 0.25;
/// The extent of a window that algorithms are for.
static constexpr int64_t kWindow = 3;

namespace {
/// A command, and what it can choose: one of two is what happens by default.
struct Command {
  StringLiteral name;
  std::array<StringLiteral, 2> options;
  /// What keys of records begin with.
  StringLiteral key;
};

/// A computation that there is something to choose for.
struct Place {
  const Command *command;
  std::string kernel, computation;
};
} // namespace

static constexpr Command kAlgorithm = {
    "algorithm", {"direct", "winograd"}, "statement "};
static constexpr Command kFusion = {"fusion", {"separate", "fused"}, "fusion "};
static constexpr const Command *kCommands[] = {&kAlgorithm, &kFusion};

//===----------------------------------------------------------------------===//
// Scripts
//===----------------------------------------------------------------------===//

static std::string makeScript(const Place &place, StringRef option) {
  return llvm::formatv(R"(module attributes {{transform.with_named_sequence} {{
  transform.named_sequence @__transform_main(%module: !transform.any_op {{transform.readonly}) {{
    %target = transform.poly.computation @{0}::@{1} of %module : (!transform.any_op) -> !transform.any_op
    transform.poly.{2} %target {3} : !transform.any_op
    transform.yield
  }
}
)",
                       place.kernel, place.computation, place.command->name,
                       option)
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
  // Whether it is possible is known where kernels are formed.
  OwningOpRef<ModuleOp> formed = (*copy).clone();
  if (failed(compileToStage(*formed, Stage::Poly, codegen.pipeline)))
    return llvm::createStringError(error.getText());
  module.getBodyRegion().takeBody((*copy).getBodyRegion());
  return llvm::Error::success();
}

static std::string describeMeasuring(const MeasureOptions &options) {
  return llvm::formatv("{0} {1}", options.threads, options.constantBytes).str();
}

std::string tuning::getChoiceKey(const TunedStatement &statement,
                                 const MeasureOptions &options) {
  const auto *command = llvm::find_if(kCommands, [&](const Command *command) {
    return command->name == statement.command;
  });
  return ((*command)->key + statement.name + " " + describeMeasuring(options))
      .str();
}

std::optional<std::string>
tuning::parseChoiceKey(StringRef key, const MeasureOptions &options) {
  if (!key.consume_back(" " + describeMeasuring(options)))
    return std::nullopt;
  for (const Command *command : kCommands)
    // Who depends on plain sums gets no others.
    if (key.consume_front(command->key))
      return command != &kAlgorithm || options.codegen.pipeline.winograd
                 ? std::optional(key.str())
                 : std::nullopt;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

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

/// Adds the kernels that read `buffer`, or a view of it.
static void findReaders(ModuleOp module, Value buffer,
                        llvm::SetVector<Operation *> &readers) {
  for (OpOperand &use : buffer.getUses()) {
    if (isa<ViewLikeOpInterface>(use.getOwner())) {
      findReaders(module, use.getOwner()->getResult(0), readers);
      continue;
    }
    auto call = dyn_cast<poly::CallOp>(use.getOwner());
    auto kernel = call ? module.lookupSymbol<poly::KernelOp>(call.getCallee())
                       : poly::KernelOp();
    if (kernel &&
        llvm::any_of(kernel.getComputes(), [&](poly::ComputeOp compute) {
          return llvm::is_contained(
              compute.getReads(),
              Value(kernel.getArgument(use.getOperandNumber())));
        }))
      readers.insert(kernel);
  }
}

/// Whether it matters who reads what `call` computes: a reduction, which does
/// more than what it joins, or several, which may compute it again each.
static bool hasDemandingReaders(ModuleOp module, poly::CallOp call,
                                poly::KernelOp kernel) {
  poly::ComputeOp last = kernel.getComputes().back();
  auto argument = dyn_cast<BlockArgument>(last.getWrites().front());
  Value buffer = argument ? call->getOperand(argument.getArgNumber()) : Value();
  if (!buffer || !buffer.getDefiningOp<memref::AllocOp>())
    return false;
  llvm::SetVector<Operation *> readers;
  findReaders(module, buffer, readers);
  readers.remove(kernel);
  return readers.size() > 1 || llvm::any_of(readers, [](Operation *reader) {
           return llvm::any_of(
               cast<poly::KernelOp>(reader).getComputes(),
               [](poly::ComputeOp compute) { return compute.getReduction(); });
         });
}

/// Finds what there is to choose for a program at stage `statements`.
static std::vector<Place> findPlaces(ModuleOp module, bool choosesAlgorithms) {
  std::vector<Place> places;
  auto add = [&](const Command &command, poly::ComputeOp compute) {
    places.push_back({&command, compute.getKernel().getSymName().str(),
                      compute.getSymName().str()});
  };
  if (choosesAlgorithms)
    for (auto kernel : module.getOps<poly::KernelOp>())
      for (poly::ComputeOp compute : kernel.getComputes())
        if (hasWindow(compute))
          add(kAlgorithm, compute);
  module.walk([&](poly::CallOp call) {
    auto kernel = module.lookupSymbol<poly::KernelOp>(call.getCallee());
    if (kernel && hasDemandingReaders(module, call, kernel))
      add(kFusion, kernel.getComputes().back());
  });
  return places;
}

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

namespace {
/// Compares what a program becomes with different choices.
class Chooser {
public:
  Chooser(ModuleOp module, const TuneOptions &options, const KernelTimer &timer)
      : context(module.getContext()), options(options), timer(timer),
        statements(module.clone()) {}

  llvm::Error prepare();
  std::vector<TunedStatement> run();

private:
  using Kernels = std::vector<ProgramKernel>;

  /// The kernels of the program with what is chosen so far and one choice more;
  /// nothing if they cannot be formed.
  std::optional<Kernels> form(StringRef script = "");
  std::optional<double> measure(ArrayRef<ProgramKernel> kernels);
  bool mustStop() const;
  /// Compares what a choice changes with what is best so far, and keeps what is
  /// faster. Fails if their times are not known.
  LogicalResult compare(const Place &place);

  MLIRContext *context;
  const TuneOptions &options;
  const KernelTimer &timer;
  std::chrono::steady_clock::time_point start =
      std::chrono::steady_clock::now();
  OwningOpRef<ModuleOp> statements;
  std::vector<std::string> chosen;
  Kernels best;
  std::vector<TunedStatement> compared;
};
} // namespace

static double getSeconds(const TuneOptions &options) {
  return options.seconds > 0 ? std::min(kShare * options.seconds, kSeconds)
                             : kSeconds;
}

llvm::Error Chooser::prepare() {
  if (llvm::Error error = setMachine(*statements, options.measure.codegen))
    return error;
  if (failed(compileToStage(*statements, Stage::Statements,
                            options.measure.codegen.pipeline)))
    return llvm::createStringError("expects a model that can be compiled");
  return llvm::Error::success();
}

std::optional<std::vector<ProgramKernel>> Chooser::form(StringRef script) {
  // That a choice does not fit is no error of the user's.
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

std::optional<double> Chooser::measure(ArrayRef<ProgramKernel> kernels) {
  double seconds = 0;
  for (const ProgramKernel &kernel : kernels) {
    std::optional<double> one = timer(kernel);
    if (!one)
      return std::nullopt;
    seconds += kernel.numCalls * *one;
  }
  return seconds;
}

bool Chooser::mustStop() const {
  std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - start;
  return options.measure.codegen.mustStop() ||
         elapsed.count() > getSeconds(options);
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

LogicalResult Chooser::compare(const Place &place) {
  for (StringRef option : place.command->options) {
    if (mustStop())
      return failure();
    std::string script = makeScript(place, option);
    std::optional<Kernels> kernels = form(script);
    if (!kernels || listTexts(*kernels) == listTexts(best))
      continue;
    // A guess is no reason to leave the default.
    std::optional<double> original = measure(best), seconds = measure(*kernels);
    if (!original || !seconds)
      return failure();
    bool isFaster = *seconds < kMinGain * *original;
    compared.push_back({place.kernel, place.command->name.str(), option.str(),
                        *original, *seconds, isFaster ? script : ""});
    if (!isFaster)
      continue;
    chosen.push_back(script);
    best = std::move(*kernels);
    // The other one is what there was before.
    return success();
  }
  return success();
}

std::vector<TunedStatement> Chooser::run() {
  std::vector<Place> places =
      findPlaces(*statements, options.measure.codegen.pipeline.winograd);
  if (places.empty())
    return {};
  std::optional<Kernels> kernels = form();
  if (!kernels)
    return {};
  best = std::move(*kernels);
  for (const Place &place : places)
    if (failed(compare(place)))
      break;
  return std::move(compared);
}

llvm::Expected<std::vector<TunedStatement>>
tuning::compareChoices(ModuleOp module, const TuneOptions &options,
                       const KernelTimer &timer) {
  Chooser chooser(module, options, timer);
  if (llvm::Error error = chooser.prepare())
    return std::move(error);
  return chooser.run();
}

llvm::Expected<std::vector<TunedStatement>>
tuning::chooseStatements(ModuleOp module, const TuneOptions &options) {
  KernelCostOptions costs;
  costs.measure = options.measure;
  costs.budget = getSeconds(options);
  KernelCost cost(module.getContext(), costs, [](const std::string &) {});
  return compareChoices(
      module, options,
      [&](const ProgramKernel &kernel) -> std::optional<double> {
        double seconds = cost.getSeconds(kernel);
        if (cost.getCounts().numEstimated > 0)
          return std::nullopt;
        return seconds;
      });
}
