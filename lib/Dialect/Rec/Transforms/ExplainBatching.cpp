//===- ExplainBatching.cpp - Says what is computed when -------------------===//

#include "espalier/Dialect/Rec/Transforms/Passes.h"
#include "espalier/Dialect/Rec/Transforms/Transforms.h"

namespace espalier::rec {
#define GEN_PASS_DEF_RECEXPLAINBATCHINGPASS
#include "espalier/Dialect/Rec/Transforms/Passes.h.inc"
} // namespace espalier::rec

using namespace mlir;
using namespace espalier;
using namespace espalier::rec;

/// Whether a value that depends on no child is computed before the recursion.
static bool isHoisted(ModelOp model, Value value) {
  auto op = value.getDefiningOp<graph::DefinedOpInterface>();
  return model.getHoist() || (op && looksUp(op));
}

static StringRef describe(ModelOp model, Value value) {
  switch (getCellPart(value)) {
  case CellPart::Once:
    return "is computed once, as it depends on weights alone";
  case CellPart::EachNode:
    return isHoisted(model, value)
               ? "is hoisted: computed for all interior nodes before the "
                 "recursion, as it depends on no child"
               : "is computed in the recursion, as the model does not hoist "
                 "what depends on no child";
  case CellPart::Recursion:
    return model.getBatching() == Batching::Levels
               ? "is computed in the recursion, for all nodes of a level"
               : "is computed in the recursion, node by node";
  }
  llvm_unreachable("all parts are handled");
}

static void explainLeaves(ModelOp model, YieldOp yield, Explanation say) {
  for (auto [number, value] : llvm::enumerate(yield.getOperands())) {
    std::string result = "result #" + std::to_string(number);
    if (getCellPart(value) != CellPart::Once)
      say(yield, result + " is stored for each leaf");
    else if (model.getSpecialize())
      say(yield, result + " is the same for all leaves, and is not stored for "
                          "each");
    else
      say(yield, result +
                     " is the same for all leaves, but is stored for each, "
                     "as the model is not specialized");
  }
}

/// Says whether a term could be computed with the child.
static void explainTerm(Operation *op, Explanation say) {
  if (llvm::Error error = checkRefactoring(op))
    say(op, "stays in the parent's cell: " + llvm::toString(std::move(error)));
  else
    say(op, "could be computed with the child: rec-refactor moves it");
}

void espalier::rec::explainBatching(ModelOp model, Explanation say) {
  bool hasLevels = model.getBatching() == Batching::Levels;
  say(model, "'@" + model.getSymName() +
                 "' computes leaves first, then interior nodes " +
                 (hasLevels ? "level by level" : "one by one"));
  Block &leaf = model.getCase(Case::Leaf).getBody().front();
  explainLeaves(model, cast<YieldOp>(leaf.back()), say);
  model.getCase(Case::Interior).walk([&](graph::DefinedOpInterface op) {
    say(op, describe(model, op->getResult(0)));
    if (hasSum(op) && getCellPart(op->getResult(0)) == CellPart::Recursion)
      explainTerm(op, say);
  });
}

namespace {
struct RecExplainBatchingPass
    : espalier::rec::impl::RecExplainBatchingPassBase<RecExplainBatchingPass> {
  using RecExplainBatchingPassBase::RecExplainBatchingPassBase;

  void runOnOperation() override {
    getOperation()->walk([](ModelOp model) {
      explainBatching(model, [](Operation *op, const Twine &text) {
        op->emitRemark(text);
      });
    });
    markAllAnalysesPreserved();
  }
};
} // namespace
