//===- ApplyPlan.cpp - A plan as a command --------------------------------===//

#include "../LoopNest.h"
#include "../ScheduleTree.h"
#include "WritePlan.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"

using namespace mlir;
using namespace espalier::poly;

/// Copies of a point that one tile writes out, at most.
static constexpr int64_t kMaxTilePoints = 8192;
static constexpr int64_t kMaxLanes = LoopAttr::kMaxLanes;

//===----------------------------------------------------------------------===//
// Whether a plan fits
//===----------------------------------------------------------------------===//

namespace {
/// Finds what is wrong with a plan for some computations.
class PlanChecker : public TiledComponent {
public:
  explicit PlanChecker(const TiledComponent &component)
      : TiledComponent(component) {}

  llvm::Error check();

private:
  std::string getName(unsigned dim) {
    return shape(0).op.getDimName(dim).str();
  }
  llvm::Error checkShared();
  llvm::Error checkTile();
  llvm::Error checkLoops();
  llvm::Error checkParts();
  llvm::Error checkOwn(unsigned position);
  llvm::Error checkKept();
  llvm::Error checkFetch();
};
} // namespace

llvm::Error PlanChecker::checkShared() {
  for (unsigned position = 0; position < computes.size(); ++position) {
    const ComputeShape &compute = shape(position);
    unsigned least = getFirstOwn(compute);
    if (compute.getNumDims() < least)
      return refuse("expects at least " + Twine(least) +
                    " dimensions of each computation, but " +
                    quote(compute.op) + " has " + Twine(compute.getNumDims()));
    for (unsigned dim = plan.numShared; dim < least; ++dim)
      if (!compute.getExtent(dim))
        return refuse("expects a window of constant size, but got " +
                      quote(compute.op.getDimName(dim)) + " of " +
                      quote(compute.op));
  }
  if (plan.numInside <= plan.numShared)
    return llvm::Error::success();
  return refuse("expects at most " + Twine(plan.numShared) +
                " loops around, but got " + Twine(plan.numInside));
}

llvm::Error PlanChecker::checkTile() {
  if (plan.width < 1 || plan.width > kMaxLanes)
    return refuse("expects between 1 and " + Twine(kMaxLanes) +
                  " lanes, but got " + Twine(plan.width));
  int64_t points = 1;
  for (unsigned dim = 0; dim < plan.numShared; ++dim) {
    int64_t size = plan.tile[dim];
    if (size < 1 || size > kMaxTilePoints * kMaxLanes ||
        (dim < plan.numInside && size > 1))
      return refuse("expects a tile of at least one point along \"" +
                    getName(dim) + "\", and of one along loops around, but " +
                    "got " + Twine(size));
    if (dim == plan.lanes && size % plan.width != 0)
      return refuse("expects a tile of whole vectors of " + Twine(plan.width) +
                    " along \"" + getName(dim) + "\", but got " + Twine(size));
    points = llvm::SaturatingMultiply<uint64_t>(
        points, dim == plan.lanes ? size / plan.width : size);
    if (points > kMaxTilePoints)
      return refuse("expects a tile of at most " + Twine(kMaxTilePoints) +
                    " points or vectors, but got more");
  }
  return llvm::Error::success();
}

llvm::Error PlanChecker::checkLoops() {
  SmallVector<unsigned> seen;
  for (unsigned dim : getTileOrder()) {
    if (dim < plan.numInside)
      return refuse("expects loops inside the " + Twine(plan.numInside) +
                    " that are there, but got \"" + getName(dim) + "\"");
    // A block and its tiles.
    if (llvm::count(seen, dim) > (dim == plan.block ? 1 : 0))
      return refuse("expects each loop once, but got \"" + getName(dim) +
                    "\" again");
    seen.push_back(dim);
  }
  for (auto [what, number] :
       {std::pair("parallel loops", plan.numParallel),
        std::pair("loops around the rest", plan.numAroundRest)})
    if (number > plan.loops.size())
      return refuse("expects at most " + Twine(plan.loops.size()) + " " + what +
                    ", but got " + Twine(number));
  for (unsigned dim : ArrayRef(plan.loops).take_front(plan.numAroundRest))
    if (getIndexRanges(dim).size() > 1)
      return refuse("expects loops around the rest that have none, but got \"" +
                    getName(dim) + "\"");
  if (!plan.block)
    return llvm::Error::success();
  int64_t tile = plan.tile[*plan.block];
  if (!llvm::is_contained(plan.loops, *plan.block) || plan.blockSize < 1 ||
      plan.blockSize > kMaxNumber || plan.blockSize % tile != 0)
    return refuse("expects blocks of whole tiles of " + Twine(tile) +
                  " along one of the loops, but got " + Twine(plan.blockSize) +
                  " along \"" + getName(*plan.block) + "\"");
  return llvm::Error::success();
}

llvm::Error PlanChecker::checkParts() {
  if (plan.insideSum.empty())
    return llvm::Error::success();
  unsigned numSums = 0;
  for (unsigned position = 0; position < computes.size(); ++position)
    numSums += !plan.own[position].order.empty();
  if (numSums != 1 || plan.numWindow)
    return refuse("expects one computation with loops of its own, whose sum is "
                  "cut, but got " +
                  Twine(numSums));
  if (plan.terms < 1 ||
      plan.terms > (plan.unrollTerms ? kMaxLanes : kMaxNumber))
    return refuse("expects parts of at least one term, but got " +
                  Twine(plan.terms));
  return llvm::Error::success();
}

llvm::Error PlanChecker::checkOwn(unsigned position) {
  const ComputeShape &compute = shape(position);
  const OwnLoops &own = plan.own[position];
  SmallVector<unsigned> sorted(own.order);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<unsigned>(getFirstOwn(compute),
                                               compute.getNumDims())))
    return refuse("expects an order of the other dimensions of " +
                  quote(compute.op) + ", each once");
  for (std::optional<unsigned> dim : {own.lanes, own.unrolled})
    if (dim && !llvm::is_contained(own.order, *dim))
      return refuse("expects one of the other dimensions of " +
                    quote(compute.op) + ", but got " +
                    quote(compute.op.getDimName(*dim)));
  if (own.lanes && plan.lanes)
    return refuse("expects lanes along a shared dimension or others, but got "
                  "both");
  if (own.vectors < 1 || own.vectors > kMaxLanes)
    return refuse("expects between 1 and " + Twine(kMaxLanes) +
                  " vectors side by side, but got " + Twine(own.vectors));
  if (own.unrolled &&
      compute.getExtent(*own.unrolled).value_or(kMaxLanes + 1) > kMaxLanes)
    return refuse("expects at most " + Twine(kMaxLanes) + " points of " +
                  quote(compute.op.getDimName(*own.unrolled)) +
                  " to be written out");
  return llvm::Error::success();
}

llvm::Error PlanChecker::checkKept() {
  for (StringRef name : plan.kept) {
    const auto *known = llvm::find(plan.computations, name);
    if (known == plan.computations.end())
      return refuse(
          "expects results of the plan's computations to be kept, but "
          "got @" +
          name);
    unsigned position = known - plan.computations.begin();
    bool isKept = llvm::any_of(getFirstWrites(), [&](auto write) {
      return write.first == position && findStorage(*write.second);
    });
    if (!isKept)
      return refuse(
          "expects @" + name +
          " to be the first to write a local array, one without "
          "storage of its own that the plan's computations alone use, "
          "at the shared dimensions");
  }
  return llvm::Error::success();
}

llvm::Error PlanChecker::checkFetch() {
  if (plan.fetchResults && findResults(/*columns=*/1).prefetches.empty())
    return refuse("expects a tile of sums that is written to an argument in "
                  "rows along its lanes, to fetch these results, but got none");
  if (plan.fetch == Fetch::None)
    return llvm::Error::success();
  if (plan.ahead < 1 || plan.ahead > kMaxNumber)
    return refuse("expects to fetch at least one ahead, but got " +
                  Twine(plan.ahead));
  if (findFetches().prefetches.empty())
    return refuse("expects a sum for which \"fetch " +
                  stringifyFetch(plan.fetch) + "\" knows what is needed next" +
                  (plan.fetch == Fetch::Rows
                       ? ", or a map that reads rows by their numbers"
                       : "") +
                  ", but got none");
  return llvm::Error::success();
}

llvm::Error PlanChecker::check() {
  if (llvm::Error error = checkShared())
    return error;
  if (llvm::Error error = checkTile())
    return error;
  for (unsigned position = 0; position < computes.size(); ++position)
    if (llvm::Error error = checkOwn(position))
      return error;
  if (llvm::Error error = checkLoops())
    return error;
  if (llvm::Error error = checkParts())
    return error;
  if (llvm::Error error = checkKept())
    return error;
  return checkFetch();
}

//===----------------------------------------------------------------------===//
// Where the tree goes
//===----------------------------------------------------------------------===//

using Names = llvm::SmallSetVector<StringRef, 4>;

/// Removes computations from the nodes below `node`.
static void removeBelow(Operation *node, const Names &names) {
  Operation *child = getChildNode(node->getRegion(0));
  if (!child)
    return;
  Builder builder(node->getContext());
  auto keep = [&](ArrayAttr symbols, ArrayAttr values) {
    SmallVector<Attribute> kept;
    for (auto [symbol, value] : llvm::zip_equal(symbols, values))
      if (!names.contains(cast<FlatSymbolRefAttr>(symbol).getValue()))
        kept.push_back(value);
    return builder.getArrayAttr(kept);
  };
  if (auto band = dyn_cast<BandOp>(child)) {
    band.setMapsAttr(keep(band.getComputations(), band.getMaps()));
    band.setComputationsAttr(
        keep(band.getComputations(), band.getComputations()));
  }
  auto sequence = dyn_cast<SequenceOp>(child);
  if (!sequence)
    return removeBelow(child, names);
  for (auto filter :
       llvm::make_early_inc_range(sequence.getBody().getOps<FilterOp>())) {
    if (filter.getSets())
      filter.setSetsAttr(keep(filter.getComputations(), *filter.getSets()));
    filter.setComputationsAttr(
        keep(filter.getComputations(), filter.getComputations()));
    if (filter.getComputations().empty())
      filter.erase();
    else
      removeBelow(filter, names);
  }
}

/// Makes one filter of `sequence` for `names`, at the place of the first that
/// has one of them.
static llvm::Expected<FilterOp> gather(SequenceOp sequence,
                                       const Names &names) {
  SmallVector<FilterOp> filters;
  for (auto filter : sequence.getBody().getOps<FilterOp>())
    if (llvm::any_of(getSymbols(filter.getComputations()),
                     [&](StringRef name) { return names.contains(name); }))
      filters.push_back(filter);
  if (llvm::any_of(filters,
                   [](FilterOp filter) { return bool(filter.getSets()); }))
    return refuse("expects parts of a sequence that run all points of a "
                  "computation, but @" +
                  names.front() + " is in several");
  OpBuilder builder(filters.front());
  SmallVector<Attribute> symbols;
  for (StringRef name : names)
    symbols.push_back(FlatSymbolRefAttr::get(builder.getContext(), name));
  auto made = FilterOp::create(builder, sequence.getLoc(),
                               builder.getArrayAttr(symbols), nullptr);
  for (FilterOp filter : filters) {
    SmallVector<Attribute> others;
    for (Attribute symbol : filter.getComputations())
      if (!names.contains(cast<FlatSymbolRefAttr>(symbol).getValue()))
        others.push_back(symbol);
    if (others.empty()) {
      filter.erase();
      continue;
    }
    filter.setComputationsAttr(builder.getArrayAttr(others));
    removeBelow(filter, names);
  }
  return made;
}

/// Empties the place in the tree, inside `numInside` loops, where `names` and
/// no other computations run; the node around it.
static llvm::Expected<Operation *>
clearPlace(KernelOp kernel, const Names &names, unsigned numInside) {
  Operation *node = kernel.getSchedule();
  size_t numReaching = kernel.getComputes().size();
  unsigned numLoops = 0;
  while (true) {
    Region &region = node->getRegion(0);
    Operation *child = getChildNode(region);
    if (numReaching == names.size() && numLoops >= numInside) {
      if (child)
        child->erase();
      return node;
    }
    if (auto band = dyn_cast_or_null<BandOp>(child))
      numLoops += band.getLoops().size();
    if (auto sequence = dyn_cast_or_null<SequenceOp>(child)) {
      FilterOp filter;
      for (auto part : sequence.getBody().getOps<FilterOp>()) {
        SmallVector<StringRef> symbols = getSymbols(part.getComputations());
        if (llvm::all_of(names,
                         [&](StringRef name) {
                           return llvm::is_contained(symbols, name);
                         }) &&
            !part.getSets() &&
            (numLoops < numInside || symbols.size() == names.size()))
          filter = part;
      }
      if (!filter) {
        llvm::Expected<FilterOp> made = gather(sequence, names);
        if (!made)
          return made.takeError();
        filter = *made;
      }
      child = filter;
      numReaching = filter.getComputations().size();
    }
    if (!child)
      return refuse("expects the computations of the plan inside " +
                    Twine(numInside) + " loops, but @" + names.front() +
                    " is inside " + Twine(numLoops));
    node = child;
  }
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

/// Finds the computations of a plan among `shapes`, and checks that it fits.
static llvm::Expected<SmallVector<unsigned>>
fitPlan(KernelOp kernel, ArrayRef<ComputeShape> shapes, const Plan &plan) {
  SmallVector<unsigned> computes;
  for (StringRef name : plan.computations) {
    const auto *found = llvm::find_if(shapes, [&](const ComputeShape &shape) {
      return shape.op.getSymName() == name;
    });
    if (found == shapes.end())
      return refuse("expects computations of the kernel, out of " +
                    listComputes(kernel) + ", but got @" + name);
    unsigned number = found - shapes.begin();
    if (llvm::is_contained(computes, number))
      return refuse("expects each computation once, but got @" + name +
                    " twice");
    computes.push_back(number);
  }
  TiledComponent component(kernel, shapes, computes, plan);
  if (llvm::Error error = PlanChecker(component).check())
    return std::move(error);
  return computes;
}

static std::vector<ComputeShape> getShapes(KernelOp kernel) {
  std::vector<ComputeShape> shapes;
  for (ComputeOp op : kernel.getComputes())
    shapes.push_back(getShape(op));
  return shapes;
}

llvm::Error espalier::poly::checkPlan(KernelOp kernel, const Plan &plan) {
  return fitPlan(kernel, getShapes(kernel), plan).takeError();
}

llvm::Error espalier::poly::editByPlan(KernelOp kernel, const Plan &plan) {
  std::vector<ComputeShape> shapes = getShapes(kernel);
  auto computes = fitPlan(kernel, shapes, plan);
  if (!computes)
    return computes.takeError();
  Names names;
  for (StringRef name : plan.computations)
    names.insert(name);
  TiledComponent component(kernel, shapes, *computes, plan);
  llvm::Expected<Operation *> place = clearPlace(kernel, names, plan.numInside);
  if (!place)
    return place.takeError();
  Region &region = (*place)->getRegion(0);
  if (region.empty())
    region.emplaceBlock();
  OpBuilder builder = OpBuilder::atBlockEnd(&region.front());
  writePlan(component, builder);
  for (auto [position, write] : component.getFirstWrites()) {
    if (!llvm::is_contained(plan.kept, plan.computations[position]))
      continue;
    std::optional<TileStorage> storage = component.findStorage(*write);
    if (!storage)
      continue;
    auto array = write->array.getDefiningOp<ArrayOp>();
    array.setStorageAttr(AffineMapAttr::get(storage->map));
    array.setStorageTypeAttr(TypeAttr::get(storage->type));
    array.setPlacementAttr(storage->placement);
  }
  return llvm::Error::success();
}

llvm::Error espalier::poly::applyPlan(ComputeTarget compute, const Plan &plan) {
  // A computation without points has a place in the tree like any other.
  for (ComputeOp other : compute.getKernel().getComputes())
    if (llvm::Error error = refuseFault(checkDomain(other, /*notEmpty=*/false)))
      return error;
  auto edit = [&](KernelOp kernel) -> llvm::Error {
    if (llvm::Error error = editByPlan(kernel, plan))
      return error;
    nameLoops(kernel);
    return llvm::Error::success();
  };
  return applyChecked(compute.getKernel(), edit, {}, compute.script);
}
