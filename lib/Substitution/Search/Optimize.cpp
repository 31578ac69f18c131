//===- Optimize.cpp - Makes graphs faster by substitutions ----------------===//

#include "Checks/EmitVersions.h"
#include "Extract.h"
#include "Layouts.h"
#include "Saturate.h"
#include "llvm/Support/MathExtras.h"
#include <chrono>
#include <set>

using namespace mlir;
using namespace espalier::substitution;

namespace {
/// A search of a block, under assumptions or not.
struct Attempt {
  std::unique_ptr<BlockGraph> block;
  std::unique_ptr<Assumptions> assumptions;
  Choice best;
  double before = 0, after = 0;

  /// Less than that is rounding.
  bool isBetterThan(double seconds) const {
    return after < seconds * (1 - 1e-6);
  }
  ArrayRef<Clause> getAssumed() const {
    return assumptions ? assumptions->getAssumed() : ArrayRef<Clause>();
  }
};

class BlockOptimizer {
public:
  BlockOptimizer(Block &block, SearchContext &context, RewriterBase &rewriter)
      : block(block), context(context), rewriter(rewriter) {}

  void run() {
    Attempt best = search(/*maxClauses=*/0, nullptr);
    if (best.best.empty())
      return;
    context.result.secondsBefore += best.before;
    bool mayAssume = best.assumptions && best.assumptions->hasRefused() &&
                     canHaveVersions(block);
    if (mayAssume && context.options.maxChecks > 0) {
      Attempt assuming = searchAssuming();
      if (assuming.isBetterThan(best.after))
        best = std::move(assuming);
    }
    if (!best.isBetterThan(best.before)) {
      context.result.secondsAfter += best.before;
      return;
    }
    context.result.secondsAfter += best.after;
    report(best);
    if (best.getAssumed().empty())
      emitBlock(*best.block, best.best, rewriter);
    else
      emitVersions(*best.block, best.best, best.getAssumed(), extents,
                   rewriter);
  }

private:
  /// Searches with assumptions, then again with those that the result needs,
  /// and no more than are allowed.
  Attempt searchAssuming() {
    unsigned maxChecks = context.options.maxChecks;
    Attempt all =
        search(llvm::SaturatingMultiply(kExploredChecks, maxChecks), nullptr);
    std::vector<Clause> needed = listNeeded(all);
    auto isNeeded = [&](const Clause &clause) {
      return llvm::is_contained(needed, clause);
    };
    bool areFew = all.getAssumed().size() <= maxChecks;
    if (areFew && llvm::all_of(all.getAssumed(), isNeeded))
      return all;
    Attempt fewer = search(maxChecks, &needed);
    bool isWorse = areFew && all.isBetterThan(fewer.after);
    return isWorse ? std::move(all) : std::move(fewer);
  }

  Attempt search(unsigned maxClauses, const std::vector<Clause> *allowed) {
    Attempt attempt;
    attempt.block = importBlock(block);
    BlockGraph &imported = *attempt.block;
    if (imported.numOperators == 0 || imported.root == kNone)
      return attempt;
    NodeCosts costs(imported.graph, context.model);
    Extraction problem{imported.graph, imported.root, costs};
    Choice original = getOriginal(problem);
    attempt.before = problem.getSeconds(original);
    if (hasUnknownExtents(imported.graph))
      attempt.assumptions = std::make_unique<Assumptions>(
          imported.graph, extents, problem.getOrder(original), maxClauses,
          allowed);
    context.assumptions = attempt.assumptions.get();
    attempt.best =
        context.options.search == SearchOptions::Search::EGraph
            ? searchEGraph(imported.graph, problem)
            : backtrack(imported.graph, imported.root, context, costs);
    attempt.best = problem.restrict(attempt.best);
    attempt.after = problem.getSeconds(attempt.best);
    context.assumptions = nullptr;
    context.result.numNodes += imported.graph.getNumNodes();
    return attempt;
  }

  static bool hasUnknownExtents(const EGraph &graph) {
    for (ClassId id = 0; id < graph.getNumClassIds(); ++id) {
      auto type = dyn_cast_or_null<RankedTensorType>(graph[id].type);
      if (type && !type.hasStaticShape())
        return true;
    }
    return false;
  }

  Choice searchEGraph(EGraph &graph, const Extraction &problem) {
    saturate(graph, context);
    problem.costs.forgetNodes();
    if (context.options.choosesOrders) {
      addLayouts(graph, context, problem.costs);
      problem.costs.forgetNodes();
    }
    Choice best = extractGreedily(problem, getOriginal(problem),
                                  [&] { return context.isTimeUp(); });
    if (context.options.extraction == SearchOptions::Extraction::Ilp)
      best = extractOptimally(problem, best, context.getSecondsLeft(),
                              context.result.isOptimal);
    return best;
  }

  /// Which applications are part of the result.
  std::set<unsigned> listApplications(const Attempt &attempt) const {
    std::set<unsigned> used;
    for (ENodeId id : attempt.best)
      for (unsigned origin =
               id == kNone ? kNone : attempt.block->graph.getNode(id).origin;
           origin != kNone; origin = context.applications[origin].before)
        used.insert(origin);
    return used;
  }

  /// What the applications that are part of the result assume. Others may have
  /// led to them, so this is a guess.
  std::vector<Clause> listNeeded(const Attempt &attempt) const {
    std::vector<Clause> needed;
    for (unsigned origin : listApplications(attempt))
      for (const Clause &clause : context.applications[origin].assumed)
        if (!llvm::is_contained(needed, clause))
          needed.push_back(clause);
    return needed;
  }

  void report(const Attempt &attempt) {
    for (unsigned origin : listApplications(attempt)) {
      const Application &application = context.applications[origin];
      context.result.substitutions.push_back({application.rule.str(),
                                              application.source->getLoc(),
                                              application.gain});
    }
    for (const Clause &clause : attempt.getAssumed())
      context.result.checks.push_back(
          {toString(clause, extents), block.getParentOp()->getLoc()});
  }

  /// A search may meet so many times the conditions that a result may have:
  /// most of them turn out to be of no use.
  static constexpr unsigned kExploredChecks = 4;

  Block &block;
  SearchContext &context;
  RewriterBase &rewriter;
  ExtentTable extents;
};
} // namespace

SearchResult espalier::substitution::optimizeGraphs(
    Operation *root, const RuleSet &rules, CostModel &model,
    const SearchOptions &options, RewriterBase &rewriter) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  double measuredBefore = model.getSecondsMeasuring();
  auto getSeconds = [&] {
    double elapsed =
        std::chrono::duration<double>(Clock::now() - start).count();
    return elapsed - (model.getSecondsMeasuring() - measuredBefore);
  };
  SearchContext context{rules.getRules(),
                        model,
                        options,
                        [&] {
                          bool stops =
                              options.isCancelled && options.isCancelled();
                          return stops ? 0 : options.maxSeconds - getSeconds();
                        },
                        {},
                        {},
                        {},
                        {},
                        {},
                        {}};
  for (const ProvedRule &rule : context.rules)
    context.patterns.emplace_back(rule, context.recognizer);
  SmallVector<Block *> blocks;
  root->walk([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        blocks.push_back(&block);
  });
  for (Block *block : blocks)
    BlockOptimizer(*block, context, rewriter).run();
  context.result.seconds = getSeconds();
  return context.result;
}
