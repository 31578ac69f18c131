//===- Reduction.cpp - What a reduction accumulates -----------------------===//

#include "espalier/Dialect/Poly/IR/Reduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace espalier::poly;

Value ReductionUpdate::combine(OpBuilder &builder, Location loc, Value lhs,
                               Value rhs) const {
  OperationState state(loc, combiner.getValue(), {lhs, rhs}, lhs.getType());
  return builder.create(state)->getResult(0);
}

namespace {
/// An operation that combines in any order.
struct Combiner {
  StringRef name;
  Reduction reduction;
  arith::AtomicRMWKind kind;
};
} // namespace

static const Combiner kCombiners[] = {
    {"arith.addf", Reduction::Add, arith::AtomicRMWKind::addf},
    {"arith.addi", Reduction::Add, arith::AtomicRMWKind::addi},
    {"arith.mulf", Reduction::Mul, arith::AtomicRMWKind::mulf},
    {"arith.muli", Reduction::Mul, arith::AtomicRMWKind::muli},
    {"arith.maximumf", Reduction::Max, arith::AtomicRMWKind::maximumf},
    {"arith.maxnumf", Reduction::Max, arith::AtomicRMWKind::maxnumf},
    {"arith.maxsi", Reduction::Max, arith::AtomicRMWKind::maxs},
    {"arith.maxui", Reduction::Max, arith::AtomicRMWKind::maxu},
    {"arith.minimumf", Reduction::Min, arith::AtomicRMWKind::minimumf},
    {"arith.minnumf", Reduction::Min, arith::AtomicRMWKind::minnumf},
    {"arith.minsi", Reduction::Min, arith::AtomicRMWKind::mins},
    {"arith.minui", Reduction::Min, arith::AtomicRMWKind::minu},
    {"arith.andi", Reduction::And, arith::AtomicRMWKind::andi},
    {"arith.ori", Reduction::Or, arith::AtomicRMWKind::ori},
};

/// The row for what `use`'s owner adds up; null if it does not combine as
/// `reduction` says.
static const Combiner *getCombiner(OpOperand &use, Reduction reduction) {
  Operation *op = use.getOwner();
  StringRef name = op->getName().getStringRef();
  if (isa<arith::SubFOp>(op) && use.getOperandNumber() == 0)
    name = "arith.addf";
  if (isa<arith::SubIOp>(op) && use.getOperandNumber() == 0)
    name = "arith.addi";
  if (isa<math::FmaOp>(op) && use.getOperandNumber() == 2)
    name = "arith.addf";
  const auto *row = llvm::find_if(kCombiners, [&](const Combiner &combiner) {
    return combiner.name == name && combiner.reduction == reduction;
  });
  return row == std::end(kCombiners) ? nullptr : row;
}

/// What all steps from `element` to the yield's operand `number` combine with.
static const Combiner *followUpdate(Value element, YieldOp yield,
                                    unsigned number, Reduction reduction) {
  const Combiner *combiner = nullptr;
  while (element.hasOneUse()) {
    OpOperand &use = *element.use_begin();
    if (use.getOwner() == yield)
      return use.getOperandNumber() == number ? combiner : nullptr;
    const Combiner *own = getCombiner(use, reduction);
    if (!own || (combiner && combiner != own))
      return nullptr;
    combiner = own;
    element = use.getOwner()->getResult(0);
  }
  return nullptr;
}

std::optional<ReductionUpdate>
espalier::poly::matchReduction(ComputeOp compute, Reduction reduction) {
  OpBuilder builder(compute.getContext());
  for (auto [writeNumber, write] : llvm::enumerate(compute.getWriteAccesses()))
    for (auto [readNumber, read] : llvm::enumerate(compute.getReadAccesses())) {
      if (read.array != write.array || read.map != write.map)
        continue;
      const Combiner *combiner = followUpdate(read.argument, compute.getYield(),
                                              writeNumber, reduction);
      if (!combiner)
        continue;
      TypedAttr neutral = arith::getIdentityValueAttr(
          combiner->kind, read.argument.getType(), builder, compute.getLoc());
      return ReductionUpdate{unsigned(readNumber), unsigned(writeNumber),
                             builder.getStringAttr(combiner->name), neutral};
    }
  return std::nullopt;
}
