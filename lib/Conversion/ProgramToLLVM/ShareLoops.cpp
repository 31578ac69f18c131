//===- ShareLoops.cpp - Gives each thread its part of parallel loops ------===//
//
// The library of OpenMP divides a loop among threads by a call that allocates
// memory, and that every step of a recurrence repeats. The arithmetic is less:
// of n iterations, thread t of T executes those from floor(n / T) * t +
// min(t, n mod T) on, floor(n / T) of them or one more.
//
// A loop that another one repeats runs backwards every second time: what it
// read last, of weights that are larger than the cache, is there then. One over
// other points each time, such as the nodes of a level, has read nothing yet;
// and one that fetches ahead what its next iteration reads stays in order, as
// the next one backwards is another.
//
//===----------------------------------------------------------------------===//

#include "espalier/Conversion/ProgramToLLVM/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace espalier {
#define GEN_PASS_DEF_PROGRAMSHARELOOPSPASS
#include "espalier/Conversion/ProgramToLLVM/Passes.h.inc"
} // namespace espalier

using namespace mlir;

/// The functions that tell a thread which one it is, of how many. Each is given
/// a place in the source, which may be null. These are the library's own that
/// made the region: another library of OpenMP in the process, such as GCC's,
/// has `omp_get_thread_num` too, and knows nothing of it.
static constexpr StringLiteral kThreadFunctions[] = {
    "__kmpc_bound_thread_num", "__kmpc_bound_num_threads"};

namespace {
/// The thread that executes a parallel region, as values of its entry.
struct Thread {
  Value number;
  Value count;
};
} // namespace

/// Returns the loops of `region` that its threads can share by arithmetic, in
/// order: of indices, and without results.
static SmallVector<omp::WsloopOp> collectLoops(omp::ParallelOp region) {
  SmallVector<omp::WsloopOp> loops;
  region.walk([&](omp::WsloopOp loop) {
    auto nest = dyn_cast<omp::LoopNestOp>(loop.getWrappedLoop());
    bool isPlain = nest && loop->getNumOperands() == 0 &&
                   !loop.getScheduleKind() && !loop.getOrdered() &&
                   !nest.getLoopInclusive() && nest.getRegion().hasOneBlock() &&
                   llvm::all_of(nest.getIVs(), [](Value counter) {
                     return counter.getType().isIndex();
                   });
    if (isPlain && loop->getParentOfType<omp::ParallelOp>() == region)
      loops.push_back(loop);
  });
  return loops;
}

/// Asks which thread executes `region`.
static Thread askThread(OpBuilder &builder, omp::ParallelOp region) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&region.getRegion().front());
  Location loc = region.getLoc();
  Value place = LLVM::ZeroOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()));
  Value answers[2];
  for (auto [answer, function] : llvm::zip(answers, kThreadFunctions)) {
    auto call = func::CallOp::create(builder, loc, function,
                                     TypeRange{builder.getI32Type()}, place);
    answer = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                        call.getResult(0));
  }
  return {answers[0], answers[1]};
}

namespace {
/// An index as a counter moves it: `scale` times the counter and `offset`, and
/// whatever does not depend on it. No number overflows.
struct Linear {
  double scale = 0;
  double offset = 0;
};
} // namespace

/// An address that a kernel computes has no longer chain of operations.
static constexpr unsigned kMaxDepth = 16;

static Linear getLinear(Value index, Value counter, unsigned depth = 0) {
  APInt constant;
  Operation *op = index.getDefiningOp();
  if (index == counter)
    return {1, 0};
  if (matchPattern(index, m_ConstantInt(&constant)))
    return {0, double(constant.getSExtValue())};
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) ||
      depth == kMaxDepth)
    return {};
  Linear a = getLinear(op->getOperand(0), counter, depth + 1),
         b = getLinear(op->getOperand(1), counter, depth + 1);
  if (isa<arith::AddIOp>(op))
    return {a.scale + b.scale, a.offset + b.offset};
  if (isa<arith::SubIOp>(op))
    return {a.scale - b.scale, a.offset - b.offset};
  // Constants are the second operands of canonical products.
  return matchPattern(op->getOperand(1), m_Constant())
             ? Linear{a.scale * b.offset, a.offset * b.offset}
             : Linear{};
}

/// Returns whether an iteration of `nest` fetches ahead what a later one uses.
static bool fetchesNext(omp::LoopNestOp nest) {
  auto isAhead = [](Value index, Value counter, Value step) {
    APInt constant;
    Linear place = getLinear(index, counter);
    return place.scale != 0 && matchPattern(step, m_ConstantInt(&constant)) &&
           place.offset / place.scale >= double(constant.getSExtValue());
  };
  bool isNext = false;
  nest.walk([&](memref::PrefetchOp fetch) {
    for (auto [counter, step] : llvm::zip(nest.getIVs(), nest.getLoopSteps()))
      for (Value index : fetch.getIndices())
        isNext |= isAhead(index, counter, step);
  });
  return isNext;
}

/// Returns whether the sequential loop around `loop` is in every second of its
/// iterations; null if there is none, nobody knows, these differ in what the
/// loop runs over, or its own are to stay in order.
static Value isEverySecond(OpBuilder &builder, omp::WsloopOp loop) {
  auto outer = loop->getParentOfType<scf::ForOp>();
  APInt step;
  if (!outer || !outer.getInductionVar().getType().isIndex() ||
      !matchPattern(outer.getStep(), m_ConstantInt(&step)) || !step[0])
    return nullptr;
  auto nest = cast<omp::LoopNestOp>(loop.getWrappedLoop());
  auto isSame = [&](Value bound) {
    return matchPattern(bound, m_Constant()) ||
           outer.isDefinedOutsideOfLoop(bound);
  };
  if (!llvm::all_of(nest.getLoopLowerBounds(), isSame) ||
      !llvm::all_of(nest.getLoopUpperBounds(), isSame) || fetchesNext(nest))
    return nullptr;
  Value odd = arith::AndIOp::create(
      builder, loop.getLoc(), outer.getInductionVar(),
      arith::ConstantIndexOp::create(builder, loop.getLoc(), 1));
  return arith::IndexCastUIOp::create(builder, loop.getLoc(),
                                      builder.getI1Type(), odd);
}

/// Makes a loop from `first` to `end`, backwards where `isMirrored` is not null
/// and true, and moves `builder` to the end of it. Returns its counter.
static Value openLoop(OpBuilder &builder, Location loc, Value first, Value end,
                      Value isMirrored) {
  auto one = arith::ConstantIndexOp::create(builder, loc, 1);
  auto loop = scf::ForOp::create(builder, loc, first, end, one);
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  Value number = loop.getInductionVar();
  if (!isMirrored)
    return number;
  Value sum = arith::AddIOp::create(builder, loc, first, end);
  Value mirrored = arith::SubIOp::create(
      builder, loc, arith::SubIOp::create(builder, loc, sum, one), number);
  return arith::SelectOp::create(builder, loc, isMirrored, mirrored, number);
}

/// Replaces `loop` by the iterations that `thread` executes.
static void shareLoop(OpBuilder &builder, omp::WsloopOp loop, Thread thread) {
  auto nest = cast<omp::LoopNestOp>(loop.getWrappedLoop());
  Location loc = loop.getLoc();
  builder.setInsertionPoint(loop);
  auto zero = arith::ConstantIndexOp::create(builder, loc, 0);
  auto one = arith::ConstantIndexOp::create(builder, loc, 1);
  SmallVector<Value> trips;
  Value total = one;
  for (auto [first, end, step] :
       llvm::zip(nest.getLoopLowerBounds(), nest.getLoopUpperBounds(),
                 nest.getLoopSteps())) {
    Value extent = arith::SubIOp::create(builder, loc, end, first);
    extent = arith::MaxSIOp::create(builder, loc, extent, zero);
    trips.push_back(arith::CeilDivUIOp::create(builder, loc, extent, step));
    total = arith::MulIOp::create(builder, loc, total, trips.back());
  }
  Value least = arith::DivUIOp::create(builder, loc, total, thread.count);
  Value rest = arith::RemUIOp::create(builder, loc, total, thread.count);
  auto startOf = [&](Value number) -> Value {
    Value before = arith::MulIOp::create(builder, loc, least, number);
    Value more = arith::MinUIOp::create(builder, loc, number, rest);
    return arith::AddIOp::create(builder, loc, before, more);
  };
  Value next = arith::AddIOp::create(builder, loc, thread.number, one);
  Value first = startOf(thread.number), end = startOf(next);
  Value isMirrored = isEverySecond(builder, loop);
  auto setCounter = [&](size_t i, Value number) {
    Value position =
        arith::MulIOp::create(builder, loc, number, nest.getLoopSteps()[i]);
    position = arith::AddIOp::create(builder, loc, position,
                                     nest.getLoopLowerBounds()[i]);
    Value counter = nest.getIVs()[i];
    counter.replaceAllUsesWith(position);
  };
  // The last counter runs fastest: it has a loop of its own, so that nothing is
  // divided in each iteration.
  size_t last = trips.size() - 1;
  if (last > 0) {
    Value length = arith::MaxUIOp::create(builder, loc, trips[last], one);
    Value firstRow = arith::DivUIOp::create(builder, loc, first, length);
    Value endRow = arith::CeilDivUIOp::create(builder, loc, end, length);
    Value row = openLoop(builder, loc, firstRow, endRow, isMirrored);
    Value begin = arith::MulIOp::create(builder, loc, row, length);
    first = arith::MaxSIOp::create(
        builder, loc, arith::SubIOp::create(builder, loc, first, begin), zero);
    end = arith::MinSIOp::create(
        builder, loc, arith::SubIOp::create(builder, loc, end, begin), length);
    for (size_t i = last; i-- > 0;) {
      Value number = row;
      if (i > 0) {
        number = arith::RemUIOp::create(builder, loc, row, trips[i]);
        row = arith::DivUIOp::create(builder, loc, row, trips[i]);
      }
      setCounter(i, number);
    }
  }
  setCounter(last, openLoop(builder, loc, first, end, isMirrored));
  Block &body = nest.getRegion().front();
  body.getTerminator()->erase();
  builder.getInsertionBlock()->getOperations().splice(
      builder.getInsertionPoint(), body.getOperations());
  if (!loop.getNowait()) {
    builder.setInsertionPoint(loop);
    Value several = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ugt, thread.count, one);
    auto choice = scf::IfOp::create(builder, loc, several);
    builder.setInsertionPointToStart(choice.thenBlock());
    omp::BarrierOp::create(builder, loc);
  }
  loop.erase();
}

namespace {
struct ProgramShareLoopsPass
    : espalier::impl::ProgramShareLoopsPassBase<ProgramShareLoopsPass> {
  void runOnOperation() override {
    OpBuilder builder(&getContext());
    unsigned count = 0;
    getOperation().walk([&](omp::ParallelOp region) {
      SmallVector<omp::WsloopOp> loops = collectLoops(region);
      if (loops.empty())
        return;
      Thread thread = askThread(builder, region);
      for (omp::WsloopOp loop : loops)
        shareLoop(builder, loop, thread);
      count += loops.size();
    });
    numShared += count;
    if (count == 0)
      return;
    builder.setInsertionPointToStart(getOperation().getBody());
    for (StringRef function : kThreadFunctions)
      if (!getOperation().lookupSymbol(function))
        func::FuncOp::create(
            builder, getOperation().getLoc(), function,
            builder.getFunctionType({LLVM::LLVMPointerType::get(&getContext())},
                                    {builder.getI32Type()}))
            .setPrivate();
  }
};
} // namespace
