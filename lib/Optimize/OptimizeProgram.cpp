//===- OptimizeProgram.cpp - Faster programs by substitutions -------------===//

#include "espalier/Optimize/OptimizeProgram.h"
#include "Describe.h"
#include "espalier/Dialect/Graph/IR/RepeatsBody.h"
#include "espalier/Optimize/OperatorCost.h"
#include "espalier/Pipeline/Pipeline.h"
#include "espalier/Substitution/Library.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::substitution;

/// The largest difference of outputs that rounding explains. A program that
/// differs by more is not used.
static constexpr double kTolerance = 1e-4;

/// Orders of tensors are chosen only if all kernels take together at most this
/// part of the time: copies are passes over memory, and what is in the caches
/// then is not in the sum.
static constexpr double kOrdersGain = 0.95;

static constexpr llvm::StringLiteral kSpellings[] = {
#define ESPALIER_OPTIMIZATION_SPELLING(name, spelling) spelling,
    ESPALIER_FOR_EACH_OPTIMIZATION(ESPALIER_OPTIMIZATION_SPELLING)
#undef ESPALIER_OPTIMIZATION_SPELLING
};

static StringRef getSpelling(Optimization optimization) {
  return kSpellings[static_cast<size_t>(optimization)];
}

std::optional<Optimization> espalier::parseOptimization(StringRef text) {
  for (auto [index, spelling] : llvm::enumerate(kSpellings))
    if (text == spelling)
      return static_cast<Optimization>(index);
  return std::nullopt;
}

std::string espalier::listOptimizations() {
  return llvm::join(ArrayRef(kSpellings), ", ");
}

namespace {
/// One optimization, and the report about it.
class Optimizer {
public:
  Optimizer(ModuleOp module, const OptimizeOptions &options)
      : module(module), options(options),
        kernels(module.getContext(), makeCostOptions(module, options.cost),
                [this](const std::string &text) { warnings.push_back(text); }) {
    report["optimize"] = getSpelling(options.optimization);
    report["threads"] = options.cost.measure.threads;
  }

  /// Searches, and changes the module if a faster graph is predicted. Returns
  /// whether it did.
  FailureOr<bool> search();

  /// Says which of two programs is to be used, the second one if `isFaster`.
  void choose(bool isOptimized, const Twine &reason) {
    report["result"] = isOptimized ? "optimized" : "original";
    report["reason"] = reason.str();
  }

  /// Compares the programs and chooses.
  bool compare(const CompiledProgram &original,
               const CompiledProgram &optimized);

  OptimizeReport takeReport() {
    const KernelCostCounts &counts = kernels.getCounts();
    report["kernels"] = llvm::json::Object{{"found", counts.numFound},
                                           {"measured", counts.numMeasured},
                                           {"estimated", counts.numEstimated}};
    report["measuring_s"] = counts.secondsMeasuring;
    report["warnings"] = std::move(warnings);
    return std::move(report);
  }

private:
  /// Constants are measured as they are found in the network.
  static KernelCostOptions makeCostOptions(ModuleOp module,
                                           KernelCostOptions cost) {
    cost.measure.constantBytes = roundConstantBytes(countConstantBytes(module));
    return cost;
  }

  SearchOptions getSearchOptions();

  /// Searches for a module that is faster than `graph`, and changes that. The
  /// orders of tensors are chosen only if that gains in the kernels that the
  /// whole becomes: by itself, a kernel may take less time than among others.
  FailureOr<SearchResult> searchOrders(ModuleOp graph, const RuleSet &rules);

  ModuleOp module;
  const OptimizeOptions &options;
  llvm::json::Array warnings;
  KernelCost kernels;
  OptimizeReport report;
};
} // namespace

/// Whether all tensors of `module` have known extents.
static bool hasKnownSizes(ModuleOp module) {
  auto isKnown = [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return !shaped || shaped.hasStaticShape();
  };
  WalkResult result = module.walk([&](Operation *op) {
    return llvm::all_of(op->getResultTypes(), isKnown) &&
                   llvm::all_of(op->getOperandTypes(), isKnown)
               ? WalkResult::advance()
               : WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

SearchOptions Optimizer::getSearchOptions() {
  SearchOptions search = options.search;
  bool isBacktracking = options.optimization == Optimization::Backtracking;
  search.search = isBacktracking ? SearchOptions::Search::Backtracking
                                 : SearchOptions::Search::EGraph;
  search.extraction = options.optimization == Optimization::Ilp
                          ? SearchOptions::Extraction::Ilp
                          : SearchOptions::Extraction::Greedy;
  search.isCancelled = options.cost.measure.codegen.isCancelled;
  return search;
}

FailureOr<SearchResult> Optimizer::searchOrders(ModuleOp graph,
                                                const RuleSet &rules) {
  OperatorCostModel model(graph.getContext(), kernels);
  IRRewriter rewriter(graph.getContext());
  SearchOptions search = getSearchOptions();
  OwningOpRef<ModuleOp> plain = graph.clone();
  SearchResult result = optimizeGraphs(graph, rules, model, search, rewriter);
  if (llvm::none_of(result.substitutions, [](const Substitution &made) {
        return made.rule == kLayoutRule;
      }))
    return result;
  search.choosesOrders = false;
  SearchResult other = optimizeGraphs(*plain, rules, model, search, rewriter);
  FailureOr<double> withOrders = kernels.getProgramSeconds(graph);
  FailureOr<double> without = kernels.getProgramSeconds(*plain);
  if (failed(withOrders) || failed(without))
    return failure();
  double seconds = result.seconds + other.seconds;
  if (*without * kOrdersGain <= *withOrders) {
    result = std::move(other);
    graph.getBodyRegion().takeBody(plain->getBodyRegion());
  }
  result.seconds = seconds;
  return result;
}

FailureOr<bool> Optimizer::search() {
  RuleSet rules;
  rules.addProved(loadNetworkRules());
  rules.addWindowRules(module);
  if (options.explains)
    report["graph_before"] = describeGraph(module);
  OwningOpRef<ModuleOp> before = module.clone();
  FailureOr<SearchResult> searched = searchOrders(module, rules);
  if (failed(searched))
    return failure();
  const SearchResult &result = *searched;
  report["search_s"] = std::max(result.seconds, 0.0);
  report["rules"] = static_cast<int64_t>(rules.getRules().size());
  report["substitutions"] = describeSubstitutions(result.substitutions);
  llvm::json::Array checks;
  for (const Check &check : result.checks)
    checks.push_back(check.condition);
  report["checks"] = std::move(checks);
  report["predicted_before_s"] = result.secondsBefore;
  report["predicted_after_s"] = result.secondsAfter;
  if (options.explains) {
    report["graph_after"] = describeGraph(module);
    report["proofs"] = describeProofs(result.substitutions, rules);
  }
  // Steps between what importers write and what rules say gain, too.
  if (!(result.secondsAfter < result.secondsBefore)) {
    choose(false, "no substitution is predicted to gain");
    return false;
  }
  FailureOr<double> secondsBefore = kernels.getProgramSeconds(*before);
  FailureOr<double> secondsAfter = kernels.getProgramSeconds(module);
  if (failed(secondsBefore) || failed(secondsAfter))
    return failure();
  report["kernels_before_s"] = *secondsBefore;
  report["kernels_after_s"] = *secondsAfter;
  // Operators by themselves are not the program: what it becomes decides,
  // before any measurement. Of unknown sizes kernels tell nothing.
  if (!(*secondsAfter < *secondsBefore) && hasKnownSizes(*before)) {
    choose(false,
           "the kernels of the whole are predicted to take no less time");
    module.getBodyRegion().takeBody(before->getBodyRegion());
    return false;
  }
  return true;
}

bool Optimizer::compare(const CompiledProgram &original,
                        const CompiledProgram &optimized) {
  auto result = comparePrograms(original, optimized, options.compare);
  if (!result) {
    choose(false, "cannot be compared: " + llvm::toString(result.takeError()));
    return false;
  }
  report["measured_before_s"] = result->first;
  report["measured_after_s"] = result->second;
  report["measured_ratio"] = result->ratio;
  report["error"] = std::min(result->error, 1e300);
  // Not above: what is no number is no difference that rounding explains.
  if (!(result->error <= kTolerance)) {
    choose(false, "outputs differ");
    return false;
  }
  if (!result->isSecondFaster()) {
    choose(false, "no faster when run");
    return false;
  }
  choose(true, "faster when run");
  return true;
}

FailureOr<OptimizeReport>
espalier::optimizeModule(ModuleOp module, const OptimizeOptions &options) {
  Optimizer optimizer(module, options);
  FailureOr<bool> changed = optimizer.search();
  if (failed(changed))
    return failure();
  if (*changed)
    optimizer.choose(true, "predicted to be faster");
  return optimizer.takeReport();
}

/// Whether data say what is computed, and how often. Made-up inputs would be no
/// such data: a program may compute nothing of them, and leave results as they
/// were.
static bool dependsOnStructures(ModuleOp module) {
  return module
      ->walk([](Operation *op) {
        return op->hasTrait<graph::OpTrait::RepeatsBody>()
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Optimizes, compiles both programs, and returns the one to be used.
static FailureOr<CompiledProgram>
compileAndCompare(ModuleOp module, const CodegenOptions &codegen,
                  const CacheOptions &cache, const OptimizeOptions &options) {
  OwningOpRef<ModuleOp> original = module.clone();
  Optimizer optimizer(module, options);
  FailureOr<bool> changed = optimizer.search();
  if (failed(changed))
    return failure();
  bool isComparable = !dependsOnStructures(*original);
  FailureOr<CompiledProgram> program = compileCached(*original, codegen, cache);
  if (failed(program))
    return failure();
  if (*changed && !isComparable) {
    optimizer.choose(false, "cannot be compared: expects a program that runs "
                            "on any inputs, but got one of recursive models");
  } else if (*changed) {
    FailureOr<CompiledProgram> optimized = compileModule(module, codegen);
    if (failed(optimized))
      return failure();
    if (optimizer.compare(*program, *optimized))
      program = std::move(optimized);
  }
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(optimizer.takeReport());
  return program->withOptimization(std::move(text));
}

FailureOr<CompiledProgram> espalier::compileOptimized(
    ModuleOp module, const CodegenOptions &codegen, const CacheOptions &cache,
    const OptimizeOptions &options, CacheResult *result) {
  FailureOr<Stage> stage = detectStage(module);
  if (failed(stage))
    return failure();
  if (options.optimization == Optimization::None || *stage != Stage::Graph)
    return compileCached(module, codegen, cache, result);
  std::string key = computeCacheKey(module, codegen) + "-" +
                    getSpelling(options.optimization).str() + "-" +
                    std::to_string(options.compare.threads);
  return compileCached(
      key, module.getLoc(), cache,
      [&] { return compileAndCompare(module, codegen, cache, options); },
      result);
}
