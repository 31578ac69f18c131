//===- PlanMemory.cpp - Places the buffers of @main in an arena -----------===//
//
// A buffer of symbolic size c * s, with c static and s a product of sizes that
// only the run knows, belongs to the group s. Inside a group all sizes are
// static multiples of one run-time unit, so the offsets are static multiples
// of it, too:
//
//   group s:   unit u bytes, buffers at o_0 * u, o_1 * u, ..., total t * u
//   arena:     | static group | group n | group n * m | ...
//
// If @main chooses between two versions, each has an arena of its own, of which
// there is only the one that is used.
//
// The unit is s itself (each c rounded up to 64, so that every offset is a
// multiple of 64), or, where this rounding would cost much memory (s large, c
// a few bytes), g * s rounded up to 64 at run time, with g the greatest common
// divisor of all c.
//
//===----------------------------------------------------------------------===//

#include "IndexCloner.h"
#include "espalier/Conversion/LoopsToProgram/ArenaPlan.h"
#include "espalier/Conversion/LoopsToProgram/Passes.h"
#include "espalier/Conversion/LoopsToProgram/Program.h"
#include "espalier/Dialect/Poly/IR/ChoiceAttributes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include <numeric>

namespace espalier {
#define GEN_PASS_DEF_PROGRAMPLANMEMORYPASS
#include "espalier/Conversion/LoopsToProgram/Passes.h.inc"
} // namespace espalier

using namespace mlir;
using namespace espalier;

/// Rounding of static factors may cost this part of a group's memory.
static constexpr int64_t kAcceptedWaste = 16;

namespace {
/// An allocation of a version of @main.
struct Buffer {
  memref::AllocOp alloc;
  LiveBuffer live;
};

/// Buffers whose size is a static multiple of one product of run-time sizes.
struct Group {
  SmallVector<size_t> members;
  ArenaPlan plan;
  /// The unit is `factor` times the product, rounded up to the alignment if
  /// `roundsUnit` is set.
  int64_t factor = 1;
  bool roundsUnit = false;
};

/// The state of planning one version of a program.
class MemoryPlanner {
public:
  /// The version is a block of @main.
  MemoryPlanner(ProgramFunctions functions, Block &block)
      : main(functions.main), plan(functions.plan), block(block) {}

  /// Decides where buffers lie, and emits into @main_plan how many bytes they
  /// take.
  FailureOr<Value> emitSize(OpBuilder &builder);
  /// Lets buffers lie in `arena`. The sizes have been emitted.
  LogicalResult placeBuffers(Value arena);
  /// Frees each buffer at the end of the block instead.
  void freeBuffers();
  unsigned getNumBuffers() const { return buffers.size(); }

private:
  LogicalResult collectBuffers();
  void collectLifetimes();
  LogicalResult formGroups();
  LogicalResult planGroup(Group &group);
  void addFactors(Value size, SmallVectorImpl<Value> &factors,
                  int64_t &constant, bool &overflow);
  Value getRepresentative(Value value);
  unsigned getNumInputs() {
    return main->getAttrOfType<IntegerAttr>(kNumInputsAttr).getInt();
  }
  FailureOr<SmallVector<Value>> emitUnits(OpBuilder &builder,
                                          IndexCloner &cloner);
  Value emitTotal(OpBuilder &builder, ArrayRef<Value> units, size_t numGroups);
  LogicalResult emitExtentChecks(OpBuilder &builder, IndexCloner &cloner);
  func::FuncOp main;
  func::FuncOp plan;
  Block &block;
  SmallVector<Buffer> buffers;
  /// Static part of each buffer's size.
  SmallVector<int64_t> constants;
  /// The groups, keyed by the ids of their factors.
  llvm::MapVector<SmallVector<int64_t>, Group> groups;
  DenseMap<Value, int64_t> factorIds;
  SmallVector<Value> factorValues;
  llvm::StringMap<Value> symbols;
};
} // namespace

/// Asserts in the plan what `block`, one of @main, does.
static LogicalResult cloneAssertions(Block &block, OpBuilder &builder,
                                     IndexCloner &cloner) {
  for (auto assertion : block.getOps<cf::AssertOp>()) {
    FailureOr<Value> holds = cloner.clone(assertion.getArg());
    if (failed(holds))
      return failure();
    cf::AssertOp::create(builder, assertion.getLoc(), *holds,
                         assertion.getMsg());
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Buffers and lifetimes
//===----------------------------------------------------------------------===//

static LogicalResult checkBuffer(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  if (!type.getLayout().isIdentity() || type.getMemorySpace())
    return alloc.emitError("expects the identity layout and the default memory "
                           "space, but got ")
           << type;
  if (alloc.getAlignment().value_or(1) > uint64_t(kBufferAlignment))
    return alloc.emitError("expects an alignment of at most ")
           << kBufferAlignment << ", but got " << *alloc.getAlignment();
  return success();
}

LogicalResult MemoryPlanner::collectBuffers() {
  for (auto alloc : block.getOps<memref::AllocOp>()) {
    if (failed(checkBuffer(alloc)))
      return failure();
    buffers.push_back({alloc, {}});
  }
  return success();
}

/// A buffer lives from the first to the last operation of the block that uses
/// it or something made from it. What an operation with memref results returns
/// is taken to be made from all buffers that the operation uses.
void MemoryPlanner::collectLifetimes() {
  DenseMap<Value, SmallVector<size_t, 1>> origins;
  for (auto [index, buffer] : llvm::enumerate(buffers)) {
    origins[buffer.alloc].push_back(index);
    buffer.live.begin = -1;
  }
  for (auto [position, top] : llvm::enumerate(block)) {
    if (isa<memref::AllocOp>(top))
      continue;
    SmallVector<size_t> used;
    top.walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        if (auto it = origins.find(operand); it != origins.end())
          llvm::append_range(used, it->second);
    });
    bool onlyMakesView = isa<ViewLikeOpInterface>(top);
    for (size_t index : used) {
      LiveBuffer &live = buffers[index].live;
      if (!onlyMakesView && live.begin < 0)
        live.begin = position;
      if (!onlyMakesView)
        live.end = position;
    }
    for (Value result : top.getResults())
      if (isa<BaseMemRefType>(result.getType()) && !used.empty())
        origins[result] = SmallVector<size_t, 1>(used.begin(), used.end());
  }
  for (Buffer &buffer : buffers)
    buffer.live.begin = std::max<int64_t>(buffer.live.begin, 0);
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// Returns one value for all extents with the same symbolic name.
Value MemoryPlanner::getRepresentative(Value value) {
  auto dim = value.getDefiningOp<memref::DimOp>();
  auto argument =
      dim ? dyn_cast<BlockArgument>(dim.getSource()) : BlockArgument();
  // What is declared of an output does not bind the plan.
  if (!argument || !dim.getConstantIndex() ||
      argument.getArgNumber() >= getNumInputs())
    return value;
  auto dims =
      main.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), kDimsAttr);
  if (!dims)
    return value;
  int64_t index = *dim.getConstantIndex();
  if (index < 0 || index >= static_cast<int64_t>(dims.size()))
    return value;
  auto symbol = cast<StringAttr>(dims[index]);
  if (symbol.empty())
    return value;
  return symbols.try_emplace(symbol.getValue(), value).first->second;
}

/// Splits `size` into static and run-time factors.
void MemoryPlanner::addFactors(Value size, SmallVectorImpl<Value> &factors,
                               int64_t &constant, bool &overflow) {
  APInt value;
  if (matchPattern(size, m_ConstantInt(&value)) && value.isNonNegative()) {
    std::optional<int64_t> product =
        multiplyChecked(constant, value.getSExtValue());
    overflow |= !product;
    constant = product.value_or(constant);
    return;
  }
  if (auto product = size.getDefiningOp<arith::MulIOp>()) {
    addFactors(product.getLhs(), factors, constant, overflow);
    addFactors(product.getRhs(), factors, constant, overflow);
    return;
  }
  factors.push_back(getRepresentative(size));
}

/// Plans the members of `group` in units, choosing the unit.
LogicalResult MemoryPlanner::planGroup(Group &group) {
  auto planWith = [&](int64_t divisor, int64_t alignment) {
    SmallVector<LiveBuffer> scaled;
    for (size_t member : group.members) {
      scaled.push_back(buffers[member].live);
      scaled.back().size = constants[member] / divisor;
    }
    return planArena(scaled, alignment);
  };
  int64_t divisor = 0;
  for (size_t member : group.members)
    divisor = std::gcd(divisor, constants[member]);
  divisor = std::max<int64_t>(divisor, 1);
  std::optional<ArenaPlan> exact = planWith(divisor, 1);
  std::optional<ArenaPlan> rounded = planWith(1, kBufferAlignment);
  if (!exact || !rounded)
    return buffers[group.members.front()].alloc.emitError(
        "expects an arena of fewer than 2^63 bytes");
  bool isStatic = &group == &groups.front().second;
  int64_t exactSize = exact->size * divisor;
  if (isStatic || rounded->size - exactSize <= exactSize / kAcceptedWaste) {
    group.plan = std::move(*rounded);
    return success();
  }
  group.plan = std::move(*exact);
  group.factor = divisor;
  group.roundsUnit = true;
  return success();
}

LogicalResult MemoryPlanner::formGroups() {
  // The static group is first, so that its offsets are constants.
  groups[{}];
  DataLayout layout = DataLayout::closest(main);
  for (auto [index, buffer] : llvm::enumerate(buffers)) {
    MemRefType type = buffer.alloc.getType();
    int64_t constant = layout.getTypeSize(type.getElementType());
    bool overflow = false;
    for (int64_t extent : type.getShape())
      if (!ShapedType::isDynamic(extent)) {
        std::optional<int64_t> product = multiplyChecked(constant, extent);
        overflow |= !product;
        constant = product.value_or(constant);
      }
    SmallVector<Value> factors;
    for (Value size : buffer.alloc.getDynamicSizes())
      addFactors(size, factors, constant, overflow);
    if (overflow)
      return buffer.alloc.emitError("expects a buffer of fewer than 2^63 "
                                    "bytes, but got ")
             << type;
    SmallVector<int64_t> key;
    for (Value factor : factors) {
      auto [it, isNew] = factorIds.try_emplace(factor, factorValues.size());
      if (isNew)
        factorValues.push_back(factor);
      key.push_back(it->second);
    }
    llvm::sort(key);
    groups[key].members.push_back(index);
    constants.push_back(constant);
  }
  for (auto &[key, group] : groups)
    if (failed(planGroup(group)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

static Value createProduct(OpBuilder &builder, Location loc, Value a,
                           int64_t b) {
  if (b == 1)
    return a;
  Value constant = arith::ConstantIndexOp::create(builder, loc, b);
  return arith::MulIOp::create(builder, loc, a, constant);
}

/// Emits the run-time unit of each group but the static one, whose is null.
FailureOr<SmallVector<Value>> MemoryPlanner::emitUnits(OpBuilder &builder,
                                                       IndexCloner &cloner) {
  Location loc = main.getLoc();
  SmallVector<Value> units;
  for (auto &[key, group] : groups) {
    Value unit;
    for (int64_t id : key) {
      FailureOr<Value> factor = cloner.clone(factorValues[id]);
      if (failed(factor))
        return failure();
      unit =
          unit ? arith::MulIOp::create(builder, loc, unit, *factor) : *factor;
    }
    if (unit)
      unit = createProduct(builder, loc, unit, group.factor);
    if (group.roundsUnit) {
      Value align =
          arith::ConstantIndexOp::create(builder, loc, kBufferAlignment);
      Value less =
          arith::ConstantIndexOp::create(builder, loc, kBufferAlignment - 1);
      unit = arith::AddIOp::create(builder, loc, unit, less);
      unit = arith::DivUIOp::create(builder, loc, unit, align);
      unit = arith::MulIOp::create(builder, loc, unit, align);
    }
    units.push_back(unit);
  }
  return units;
}

/// Emits the number of bytes of the first `numGroups` groups.
Value MemoryPlanner::emitTotal(OpBuilder &builder, ArrayRef<Value> units,
                               size_t numGroups) {
  Location loc = main.getLoc();
  Value total = arith::ConstantIndexOp::create(builder, loc,
                                               groups.front().second.plan.size);
  for (size_t i = 1; i < numGroups; ++i) {
    Value bytes = createProduct(builder, loc, units[i],
                                (groups.begin() + i)->second.plan.size);
    total = arith::AddIOp::create(builder, loc, total, bytes);
  }
  return total;
}

/// Emits assertions that no buffer has a negative extent, which would make the
/// total too small for the others.
LogicalResult MemoryPlanner::emitExtentChecks(OpBuilder &builder,
                                              IndexCloner &cloner) {
  llvm::SmallSetVector<Value, 8> sizes;
  for (Buffer &buffer : buffers)
    sizes.insert_range(buffer.alloc.getDynamicSizes());
  if (sizes.empty())
    return success();
  Value zero = arith::ConstantIndexOp::create(builder, main.getLoc(), 0);
  for (Value size : sizes) {
    FailureOr<Value> copy = cloner.clone(size);
    if (failed(copy))
      return failure();
    Value holds = arith::CmpIOp::create(builder, size.getLoc(),
                                        arith::CmpIPredicate::sge, *copy, zero);
    cf::AssertOp::create(builder, size.getLoc(), holds,
                         "expects intermediate tensors without negative "
                         "extents, but got one from these inputs");
  }
  return success();
}

LogicalResult MemoryPlanner::placeBuffers(Value arena) {
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  Location loc = main.getLoc();
  IndexCloner cloner(builder, [&](BlockArgument argument, int64_t dim) {
    return memref::DimOp::create(builder, loc, argument, dim).getResult();
  });
  FailureOr<SmallVector<Value>> units = emitUnits(builder, cloner);
  if (failed(units))
    return failure();
  for (size_t i = 0; i < groups.size(); ++i) {
    const Group &group = (groups.begin() + i)->second;
    Value base = i == 0 ? Value() : emitTotal(builder, *units, i);
    for (auto [member, offset] : llvm::zip(group.members, group.plan.offsets)) {
      memref::AllocOp alloc = buffers[member].alloc;
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(alloc);
      Value start =
          arith::ConstantIndexOp::create(builder, alloc.getLoc(), offset);
      if (base) {
        start =
            arith::MulIOp::create(builder, alloc.getLoc(), (*units)[i], start);
        start = arith::AddIOp::create(builder, alloc.getLoc(), base, start);
      }
      auto view =
          memref::ViewOp::create(builder, alloc.getLoc(), alloc.getType(),
                                 arena, start, alloc.getDynamicSizes());
      alloc.replaceAllUsesWith(view.getResult());
      alloc.erase();
    }
  }
  return success();
}

void MemoryPlanner::freeBuffers() {
  OpBuilder builder(block.getTerminator());
  for (Buffer &buffer : buffers) {
    buffer.alloc.setAlignment(kBufferAlignment);
    memref::DeallocOp::create(builder, buffer.alloc.getLoc(), buffer.alloc);
  }
}

/// Returns what yields extent `dim` of an argument of @main in @main_plan.
static std::function<Value(BlockArgument, int64_t)>
getPlannedExtents(ProgramFunctions functions) {
  // Position of each argument's first extent, among those of its kind.
  unsigned numInputs =
      functions.main->getAttrOfType<IntegerAttr>(kNumInputsAttr).getInt();
  SmallVector<int64_t> firstExtent;
  int64_t next = 0;
  for (auto [index, type] :
       llvm::enumerate(functions.main.getArgumentTypes())) {
    if (index == numInputs)
      next = 0;
    firstExtent.push_back(next);
    next += cast<MemRefType>(type).getRank();
  }
  func::FuncOp plan = functions.plan;
  Operation *terminator = plan.getBody().front().getTerminator();
  return [=](BlockArgument argument, int64_t dim) mutable {
    unsigned index = argument.getArgNumber();
    int64_t position = firstExtent[index] + dim;
    return index < numInputs ? Value(plan.getArgument(position))
                             : terminator->getOperand(position);
  };
}

FailureOr<Value> MemoryPlanner::emitSize(OpBuilder &builder) {
  if (failed(collectBuffers()))
    return failure();
  collectLifetimes();
  if (failed(formGroups()))
    return failure();
  IndexCloner cloner(builder, getPlannedExtents({main, plan}));
  FailureOr<SmallVector<Value>> units = emitUnits(builder, cloner);
  if (failed(units) || failed(cloneAssertions(block, builder, cloner)) ||
      failed(emitExtentChecks(builder, cloner)))
    return failure();
  return emitTotal(builder, *units, groups.size());
}

namespace {
/// The blocks of @main that have buffers: its body, or two versions of it.
struct Versions {
  scf::IfOp choice; ///< Null if there is one version.
  SmallVector<Block *, 2> blocks;
};
} // namespace

static FailureOr<Versions> findVersions(func::FuncOp main) {
  Versions versions;
  for (auto choice : main.getOps<scf::IfOp>())
    if (choice.elseBlock() && choice.getNumResults() == 0)
      versions.choice = choice;
  if (versions.choice)
    versions.blocks = {versions.choice.thenBlock(),
                       versions.choice.elseBlock()};
  else
    versions.blocks = {&main.getBody().front()};
  WalkResult result = main.walk([&](Operation *op) {
    bool isAssertion = isa<cf::AssertOp>(op);
    bool isPlanned = llvm::is_contained(versions.blocks, op->getBlock()) ||
                     (isAssertion && op->getParentOp() == main);
    if (isPlanned || !isa<memref::AllocOp, cf::AssertOp>(op))
      return WalkResult::advance();
    op->emitError("expects ") << (isAssertion ? "assertions" : "allocations")
                              << " outside of loops and branches of @main";
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  return versions;
}

/// Emits how many bytes the arena takes: those of the version that is chosen.
static FailureOr<Value> emitSize(ProgramFunctions functions, scf::IfOp choice,
                                 std::vector<MemoryPlanner> &planners) {
  func::FuncOp plan = functions.plan;
  OpBuilder builder(plan.getBody().front().getTerminator());
  if (!choice)
    return planners.front().emitSize(builder);
  IndexCloner cloner(builder, getPlannedExtents(functions));
  FailureOr<Value> condition = cloner.clone(choice.getCondition());
  if (failed(condition) ||
      failed(
          cloneAssertions(functions.main.getBody().front(), builder, cloner)))
    return failure();
  auto sizes = scf::IfOp::create(builder, choice.getLoc(),
                                 builder.getIndexType(), *condition,
                                 /*withElseRegion=*/true);
  for (auto [planner, region] :
       llvm::zip_equal(planners, sizes->getRegions())) {
    OpBuilder inner = OpBuilder::atBlockEnd(&region.front());
    FailureOr<Value> size = planner.emitSize(inner);
    if (failed(size))
      return failure();
    scf::YieldOp::create(inner, choice.getLoc(), *size);
  }
  return sizes.getResult(0);
}

FailureOr<unsigned> espalier::planMemory(ModuleOp module, bool separate) {
  if (failed(readSignature(module)))
    return failure();
  ProgramFunctions functions = *findProgram(module);
  func::FuncOp main = functions.main, plan = functions.plan;
  FailureOr<Versions> versions = findVersions(main);
  if (failed(versions))
    return failure();
  main.walk([](memref::DeallocOp dealloc) { dealloc.erase(); });
  std::vector<MemoryPlanner> planners;
  for (Block *block : versions->blocks)
    planners.emplace_back(functions, *block);

  // The plan clones computations that rewriting @main would change.
  FailureOr<Value> size = emitSize(functions, versions->choice, planners);
  if (failed(size))
    return failure();
  Operation *terminator = plan.getBody().front().getTerminator();
  terminator->insertOperands(terminator->getNumOperands(), *size);
  OpBuilder builder(module.getContext());
  if (failed(
          plan.insertResult(plan.getNumResults(), builder.getIndexType(), {})))
    return failure();

  auto arenaType = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  unsigned position = main.getNumArguments();
  if (failed(main.insertArgument(position, arenaType,
                                 builder.getDictionaryAttr(builder.getNamedAttr(
                                     kArenaAttr, builder.getUnitAttr())),
                                 main.getLoc())))
    return failure();
  unsigned numBuffers = 0;
  for (MemoryPlanner &planner : planners) {
    if (separate)
      planner.freeBuffers();
    else if (failed(planner.placeBuffers(main.getArgument(position))))
      return failure();
    numBuffers += planner.getNumBuffers();
  }
  return numBuffers;
}

namespace {
struct ProgramPlanMemoryPass
    : espalier::impl::ProgramPlanMemoryPassBase<ProgramPlanMemoryPass> {
  using ProgramPlanMemoryPassBase::ProgramPlanMemoryPassBase;

  void runOnOperation() override {
    getOperation()->removeAttr(poly::kStageAttr);
    FailureOr<unsigned> count = planMemory(getOperation(), separate);
    if (failed(count))
      return signalPassFailure();
    numBuffers += *count;
  }
};
} // namespace
