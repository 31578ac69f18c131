//===- Optimize.cpp - Makes graphs faster by substitutions ----------------===//

#include "Layouts.h"
#include <chrono>
#include <set>

using namespace mlir;
using namespace espalier::substitution;

namespace {
class BlockOptimizer {
public:
  BlockOptimizer(Block &block, SearchContext &context, RewriterBase &rewriter)
      : block(importBlock(block)), context(context), rewriter(rewriter) {}

  void run() {
    if (block->numOperators == 0 || block->root == kNone)
      return;
    NodeCosts costs(block->graph, context.model);
    Extraction problem{block->graph, block->root, costs};
    double before = problem.getSeconds(getOriginal(problem));
    Choice best = context.options.search == SearchOptions::Search::EGraph
                      ? searchEGraph(problem)
                      : backtrack(block->graph, block->root, context, costs);
    best = problem.restrict(best);
    double after = problem.getSeconds(best);
    context.result.numNodes += block->graph.getNumNodes();
    context.result.secondsBefore += before;
    // Less than that is rounding.
    if (!(after < before * (1 - 1e-6))) {
      context.result.secondsAfter += before;
      return;
    }
    context.result.secondsAfter += after;
    report(best);
    emitBlock(*block, best, rewriter);
  }

private:
  Choice searchEGraph(const Extraction &problem) {
    saturate(block->graph, context);
    problem.costs.forgetNodes();
    if (context.options.choosesOrders) {
      addLayouts(block->graph, context, problem.costs);
      problem.costs.forgetNodes();
    }
    Choice best = extractGreedily(problem, getOriginal(problem),
                                  [&] { return context.isTimeUp(); });
    if (context.options.extraction == SearchOptions::Extraction::Ilp)
      best = extractOptimally(problem, best, context.getSecondsLeft(),
                              context.result.isOptimal);
    return best;
  }

  /// Which substitutions are part of the result.
  void report(const Choice &choice) {
    std::set<unsigned> used;
    for (ENodeId id : choice)
      for (unsigned origin = id == kNone ? kNone
                                         : block->graph.getNode(id).origin;
           origin != kNone; origin = context.applications[origin].before)
        used.insert(origin);
    for (unsigned origin : used) {
      const Application &application = context.applications[origin];
      context.result.substitutions.push_back({application.rule.str(),
                                              application.source->getLoc(),
                                              application.gain});
    }
  }

  std::unique_ptr<BlockGraph> block;
  SearchContext &context;
  RewriterBase &rewriter;
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
                        [&] { return options.maxSeconds - getSeconds(); },
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
