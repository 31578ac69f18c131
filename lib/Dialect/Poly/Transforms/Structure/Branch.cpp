//===- Branch.cpp - Computations of their own for sizes -------------------===//
//
//   s over D                  s.few over D and n <= 16,  s over D and n > 16
//
// For each value of the sizes, the computations of one copy have the points
// that those of the kernel had, and the others have none: so a copy needs
// arrays of its own, and nothing between copies needs a proof.
//
//===----------------------------------------------------------------------===//

#include "../LoopNest.h"
#include "../Sequences.h"
#include "espalier/Dialect/Poly/Transforms/DataCommands.h"
#include "espalier/Polyhedral/Set.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

/// What messages call an array.
static constexpr llvm::StringLiteral kNameAttr = "espalier.name";

/// Code grows with each.
static constexpr size_t kMaxBranches = 8;

using Sizes = SmallVector<IntegerSet>;

/// For each of `conditions`, the sizes that meet it and none before it, then
/// those that meet none; as sets without dimensions.
static llvm::Expected<SmallVector<Sizes>>
partSizes(KernelOp kernel, ArrayRef<IntegerSet> conditions) {
  unsigned numParams = kernel.getNumParameters();
  polyhedral::Context context;
  auto getSet = [&](ArrayRef<AffineExpr> constraints, ArrayRef<bool> isEqual) {
    return polyhedral::Set::get(
        context, IntegerSet::get(0, numParams, constraints, isEqual));
  };
  SmallVector<AffineExpr> symbols;
  for (unsigned number = 0; number < numParams; ++number)
    symbols.push_back(getAffineSymbolExpr(number, kernel.getContext()));
  polyhedral::Set all = getSet(symbols, SmallVector<bool>(numParams, false));
  if (IntegerSet assumed = kernel.getAssumptions())
    all = all.intersect(polyhedral::Set::get(context, assumed));
  polyhedral::Set rest = all;
  SmallVector<Sizes> parts;
  auto add = [&](const polyhedral::Set &set, const Twine &rule) -> llvm::Error {
    if (set.isEmpty() == true)
      return refuse(rule);
    auto pieces = set.gist(all).simplify().makeDisjoint().toIntegerSets(
        kernel.getContext());
    if (!pieces)
      return refuse("cannot be written as versions: numbers beyond 64 bits");
    parts.push_back(std::move(*pieces));
    return llvm::Error::success();
  };
  for (auto [number, condition] : llvm::enumerate(conditions)) {
    polyhedral::Set set =
        getSet(condition.getConstraints(), condition.getEqFlags());
    if (llvm::Error error =
            add(rest.intersect(set),
                "expects sizes that meet condition #" + Twine(number) +
                    " and none before it, but there are none"))
      return std::move(error);
    rest = rest.subtract(set);
  }
  if (llvm::Error error =
          add(rest, "expects sizes that meet no condition, but all meet one"))
    return std::move(error);
  return parts;
}

/// Leaves a computation the points at sizes in `sizes`.
static void keepSizes(ComputeOp compute, const Sizes &sizes) {
  SmallVector<Attribute> sets;
  for (IntegerSet set : compute.getDomainSets())
    for (IntegerSet part : sizes) {
      SmallVector<AffineExpr> constraints(set.getConstraints());
      SmallVector<bool> isEqual(set.getEqFlags());
      llvm::append_range(constraints, part.getConstraints());
      llvm::append_range(isEqual, part.getEqFlags());
      sets.push_back(IntegerSetAttr::get(IntegerSet::get(
          set.getNumDims(), set.getNumSymbols(), constraints, isEqual)));
    }
  compute.setDomainAttr(ArrayAttr::get(compute.getContext(), sets));
}

namespace {
/// Adds copies of what a kernel has at the start.
class Brancher {
public:
  explicit Brancher(KernelOp kernel)
      : kernel(kernel), schedule(kernel.getSchedule()),
        computes(llvm::to_vector(kernel.getComputes())),
        arrays(llvm::to_vector(kernel.getArrays())), builder(schedule) {}

  llvm::Error run(ArrayRef<Sizes> sizes, ArrayRef<StringRef> names);

private:
  using Computes = SmallVector<ComputeOp>;

  llvm::Expected<Computes> copy(StringRef name);
  void addPart(SequenceOp sequence, ArrayRef<ComputeOp> part, Operation *tree);

  KernelOp kernel;
  ScheduleOp schedule;
  Computes computes;
  SmallVector<ArrayOp> arrays;
  OpBuilder builder; ///< Before the schedule.
};
} // namespace

llvm::Expected<Brancher::Computes> Brancher::copy(StringRef name) {
  IRMapping mapping;
  for (ArrayOp array : arrays) {
    Operation *made = builder.clone(*array, mapping);
    if (auto known = made->getAttrOfType<StringAttr>(kNameAttr))
      made->setAttr(kNameAttr,
                    builder.getStringAttr(known.getValue() + "." + name));
  }
  Computes copies;
  for (ComputeOp compute : computes) {
    std::string symbol = (compute.getSymName() + "." + name).str();
    if (kernel.lookupSymbol(symbol))
      return refuse("expects names that are not taken, but there is @" +
                    symbol);
    auto made = cast<ComputeOp>(builder.clone(*compute, mapping));
    made.setSymName(symbol);
    copies.push_back(made);
  }
  return copies;
}

/// Runs `part` as `tree` says after what `sequence` has.
void Brancher::addPart(SequenceOp sequence, ArrayRef<ComputeOp> part,
                       Operation *tree) {
  OpBuilder end = OpBuilder::atBlockEnd(&sequence.getOrCreateBlock());
  auto symbols = llvm::map_to_vector(part, [](ComputeOp compute) {
    return Attribute(FlatSymbolRefAttr::get(compute.getSymNameAttr()));
  });
  auto filter = FilterOp::create(end, kernel.getLoc(),
                                 end.getArrayAttr(symbols), nullptr);
  if (!tree)
    return;
  Block &block = filter.getOrCreateBlock();
  block.getOperations().insert(block.end(), tree);
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [&](FlatSymbolRefAttr symbol) -> std::optional<Attribute> {
        for (auto [number, compute] : llvm::enumerate(computes))
          if (symbol.getValue() == compute.getSymName())
            return symbols[number];
        return std::nullopt;
      });
  replacer.recursivelyReplaceElementsIn(tree);
}

llvm::Error Brancher::run(ArrayRef<Sizes> sizes, ArrayRef<StringRef> names) {
  Operation *tree = schedule.getChild();
  if (tree)
    tree->remove();
  OpBuilder inside = OpBuilder::atBlockEnd(&schedule.getOrCreateBlock());
  auto sequence = SequenceOp::create(inside, kernel.getLoc());
  for (auto [part, name] : llvm::zip_equal(sizes.drop_back(), names)) {
    llvm::Expected<Computes> copies = copy(name);
    if (!copies) {
      if (tree)
        tree->destroy();
      return copies.takeError();
    }
    addPart(sequence, *copies, tree ? tree->clone() : nullptr);
    for (ComputeOp compute : *copies)
      keepSizes(compute, part);
  }
  addPart(sequence, computes, tree);
  for (ComputeOp compute : computes)
    keepSizes(compute, sizes.back());
  simplify(sequence);
  nameLoops(kernel);
  return llvm::Error::success();
}

llvm::Error espalier::poly::branchOnSizes(ComputeTarget compute,
                                          ArrayRef<IntegerSet> conditions,
                                          ArrayRef<StringRef> names) {
  if (compute.getKernel().getNumParameters() == 0)
    return refuse("expects a kernel with sizes that are not known");
  if (conditions.size() > kMaxBranches)
    return refuse("expects at most " + Twine(kMaxBranches) +
                  " conditions, but got " + Twine(conditions.size()));
  for (IntegerSet condition : conditions)
    for (AffineExpr expr : condition.getConstraints())
      if (llvm::Error error = checkExpr(compute, expr, /*numDims=*/0))
        return error;
  for (StringRef name : names)
    if (name.empty())
      return refuse("expects names for copies, but got \"\"");
  auto sizes = partSizes(compute.getKernel(), conditions);
  if (!sizes)
    return sizes.takeError();
  return applyChecked(
      compute.getKernel(),
      [&](KernelOp kernel) { return Brancher(kernel).run(*sizes, names); }, {},
      compute.script);
}
