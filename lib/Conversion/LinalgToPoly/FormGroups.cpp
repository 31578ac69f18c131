//===- FormGroups.cpp - Which operations share a kernel -------------------===//

#include "Groups.h"

using namespace mlir;
using namespace espalier::linalgtopoly;

/// The operation that computes `operand`, if it can share a kernel with the one
/// use that its result has.
static linalg::LinalgOp getOnlyProducer(OpOperand &operand) {
  auto producer = operand.get().getDefiningOp<linalg::LinalgOp>();
  if (!producer || isa<linalg::FillOp>(producer) ||
      producer->getNumResults() != 1 || !producer->hasOneUse())
    return {};
  return producer;
}

/// The operation that `op` continues: one whose result it maps element by
/// element, or goes on accumulating into.
static linalg::LinalgOp getProducer(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0) {
    for (OpOperand *input : op.getDpsInputOperands())
      if (linalg::LinalgOp producer = getOnlyProducer(*input))
        if (op.getMatchingIndexingMap(input).isIdentity())
          return producer;
    return {};
  }
  return op.getNumDpsInits() == 1 ? getOnlyProducer(*op.getDpsInitOperand(0))
                                  : linalg::LinalgOp();
}

SmallVector<Group> espalier::linalgtopoly::formGroups(func::FuncOp function) {
  SmallVector<Group> groups;
  for (auto op : function.getBody().front().getOps<linalg::LinalgOp>()) {
    if (isa<linalg::FillOp>(op))
      continue;
    linalg::LinalgOp producer = getProducer(op);
    // The producer is the last of its group: nothing else uses it.
    auto *it = llvm::find_if(groups, [&](const Group &group) {
      return producer && group.back() == producer;
    });
    Group group;
    if (it != groups.end()) {
      group = std::move(*it);
      groups.erase(it);
    }
    group.push_back(op);
    // Where the last operation stands.
    groups.push_back(std::move(group));
  }
  return groups;
}
