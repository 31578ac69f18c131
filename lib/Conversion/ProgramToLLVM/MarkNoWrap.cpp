//===- MarkNoWrap.cpp - Marks address arithmetic as free of overflow ------===//

#include "espalier/Conversion/LoopsToProgram/Program.h"
#include "espalier/Conversion/ProgramToLLVM/Passes.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace espalier {
#define GEN_PASS_DEF_PROGRAMMARKNOWRAPPASS
#include "espalier/Conversion/ProgramToLLVM/Passes.h.inc"
} // namespace espalier

using namespace mlir;
using namespace espalier;

/// Returns whether `argument` is a loop's counter or a kernel's size.
static bool isCounterOrSize(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (isa<func::FuncOp>(parent))
    return true;
  auto loop = dyn_cast<LoopLikeOpInterface>(parent);
  if (!loop)
    return false;
  std::optional<SmallVector<Value>> counters = loop.getLoopInductionVars();
  return counters && llvm::is_contained(*counters, argument);
}

namespace {
struct ProgramMarkNoWrapPass
    : espalier::impl::ProgramMarkNoWrapPassBase<ProgramMarkNoWrapPass> {
  void runOnOperation() override {
    // The plan looks for overflow.
    if (getOperation()->hasAttr(kPlanMessagesAttr))
      return;
    checked.clear();
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<memref::DimOp>(op) || op->hasTrait<OpTrait::ConstantLike>()) {
        checked.insert_range(op->getResults());
        return;
      }
      bool isArithmetic =
          isa_and_present<arith::ArithDialect>(op->getDialect());
      bool isIndex =
          op->getNumResults() == 1 && op->getResult(0).getType().isIndex();
      if (!isArithmetic || !isIndex ||
          !llvm::all_of(op->getOperands(),
                        [&](Value value) { return isChecked(value); }))
        return;
      checked.insert(op->getResult(0));
      if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
        op->setAttr("overflowFlags",
                    arith::IntegerOverflowFlagsAttr::get(
                        &getContext(), arith::IntegerOverflowFlags::nsw));
    });
  }

  bool isChecked(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument ? isCounterOrSize(argument) : checked.contains(value);
  }

  /// The values that follow from loop counters, sizes and constants.
  DenseSet<Value> checked;
};
} // namespace
