//===- OverlapCalls.cpp - Recurrences as the stages of a pipeline ---------===//
//
// Layers over a sequence each wait for the one below, of which they read one
// row in each step:
//
//   call @a(x, h)    h[t] = f(h[t - 1], x[t])
//   call @b(h, g)    g[t] = f(g[t - 1], h[t])
//
// Where rows are computed and read in the order of t, the calls may run block
// by block, and a block of @b runs while @a is at its next one:
//
//   for d: parallel for s in {a, b}: stage s computes block d - s
//
// Why that is the same: let stage i come before stage j in the program, and let
// both use an element, which one of them writes. If j uses it at no earlier t
// than i, then in no earlier block, so on a later diagonal d. So all that has
// to be known of two accesses is in their first indices, t + a and t + b: that
// the row is the same at t_j - t_i = a - b, which is not negative.
//
//===----------------------------------------------------------------------===//

#include "BlockKernel.h"
#include "MemoryRows.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/Dialect/Poly/Program/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace espalier::poly {
#define GEN_PASS_DEF_POLYOVERLAPCALLSPASS
#include "espalier/Dialect/Poly/Program/Passes.h.inc"
} // namespace espalier::poly

using namespace mlir;
using namespace espalier::poly;

/// A block is long enough to pay for the threads' meeting after it.
static constexpr int64_t kMinBlockPoints = 1 << 17, kMinBlockSteps = 8;
/// More blocks than that gain little: the first and the last few keep only some
/// of the stages busy.
static constexpr int64_t kMaxBlocks = 16;
/// Extents that are not known are taken to be small, as where schedules are
/// chosen.
static constexpr int64_t kUnknownExtent = 6;
/// More is not counted.
static constexpr int64_t kManyPoints = 1 << 30;

namespace {
/// One access to memory of the program, at step t.
struct Use {
  Value memory;
  std::optional<int64_t> offset; ///< Of the row, if that is t and a number.
  SizeProduct row;               ///< The elements of a row.
  bool isWrite;
  unsigned order; ///< Of the computations that run together.
};

/// A call that may run block by block.
struct Member {
  KernelCall call;
  SmallVector<Use> uses;
  /// Points of the first dimension in a step, where it is several that have
  /// become one.
  int64_t scale = 1;
  bool isRecurrence = false;
  int64_t points = 0; ///< In one step, at most.
};

/// Finds the pipelines of a block of a function, and writes them.
class Overlapper {
public:
  Overlapper(ModuleOp module, int64_t maxStepPoints)
      : symbols(module), maxStepPoints(maxStepPoints) {}

  /// Returns how many recurrences run beside others.
  unsigned run(Block &block);

private:
  std::optional<Member> readCall(CallOp call);
  /// Whether one of a call and a member may write what the other uses.
  bool mayConflict(CallOp call, const Member &member);
  void add(CallOp call);
  /// Ends the pipeline that is open.
  void close();
  void write();
  KernelOp getBlockKernel(KernelCall call, Value first, Value rows);

  SymbolTable symbols;
  int64_t maxStepPoints;
  /// The calls of the pipeline that is open, and those between them that wait
  /// until its end.
  SmallVector<Member> members;
  SmallVector<CallOp> later;
  llvm::DenseMap<Operation *, KernelOp> blockKernels;
  unsigned count = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// What a call uses
//===----------------------------------------------------------------------===//

/// What `set` says that dimension `dim` is less than, at most `kManyPoints`.
static int64_t getExtent(IntegerSet set, unsigned dim) {
  AffineExpr self = getAffineDimExpr(dim, set.getContext());
  std::optional<int64_t> extent;
  for (auto [constraint, isEquality] :
       llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
    auto bound = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(
        constraint + self + 1, set.getNumDims(), set.getNumSymbols()));
    if (bound && !isEquality)
      extent = std::min(extent.value_or(kManyPoints), bound.getValue());
  }
  return std::clamp<int64_t>(extent.value_or(kUnknownExtent), 0, kManyPoints);
}

/// The points of `compute` in a step, at most.
static int64_t countStepPoints(ComputeOp compute) {
  int64_t most = 0;
  for (IntegerSet set : compute.getDomainSets()) {
    // Entries of a row: those of all rows are a dimension's extent.
    int64_t points = 1, last = 1;
    for (unsigned dim = 1; dim < set.getNumDims(); ++dim) {
      bool isEntry = compute.getWhere() && dim + 1 == set.getNumDims();
      int64_t &product = isEntry ? last : points;
      product = std::min(product * getExtent(set, dim), kManyPoints);
    }
    most = std::max({most, points, last});
  }
  return most;
}

/// Whether something is stated of data that `kernel` reads. A check of that
/// stands before the call, and is for one thread.
static bool statesData(KernelOp kernel) {
  return !kernel.getGivens().empty() ||
         llvm::any_of(kernel.getArguments(), [&](BlockArgument argument) {
           return kernel.hasKnownValues(argument.getArgNumber());
         });
}

std::optional<Member> Overlapper::readCall(CallOp call) {
  auto kernel = symbols.lookup<KernelOp>(call.getCallee());
  if (!kernel || !kernel.isPrivate() || kernel.getSchedule() ||
      statesData(kernel) || !findOuterExtent(kernel) || !hasOwnRows(kernel))
    return std::nullopt;
  Member member{{call, kernel}, {}};
  unsigned order = 0;
  for (ComputeOp compute : kernel.getComputes()) {
    order += compute.getInterleaved() ? 0 : 1;
    auto addUse = [&](const ComputeAccess &access, bool isWrite) {
      auto argument = dyn_cast<BlockArgument>(access.array);
      if (!argument)
        return true;
      auto [memory, row] = getMemoryRows(member.call.getOperand(argument));
      member.uses.push_back({memory,
                             row ? findOuterOffset(access) : std::nullopt,
                             row.value_or(SizeProduct()), isWrite, order});
      return isOwnMemory(memory);
    };
    for (const ComputeAccess &access : compute.getReadAccesses())
      if (!addUse(access, false))
        return std::nullopt;
    for (const ComputeAccess &access : compute.getWriteAccesses())
      if (!addUse(access, true))
        return std::nullopt;
    member.points = std::max(member.points, countStepPoints(compute));
  }
  return member;
}

/// Whether the later of two uses is at no earlier point of dimension 0.
static bool keepsOrder(const Use &before, const Use &after) {
  if (before.memory != after.memory || (!before.isWrite && !after.isWrite))
    return true;
  return before.offset && after.offset && before.row == after.row &&
         *before.offset >= *after.offset;
}

/// Whether a call may run block by block. Sets whether its steps wait for one
/// another.
static bool readOrder(Member &member) {
  for (auto [number, before] : llvm::enumerate(member.uses))
    for (const Use &after : ArrayRef(member.uses).drop_front(number)) {
      if (before.memory != after.memory || (!before.isWrite && !after.isWrite))
        continue;
      if (!before.offset || !after.offset || before.row != after.row ||
          (before.order != after.order && !keepsOrder(before, after)))
        return false;
      member.isRecurrence |=
          before.order == after.order && before.offset != after.offset;
    }
  return true;
}

static bool keepOrder(const Member &before, const Member &after) {
  return llvm::all_of(before.uses, [&](const Use &use) {
    return llvm::all_of(
        after.uses, [&](const Use &other) { return keepsOrder(use, other); });
  });
}

bool Overlapper::mayConflict(CallOp call, const Member &member) {
  auto kernel = symbols.lookup<KernelOp>(call.getCallee());
  auto isWritten = [&](unsigned number) {
    return !kernel ||
           llvm::any_of(kernel.getComputes(), [&](ComputeOp compute) {
             return llvm::is_contained(compute.getWrites(),
                                       kernel.getArgument(number));
           });
  };
  for (unsigned number = 0; number < call.getArguments().size(); ++number) {
    Value operand = call.getArguments()[number];
    if (!isa<BaseMemRefType>(operand.getType()))
      continue;
    Value memory = getMemoryRows(operand).memory;
    if (!isOwnMemory(memory) || llvm::any_of(member.uses, [&](const Use &use) {
          return use.memory == memory && (use.isWrite || isWritten(number));
        }))
      return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Pipelines
//===----------------------------------------------------------------------===//

/// The extent of dimension 0: a value that the call passes, or a number.
static OpFoldResult getExtent(const Member &member) {
  KernelCall call = member.call;
  KernelOp kernel = call.kernel;
  AffineExpr extent = findOuterExtent(kernel);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(extent))
    return call.getOperand(kernel.getParameters()[symbol.getPosition()]);
  return IntegerAttr::get(IndexType::get(kernel.getContext()),
                          cast<AffineConstantExpr>(extent).getValue());
}

/// Lets points of `member` be those of the steps that `front` has, if its first
/// dimension is as long as these or, with all that a step has, a multiple.
static bool matchSteps(Member &member, const Member &front) {
  OpFoldResult own = getExtent(member), steps = getExtent(front);
  if (own == steps)
    return true;
  std::optional<int64_t> points = getConstantIntValue(own);
  std::optional<int64_t> number = getConstantIntValue(steps);
  if (!points || !number || *points % *number != 0)
    return false;
  member.scale = *points / *number;
  for (Use &use : member.uses) {
    use.row.number *= member.scale;
    if (use.offset != 0)
      use.offset = std::nullopt;
  }
  return true;
}

void Overlapper::add(CallOp call) {
  std::optional<Member> member = readCall(call);
  if (!member || member->points > maxStepPoints || !readOrder(*member)) {
    if (!members.empty())
      later.push_back(call);
    return;
  }
  bool follows =
      (members.empty() || matchSteps(*member, members.front())) &&
      llvm::none_of(
          later, [&](CallOp other) { return mayConflict(other, *member); }) &&
      llvm::all_of(members, [&](const Member &before) {
        return keepOrder(before, *member);
      });
  auto isRecurrence = [](const Member &m) { return m.isRecurrence; };
  if (!follows && !member->isRecurrence &&
      llvm::any_of(members, isRecurrence)) {
    later.push_back(call);
    return;
  }
  if (!follows) {
    close();
    member = readCall(call); // Its steps are its own.
    readOrder(*member);
  }
  members.push_back(std::move(*member));
}

void Overlapper::close() {
  while (!members.empty() && !members.back().isRecurrence)
    members.pop_back();
  unsigned recurrences = llvm::count_if(
      members, [](const Member &member) { return member.isRecurrence; });
  if (recurrences > 1) {
    write();
    count += recurrences;
  }
  members.clear();
  later.clear();
}

KernelOp Overlapper::getBlockKernel(KernelCall call, Value first, Value rows) {
  KernelOp &known = blockKernels[call.kernel];
  if (known) {
    call.call.getArgumentsMutable().append({first, rows});
    return known;
  }
  known = call.kernel.clone();
  known.setSymName((call.kernel.getSymName() + "_block").str());
  symbols.insert(known, std::next(call.kernel->getIterator()));
  TargetAttr target = getTarget(call.kernel);
  known->setAttr(TargetAttr::getAttrName(),
                 TargetAttr::get(target.getContext(), target.getCpu(),
                                 target.getFeatures(), target.getVectorBits(),
                                 target.getRegisters(), target.getL1(),
                                 target.getL2(), target.getL3(), /*cores=*/1));
  makeBlockKernel({call.call, known}, first, rows);
  return known;
}

void Overlapper::write() {
  Operation *end = members.back().call.call;
  OpBuilder builder(end);
  Location loc = end->getLoc();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  // What waits for the last member stands behind it.
  Operation *last = end;
  for (CallOp call : later)
    if (call->isBeforeInBlock(end)) {
      call->moveAfter(last);
      last = call;
    }
  SmallVector<SmallVector<const Member *>> stages(1);
  int64_t points = 1;
  for (const Member &member : members) {
    stages.back().push_back(&member);
    points = std::max(points, member.points);
    if (member.isRecurrence && &member != &members.back())
      stages.emplace_back();
  }
  int64_t numStages = stages.size();
  Value zero = number(0), one = number(1);
  Value steps =
      getValueOrCreateConstantIndexOp(builder, loc, getExtent(members.front()));
  Value least = number(std::max<int64_t>(
      kMinBlockSteps, llvm::divideCeil(kMinBlockPoints, points)));
  Value size = arith::MaxSIOp::create(
      builder, loc, least,
      arith::CeilDivUIOp::create(builder, loc, steps, number(kMaxBlocks)));
  Value blocks = arith::CeilDivUIOp::create(builder, loc, steps, size);
  Value diagonals =
      arith::AddIOp::create(builder, loc, blocks, number(numStages - 1));
  auto outer = scf::ForOp::create(builder, loc, zero, diagonals, one);
  builder.setInsertionPoint(outer.getBody()->getTerminator());
  auto inner =
      scf::ParallelOp::create(builder, loc, zero, number(numStages), one);
  builder.setInsertionPoint(inner.getBody()->getTerminator());
  Value stage = inner.getInductionVars().front();
  // Before the first block, the difference is large without a sign.
  Value block =
      arith::SubIOp::create(builder, loc, outer.getInductionVar(), stage);
  Value isInside = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ult, block, blocks);
  Value first = arith::MulIOp::create(builder, loc, block, size);
  Value rows = arith::MinSIOp::create(
      builder, loc, size, arith::SubIOp::create(builder, loc, steps, first));
  for (auto [position, own] : llvm::enumerate(stages)) {
    OpBuilder::InsertionGuard guard(builder);
    Value isOwn = arith::AndIOp::create(
        builder, loc, isInside,
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, stage,
                              number(position)));
    auto choice = scf::IfOp::create(builder, loc, isOwn);
    builder.setInsertionPointToStart(choice.thenBlock());
    for (const Member *member : own) {
      KernelCall call = member->call;
      call.call->moveBefore(builder.getInsertionBlock()->getTerminator());
      builder.setInsertionPoint(call.call);
      auto toPoints = [&](Value steps) -> Value {
        return member->scale == 1
                   ? steps
                   : arith::MulIOp::create(builder, loc, steps,
                                           number(member->scale));
      };
      KernelOp kernel = getBlockKernel(call, toPoints(first), toPoints(rows));
      call.call.setCalleeAttr(FlatSymbolRefAttr::get(kernel));
    }
  }
}

unsigned Overlapper::run(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto call = dyn_cast<CallOp>(op))
      add(call);
    else if (!isMemoryEffectFree(&op) &&
             !hasSingleEffect<MemoryEffects::Allocate>(&op))
      close();
  }
  close();
  return count;
}

namespace {
struct PolyOverlapCallsPass
    : espalier::poly::impl::PolyOverlapCallsPassBase<PolyOverlapCallsPass> {
  using PolyOverlapCallsPassBase::PolyOverlapCallsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (getTarget(module).getCores() < 2)
      return;
    for (auto function : module.getOps<FunctionOpInterface>()) {
      if (isa<KernelOp>(function) || function.isExternal() ||
          !function.getFunctionBody().hasOneBlock())
        continue;
      unsigned count = Overlapper(module, maxStepPoints)
                           .run(function.getFunctionBody().front());
      numOverlapped += count;
      if (count > 0)
        remark::passed(
            function.getLoc(),
            remark::RemarkOpts::name("Overlapped").category(getArgument()))
            << remark::metric("Recurrences", count);
    }
  }
};
} // namespace
