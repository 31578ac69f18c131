//===- CellParts.cpp - When values of cells are computed ------------------===//

#include "espalier/Dialect/Rec/Transforms/Transforms.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::rec;

CellPart espalier::rec::getCellPart(Value value) {
  CellPart part = CellPart::Once;
  SmallVector<Value> worklist{value};
  llvm::DenseSet<Value> seen{value};
  auto add = [&](Value next) {
    if (seen.insert(next).second)
      worklist.push_back(next);
  };
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op) {
      // The results of a child, or an argument of the model.
      if (isa<ChildrenOp>(next.getParentBlock()->getParentOp()))
        return CellPart::Recursion;
      continue;
    }
    if (isa<CallOp>(op))
      return CellPart::Recursion;
    if (isa<FeatureOp>(op)) {
      part = CellPart::EachNode;
      continue;
    }
    // A number of children belongs to each node, whatever is added up.
    if (auto children = dyn_cast<ChildrenOp>(op)) {
      part = CellPart::EachNode;
      for (Value yielded : children.getBody().front().back().getOperands())
        add(yielded);
    }
    for (Value operand : op->getOperands())
      add(operand);
  }
  return part;
}

/// Whether there is a reduction in `expr`.
static bool isSum(definition::Expr expr) {
  bool found = false;
  definition::transform(expr, [&](definition::Expr e) -> definition::Expr {
    found |= e.getKind() == definition::Expr::Kind::Reduce;
    return {};
  });
  return found;
}

bool espalier::rec::hasSum(Operation *op) {
  auto defined = dyn_cast<graph::DefinedOpInterface>(op);
  if (!defined)
    return false;
  return llvm::any_of(
      defined.getVerifiedDefinition().steps,
      [](const definition::Step &step) { return isSum(step.value); });
}
