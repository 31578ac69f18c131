//===- Detach.cpp - Two kernels of one ------------------------------------===//
//
// The computations from one on, in program order, go to a kernel of their own,
// which is called right after. What both parts use has to be in the program's
// memory: arguments, or arrays that were made such.
//
//===----------------------------------------------------------------------===//

#include "../Sequences.h"
#include "Calls.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/Dialect/Poly/Transforms/KernelCommands.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace espalier::poly;

namespace {
/// Moves the computations of a kernel from one on to another kernel.
class Detacher {
public:
  Detacher(KernelOp kernel, StringRef from);

  /// Returns the new kernel, which is in no module.
  llvm::Expected<OwningOpRef<KernelOp>> run(StringRef name);

private:
  bool isMoved(ComputeOp compute) const {
    return moved.contains(compute.getSymName());
  }
  llvm::Error checkParts();
  llvm::Error checkArrays();
  llvm::Error checkSchedule();
  void moveSchedule(KernelOp second);
  /// Leaves statements on data where all that they speak of is read.
  void shareGivens(KernelOp second);
  /// The same for combiners.
  void shareCombiners(KernelOp second);

  KernelOp kernel;
  llvm::StringSet<> moved;
  SmallVector<Operation *> ops;  ///< Computations and their arrays.
  SmallVector<FilterOp> filters; ///< Of the schedule; none without it.
};
} // namespace

Detacher::Detacher(KernelOp kernel, StringRef from) : kernel(kernel) {
  for (ComputeOp compute : kernel.getComputes())
    if (!moved.empty() || compute.getSymName() == from)
      moved.insert(compute.getSymName());
}

llvm::Error Detacher::checkParts() {
  ComputeOp first;
  for (ComputeOp compute : kernel.getComputes())
    if (isMoved(compute) && !first)
      first = compute;
  if (moved.size() == kernel.getComputes().size())
    return refuse("expects a computation before " + quote(first) +
                  ", but it is the first of " + quote(kernel));
  if (first.getInterleaved().value_or(0) == 0)
    return llvm::Error::success();
  return refuse("expects " + quote(first) +
                " to run after those before it, but it is interleaved with "
                "them");
}

llvm::Error Detacher::checkArrays() {
  for (ArrayOp array : kernel.getArrays()) {
    bool isHere = false, isThere = false;
    for (Operation *user : array.getArray().getUsers())
      (isMoved(cast<ComputeOp>(user)) ? isThere : isHere) = true;
    if (isHere && isThere)
      return refuse("expects arrays that one of the two kernels uses, but " +
                    describeArray(array.getArray()) +
                    " is used by both; legal after externalize");
    if (isThere)
      ops.push_back(array);
  }
  for (ComputeOp compute : kernel.getComputes())
    if (isMoved(compute))
      ops.push_back(compute);
  return llvm::Error::success();
}

llvm::Error Detacher::checkSchedule() {
  ScheduleOp schedule = kernel.getSchedule();
  if (!schedule)
    return llvm::Error::success();
  auto fault = [] {
    return refuse("expects a schedule that runs the two parts one after the "
                  "other; fission first");
  };
  auto sequence = dyn_cast_or_null<SequenceOp>(schedule.getChild());
  if (!sequence)
    return fault();
  for (auto filter : sequence.getBody().getOps<FilterOp>()) {
    SmallVector<StringRef> symbols = getSymbols(filter.getComputations());
    size_t number = llvm::count_if(
        symbols, [&](StringRef symbol) { return moved.contains(symbol); });
    bool isMixed = number != 0 && number != symbols.size();
    if (isMixed || (number == 0 && !filters.empty()))
      return fault();
    if (number != 0)
      filters.push_back(filter);
  }
  return llvm::Error::success();
}

void Detacher::moveSchedule(KernelOp second) {
  if (filters.empty())
    return;
  auto sequence = cast<SequenceOp>(filters.front()->getParentOp());
  OpBuilder builder = OpBuilder::atBlockEnd(&second.getBody().front());
  auto schedule = ScheduleOp::create(builder, second.getLoc());
  builder.setInsertionPointToEnd(&schedule.getOrCreateBlock());
  auto rest = SequenceOp::create(builder, second.getLoc());
  Block &block = rest.getOrCreateBlock();
  for (FilterOp filter : filters)
    filter->moveBefore(&block, block.end());
  simplify(sequence);
  simplify(rest);
}

void Detacher::shareGivens(KernelOp second) {
  for (GivenOp given : kernel.getGivens()) {
    auto isOfUse = [&](KernelOp part) {
      return llvm::all_of(given.getReads(), [&](Value array) {
        return llvm::any_of(part.getComputes(), [&](ComputeOp compute) {
          return llvm::is_contained(compute.getReads(), array);
        });
      });
    };
    if (isOfUse(second))
      second.getBody().front().push_front(given->clone());
    if (!isOfUse(kernel))
      given.erase();
  }
}

void Detacher::shareCombiners(KernelOp second) {
  auto isUsed = [](KernelOp part, CombinerOp combiner) {
    return llvm::any_of(part.getComputes(), [&](ComputeOp compute) {
      return compute.getCombiner() == combiner.getSymName();
    });
  };
  for (CombinerOp combiner :
       llvm::to_vector(kernel.getBody().getOps<CombinerOp>())) {
    if (isUsed(second, combiner))
      second.getBody().front().push_front(combiner->clone());
    if (!isUsed(kernel, combiner))
      combiner.erase();
  }
}

llvm::Expected<OwningOpRef<KernelOp>> Detacher::run(StringRef name) {
  if (llvm::Error error = checkParts())
    return std::move(error);
  if (llvm::Error error = checkArrays())
    return std::move(error);
  if (llvm::Error error = checkSchedule())
    return std::move(error);
  OwningOpRef<KernelOp> second(cast<KernelOp>(kernel->cloneWithoutRegions()));
  second->setSymName(name);
  Block &block = second->getBody().emplaceBlock();
  for (BlockArgument argument : kernel.getArguments())
    block.addArgument(argument.getType(), argument.getLoc());
  for (Operation *op : ops)
    op->moveBefore(&block, block.end());
  shareGivens(*second);
  shareCombiners(*second);
  for (auto [old, fresh] :
       llvm::zip_equal(kernel.getArguments(), block.getArguments()))
    old.replaceUsesWithIf(fresh, [&](OpOperand &use) {
      return second->getOperation()->isProperAncestor(use.getOwner());
    });
  moveSchedule(*second);
  return std::move(second);
}

/// Drops buffers that a kernel does not use from it and from what a call
/// passes.
static SmallVector<Value> dropUnused(KernelOp kernel, ValueRange values) {
  SmallVector<Value> kept;
  for (unsigned number = values.size(); number-- > 0;)
    if (isa<MemRefType>(values[number].getType()) &&
        kernel.getArgument(number).use_empty())
      (void)kernel.eraseArgument(number);
    else
      kept.insert(kept.begin(), values[number]);
  return kept;
}

llvm::Error espalier::poly::detach(ComputeOp compute, StringRef name,
                                   Eraser erase) {
  KernelOp kernel = compute.getKernel();
  llvm::Expected<CallOp> call = findCall(kernel);
  if (!call)
    return call.takeError();
  if (name.empty() || SymbolTable::lookupSymbolIn(kernel->getParentOp(), name))
    return refuse("expects a name that is not taken, but got @" + name);
  std::string from = compute.getSymName().str();
  OwningOpRef<KernelOp> trial = cloneAlone(kernel);
  auto copy = Detacher(*trial, from).run(name);
  if (!copy)
    return copy.takeError();
  for (KernelOp made : {*trial, **copy})
    if (llvm::Error error = checkForm(made))
      return error;
  KernelOp second = llvm::cantFail(Detacher(kernel, from).run(name)).release();
  OpBuilder builder(kernel->getContext());
  builder.setInsertionPointAfter(kernel);
  builder.insert(second);
  SmallVector<Value> values(call->getArguments());
  builder.setInsertionPoint(*call);
  for (KernelOp part : {kernel, second})
    CallOp::create(builder, call->getLoc(), part, dropUnused(part, values));
  erase(*call);
  return llvm::Error::success();
}
