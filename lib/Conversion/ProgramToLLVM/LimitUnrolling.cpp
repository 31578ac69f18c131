//===- LimitUnrolling.cpp - Loops that LLVM must not unroll ---------------===//
//
// LLVM unrolls loops with few iterations. If they store, the stores come to lie
// in one basic block, and selecting its instructions takes time that grows with
// more than the square of their number: 134 stores of eight zeros take seconds,
// some hundred take minutes. Nothing is won by it, since stores do not wait for
// each other. What the schedule unrolls is not a loop by then.
//
//===----------------------------------------------------------------------===//

#include "espalier/Conversion/ProgramToLLVM/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace espalier {
#define GEN_PASS_DEF_PROGRAMLIMITUNROLLINGPASS
#include "espalier/Conversion/ProgramToLLVM/Passes.h.inc"
} // namespace espalier

using namespace mlir;

static bool isStore(Operation &op) {
  return isa<memref::StoreOp, vector::StoreOp, vector::MaskedStoreOp,
             vector::ScatterOp, vector::TransferWriteOp>(op);
}

namespace {
struct ProgramLimitUnrollingPass
    : espalier::impl::ProgramLimitUnrollingPassBase<ProgramLimitUnrollingPass> {
  using ProgramLimitUnrollingPassBase::ProgramLimitUnrollingPassBase;

  void runOnOperation() override {
    for (Region &region : getOperation()->getRegions())
      (void)countStores(region);
  }

  /// The stores of a region once its loops have been unrolled.
  uint64_t countStores(Region &region) {
    uint64_t count = 0;
    for (Operation &op : region.getOps()) {
      uint64_t inside = isStore(op);
      for (Region &inner : op.getRegions())
        inside += countStores(inner);
      if (auto loop = dyn_cast<scf::ForOp>(op))
        inside = unroll(loop, inside);
      count += inside;
    }
    return count;
  }

  /// Decides about a loop whose body has so many stores; returns the stores
  /// that stand in its place.
  uint64_t unroll(scf::ForOp loop, uint64_t stores) {
    std::optional<APInt> trips = loop.getStaticTripCount();
    if (!trips || stores == 0)
      return stores;
    uint64_t all = llvm::SaturatingMultiply(trips->getLimitedValue(), stores);
    if (all <= maxStores)
      return all;
    auto yes = BoolAttr::get(&getContext(), true);
    auto unroll =
        LLVM::LoopUnrollAttr::get(&getContext(), yes, {}, {}, {}, {}, {}, {});
    // The name that the branch of the loop has it by in the end.
    loop->setAttr("loop_annotation",
                  LLVM::LoopAnnotationAttr::get(&getContext(), {}, {}, {},
                                                unroll, {}, {}, {}, {}, {}, {},
                                                {}, {}, {}, {}, {}));
    ++numLimited;
    return stores;
  }
};
} // namespace
