//===- PushUpdates.cpp - Elements that data replaces ----------------------===//
//
// What replaces an element is defined as the last point that names it:
//
//   L[i] = max(m | I[m] == i) m            -infinity where there is none
//   R[i] = V[min(max(L[i], 0), M - 1)] if L[i] >= 0 else X[i]
//
// The same in the order of m, with an update that pushReduction lets name its
// element:
//
//   R[i] = X[i];   R[i] = V[m] if I[m] == i   for m < M in order
//
// Where another kernel computes L, it becomes part of the one that reads it.
//
//===----------------------------------------------------------------------===//

#include "KernelArguments.h"
#include "PushReductions.h"
#include "espalier/Dialect/Poly/IR/Reduction.h"
#include "espalier/Dialect/Poly/Program/Passes.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"

namespace espalier::poly {
#define GEN_PASS_DEF_POLYPUSHUPDATESPASS
#include "espalier/Dialect/Poly/Program/Passes.h.inc"
} // namespace espalier::poly

using namespace mlir;
using namespace espalier::poly;

/// The computations of the kernel that write `array`, which is one of its own.
static SmallVector<ComputeOp> findWriters(Value array) {
  llvm::SmallSetVector<ComputeOp, 4> writers;
  if (array.getDefiningOp<ArrayOp>())
    for (Operation *user : array.getUsers())
      if (auto compute = dyn_cast<ComputeOp>(user);
          compute && llvm::is_contained(compute.getWrites(), array))
        writers.insert(compute);
  return writers.takeVector();
}

/// Whether each point of one box runs by itself and writes one element.
static bool isPlain(ComputeOp compute) {
  auto next = dyn_cast_or_null<ComputeOp>(compute->getNextNode());
  return compute.getDomain().size() == 1 && compute.getWrites().size() == 1 &&
         !compute.getInterleaved() && !(next && next.getInterleaved()) &&
         !compute.getCombiner() && !compute.getAtomic();
}

static bool isMap(ComputeOp compute) {
  return isPlain(compute) && !compute.getReduction() && !compute.getWhere();
}

/// The dimension that each index is, a different one each.
static std::optional<SmallVector<unsigned>> getDims(AffineMap map) {
  SmallVector<unsigned> dims;
  for (AffineExpr index : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(index);
    if (!dim || llvm::is_contained(dims, dim.getPosition()))
      return std::nullopt;
    dims.push_back(dim.getPosition());
  }
  return dims;
}

/// The index that each dimension is, if each is one.
static std::optional<SmallVector<unsigned>> getPositions(AffineMap map) {
  std::optional<SmallVector<unsigned>> dims = getDims(map);
  if (!dims || dims->size() != map.getNumDims())
    return std::nullopt;
  SmallVector<unsigned> positions(dims->size());
  for (auto [position, dim] : llvm::enumerate(*dims))
    positions[dim] = position;
  return positions;
}

/// The least and the greatest value of a dimension, as far as single
/// constraints say.
static std::pair<std::optional<int64_t>, std::optional<int64_t>>
getBounds(IntegerSet set, unsigned number) {
  std::optional<int64_t> least, greatest;
  AffineExpr dim = getAffineDimExpr(number, set.getContext());
  for (auto [constraint, isEquality] :
       llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
    auto getRest = [&](AffineExpr expr) {
      return dyn_cast<AffineConstantExpr>(
          simplifyAffineExpr(expr, set.getNumDims(), set.getNumSymbols()));
    };
    if (isEquality)
      continue;
    if (AffineConstantExpr rest = getRest(constraint - dim))
      least = std::max(least.value_or(-rest.getValue()), -rest.getValue());
    if (AffineConstantExpr rest = getRest(constraint + dim))
      greatest = std::min(greatest.value_or(rest.getValue()), rest.getValue());
  }
  return {least, greatest};
}

/// Whether `compute` stores what it reads, if that is from 0 to `greatest`.
static bool keepsNumbers(ComputeOp compute, int64_t greatest) {
  Value argument = compute.getBody().getArgument(0);
  Value value = compute.getYield().getValues().front();
  while (value != argument) {
    Operation *op = value.getDefiningOp();
    APInt limit;
    bool keeps =
        op &&
        (isa<arith::IndexCastOp>(op)
             ? op->getResult(0).getType().isInteger(64) ||
                   op->getResult(0).getType().isIndex()
             : op->getNumOperands() == 2 &&
                   matchPattern(op->getOperand(1), m_ConstantInt(&limit)) &&
                   (isa<arith::MinSIOp>(op) ? limit.getSExtValue() >= greatest
                                            : isa<arith::MaxSIOp>(op) &&
                                                  limit.getSExtValue() <= 0));
    if (!keeps)
      return false;
    value = op->getOperand(0);
  }
  return true;
}

namespace {
/// A choice between what the last point names and what was there.
class Update {
public:
  explicit Update(ComputeOp choice)
      : choice(choice), kernel(choice.getKernel()) {}
  bool find();
  /// The array that is asked whether an element is replaced; or null.
  Value getLast() { return findChoice() ? choice.getReads()[last] : Value(); }
  /// Adds what does the same, in place of the choice, and returns the update.
  ComputeOp add();
  /// Removes what it replaces.
  void eraseFound();
  /// Removes what `add` has added.
  void eraseAdded();

private:
  bool findChoice();
  bool findReduction();
  bool findNumbers();
  bool matchBody();
  /// Whether the same points are meant, and nothing in between is in the way.
  bool canMove();
  std::string getName(StringRef suffix);

  ComputeOp choice, reduction, numbers, copied, update;
  KernelOp kernel;
  unsigned last, value, element; ///< Reads of the choice.
  /// Of the array of numbers: the index that each dimension of the choice is.
  SmallVector<unsigned> positions;
  SmallVector<AffineExpr> dims; ///< Those of the choice in the reduction.
  unsigned point;               ///< The dimension of the numbers.
  Value condition;
  unsigned lastInReduction;
  llvm::SmallSetVector<Operation *, 8> found;
};
} // namespace

bool Update::findChoice() {
  if (!isMap(choice) || kernel.getNumParameters() != 0)
    return false;
  auto select =
      choice.getYield().getValues().front().getDefiningOp<arith::SelectOp>();
  auto isHit = select ? select.getCondition().getDefiningOp<arith::CmpIOp>()
                      : arith::CmpIOp();
  if (!isHit || isHit.getPredicate() != arith::CmpIPredicate::sge ||
      !matchPattern(isHit.getRhs(), m_Zero()))
    return false;
  auto lastValue = dyn_cast<BlockArgument>(isHit.getLhs());
  auto trueValue = dyn_cast<BlockArgument>(select.getTrueValue());
  auto falseValue = dyn_cast<BlockArgument>(select.getFalseValue());
  if (!lastValue || !trueValue || !falseValue)
    return false;
  last = lastValue.getArgNumber();
  value = trueValue.getArgNumber();
  element = falseValue.getArgNumber();
  SmallVector<ComputeAccess> reads = choice.getReadAccesses();
  auto own = getPositions(reads[last].map);
  if (!own || value == element || value == last || element == last ||
      reads[last].map.getNumSymbols() != 0 ||
      choice.getWriteAccesses().front().map.getNumSymbols() != 0 ||
      reads[element].map.getNumSymbols() != 0)
    return false;
  positions = *own;
  return true;
}

/// What says where to read is the number of the last point.
bool Update::findNumbers() {
  SmallVector<ComputeAccess> reads = choice.getReadAccesses();
  std::optional<unsigned> number;
  for (unsigned symbol = 0; symbol < reads[value].map.getNumSymbols(); ++symbol)
    if (reads[value].map.isFunctionOfSymbol(symbol)) {
      if (number)
        return false;
      number = symbol;
    }
  unsigned numReads = number && *number != last ? 4 : 3;
  if (!number || reads.size() != numReads)
    return false;
  if (*number == last)
    return true;
  SmallVector<ComputeOp> writers = findWriters(reads[*number].array);
  auto own = getPositions(reads[*number].map);
  if (writers.size() != 1 || !own)
    return false;
  numbers = writers.front();
  if (!isMap(numbers) || numbers.getReads().size() != 1 ||
      numbers.getReads().front() != reads[last].array)
    return false;
  auto written = getDims(numbers.getWriteAccesses().front().map);
  auto read = getPositions(numbers.getReadAccesses().front().map);
  if (!written || !read)
    return false;
  for (unsigned dim = 0; dim < positions.size(); ++dim)
    if ((*read)[(*written)[(*own)[dim]]] != positions[dim])
      return false;
  found.insert(numbers);
  found.insert(reads[*number].array.getDefiningOp());
  return true;
}

bool Update::findReduction() {
  Value array = choice.getReads()[last];
  SmallVector<ComputeOp> writers = findWriters(array);
  found.insert(array.getDefiningOp());
  // Through copies of all numbers.
  while (writers.size() == 1) {
    ComputeOp copy = writers.front();
    if (!isMap(copy) || copy.getReads().size() != 1 ||
        copy.getYield().getValues().front() != copy.getBody().getArgument(0))
      return false;
    auto written = getDims(copy.getWriteAccesses().front().map);
    auto read = getPositions(copy.getReadAccesses().front().map);
    if (!written || !read || !found.insert(copy))
      return false;
    for (unsigned &position : positions)
      position = (*read)[(*written)[position]];
    array = copy.getReads().front();
    found.insert(array.getDefiningOp());
    writers = findWriters(array);
  }
  if (writers.size() != 2)
    return false;
  ComputeOp init = writers[0];
  reduction = writers[1];
  if (init.getReduction())
    std::swap(init, reduction);
  if (!isMap(init) || !init.getReads().empty() || !isPlain(reduction) ||
      reduction.getReduction() != Reduction::Max ||
      !init->isBeforeInBlock(reduction))
    return false;
  auto neutral = matchReduction(reduction, Reduction::Max);
  Attribute least;
  if (!neutral ||
      !matchPattern(init.getYield().getValues().front(), m_Constant(&least)) ||
      least != neutral->neutral)
    return false;
  lastInReduction = neutral->read;
  auto written = getDims(reduction.getWriteAccesses().front().map);
  if (!written || reduction.getNumDims() != positions.size() + 1)
    return false;
  for (unsigned position : positions)
    dims.push_back(getAffineDimExpr((*written)[position], kernel.getContext()));
  found.insert(init);
  found.insert(reduction);
  return true;
}

/// max(L, condition ? m : least), with m in order from 0 on.
bool Update::matchBody() {
  auto largest =
      reduction.getYield().getValues().front().getDefiningOp<arith::MaxSIOp>();
  if (!largest)
    return false;
  Value current = reduction.getBody().getArgument(lastInReduction);
  Value other =
      largest.getLhs() == current ? largest.getRhs() : largest.getLhs();
  auto select = other.getDefiningOp<arith::SelectOp>();
  auto number =
      select ? select.getTrueValue().getDefiningOp<IndexOp>() : IndexOp();
  auto neutral = matchReduction(reduction, Reduction::Max);
  Attribute least;
  if (!number || !llvm::hasSingleElement(current.getUses()) ||
      !matchPattern(select.getFalseValue(), m_Constant(&least)) ||
      least != neutral->neutral)
    return false;
  condition = select.getCondition();
  point = number.getDim();
  auto [first, greatest] = getBounds(reduction.getDomainSets().front(), point);
  return !reduction.getWriteAccesses().front().map.isFunctionOfDim(point) &&
         first.value_or(-1) >= 0 && greatest &&
         (!numbers || keepsNumbers(numbers, *greatest));
}

bool Update::canMove() {
  IntegerSet all = choice.getDomainSets().front();
  IntegerSet own = reduction.getDomainSets().front();
  for (auto [constraint, isEquality] :
       llvm::zip_equal(all.getConstraints(), all.getEqFlags())) {
    AffineExpr moved =
        simplifyAffineExpr(constraint.replaceDims(dims), own.getNumDims(), 0);
    if (llvm::none_of(llvm::zip_equal(own.getConstraints(), own.getEqFlags()),
                      [&, isEquality = isEquality](auto other) {
                        return std::get<1>(other) == isEquality &&
                               simplifyAffineExpr(std::get<0>(other),
                                                  own.getNumDims(), 0) == moved;
                      }))
      return false;
  }
  // Nobody else reads what is gone, or writes what is read later now.
  for (Operation *op : found)
    if (auto array = dyn_cast_or_null<ArrayOp>(op)) {
      for (Operation *user : array.getArray().getUsers())
        if (user != choice && !found.contains(user))
          return false;
    } else if (!isa_and_nonnull<ComputeOp>(op))
      return false;
  Value written = choice.getWrites().front();
  for (Value read : choice.getReads())
    if (read == written)
      return false;
  for (Value read : reduction.getReads()) {
    if (read == written)
      return false;
    for (Operation *op = reduction->getNextNode(); op != choice;
         op = op->getNextNode())
      if (auto compute = dyn_cast_or_null<ComputeOp>(op);
          !op || (compute && llvm::is_contained(compute.getWrites(), read)))
        return false;
  }
  return reduction->isBeforeInBlock(choice);
}

bool Update::find() {
  return findChoice() && findNumbers() && findReduction() && matchBody() &&
         canMove();
}

std::string Update::getName(StringRef suffix) {
  std::string name = (choice.getSymName() + suffix).str();
  for (unsigned number = 0; kernel.lookupCompute(name); ++number)
    name = (choice.getSymName() + suffix + Twine(number)).str();
  return name;
}

ComputeOp Update::add() {
  OpBuilder builder(choice);
  SmallVector<ComputeAccess> own = choice.getReadAccesses();
  ComputeAccess result = choice.getWriteAccesses().front();
  copied = ComputeOp::create(
      builder, choice.getLoc(), getName("_init"), choice.getDomainSets(),
      {own[element]}, {result}, std::nullopt,
      [](OpBuilder &body, Location loc, ValueRange values) {
        YieldOp::create(body, loc, values.front());
      });
  copied.setDimsAttr(choice.getDimsAttr());

  unsigned numDims = reduction.getNumDims();
  result.map = result.map.replaceDimsAndSymbols(dims, {}, numDims, 0);
  SmallVector<AffineExpr> places(own[value].map.getNumSymbols(),
                                 getAffineDimExpr(point, kernel.getContext()));
  own[value].map =
      own[value].map.replaceDimsAndSymbols(dims, places, numDims, 0);
  SmallVector<ComputeAccess> reads = reduction.getReadAccesses();
  reads[lastInReduction] = result;
  reads.push_back(own[value]);
  Block &old = reduction.getBody().front();
  update = ComputeOp::create(
      builder, choice.getLoc(), getName("_last"), reduction.getDomainSets(),
      reads, {result}, std::nullopt,
      [&](OpBuilder &body, Location loc, ValueRange values) {
        IRMapping mapping;
        mapping.map(old.getArguments(), values.drop_back());
        SetVector<Operation *> needed;
        BackwardSliceOptions options;
        options.inclusive = true;
        (void)getBackwardSlice(condition, &needed, options);
        for (Operation &op : old)
          if (needed.contains(&op))
            body.clone(op, mapping);
        Value chosen =
            arith::SelectOp::create(body, loc, mapping.lookup(condition),
                                    values.back(), values[lastInReduction]);
        YieldOp::create(body, loc, chosen);
      });
  update.setDimsAttr(reduction.getDimsAttr());
  update.setWhereAttr(reduction.getWhereAttr());
  return update;
}

void Update::eraseFound() {
  choice.erase();
  for (bool isArray : {false, true})
    for (Operation *op : found)
      if (isa<ArrayOp>(op) == isArray)
        op->erase();
}

void Update::eraseAdded() {
  copied.erase();
  update.erase();
}

/// Whether `kernel` may be edited.
static bool isOwn(KernelOp kernel) {
  return kernel && kernel.isPrivate() && !kernel.getSchedule();
}

/// Lets what data names in `kernel` be replaced in order. Returns how many
/// arrays of numbers that saves.
static unsigned pushUpdates(KernelOp kernel, int64_t minPoints) {
  unsigned numPushed = 0;
  for (ComputeOp compute : kernel.getComputes()) {
    Update update(compute);
    if (!update.find())
      continue;
    if (pushReduction(update.add(), minPoints, /*minUpdates=*/0) == 0) {
      update.eraseAdded();
      continue;
    }
    update.eraseFound();
    ++numPushed;
  }
  return numPushed;
}

/// The memory that `memory` is a view of.
static Value getBase(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  return memory;
}

/// Whether a call writes to the memory that `memory` is in.
static bool writes(KernelOp kernel, CallOp call, Value memory) {
  return llvm::any_of(
      llvm::zip_equal(call.getArguments(), kernel.getArguments()),
      [&](auto passed) {
        auto [operand, argument] = passed;
        return getBase(operand) == getBase(memory) &&
               llvm::any_of(kernel.getComputes(), [&, argument = argument](
                                                      ComputeOp compute) {
                 return llvm::is_contained(compute.getWrites(), argument);
               });
      });
}

namespace {
/// A kernel that computes an array for another one alone.
struct Producer {
  KernelCall from, to;
  memref::AllocOp array;
};

struct PolyPushUpdatesPass
    : espalier::poly::impl::PolyPushUpdatesPassBase<PolyPushUpdatesPass> {
  using PolyPushUpdatesPassBase::PolyPushUpdatesPassBase;

  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (isOwn(kernel))
        numPushed += pushUpdates(kernel, minPoints);
    SmallVector<CallOp> calls;
    getOperation().walk([&](CallOp call) { calls.push_back(call); });
    for (CallOp call : calls)
      if (std::optional<Producer> producer = findProducer(call))
        join(*producer);
  }

private:
  KernelOp getKernel(CallOp call) {
    return SymbolTable::lookupNearestSymbolFrom<KernelOp>(call,
                                                          call.getCalleeAttr());
  }
  std::optional<Producer> findProducer(CallOp call);
  std::optional<Producer> findProducer(KernelCall to, Value memory);
  /// Computes the array in the kernel that reads it, if it is gone there.
  void join(Producer producer);
};
} // namespace

std::optional<Producer> PolyPushUpdatesPass::findProducer(CallOp call) {
  KernelCall to{call, getKernel(call)};
  if (!isOwn(to.kernel))
    return std::nullopt;
  for (ComputeOp compute : to.kernel.getComputes())
    if (Value last = Update(compute).getLast())
      if (auto argument = dyn_cast<BlockArgument>(last))
        return findProducer(to, to.getOperand(argument));
  return std::nullopt;
}

std::optional<Producer> PolyPushUpdatesPass::findProducer(KernelCall to,
                                                          Value memory) {
  auto array = memory.getDefiningOp<memref::AllocOp>();
  if (!array || !array.getType().hasStaticShape() ||
      !llvm::hasNItems(memory.getUsers(), 2))
    return std::nullopt;
  for (Operation *user : memory.getUsers()) {
    auto call = dyn_cast<CallOp>(user);
    if (!call || call == to.call || call->getBlock() != to.call->getBlock() ||
        !call->isBeforeInBlock(to.call))
      continue;
    KernelCall from{call, getKernel(call)};
    if (!isOwn(from.kernel) || from.kernel.getNumParameters() != 0 ||
        !from.kernel.getGivens().empty() || !to.kernel.getGivens().empty())
      return std::nullopt;
    // It writes nothing else, and later it would read the same.
    for (Value operand : call.getArguments()) {
      if (writes(from.kernel, call, operand) != (operand == memory))
        return std::nullopt;
      for (Operation *op = call->getNextNode(); op != to.call;
           op = op->getNextNode())
        if (auto other = dyn_cast<CallOp>(op)) {
          if (!getKernel(other) || writes(getKernel(other), other, operand))
            return std::nullopt;
        } else if (!isMemoryEffectFree(op) && !isa<memref::AllocOp>(op)) {
          return std::nullopt;
        }
      // What is read must not be what is written, which is one call then.
      if (operand != memory && writes(to.kernel, to.call, operand))
        return std::nullopt;
    }
    return Producer{from, to, array};
  }
  return std::nullopt;
}

void PolyPushUpdatesPass::join(Producer producer) {
  auto [from, to, array] = producer;
  SymbolTable symbols(getOperation());
  auto kernel = cast<KernelOp>(from.kernel->clone());
  symbols.insert(kernel);
  IRMapping mapping;
  SmallVector<Value> operands(from.call.getArguments());
  for (auto [operand, argument] :
       llvm::zip_equal(to.call.getArguments(), to.kernel.getArguments())) {
    auto *known = llvm::find(operands, operand);
    unsigned number = known - operands.begin();
    if (known == operands.end()) {
      operands.push_back(operand);
      (void)kernel.insertArgument(
          number, argument.getType(),
          to.kernel.getArgAttrDict(argument.getArgNumber()), argument.getLoc());
    }
    mapping.map(argument, kernel.getArgument(number));
  }
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  for (Operation &op : to.kernel.getBody().front()) {
    Operation *copy = builder.clone(op, mapping);
    if (auto compute = dyn_cast<ComputeOp>(copy))
      compute.setSymName(("t_" + compute.getSymName()).str());
  }
  // The array is the kernel's own.
  unsigned number = llvm::find(operands, array.getResult()) - operands.begin();
  builder.setInsertionPointToStart(&kernel.getBody().front());
  auto own =
      ArrayOp::create(builder, array.getLoc(), array.getType(), ValueRange());
  kernel.getArgument(number).replaceAllUsesWith(own.getArray());
  (void)kernel.eraseArgument(number);
  operands.erase(operands.begin() + number);
  unsigned numSaved = pushUpdates(kernel, minPoints);
  if (numSaved == 0)
    return kernel.erase();
  numPushed += numSaved;
  builder.setInsertionPoint(to.call);
  CallOp::create(builder, to.call.getLoc(), kernel, operands);
  for (KernelCall call : {from, to}) {
    call.call.erase();
    if (SymbolTable::symbolKnownUseEmpty(call.kernel, getOperation()))
      call.kernel.erase();
  }
  array.erase();
}
