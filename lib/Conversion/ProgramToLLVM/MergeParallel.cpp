//===- MergeParallel.cpp - Makes one parallel region of neighbours --------===//

#include "espalier/Conversion/ProgramToLLVM/Passes.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace espalier {
#define GEN_PASS_DEF_PROGRAMMERGEPARALLELPASS
#include "espalier/Conversion/ProgramToLLVM/Passes.h.inc"
} // namespace espalier

using namespace mlir;

/// Whether `op` is a parallel region without clauses that ends in the barrier
/// of a loop, so that code may be appended to it.
static bool isPlain(omp::ParallelOp op) {
  return op && op->getNumOperands() == 0 && op.getRegion().hasOneBlock() &&
         op.getRegion().getNumArguments() == 0;
}

/// Whether every thread may execute `op` for itself.
static bool isRepeatable(Operation *op) {
  return isMemoryEffectFree(op) && isSpeculatable(op);
}

/// Appends `second` to the region of `first`. What lies between them does not
/// depend on `first`, which has no results, and moves before it.
static void append(omp::ParallelOp first, omp::ParallelOp second) {
  for (Operation *op = first->getNextNode(); op != second;) {
    Operation *next = op->getNextNode();
    op->moveBefore(first);
    op = next;
  }
  Block &body = first.getRegion().front();
  Block &added = second.getRegion().front();
  Operation *end = body.getTerminator();
  body.getOperations().splice(end->getIterator(), added.getOperations(),
                              added.begin(),
                              added.getTerminator()->getIterator());
  second.erase();
}

/// Merges the parallel regions of `block` with the next one in it where only
/// repeatable operations lie between. Returns the number of merges.
static unsigned mergeNeighbours(Block &block) {
  unsigned merged = 0;
  omp::ParallelOp open;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto parallel = dyn_cast<omp::ParallelOp>(op);
    if (parallel && isPlain(parallel)) {
      if (open) {
        append(open, parallel);
        ++merged;
      } else {
        open = parallel;
      }
    } else if (!isRepeatable(&op)) {
      open = nullptr;
    }
  }
  return merged;
}

/// Moves the sequential loop `loop` into the one parallel region that it
/// contains, if it contains nothing else that must happen once.
static bool moveIntoParallel(scf::ForOp loop) {
  if (!loop.getInitArgs().empty())
    return false;
  omp::ParallelOp parallel;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto found = dyn_cast<omp::ParallelOp>(op)) {
      if (parallel || !isPlain(found))
        return false;
      parallel = found;
    } else if (!isRepeatable(&op)) {
      return false;
    }
  }
  if (!parallel)
    return false;
  // The loop's body takes the place of the region's, which moves into the loop.
  OpBuilder builder(loop);
  auto outer = omp::ParallelOp::create(builder, parallel.getLoc());
  Block *block = builder.createBlock(&outer.getRegion());
  Operation *end = omp::TerminatorOp::create(builder, parallel.getLoc());
  Block &inner = parallel.getRegion().front();
  loop.getBody()->getOperations().splice(parallel->getIterator(),
                                         inner.getOperations(), inner.begin(),
                                         inner.getTerminator()->getIterator());
  parallel.erase();
  loop->moveBefore(block, end->getIterator());
  return true;
}

/// Lets the last loop of a parallel region go without its barrier: the region's
/// end is one.
static void dropLastBarrier(omp::ParallelOp parallel) {
  if (!parallel.getRegion().hasOneBlock())
    return;
  Operation *end = parallel.getRegion().front().getTerminator();
  if (auto loop = dyn_cast_or_null<omp::WsloopOp>(end->getPrevNode()))
    if (loop.getReductionVars().empty())
      loop.setNowait(true);
}

namespace {
struct ProgramMergeParallelPass
    : espalier::impl::ProgramMergeParallelPassBase<ProgramMergeParallelPass> {
  void runOnOperation() override {
    // Inner loops first: a region that left them may be moved out once more.
    getOperation().walk([&](Operation *op) {
      for (Region &region : op->getRegions())
        for (Block &block : region)
          numMerged += mergeNeighbours(block);
      if (auto loop = dyn_cast<scf::ForOp>(op))
        numMerged += moveIntoParallel(loop);
    });
    getOperation().walk(dropLastBarrier);
  }
};
} // namespace
