//===- GraphOptimize.cpp - The pass that searches -------------------------===//

#include "espalier/Dialect/Graph/IR/Graph.h"
#include "espalier/Substitution/Library.h"
#include "espalier/Substitution/Search/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MemoryBuffer.h"

namespace espalier::substitution {
#define GEN_PASS_DEF_GRAPHOPTIMIZEPASS
#include "espalier/Substitution/Search/Passes.h.inc"
} // namespace espalier::substitution

using namespace mlir;
using namespace espalier::substitution;

static constexpr llvm::StringLiteral kRemarkCategory = "graph-optimize";

namespace {
struct GraphOptimizePass
    : espalier::substitution::impl::GraphOptimizePassBase<GraphOptimizePass> {
  using GraphOptimizePassBase::GraphOptimizePassBase;

  void runOnOperation() override {
    if (failed(checkOptions()))
      return signalPassFailure();
    RuleSet rules;
    for (const std::string &file : ruleFiles)
      if (failed(load(file, rules)))
        return signalPassFailure();
    if (ruleFiles.empty()) {
      rules.addProved(loadNetworkRules());
      rules.addWindowRules(getOperation());
    }
    SearchOptions options;
    options.search = search;
    options.extraction = extraction;
    options.maxNodes = maxNodes;
    options.maxIterations = maxIterations;
    options.maxMergingIterations = maxMergingIterations;
    options.maxGraphs = maxGraphs;
    options.alpha = alpha;
    options.maxSeconds = maxSeconds;
    options.maxChecks = maxChecks;
    TableCostModel model;
    if (!costFile.empty() && failed(loadCosts(model)))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    SearchResult result =
        optimizeGraphs(getOperation(), rules, model, options, rewriter);
    report(result);
  }

private:
  LogicalResult checkOptions() {
    auto error = [&] {
      return getOperation()->emitError("graph-optimize expects ");
    };
    if (!(alpha >= 1))
      return error() << "alpha of at least 1, but got " << alpha.getValue();
    if (!(maxSeconds > 0))
      return error() << "max-seconds above 0, but got "
                     << maxSeconds.getValue();
    if (maxNodes == 0 || maxNodes > kMaxNodes)
      return error() << "max-nodes from 1 to " << kMaxNodes << ", but got "
                     << maxNodes.getValue();
    return success();
  }

  LogicalResult load(StringRef file, RuleSet &rules) {
    Operation *op = getOperation();
    return rules.addFile(
        file,
        [&](const Twine &message) {
          op->emitError("rules of '") << file << "': " << message;
        },
        [&](const Twine &message) {
          op->emitWarning("rules of '") << file << "': " << message;
        });
  }

  LogicalResult loadCosts(TableCostModel &model) {
    auto error = [&] {
      return getOperation()->emitError("costs of '") << costFile << "': ";
    };
    auto buffer = llvm::MemoryBuffer::getFile(costFile, /*IsText=*/true);
    if (!buffer)
      return error() << "cannot read: " << buffer.getError().message();
    return model.add((*buffer)->getBuffer(),
                     [&](unsigned line, const Twine &message) {
                       error() << "line " << line << ": " << message;
                     });
  }

  void report(const SearchResult &result) {
    numSubstitutions += result.substitutions.size();
    numChecks += result.checks.size();
    numMatches += result.numMatches;
    numNodes += result.numNodes;
    numGraphs += result.numGraphs;
    for (const Substitution &substitution : result.substitutions)
      remark::passed(
          substitution.location,
          remark::RemarkOpts::name("Substituted").category(kRemarkCategory))
          << remark::metric("Rule", substitution.rule)
          << remark::metric("PredictedGain", substitution.gain);
    for (const Check &check : result.checks)
      remark::analysis(
          check.location,
          remark::RemarkOpts::name("Checked").category(kRemarkCategory))
          << remark::metric("Condition", check.condition);
    remark::analysis(
        getOperation()->getLoc(),
        remark::RemarkOpts::name("Searched").category(kRemarkCategory))
        << remark::metric("SecondsBefore", result.secondsBefore)
        << remark::metric("SecondsAfter", result.secondsAfter)
        << remark::metric("Substitutions", result.substitutions.size())
        << remark::metric("Operators", result.numNodes)
        << remark::metric("Matches", result.numMatches)
        << remark::metric("HitLimit", result.hitLimit);
  }

  /// A node takes about half a kilobyte.
  static constexpr unsigned kMaxNodes = 4000000;
};
} // namespace
