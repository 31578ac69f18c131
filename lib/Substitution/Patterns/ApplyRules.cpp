//===- ApplyRules.cpp - Simplifies graphs by proved rules -----------------===//

#include "espalier/Dialect/Graph/IR/Graph.h"
#include "espalier/Substitution/Library.h"
#include "espalier/Substitution/Patterns/Passes.h"
#include "espalier/Substitution/Patterns/Patterns.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/Dialect/PDLInterp/IR/PDLInterp.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/StringSet.h"

namespace espalier::substitution {
#define GEN_PASS_DEF_GRAPHAPPLYRULESPASS
#include "espalier/Substitution/Patterns/Passes.h.inc"
} // namespace espalier::substitution

using namespace mlir;
using namespace espalier::substitution;

static constexpr llvm::StringLiteral kUnproved = "espalier.unproved";

/// Adds the name of a rule to those that were used without a proof.
static void mark(Operation *op, StringRef rule) {
  SmallVector<Attribute> names;
  if (auto known = op->getAttrOfType<ArrayAttr>(kUnproved))
    names.assign(known.begin(), known.end());
  auto name = StringAttr::get(op->getContext(), rule);
  if (llvm::is_contained(names, name))
    return;
  names.push_back(name);
  op->setAttr(kUnproved, ArrayAttr::get(op->getContext(), names));
}

namespace {
struct GraphApplyRulesPass
    : espalier::substitution::impl::GraphApplyRulesPassBase<
          GraphApplyRulesPass> {
  using GraphApplyRulesPassBase::GraphApplyRulesPassBase;

  void runOnOperation() override {
    std::vector<UsableRule> rules;
    if (failed(load(rules)))
      return signalPassFailure();
    llvm::erase_if(rules, [&](const UsableRule &rule) {
      return !getCost(rule.rule, listTensors(rule.rule)).maySimplify() ||
             (exact && rule.rule.arithmetic != Arithmetic::Exact);
    });
    if (!rules.empty() && failed(apply(rules)))
      return signalPassFailure();
  }

private:
  LogicalResult load(std::vector<UsableRule> &rules) {
    if (files.empty())
      for (Rule &rule : loadLibrary())
        rules.push_back({std::move(rule), /*isProved=*/true});
    auto error = [&](const Twine &message) {
      emitError(getOperation()->getLoc(), message);
    };
    auto warn = [&](const Twine &message) {
      emitWarning(getOperation()->getLoc(), message);
    };
    bool isFaulty = false;
    for (const std::string &file : files)
      isFaulty |= failed(
          loadRuleFile(file, allowUnproved, &getContext(), rules, error, warn));
    return failure(isFaulty);
  }

  LogicalResult apply(ArrayRef<UsableRule> rules) {
    std::string text = "module {\n";
    llvm::raw_string_ostream os(text);
    bool hasPattern = false;
    for (const UsableRule &rule : rules) {
      std::string reason = emitPattern(rule, os);
      hasPattern |= reason.empty();
      if (!reason.empty() && !files.empty())
        emitWarning(getOperation()->getLoc())
            << "rule '" << rule.rule.name << "' is not applied: " << reason;
    }
    os << "}\n";
    if (!hasPattern)
      return success();
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(text, &getContext());
    if (!module)
      return failure();
    llvm::StringSet<> unproved;
    for (const UsableRule &rule : rules)
      if (!rule.isProved)
        unproved.insert(rule.rule.name);
    PDLPatternModule patterns(std::move(module));
    registerPatternFunctions(patterns, [&](const Rule &rule, Operation *op) {
      ++numApplied;
      remark::passed(op->getLoc(), remark::RemarkOpts::name("Applied").category(
                                       getArgument()))
          << remark::metric("Rule", rule.name);
      if (unproved.contains(rule.name))
        mark(op->getParentOp(), rule.name);
    });
    RewritePatternSet set(std::move(patterns));
    GreedyRewriteConfig config;
    // Each application leaves fewer operators.
    config.setMaxIterations(GreedyRewriteConfig::kNoLimit);
    return applyPatternsGreedily(
        getOperation(), FrozenRewritePatternSet(std::move(set)), config);
  }
};
} // namespace
