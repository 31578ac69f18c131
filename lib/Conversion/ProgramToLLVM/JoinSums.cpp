//===- JoinSums.cpp - Short sums side by side -----------------------------===//
//
// Each step of a sum in registers waits for the one before, some cycles. With
// few accumulators, as in the code for a tile of one row, units for arithmetic
// wait as well. Sums that do not depend on one another then take turns:
//
//   for k: a += x[k] * B[k]
//   for k: c += x[k] * D[k]     becomes     for k: a += .., c += ..
//
// Each sum adds the same terms in the same order as before.
//
//===----------------------------------------------------------------------===//

#include "espalier/Conversion/ProgramToLLVM/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace espalier {
#define GEN_PASS_DEF_PROGRAMJOINSUMSPASS
#include "espalier/Conversion/ProgramToLLVM/Passes.h.inc"
} // namespace espalier

using namespace mlir;

/// Accumulators that keep two units busy, each step of which takes four cycles.
/// More would take the registers of the operands.
static constexpr unsigned kMaxAccumulators = 8;

//===----------------------------------------------------------------------===//
// What operations do to memory
//===----------------------------------------------------------------------===//

namespace {
/// An access to memory.
struct Access {
  Value buffer; ///< Null if it is not known.
  bool isWrite;
};
using Accesses = SmallVector<Access>;
} // namespace

/// The argument of a function, or the allocation, that `memref` is a view of;
/// null if that is not known. No two of them overlap, as
/// `program-verify-planned` has seen.
static Value findRoot(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  if (auto argument = dyn_cast<BlockArgument>(memref))
    return isa<FunctionOpInterface>(argument.getOwner()->getParentOp())
               ? memref
               : Value();
  return isa<memref::AllocOp, memref::AllocaOp>(memref.getDefiningOp())
             ? memref
             : Value();
}

/// Adds what `op`, and what is in it, does to `accesses`. Fails if that is more
/// than to read and to write memory.
static LogicalResult addAccesses(Operation *op, Accesses &accesses) {
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects =
      getEffectsRecursively(op);
  if (!effects)
    return failure();
  for (const MemoryEffects::EffectInstance &effect : *effects) {
    if (!isa<MemoryEffects::Read, MemoryEffects::Write>(effect.getEffect()))
      return failure();
    Value value = effect.getValue();
    accesses.push_back({value ? findRoot(value) : Value(),
                        isa<MemoryEffects::Write>(effect.getEffect())});
  }
  return success();
}

/// Whether the order of two groups of accesses decides what they find.
static bool mayMeet(ArrayRef<Access> first, ArrayRef<Access> second) {
  for (const Access &one : first)
    for (const Access &other : second)
      if ((one.isWrite || other.isWrite) &&
          (!one.buffer || !other.buffer || one.buffer == other.buffer))
        return true;
  return false;
}

/// An index as another one and a number.
static std::pair<Value, int64_t> separateNumber(Value index) {
  int64_t number = 0;
  while (auto sum = index.getDefiningOp<arith::AddIOp>()) {
    std::optional<int64_t> term = getConstantIntValue(sum.getRhs());
    if (!term)
      break;
    number += *term;
    index = sum.getLhs();
  }
  return {index, number};
}

/// How far the elements that `load` reads are behind those that `store` writes,
/// in the same row; nothing if that is not known.
static std::optional<int64_t> getDistance(vector::StoreOp store,
                                          vector::LoadOp load) {
  if (store.getBase() != load.getBase() || load.getIndices().empty() ||
      store.getVectorType() != load.getVectorType() ||
      store.getIndices().drop_back() != load.getIndices().drop_back())
    return std::nullopt;
  auto [from, number] = separateNumber(store.getIndices().back());
  auto [to, other] = separateNumber(load.getIndices().back());
  return from == to ? std::optional(other - number) : std::nullopt;
}

/// The value that `load` finds, if the block around it has stored that; else
/// null.
static Value findStored(vector::LoadOp load) {
  Access read{findRoot(load.getBase()), false};
  int64_t lanes = load.getVectorType().getNumElements();
  for (Operation *op = load->getPrevNode(); op; op = op->getPrevNode()) {
    auto store = dyn_cast<vector::StoreOp>(op);
    std::optional<int64_t> distance =
        store ? getDistance(store, load) : std::nullopt;
    if (distance == 0)
      return store.getValueToStore();
    Accesses accesses;
    bool isApart = distance && std::abs(*distance) >= lanes;
    if (!isApart && (failed(addAccesses(op, accesses)) ||
                     mayMeet(accesses, ArrayRef(read))))
      return {};
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Lets a sum begin with what is stored where it begins.
static void takeStored(scf::ForOp sum) {
  for (OpOperand &start : sum.getInitArgsMutable()) {
    auto load = start.get().getDefiningOp<vector::LoadOp>();
    if (!load || load->getBlock() != sum->getBlock())
      continue;
    Value stored = findStored(load);
    if (!stored)
      continue;
    start.set(stored);
    if (load->use_empty())
      load.erase();
  }
}

/// Whether `loop` has accumulators of vectors, and in its body nothing but
/// arithmetic and reads, which are added to `reads`.
static bool isSum(scf::ForOp loop, Accesses &reads) {
  if (loop.getNumResults() == 0 ||
      !llvm::all_of(loop.getResultTypes(), llvm::IsaPred<VectorType>))
    return false;
  for (Operation &op : loop.getBody()->without_terminator())
    if (op.getNumRegions() != 0 || failed(addAccesses(&op, reads)))
      return false;
  return llvm::none_of(reads, [](const Access &read) { return read.isWrite; });
}

/// Whether two loops have the same iterations.
static bool haveSameIterations(scf::ForOp first, scf::ForOp second) {
  auto isSame = [](Value one, Value other) {
    return one == other || isEqualConstantIntOrValue(one, other);
  };
  return isSame(first.getLowerBound(), second.getLowerBound()) &&
         isSame(first.getUpperBound(), second.getUpperBound()) &&
         isSame(first.getStep(), second.getStep()) &&
         first.getUnsignedCmp() == second.getUnsignedCmp();
}

/// Whether `op`, or something in it, uses a result of one of `made`.
static bool usesResultsOf(Operation *op,
                          const SmallPtrSetImpl<Operation *> &made) {
  WalkResult result = op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (Operation *def = operand.getDefiningOp(); def && made.contains(def))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// Makes `first` and `second`, a sum behind it in the same block, one loop.
/// What is between them stays behind it if it needs what `first` makes, and
/// moves before it otherwise. Returns null if that may change what is computed.
static scf::ForOp join(scf::ForOp first, scf::ForOp second,
                       RewriterBase &rewriter) {
  Accesses ofFirst, ofSecond, ofLater;
  if (!isSum(first, ofFirst) || !isSum(second, ofSecond) ||
      !haveSameIterations(first, second))
    return {};
  SmallPtrSet<Operation *, 8> later{first};
  SmallVector<Operation *> before;
  for (Operation *op = first->getNextNode(); op != second;
       op = op->getNextNode()) {
    Accesses accesses;
    if (failed(addAccesses(op, accesses)))
      return {};
    if (usesResultsOf(op, later) || mayMeet(accesses, ofFirst) ||
        mayMeet(accesses, ofLater)) {
      later.insert(op);
      ofLater.append(accesses);
    } else {
      before.push_back(op);
    }
  }
  if (usesResultsOf(second, later) || mayMeet(ofSecond, ofLater))
    return {};
  for (Operation *op : before)
    op->moveBefore(first);
  second->moveAfter(first);
  return fuseIndependentSiblingForLoops(first, second, rewriter);
}

/// Joins neighbours in `block` while they have few accumulators. Returns how
/// many were joined to others.
static unsigned joinSums(Block &block, RewriterBase &rewriter) {
  unsigned numJoined = 0;
  scf::ForOp last;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop)
      continue;
    scf::ForOp joined;
    if (last && last.getNumResults() + loop.getNumResults() <= kMaxAccumulators)
      joined = join(last, loop, rewriter);
    numJoined += bool(joined);
    last = joined ? joined : loop;
  }
  return numJoined;
}

//===----------------------------------------------------------------------===//
// Loops around sums
//===----------------------------------------------------------------------===//

/// Whether `loop` has few iterations, each with one sum, which have few
/// accumulators together.
static bool repeatsSum(scf::ForOp loop) {
  std::optional<APInt> count = loop.getStaticTripCount();
  if (loop.getNumResults() != 0 || !count || count->ult(2) ||
      count->ugt(kMaxAccumulators))
    return false;
  uint64_t numAccumulators = 0;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (op.getNumRegions() == 0 || op.getNumResults() == 0)
      continue;
    auto sum = dyn_cast<scf::ForOp>(op);
    Accesses reads;
    if (!sum || numAccumulators > 0 || !isSum(sum, reads))
      return false;
    numAccumulators = sum.getNumResults();
  }
  return numAccumulators > 0 &&
         numAccumulators * count->getZExtValue() <= kMaxAccumulators;
}

namespace {
struct ProgramJoinSumsPass
    : espalier::impl::ProgramJoinSumsPassBase<ProgramJoinSumsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<scf::ForOp> repeated;
    SetVector<Block *> blocks;
    getOperation().walk([&](scf::ForOp loop) {
      if (repeatsSum(loop))
        repeated.push_back(loop);
      if (loop.getNumResults() != 0)
        blocks.insert(loop->getBlock());
      takeStored(loop);
    });
    for (scf::ForOp loop : repeated) {
      blocks.remove(loop.getBody());
      blocks.insert(loop->getBlock());
      (void)loopUnrollFull(loop);
    }
    for (Block *block : blocks)
      numJoined += joinSums(*block, rewriter);
  }
};
} // namespace
