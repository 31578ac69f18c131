//===- MergeParallel.cpp - Makes one parallel region of neighbours --------===//

#include "espalier/Conversion/LoopsToProgram/Buffers.h"
#include "espalier/Conversion/ProgramToLLVM/Passes.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
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

/// Whether `load` always finds the same: in an argument of its function that
/// this does not write, and that shares no memory with what it does write, as
/// `program-verify-planned` has seen.
static bool isOfConstant(memref::LoadOp load) {
  auto argument = dyn_cast<BlockArgument>(load.getMemRef());
  return argument &&
         isa<FunctionOpInterface>(argument.getOwner()->getParentOp()) &&
         !espalier::mayBeWritten(argument);
}

/// Whether every thread may execute `op` for itself.
static bool isRepeatable(Operation *op) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return isOfConstant(load);
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

/// The one parallel region in `body`, which contains nothing else that must
/// happen once; null if it has none at all. Fails for others.
static FailureOr<omp::ParallelOp> findOnlyParallel(Block &body) {
  omp::ParallelOp parallel;
  for (Operation &op : body.without_terminator()) {
    if (auto found = dyn_cast<omp::ParallelOp>(op)) {
      if (parallel || !isPlain(found))
        return failure();
      parallel = found;
    } else if (!isRepeatable(&op)) {
      return failure();
    }
  }
  return parallel;
}

/// Moves `outside`, a sequential loop or a condition without results, into the
/// parallel regions that its blocks contain, one each at most, if these contain
/// nothing else that must happen once. All threads go the same way through it.
static bool moveIntoParallel(Operation *outside, ArrayRef<Block *> bodies) {
  SmallVector<omp::ParallelOp> regions;
  for (Block *body : bodies) {
    FailureOr<omp::ParallelOp> parallel = findOnlyParallel(*body);
    if (failed(parallel))
      return false;
    if (*parallel)
      regions.push_back(*parallel);
  }
  if (regions.empty())
    return false;
  OpBuilder builder(outside);
  auto outer = omp::ParallelOp::create(builder, regions.front().getLoc());
  Block *block = builder.createBlock(&outer.getRegion());
  Operation *end = omp::TerminatorOp::create(builder, regions.front().getLoc());
  // What a region contains takes its place.
  for (omp::ParallelOp parallel : regions) {
    Block &inner = parallel.getRegion().front();
    parallel->getBlock()->getOperations().splice(
        parallel->getIterator(), inner.getOperations(), inner.begin(),
        inner.getTerminator()->getIterator());
    parallel.erase();
  }
  outside->moveBefore(block, end->getIterator());
  return true;
}

/// Does so for `op`, if it is one: of conditions, for those that a loop
/// repeats.
static bool moveIntoParallel(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return loop.getInitArgs().empty() && moveIntoParallel(op, loop.getBody());
  auto choice = dyn_cast<scf::IfOp>(op);
  if (!choice || choice.getNumResults() != 0 ||
      !op->getParentOfType<scf::ForOp>())
    return false;
  SmallVector<Block *, 2> bodies{choice.thenBlock()};
  if (choice.elseBlock())
    bodies.push_back(choice.elseBlock());
  return moveIntoParallel(op, bodies);
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
      numMerged += moveIntoParallel(op);
    });
    getOperation().walk(dropLastBarrier);
  }
};
} // namespace
