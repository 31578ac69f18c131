//===- Merge.cpp - One kernel of two --------------------------------------===//
//
//   call @a(x, t, n)                     call @a(x, t, n, y)
//   call @b(t, y, n)       becomes
//
// where @a runs its own computations, then those of @b. What both calls pass is
// one argument. The parameters of the second kernel are others of the first,
// so the symbols of all sets and maps are renumbered.
//
//===----------------------------------------------------------------------===//

#include "../Sequences.h"
#include "Calls.h"
#include "espalier/Dialect/Poly/IR/Parameters.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/Dialect/Poly/Transforms/KernelCommands.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace espalier::poly;

namespace {
/// Moves the computations of one kernel to another.
class Merger {
public:
  /// `values` are what a call passes to `first`.
  Merger(KernelOp first, KernelOp second, ValueRange values)
      : first(first), second(second), values(values.begin(), values.end()) {}

  /// Leaves `second`, which is called with `others`, empty.
  llvm::Error run(ValueRange others);
  /// What the call of the merged kernel passes.
  ArrayRef<Value> getValues() const { return values; }

private:
  void addArguments(ValueRange others);
  void addAttributes(unsigned place, DictionaryAttr attributes);
  void addAssumptions(IntegerSet more);
  void rename();
  void addSchedule();

  KernelOp first, second;
  SmallVector<Value> values;
  /// The arguments of the first kernel that those of the second become.
  SmallVector<unsigned> places;
};
} // namespace

void Merger::addArguments(ValueRange others) {
  auto order = [](KernelOp kernel) {
    return llvm::map_to_vector(
        kernel.getParameters(),
        [](BlockArgument parameter) { return parameter.getArgNumber(); });
  };
  SmallVector<unsigned> before = order(first), own = order(second);
  for (auto [argument, value] :
       llvm::zip_equal(second.getArguments(), others)) {
    auto known = llvm::find(values, value);
    places.push_back(known - values.begin());
    if (known != values.end())
      continue;
    (void)first.insertArgument(first.getNumArguments(), argument.getType(), {},
                               argument.getLoc());
    values.push_back(value);
  }
  SmallVector<unsigned> after = order(first);
  SmallVector<AffineExpr> same, moved;
  MLIRContext *context = first.getContext();
  for (unsigned number = 0; number < before.size(); ++number)
    same.push_back(getAffineSymbolExpr(number, context));
  for (unsigned number : own)
    moved.push_back(getAffineSymbolExpr(
        llvm::find(after, places[number]) - after.begin(), context));
  replaceParameters(first, same, after.size());
  replaceParameters(second, moved, after.size());
  for (auto [number, place] : llvm::enumerate(places)) {
    if (DictionaryAttr attributes = second.getArgAttrDict(number))
      addAttributes(place, attributes);
    second.getArgument(number).replaceAllUsesWith(first.getArgument(place));
  }
  if (IntegerSet assumptions = second.getAssumptions())
    addAssumptions(assumptions);
}

void Merger::addAttributes(unsigned place, DictionaryAttr attributes) {
  for (NamedAttribute attribute : attributes)
    if (!first.getArgAttr(place, attribute.getName()))
      first.setArgAttr(place, attribute.getName(), attribute.getValue());
}

void Merger::addAssumptions(IntegerSet more) {
  SmallVector<AffineExpr> constraints(more.getConstraints());
  SmallVector<bool> isEqual(more.getEqFlags());
  if (IntegerSet known = first.getAssumptions()) {
    llvm::append_range(constraints, known.getConstraints());
    llvm::append_range(isEqual, known.getEqFlags());
  }
  first->setAttr(KernelOp::getAssumptionsAttrName(),
                 IntegerSetAttr::get(IntegerSet::get(0, more.getNumSymbols(),
                                                     constraints, isEqual)));
}

void Merger::rename() {
  for (auto op : second.getBody().getOps<SymbolOpInterface>()) {
    std::string base = op.getName().str(), name = base;
    for (unsigned number = 1; first.lookupSymbol(name) ||
                              (name != base && second.lookupSymbol(name));
         ++number)
      name = base + "_" + std::to_string(number);
    if (name == base)
      continue;
    auto symbol = StringAttr::get(op->getContext(), name);
    (void)SymbolTable::replaceAllSymbolUses(op, symbol, second);
    op.setName(symbol);
  }
}

/// Runs the tree of the second kernel after that of the first.
void Merger::addSchedule() {
  ScheduleOp schedule = first.getSchedule();
  OpBuilder builder(schedule);
  Operation *child = schedule.getChild();
  builder.setInsertionPointToStart(&schedule.getOrCreateBlock());
  auto sequence = SequenceOp::create(builder, schedule.getLoc());
  builder.setInsertionPointToEnd(&sequence.getOrCreateBlock());
  auto addPart = [&](KernelOp kernel, Operation *tree) {
    auto symbols =
        llvm::map_to_vector(kernel.getComputes(), [](ComputeOp compute) {
          return Attribute(FlatSymbolRefAttr::get(compute.getSymNameAttr()));
        });
    if (symbols.empty())
      return;
    auto filter = FilterOp::create(builder, kernel.getLoc(),
                                   builder.getArrayAttr(symbols), nullptr);
    if (tree)
      tree->moveBefore(&filter.getOrCreateBlock(),
                       filter.getOrCreateBlock().end());
  };
  addPart(first, child);
  addPart(second, second.getSchedule().getChild());
  simplify(sequence);
  second.getSchedule().erase();
}

llvm::Error Merger::run(ValueRange others) {
  // What has no tree yet gets one while its maps have its own parameters.
  bool isScheduled = first.getSchedule() || second.getSchedule();
  if (isScheduled)
    for (KernelOp kernel : {first, second}) {
      getOrCreateSchedule(kernel);
      nameLoops(kernel);
    }
  addArguments(others);
  rename();
  if (isScheduled)
    addSchedule();
  Block &to = first.getBody().front();
  ScheduleOp schedule = first.getSchedule();
  for (Operation &op : llvm::make_early_inc_range(second.getBody().front()))
    op.moveBefore(&to, schedule ? Block::iterator(schedule) : to.end());
  return llvm::Error::success();
}

/// Refuses if calls pass one buffer in two ways, and one of the two writes it.
static llvm::Error checkBuffers(KernelOp first, KernelOp second, CallOp before,
                                CallOp after) {
  for (auto [number, value] : llvm::enumerate(before.getArguments()))
    for (auto [place, other] : llvm::enumerate(after.getArguments()))
      if (value != other && isa<MemRefType>(value.getType()) &&
          isa<MemRefType>(other.getType()) && mayOverlap(value, other) &&
          (writesArgument(first, number) || writesArgument(second, place)))
        return refuse("expects buffers that are the same or apart, but "
                      "argument #" +
                      Twine(number) + " of @" + first.getSymName() +
                      " may overlap argument #" + Twine(place) + " of @" +
                      second.getSymName());
  return llvm::Error::success();
}

llvm::Error espalier::poly::mergeKernels(ComputeOp compute, ComputeOp other,
                                         Eraser erase) {
  KernelOp first = compute.getKernel(), second = other.getKernel();
  if (first == second)
    return refuse("expects computations of two kernels, but got two of " +
                  quote(first));
  llvm::Expected<CallOp> before = findCall(first);
  if (!before)
    return before.takeError();
  llvm::Expected<CallOp> after = findCall(second);
  if (!after)
    return after.takeError();
  if (llvm::Error error = checkDelay(*before, *after))
    return error;
  if (llvm::Error error = checkBuffers(first, second, *before, *after))
    return error;
  // What comes out has to be a kernel: that is tried on copies.
  OwningOpRef<KernelOp> trial = cloneAlone(first), rest = cloneAlone(second);
  Merger copies(*trial, *rest, before->getArguments());
  if (llvm::Error error = copies.run(after->getArguments()))
    return error;
  if (llvm::Error error = checkForm(*trial))
    return error;
  Merger merger(first, second, before->getArguments());
  llvm::cantFail(merger.run(after->getArguments()));
  OpBuilder builder(*after);
  CallOp::create(builder, after->getLoc(), first, merger.getValues());
  erase(*before);
  erase(*after);
  erase(second);
  return llvm::Error::success();
}
