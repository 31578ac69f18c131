//===- Sequences.cpp - What runs one after the other ----------------------===//

#include "Sequences.h"
#include "Hints.h"
#include "LoopNest.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace espalier::poly;

static bool hasComputation(FilterOp filter, ComputeOp compute) {
  return llvm::is_contained(getSymbols(filter.getComputations()),
                            compute.getSymName());
}

llvm::Expected<Parts> espalier::poly::findParts(ComputeOp first,
                                                ComputeOp second) {
  if (first.getKernel() != second.getKernel())
    return refuse("expects computations of one kernel");
  Parts parts;
  first.getKernel().getSchedule().walk<WalkOrder::PreOrder>(
      [&](SequenceOp sequence) {
        // Goes on until both have been met, each without the other.
        Parts met;
        for (auto filter : sequence.getBody().getOps<FilterOp>()) {
          bool isFirst = hasComputation(filter, first);
          if (isFirst == hasComputation(filter, second))
            continue;
          (isFirst ? met.first : met.second) = filter;
          if (!met.first || !met.second)
            continue;
          parts = met;
          return WalkResult::interrupt();
        }
        return WalkResult::advance();
      });
  if (!parts.first)
    return refuse("expects " + quote(first) + " and " + quote(second) +
                  " in different parts of a sequence");
  return parts;
}

IntegerSet espalier::poly::getSet(FilterOp filter, unsigned number) {
  if (std::optional<ArrayAttr> sets = filter.getSets())
    return cast<IntegerSetAttr>((*sets)[number]).getValue();
  auto kernel = filter->getParentOfType<KernelOp>();
  ComputeOp compute =
      kernel.lookupCompute(getSymbols(filter.getComputations())[number]);
  AffineExpr zero = getAffineConstantExpr(0, filter.getContext());
  return IntegerSet::get(compute.getNumDims(), kernel.getNumParameters(), zero,
                         /*eqFlags=*/{false});
}

SmallVector<FilterOp>
espalier::poly::createVersions(BandOp band, ArrayRef<Version> versions) {
  OpBuilder builder(band);
  auto sequence = SequenceOp::create(builder, band.getLoc());
  builder.setInsertionPointToEnd(&sequence.getOrCreateBlock());
  for (const Version &version : versions) {
    auto sets = llvm::map_to_vector(version.sets, [](IntegerSet set) {
      return Attribute(IntegerSetAttr::get(set));
    });
    auto filter =
        FilterOp::create(builder, band.getLoc(), band.getComputations(),
                         builder.getArrayAttr(sets));
    filter.getOrCreateBlock().push_back(band->clone());
  }
  band.erase();
  auto filters = llvm::to_vector(sequence.getBody().getOps<FilterOp>());
  for (auto [filter, version] : llvm::zip_equal(filters, versions))
    if (!version.name.empty())
      renameClashes(filter, version.name);
  return filters;
}

void espalier::poly::simplify(SequenceOp sequence) {
  for (auto filter :
       llvm::make_early_inc_range(sequence.getBody().getOps<FilterOp>())) {
    auto inner = dyn_cast_or_null<SequenceOp>(filter.getChild());
    if (!inner || filter.getSets())
      continue;
    for (auto part :
         llvm::make_early_inc_range(inner.getBody().getOps<FilterOp>()))
      part->moveBefore(filter);
    filter.erase();
  }
  auto only = cast<FilterOp>(sequence.getBody().front().front());
  if (only->getNextNode() || only.getSets())
    return;
  if (Operation *child = only.getChild())
    child->moveBefore(sequence);
  sequence.erase();
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

llvm::Error espalier::poly::moveBefore(ComputeTarget compute,
                                       ComputeOp before) {
  StringAttr symbol = before.getSymNameAttr();
  if (compute.getKernel() != before.getKernel())
    return refuse("expects computations of one kernel");
  auto edit = [](ComputeOp compute, StringRef before) -> llvm::Error {
    llvm::Expected<Parts> parts =
        findParts(compute, compute.getKernel().lookupCompute(before));
    if (!parts)
      return parts.takeError();
    parts->first->moveBefore(parts->second);
    return llvm::Error::success();
  };
  return applyWithHint(
      compute, [&](ComputeOp compute) { return edit(compute, symbol); },
      [&] { return findPlaces(compute, edit); });
}

//===----------------------------------------------------------------------===//
// Fission
//===----------------------------------------------------------------------===//

/// Puts a copy of `band`, for what `filter` lets pass, above what is below it.
static void distribute(BandOp band, FilterOp filter) {
  OpBuilder builder(filter.getContext());
  builder.setInsertionPointToStart(&filter.getOrCreateBlock());
  SmallVector<Attribute> maps;
  for (StringRef symbol : getSymbols(filter.getComputations()))
    maps.push_back(AffineMapAttr::get(band.getMap(symbol)));
  auto copy = BandOp::create(builder, band.getLoc(), filter.getComputations(),
                             builder.getArrayAttr(maps), band.getLoops(),
                             band.getNamesAttr(), band.getFullTiles());
  if (Operation *child = copy->getNextNode())
    child->moveBefore(&copy.getOrCreateBlock(), copy.getOrCreateBlock().end());
}

/// Distributes loops over a sequence, as the command does.
static llvm::Error distributeLoops(ComputeOp compute, StringRef name) {
  llvm::Expected<LoopPosition> found = findLoop(compute, name);
  if (!found)
    return found.takeError();
  BandOp band = splitBand(found->band, found->position);
  mergeChildren(band);
  auto sequence = dyn_cast_or_null<SequenceOp>(band.getChild());
  if (!sequence)
    return refuse(
        "expects a sequence below the nest of " + quote(name) + ", but got " +
        (band.getChild() ? describeNode(band.getChild()) : "no node"));
  auto filters = llvm::to_vector(sequence.getBody().getOps<FilterOp>());
  for (FilterOp filter : filters)
    distribute(band, filter);
  sequence->moveBefore(band);
  band.erase();
  for (FilterOp filter : llvm::reverse(filters))
    renameClashes(filter, "rest");
  if (auto outer = dyn_cast<FilterOp>(sequence->getParentOp()))
    simplify(cast<SequenceOp>(outer->getParentOp()));
  return llvm::Error::success();
}

llvm::Error espalier::poly::fission(ComputeTarget compute, StringRef loop) {
  return applyWithHint(
      compute,
      [&](ComputeOp compute) { return distributeLoops(compute, loop); },
      [&] { return findLoops(compute, "distributed", distributeLoops); });
}
